/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The payload `memory`: what the program allocates and gives back, as events of lttng-ust's libc wrapper
 * (lttng_ust_libc:*), and address space, descriptors and threads as events spi_resource:*.
 *
 *	backtrace=N	the callers of what allocates, N frames at most
 *
 * `operator new` calls malloc(), malloc() calls mmap(): what counts is what the program has asked for, the outermost
 * call of a thread. It is told by the stack: a call further down, while another one is under way, is that one's. There are
 * three such families, memory, descriptors and threads; a call of one within a call of another is counted, so a signal
 * handler that interrupts malloc() may close a descriptor. Allocations are recorded at their end. What gives back is
 * recorded at its beginning: the address is another thread's a moment later.
 *
 * Not the program's, although it calls malloc() or free(): malloc()'s own code, which ends a thread's cache by free().
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <lttng/spi.h>
#include "payloads/memory-events.h"
#include "payloads/memory-names.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define TABLE		1024u		/* functions; a power of two */
#define FRAMES_MOST	128u
#define ANEW		4u		/* calls at one place of the stack that have not returned: the first has no exit */
#define MALLOCS_MOST	65536u		/* bytes of code; more: it does not stand together in this libc */
#define SP		7u		/* spi_call_register() */

#define KNOWN(name, what, first, second) { #name, what, first, second },
static const struct known names[] = { MEMORY_NAMES(KNOWN) MEMORY_PYTHON_NAMES(KNOWN) };

static struct subject {
	struct spi_function *function;
	const struct known *known;
} subjects[TABLE];

/* ---- calls under way ---- */

enum family { MEMORY, WITHIN_NEW, DESCRIPTORS, THREADS, FAMILIES };

/* The outermost call of a family in this thread. */
struct outermost {
	uint64_t sp;			/* where it was made; 0: there is none */
	uint64_t serial;		/* its user data */
	uint64_t values[5];
	uint64_t new_size;		/* of C++'s operator new; else 0 */
	uint32_t anew;
};
static __thread struct outermost outermosts[FAMILIES];
static __thread uint64_t serial;

/* libc's code of malloc() and its like, which stands together. */
static struct {
	uint64_t low, size;
} mallocs;

static void mallocs_find(void)
{
	static const char *const functions[] = { "malloc", "free", "realloc", "memalign", "valloc", "calloc",
		"malloc_trim",
		"posix_memalign", "malloc_info" };
	void *handle = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; handle && i < COUNT(functions); i++) {
		const uint64_t at = (uint64_t) dlsym(handle, functions[i]);

		low = at && at < low ? at : low;
		high = at > high ? at : high;
	}
	if (high > low && high - low < MALLOCS_MOST) {
		mallocs.low = low;
		mallocs.size = high - low;
	}
	if (handle)
		dlclose(handle);
}

static inline enum family family_of(uint8_t what)
{
	return what < OPEN ? MEMORY : what < THREAD_CREATE ? DESCRIPTORS : THREADS;
}

static struct subject *subject_of(struct spi_function *function)
{
	uint64_t at = (uint64_t) function >> 4;

	for (uint32_t tries = 0; tries < TABLE; tries++, at++) {
		struct subject *s = &subjects[at % TABLE];
		struct spi_function *known = __atomic_load_n(&s->function, __ATOMIC_ACQUIRE);

		if (!known || known == function)
			return s;
	}
	return NULL;
}

static inline const struct known *known_of(struct spi_function *function)
{
	const struct subject *s = subject_of(function);

	return s && s->function ? s->known : NULL;
}

/*
 * Is the call part of one that is under way? That one was made further up the stack, or at the same place, where the
 * latter has jumped to the callee (operator new[] does). A handler on a stack of its own is taken for either.
 */
static inline int is_part(struct outermost *o, uint64_t sp)
{
	if (!o->sp || sp > o->sp)
		return 0;
	if (sp < o->sp)
		return 1;
	return ++o->anew < ANEW;
}

/*
 * operator new() calls malloc() with its size, and also what it throws is allocated, and a handler of the program's for
 * want of memory runs there: what is not of that size is a call like others.
 */
static inline int is_within_new(const struct outermost *o, const struct known *k, const uint64_t *a)
{
	if (!o->new_size || k->what == FREE)
		return o->new_size != 0;
	return k->what == MALLOC ? a[0] != o->new_size : k->what == CALLOC || k->what == REALLOC;
}

static inline int is_new(const struct known *k)
{
	return k->name[0] == '_' && k->name[1] == 'Z' && k->name[2] == 'n';
}

/* Most calls are of functions with one or two. */
static inline unsigned int argument_count(const struct known *k)
{
	switch (k->what) {
	case MALLOC:
	case FREE:
	case CLOSE:
		return 1;
	case CALLOC:
	case REALLOC:
	case MEMALIGN:
	case MUNMAP:
		return 2;
	default:
		return 5;
	}
}

static void arguments_get(struct spi_call *call, const struct known *k, uint64_t *a)
{
	const unsigned int count = argument_count(k);
	struct spi_arguments at = { 0 };

	for (unsigned int i = 0; i < count; i++) {
		const uint64_t *word = spi_call_pop_argument(call, &at, sizeof(*word));

		a[i] = word ? *word : 0;
	}
}

static int thread_is_detached(const void *attributes)
{
	int state = PTHREAD_CREATE_JOINABLE;

	if (attributes)
		pthread_attr_getdetachstate(attributes, &state);
	return state == PTHREAD_CREATE_DETACHED;
}

