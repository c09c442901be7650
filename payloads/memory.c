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
 * spi_resource:process comes first in each process, and says what the program had before: constructors of libraries run
 * before the agent's.
 *
 * Not the program's, although it calls malloc() or free(): malloc()'s own code, which ends a thread's cache by free().
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <lttng/spi.h>
#include "payloads/memory-names.h"
#include "payloads/memory.h"

#define TABLE		1024u		/* functions; a power of two */
#define FRAMES_MOST	128u
#define ANEW		4u		/* calls at one place of the stack that have not returned: the first has no exit */
#define PAGE		4096u
#define MALLOCS_MOST	65536u		/* bytes of code; more: it does not stand together in this libc */
#define HEAP_MARK	65536u		/* bytes: such a block comes from the heap's end */
#define SP		7u		/* spi_call_register() */

enum what {
	MALLOC = 1, CALLOC, REALLOC, REALLOCARRAY, FREE, MEMALIGN, POSIX_MEMALIGN, PAGES,
	MMAP, MUNMAP, MREMAP, BRK, SBRK,
	OPEN, DESCRIPTOR, SIGNALFD, FCNTL, PAIR, CLOSE, CLOSE_RANGE, CLOSE_FROM,
	THREAD_CREATE, THREAD_JOIN, THREAD_DETACH,
};

struct known {
	const char *name;
	uint8_t what, first, second;
};

#define KNOWN(name, what, first, second) { #name, what, first, second },
static const struct known names[] = { MEMORY_NAMES(KNOWN) MEMORY_PYTHON_NAMES(KNOWN) };

static struct subject {
	struct spi_function *function;
	const struct known *known;
} subjects[TABLE];

static uint32_t frames;		/* of a backtrace; 0: none */

/* ---- events ---- */

static struct {
	struct spi_record *malloc, *calloc, *realloc, *free, *memalign, *posix_memalign;
	struct spi_record *process, *mmap, *munmap, *mremap, *brk, *open, *close, *close_range, *thread_create,
		*thread_join, *thread_detach;
} events;

#define UNSIGNED(name)	{ name, SPI_RECORD_UNSIGNED }
#define HEX(name)	{ name, SPI_RECORD_HEX }
#define INT(name)	{ name, SPI_RECORD_INT }
#define TEXT(name)	{ name, SPI_RECORD_TEXT }
#define FIELDS_MOST	6u

static const struct event {
	struct spi_record **to;
	const char *name;
	int is_got;		/* with a backtrace, where that is asked for */
	struct spi_record_field fields[FIELDS_MOST];
} memory_events[] = {	/* as liblttng-ust-libc-wrapper has them */
	{ &events.malloc, "malloc", 1, { UNSIGNED("size"), HEX("ptr") } },
	{ &events.calloc, "calloc", 1, { UNSIGNED("nmemb"), UNSIGNED("size"), HEX("ptr") } },
	{ &events.realloc, "realloc", 1, { HEX("in_ptr"), UNSIGNED("size"), HEX("ptr") } },
	{ &events.free, "free", 0, { HEX("ptr") } },
	{ &events.memalign, "memalign", 1, { UNSIGNED("alignment"), UNSIGNED("size"), HEX("ptr") } },
	{ &events.posix_memalign, "posix_memalign", 1,
		{ HEX("out_ptr"), UNSIGNED("alignment"), UNSIGNED("size"), INT("result") } },
}, resource_events[] = {
	{ &events.process, "process", 0, { INT("begun"), INT("parent"), HEX("heap_low"), HEX("heap_mark"),
		UNSIGNED("in_use") } },
	{ &events.mmap, "mmap", 1, { HEX("addr"), UNSIGNED("length"), INT("prot"), INT("flags"), INT("fd") } },
	{ &events.munmap, "munmap", 0, { HEX("addr"), UNSIGNED("length") } },
	{ &events.mremap, "mremap", 1, { HEX("old_addr"), UNSIGNED("old_length"), HEX("addr"), UNSIGNED("length") } },
	{ &events.brk, "brk", 1, { HEX("addr") } },
	{ &events.open, "open", 1, { INT("fd"), TEXT("function"), TEXT("name") } },
	{ &events.close, "close", 0, { INT("fd") } },
	{ &events.close_range, "close_range", 0, { UNSIGNED("first"), UNSIGNED("last") } },
	{ &events.thread_create, "thread_create", 1, { HEX("thread"), HEX("start"), INT("detached") } },
	{ &events.thread_join, "thread_join", 0, { HEX("thread") } },
	{ &events.thread_detach, "thread_detach", 0, { HEX("thread") } },
};
#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static int events_add(struct spi_agent *agent, const char *provider, const struct event *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct spi_record_field fields[FIELDS_MOST];
		size_t n = 0;

		for (; n < FIELDS_MOST && list[i].fields[n].name; n++)
			fields[n] = list[i].fields[n];
		if (frames && list[i].is_got)
			fields[n++] = (struct spi_record_field) { "backtrace", SPI_RECORD_ADDRESSES };
		*list[i].to = spi_agent_add_record(agent, provider, list[i].name, fields, n);
		if (!*list[i].to)
			return -ENOMEM;
	}
	return 0;
}

