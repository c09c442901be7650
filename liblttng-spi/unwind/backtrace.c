/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Backtraces that a program makes of itself show its own calls.
 *
 * A traced call's return slot is a frame of its own for every unwinder (slots.S), and in libgcc's and LLVM's the address behind it is one
 * less than what the call returns to. A program that prints its stack (Rust's panics and errors, crash handlers,
 * std::stacktrace) would print slots between its functions. So the agent stands before what such programs call:
 *
 *	_Unwind_Backtrace()	a slot's frame, and the one that this function has itself, are not passed on
 *	_Unwind_GetIP(), _Unwind_GetIPInfo()	of the frame behind one, while that is passed on: the return address itself
 *	backtrace()		libc's reaches the unwinder by pointers of its own: the same, by _Unwind_Backtrace()
 *
 * There may be several unwinders in a process, whose contexts differ. What reaches us by name is meant for the one that is
 * next in the order of symbols. Where there is none in the part of the order that all objects share, it is one that was loaded with
 * dlopen() for its user alone: that which the caller's object is, or names as needed, or the only one.
 *
 * May be called from signal handlers as far as unwinders may. Nothing is allocated. What unwinds by other means (an
 * unwinder linked in statically, unw_step(), frame pointers) sees the slots.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <string.h>
#include <unwind.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/unwind/internal.h"

#define END_OF_STACK	((_Unwind_Reason_Code) 5)	/* _URC_END_OF_STACK: Itanium C++ ABI, 1.2.2 */

typedef struct _Unwind_Context context_t;

struct unwinder {
	_Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn each, void *data);
	_Unwind_Ptr (*get_ip)(context_t *context);
	_Unwind_Ptr (*get_ip_info)(context_t *context, int *is_before);
};

extern const char __ehdr_start[] SPI_HIDDEN, _end[] SPI_HIDDEN;

/* The one that all objects share; none: all NULL. */
static struct unwinder shared;
SPI_HOOK_DECLARE(backtrace)
SPI_HOOK_DECLARE(_Unwind_Backtrace)
extern __typeof__(_Unwind_GetIP) own_get_ip __attribute__((alias("_Unwind_GetIP"), visibility("hidden")));
extern __typeof__(_Unwind_GetIPInfo) own_get_ip_info __attribute__((alias("_Unwind_GetIPInfo"), visibility("hidden")));

/* The frame that is being passed on just now, if it is behind a slot: where its caller's GetIP() is to give one more. */
static __thread struct {
	context_t *context;
	uint64_t ip;
} behind __attribute__((tls_model("initial-exec")));

/* LLVM's _Unwind_GetIPInfo() calls _Unwind_GetIP() by name, for this context, and comes back to us. */
static __thread struct {
	context_t *context;
	_Unwind_Ptr (*get_ip)(context_t *context);
} asked __attribute__((tls_model("initial-exec")));

static int is_slot(uint64_t ip)
{
	return ip - (uint64_t) spi_slot_code_base < SLOT_HALF;
}

/* Of the functions here, below the first frame that is the program's. */
static int is_own(uint64_t ip)
{
	return ip - (uint64_t) __ehdr_start < (uint64_t) (_end - __ehdr_start);
}

/* ---- which unwinder ---- */

/* `at`: a function of its. */
static struct unwinder unwinder_at(uint64_t at)
{
	struct unwinder u;

	*(void **) &u.backtrace = spi_symbol_beside("_Unwind_Backtrace", at);
	*(void **) &u.get_ip = spi_symbol_beside("_Unwind_GetIP", at);
	*(void **) &u.get_ip_info = spi_symbol_beside("_Unwind_GetIPInfo", at);
	return u;
}

struct choice {
	const struct link_map *caller;	/* NULL: not known */
	const char *names;		/* of what the caller's object needs */
	uint64_t first, needed;		/* an address in the one that was loaded first, and in that which is needed */
};

static void caller_is(struct choice *c, const struct link_map *map)
{
	c->caller = map;
	for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_STRTAB)	/* the dynamic linker has made an address of it, where it may write */
			c->names = (const char *) (d->d_un.d_ptr + (d->d_un.d_ptr < map->l_addr ? map->l_addr : 0));
}

static int is_needed(const struct choice *c, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (const ElfW(Dyn) *d = c->names ? c->caller->l_ld : NULL; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED && !strcmp(c->names + d->d_un.d_val, name))
			return 1;
	return 0;
}