static void *enter(struct spi_call *call, void *data)
{
	const struct known *k = known_of(spi_call_callee(call));
	struct outermost *o;
	uint64_t sp = 0, a[5] = { 0 };

	(void) data;
	if (!k || spi_call_register(call, SP, &sp) < 0)
		return NULL;
	if (spi_call_return_address(call) - mallocs.low < mallocs.size)
		return NULL;
	memory_process_tell(call);
	arguments_get(call, k, a);
	o = &outermosts[family_of(k->what)];
	if (is_part(o, sp)) {
		if (o != outermosts || !is_within_new(o, k, a))
			return NULL;
		o = &outermosts[WITHIN_NEW];
		if (is_part(o, sp))
			return NULL;
	}
	o->sp = sp;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	o->anew = 0;
	o->serial = ++serial;
	o->new_size = is_new(k) ? a[0] ? a[0] : 1 : 0;
	for (unsigned int i = 0; i < 5; i++)
		o->values[i] = a[i];
	if (k->what == THREAD_CREATE)
		o->values[1] = (uint64_t) thread_is_detached((const void *) o->values[1]);
	memory_given_back(call, k, o->values);
	return (void *) o->serial;
}

static void leave(struct spi_call *call, void *data)
{
	const struct known *k = known_of(spi_call_callee(call));
	const uint64_t user = (uint64_t) spi_call_user_data(call), result = spi_call_return_value(call);
	struct outermost *o;
	uint64_t a[5];

	(void) data;
	if (!k || !user)
		return;
	o = &outermosts[family_of(k->what)];
	if (o == outermosts && o->serial != user)
		o = &outermosts[WITHIN_NEW];
	if (o->serial != user || !o->sp)
		return;
	for (unsigned int i = 0; i < 5; i++)
		a[i] = o->values[i];
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	o->sp = 0;
	if (spi_call_ending(call) != SPI_CALL_RETURNED)
		return;
	memory_returned(call, k, a, result);
}

/* ---- which functions ---- */

static const char *sanitizer(void)
{
	static const struct {
		const char *symbol, *reason;
	} of[] = {
		{ "__asan_init",
			"the program's memory is AddressSanitizer's, which finds leaks itself: ASAN_OPTIONS=detect_leaks=1" },
		{ "__hwasan_init", "the program's memory is HWAddressSanitizer's" },
		{ "__tsan_init", "the program's memory is ThreadSanitizer's" },
		{ "__msan_init", "the program's memory is MemorySanitizer's" },
		{ "__lsan_init", "the program's memory is LeakSanitizer's, which finds leaks itself" },
	};

	const char *why = NULL;

	for (size_t i = 0; i < COUNT(of) && !why; i++)
		if (dlsym(RTLD_DEFAULT, of[i].symbol))
			why = of[i].reason;
	dlerror();	/* what libc has allocated for that would be given back by the program */
	dlerror();
	return why;
}

static const char *filter(struct spi_agent *agent, struct spi_function *function, void *data)
{
	const char *name = spi_function_mangled_name(function);
	struct subject *s = subject_of(function);
	const char *why = sanitizer();

	(void) agent;
	(void) data;
	if (why)
		return why;
	memory_process_goes_on();
	if (!s)
		return "beyond the 1024 functions that are known";
	while (!strncmp(name, "__libc_", 7))	/* libc's own names for the same function */
		name += 7;
	for (size_t i = 0; i < COUNT(names); i++) {
		const int is_internal = !strncmp(name, "__", 2) && strncmp(names[i].name, "__", 2);

		if (strcmp(names[i].name, is_internal ? name + 2 : name))
			continue;
		s->known = &names[i];
		__atomic_store_n(&s->function, function, __ATOMIC_RELEASE);
		return NULL;
	}
	return "";
}

/* ---- begin ---- */

static int is_wrapper(struct dl_phdr_info *info, size_t size, void *found)
{
	(void) size;
	if (strstr(info->dlpi_name, "/liblttng-ust-libc-wrapper.so"))
		*(int *) found = 1;
	return 0;
}

static uint32_t frames_asked(struct spi_agent *agent)
{
	const char *asked = spi_agent_argument(agent, "backtrace");
	unsigned long n = asked ? strtoul(asked, NULL, 10) : 0;

	return n > FRAMES_MOST ? FRAMES_MOST : (uint32_t) n;
}

static int again(struct spi_agent *agent, void *data)
{
	(void) data;
	return memory_frames_set(frames_asked(agent));
}

static void fini(struct spi_agent *agent, void *data)
{
	(void) agent;
	(void) data;
	memory_process_over();
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = {
		.size = sizeof(options), .version = LTTNG_SPI_VERSION, .name = "memory",
		.flags = SPI_PAYLOAD_SIGNAL_SAFE | SPI_PAYLOAD_SMALL_STACK | SPI_AGENT_RECORDS_WAIT,
	};
	static const char beside[] =
		"memory: liblttng-ust-libc-wrapper.so is loaded, and records malloc() and its like itself, without backtraces\n";
	struct spi_agent *agent = spi_agent_create(&options);
	int has_wrapper = 0;

	if (!agent || memory_process_begin(spi_agent_is_injected(agent)) < 0)
		return;
	mallocs_find();
	dl_iterate_phdr(is_wrapper, &has_wrapper);
	if (has_wrapper)
		spi_agent_write(agent, beside, sizeof(beside) - 1);
	if (memory_events_add(agent, frames_asked(agent), !has_wrapper) < 0)
		return;
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_exit(agent, leave, NULL);
	spi_agent_set_filter(agent, filter, NULL);
	spi_agent_set_again(agent, again, NULL);
	spi_agent_set_fini(agent, fini, NULL);
	spi_agent_go(agent);
}