/* ---- the process ---- */

enum begun { FROM_ITS_START, ATTACHED, FORKED };	/* of the event */

static struct told {		/* a forked child has it zeroed */
	uint32_t is_told, is_known;
} *told;
static uint32_t is_attached, is_over;
static uint64_t heap_low, heap_mark;	/* what malloc() had from brk() before lies between the two */
static uint64_t in_use;			/* bytes */

static void heap_look(void)
{
	void *mark = malloc(HEAP_MARK);
	const struct mallinfo2 info = mallinfo2();
	const uint64_t top = (uint64_t) sbrk(0);

	in_use = info.uordblks + info.hblkhd;
	in_use -= in_use < HEAP_MARK ? in_use : HEAP_MARK;
	if ((uint64_t) mark < top && (uint64_t) mark >= top - info.arena) {
		heap_low = top - info.arena;
		heap_mark = (uint64_t) mark;
	}
	free(mark);
}

/* Another trace of a process that runs. A program that could not be executed is no end: no rule comes then. */
static void begin_again(void)
{
	is_over = 0;
	is_attached = told->is_known = 1;
	heap_look();
	told->is_told = 0;
}

static void process_tell(struct spi_call *call)
{
	const int is_forked = !told->is_known;
	const uint64_t values[] = { is_forked ? FORKED : is_attached ? ATTACHED : FROM_ITS_START, (uint32_t) getppid(),
		heap_low, heap_mark, is_forked ? 0 : in_use };

	if (!spi_record_is_on(events.process) || __atomic_exchange_n(&told->is_told, 1, __ATOMIC_RELAXED))
		return;
	spi_record_write(events.process, spi_call_return_address(call), values, NULL, 0);
}

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

static void write_plain(struct spi_call *call, struct spi_record *record, const uint64_t *values)
{
	spi_record_write(record, spi_call_return_address(call), values, NULL, 0);
}

/* What gives back is complete at its entry. */
static void give_back(struct spi_call *call, const struct known *k, const uint64_t *a)
{
	const uint64_t from_on[] = { a[0], UINT32_MAX }, range[] = { (uint32_t) a[0], (uint32_t) a[1] };

	switch (k->what) {
	case FREE:
		if (a[k->first])
			write_plain(call, events.free, &a[k->first]);
		break;
	case MUNMAP:
		write_plain(call, events.munmap, a);
		break;
	case CLOSE:
		write_plain(call, events.close, a);
		break;
	case CLOSE_RANGE:
		if (!(a[2] & ~UINT64_C(2)))	/* not CLOSE_RANGE_CLOEXEC */
			write_plain(call, events.close_range, range);
		break;
	case CLOSE_FROM:
		write_plain(call, events.close_range, from_on);
		break;
	}
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
	if (!__atomic_load_n(&told->is_told, __ATOMIC_RELAXED))
		process_tell(call);
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
	give_back(call, k, o->values);
	return (void *) o->serial;
}

/* ---- ends ---- */

static void write_got(struct spi_call *call, struct spi_record *record, const uint64_t *values)
{
	uint64_t addresses[frames ? frames : 1];
	const uint64_t ip = spi_call_return_address(call);
	size_t n = 0;

	if (!spi_record_is_on(record))
		return;
	if (frames) {
		n = spi_call_backtrace(call, addresses, frames);
		if (!n) {
			addresses[0] = ip;
			n = 1;
		}
	}
	spi_record_write(record, ip, values, addresses, n);
}