static int unwinder_find(struct dl_phdr_info *info, size_t size, void *data)
{
	struct choice *c = data;

	(void) size;
	if (info->dlpi_addr == (uint64_t) __ehdr_start || !spi_object_defines(info, "_Unwind_Backtrace"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
			uint64_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

			if (!c->first)
				c->first = at;
			if (!c->needed && (is_needed(c, info->dlpi_name) || (c->caller && (uint64_t) c->caller->l_ld == at)))
				c->needed = at;
		}
	return 0;
}

/*
 * What was chosen for the callers of an object. It stays so for as long as that object and the unwinder are loaded: what it
 * needs came with it, and what was first stays so. Both are looked for without a lock (_dl_find_object(), glibc 2.35):
 * exceptions ask for each of their frames, and a handler that interrupted malloc() while another thread forks has to go on.
 * An entry is written once. Callers that find no entry free look each time.
 */
#define CHOSEN_MOST	64u

static struct chosen {
	uint32_t is_there;
	struct dl_find_object caller, of;
	struct unwinder unwinder;
} all_chosen[CHOSEN_MOST];
static uint32_t taken;

static int is_same_object(const struct dl_find_object *a, const struct dl_find_object *b)
{
	return a->dlfo_link_map == b->dlfo_link_map && a->dlfo_map_start == b->dlfo_map_start &&
		a->dlfo_map_end == b->dlfo_map_end && a->dlfo_eh_frame == b->dlfo_eh_frame;
}

static const struct unwinder *chosen_find(const struct dl_find_object *caller)
{
	struct dl_find_object now;

	for (unsigned int i = 0; i < CHOSEN_MOST; i++) {
		const struct chosen *entry = &all_chosen[i];

		if (__atomic_load_n(&entry->is_there, __ATOMIC_ACQUIRE) && is_same_object(&entry->caller, caller) &&
				!_dl_find_object(*(void *const *) &entry->unwinder.backtrace, &now) &&
				is_same_object(&now, &entry->of))
			return &entry->unwinder;
	}
	return NULL;
}

static void choose(const struct dl_find_object *caller, const struct unwinder *unwinder)
{
	uint32_t i = __atomic_load_n(&taken, __ATOMIC_RELAXED);
	struct dl_find_object of;

	if (i >= CHOSEN_MOST || _dl_find_object(*(void *const *) &unwinder->backtrace, &of))
		return;
	i = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
	if (i >= CHOSEN_MOST)
		return;
	all_chosen[i].caller = *caller;
	all_chosen[i].of = of;
	all_chosen[i].unwinder = *unwinder;
	__atomic_store_n(&all_chosen[i].is_there, 1, __ATOMIC_RELEASE);
}

static __attribute__((noinline)) struct unwinder unwinder_look(uint64_t address)
{
	struct dl_find_object caller;
	int is_known = !_dl_find_object((void *) spi_behind_slots(address), &caller);
	const struct unwinder *chosen = is_known ? chosen_find(&caller) : NULL;
	struct choice c = { 0 };
	struct unwinder u;

	if (chosen)
		return *chosen;
	if (is_known)
		caller_is(&c, caller.dlfo_link_map);
	dl_iterate_phdr(unwinder_find, &c);
	u = unwinder_at(c.needed ? c.needed : c.first);
	if (is_known && u.backtrace)
		choose(&caller, &u);
	return u;
}

static struct unwinder unwinder_of(uint64_t caller)
{
	return spi_likely(shared.backtrace != NULL) ? shared : unwinder_look(caller);
}

/* ---- frames ---- */

struct walk {
	_Unwind_Trace_Fn each;
	void *data;
	struct unwinder unwinder;
	int is_behind, is_begun;
};

static _Unwind_Reason_Code frame_pass(context_t *context, void *data)
{
	struct walk *walk = data;
	uint64_t ip = walk->unwinder.get_ip(context), ip_was = behind.ip;
	context_t *context_was = behind.context;
	_Unwind_Reason_Code result;

	if (is_slot(ip)) {
		walk->is_behind = 1;
		return _URC_NO_REASON;
	}
	if (!walk->is_begun && is_own(ip)) {
		walk->is_behind = 0;
		return _URC_NO_REASON;
	}
	walk->is_begun = 1;
	behind.context = walk->is_behind && !spi_unwind_exact ? context : NULL;
	behind.ip = ip;
	walk->is_behind = 0;
	result = walk->each(context, walk->data);
	behind.context = context_was;
	behind.ip = ip_was;
	return result;
}

SPI_EXPORT _Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn each, void *data)
{
	struct walk walk = { .each = each, .data = data, .unwinder = unwinder_of((uint64_t) __builtin_return_address(0)) };

	if (!walk.unwinder.backtrace || !walk.unwinder.get_ip)
		return END_OF_STACK;
	return walk.unwinder.backtrace(frame_pass, &walk);
}