static void allocated(struct spi_call *call, const struct known *k, const uint64_t *a, uint64_t result)
{
	const uint64_t first = a[k->first], second = a[k->second];

	switch (k->what) {
	case MALLOC:
		write_got(call, events.malloc, (const uint64_t[]) { first, result });
		break;
	case CALLOC:
		write_got(call, events.calloc, (const uint64_t[]) { first, second, result });
		break;
	case REALLOC:
		write_got(call, events.realloc, (const uint64_t[]) { first, second, result });
		break;
	case REALLOCARRAY:
		write_got(call, events.realloc, (const uint64_t[]) { first, second * a[2], result });
		break;
	case MEMALIGN:
		write_got(call, events.memalign, (const uint64_t[]) { first, second, result });
		break;
	case PAGES:
		write_got(call, events.memalign, (const uint64_t[]) { PAGE, first, result });
		break;
	case POSIX_MEMALIGN:	/* an error leaves *memptr as it was */
		write_got(call, events.posix_memalign, (const uint64_t[]) {
			(int) result ? 0 : *(const uint64_t *) first, second, a[2], (uint32_t) result });
		break;
	}
}

static void mapped(struct spi_call *call, const struct known *k, const uint64_t *a, uint64_t result)
{
	const int failed = result == (uint64_t) MAP_FAILED;

	if (k->what == MMAP && !failed)
		write_got(call, events.mmap, (const uint64_t[]) { result, a[1], a[2], a[3], a[4] });
	else if (k->what == MREMAP && !failed)
		write_got(call, events.mremap, (const uint64_t[]) { a[0], a[1], result, a[2] });
	else if (k->what == BRK && !(int) result)
		write_got(call, events.brk, a);
	else if (k->what == SBRK && !failed && a[0])
		write_got(call, events.brk, (const uint64_t[]) { result + a[0] });
}

static void opened(struct spi_call *call, const struct known *k, const uint64_t *a, int result)
{
	const uint64_t function = (uint64_t) k->name;
	const int *pair = (const int *) a[k->first];

	if (result < 0 || (k->what == SIGNALFD && (int) a[0] >= 0))
		return;
	if (k->what == FCNTL && (int) a[1] != F_DUPFD && (int) a[1] != F_DUPFD_CLOEXEC)
		return;
	if (k->what != PAIR) {
		write_got(call, events.open, (const uint64_t[]) { (uint32_t) result, function,
			k->what == OPEN ? a[k->first] : 0 });
		return;
	}
	write_got(call, events.open, (const uint64_t[]) { (uint32_t) pair[0], function, 0 });
	write_got(call, events.open, (const uint64_t[]) { (uint32_t) pair[1], function, 0 });
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
	switch (k->what) {
	case MALLOC ... PAGES:
		allocated(call, k, a, result);
		break;
	case MMAP ... SBRK:
		mapped(call, k, a, result);
		break;
	case OPEN ... PAIR:
		opened(call, k, a, (int) result);
		break;
	case THREAD_CREATE:
		if (!(int) result)
			write_got(call, events.thread_create, (const uint64_t[]) {
				*(const uint64_t *) a[0], a[2], a[1] });
		break;
	case THREAD_JOIN:
		if (!(int) result)
			write_plain(call, events.thread_join, a);
		break;
	case THREAD_DETACH:
		if (!(int) result)
			write_plain(call, events.thread_detach, a);
		break;
	}
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
	if (is_over)
		begin_again();
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

/* lttng-ust keeps an event as it was first made. */
static int again(struct spi_agent *agent, void *data)
{
	const uint32_t asked = frames_asked(agent);

	(void) data;
	if (!asked != !frames)
		return -EBUSY;
	frames = asked;
	return 0;
}

static void fini(struct spi_agent *agent, void *data)
{
	(void) agent;
	(void) data;
	is_over = 1;
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

	told = own_memory(sizeof(*told));
	if (!agent || !told)
		return;
	told->is_known = 1;
	is_attached = spi_agent_is_injected(agent);
	heap_look();
	mallocs_find();
	frames = frames_asked(agent);
	dl_iterate_phdr(is_wrapper, &has_wrapper);
	if (has_wrapper)
		spi_agent_write(agent, beside, sizeof(beside) - 1);
	else if (events_add(agent, "lttng_ust_libc", memory_events, COUNT(memory_events)) < 0)
		return;
	if (events_add(agent, "spi_resource", resource_events, COUNT(resource_events)) < 0)
		return;
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_exit(agent, leave, NULL);
	spi_agent_set_filter(agent, filter, NULL);
	spi_agent_set_again(agent, again, NULL);
	spi_agent_set_fini(agent, fini, NULL);
	spi_agent_go(agent);
}