static int is_less(const context_t *context, uint64_t ip)
{
	return spi_unlikely(behind.context != NULL) && behind.context == context && behind.ip == ip;
}

SPI_EXPORT _Unwind_Ptr _Unwind_GetIP(context_t *context)
{
	struct unwinder u;
	uint64_t ip;

	if (spi_unlikely(asked.context != NULL) && asked.context == context)
		return asked.get_ip(context);
	u = unwinder_of((uint64_t) __builtin_return_address(0));
	ip = u.get_ip ? u.get_ip(context) : 0;
	return ip + (uint64_t) is_less(context, ip);
}

SPI_EXPORT _Unwind_Ptr _Unwind_GetIPInfo(context_t *context, int *is_before)
{
	struct unwinder u = unwinder_of((uint64_t) __builtin_return_address(0));
	uint64_t ip;

	if (!u.get_ip_info || !u.get_ip)
		return 0;
	asked.get_ip = u.get_ip;
	asked.context = context;
	ip = u.get_ip_info(context, is_before);
	asked.context = NULL;
	if (!is_less(context, ip))
		return ip;
	*is_before = 0;
	return ip + 1;
}

/* ---- lists of addresses ---- */

struct list {
	struct walk walk;
	void **to;
	int size, n;
};

static _Unwind_Reason_Code list_add(context_t *context, void *data)
{
	struct list *list = data;
	uint64_t ip = list->walk.unwinder.get_ip(context);

	if (list->n == list->size)
		return END_OF_STACK;
	list->to[list->n++] = (void *) (ip + (uint64_t) is_less(context, ip));
	return _URC_NO_REASON;
}

/* libc's, where there is no unwinder yet, and so no slot either. An unwinder may end with a frame at 0. */
SPI_EXPORT int backtrace(void **to, int size)
{
	struct list list = { .to = to, .size = size };
	struct walk *walk = &list.walk;

	walk->each = list_add;
	walk->data = &list;
	walk->unwinder = unwinder_of((uint64_t) __builtin_return_address(0));
	if (size <= 0)
		return 0;
	if (!walk->unwinder.backtrace || !walk->unwinder.get_ip)
		return SPI_NEXT(backtrace) ? SPI_NEXT(backtrace)(to, size) : 0;
	walk->unwinder.backtrace(frame_pass, walk);
	return list.n > 1 && !to[list.n - 1] ? list.n - 1 : list.n;
}

/* After spi_hooks_begin(), which finds the one that is next in the order of symbols. */
void spi_backtrace_init(void)
{
	if (next__Unwind_Backtrace)
		shared = unwinder_at((uint64_t) next__Unwind_Backtrace);
}

static int unwinders_count(struct dl_phdr_info *info, size_t size, void *data)
{
	(void) size;
	*(int *) data += info->dlpi_addr != (uint64_t) __ehdr_start && spi_object_defines(info, "_Unwind_Backtrace");
	return 0;
}

/* With several unwinders it cannot be told here whose functions an object's pointers lead to. */
static int unwinder_is_one(void)
{
	int n = 0;

	dl_iterate_phdr(unwinders_count, &n);
	return n == 1;
}

#define WAYS	.ways = SPI_HOOK_ORDER | SPI_HOOK_POINTERS
const struct spi_hook spi_backtrace_hooks[] = {
	{ SPI_HOOK_ROW(backtrace), WAYS },
	{ SPI_HOOK_ROW(_Unwind_Backtrace), WAYS, .fits = unwinder_is_one },
	{ "_Unwind_GetIP", (void *) own_get_ip, WAYS, .fits = unwinder_is_one },
	{ "_Unwind_GetIPInfo", (void *) own_get_ip_info, WAYS, .fits = unwinder_is_one },
	{ NULL },
};
