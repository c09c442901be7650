/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The payload `gprof`: a call graph with exact counts and a histogram of samples for each object, as programs built
 * with -pg write them at their end, in files that gprof(1) reads.
 *
 *	objects=GLOB,GLOB	libraries whose functions are counted, too (lttng trace makes rules of them)
 *	signal=SIGNAL		write the files also when the program gets this signal
 *	prefix=PATH		as GMON_OUT_PREFIX in the program's environment
 *
 * An arc is what mcount() counts: the return address of a call, and the callee. A function that a tail call leads to
 * has the return address of the call that the chain of tail calls began with.
 */
#include <string.h>
#include <sys/mman.h>
#include <lttng/spi.h>
#include "payloads/gprof.h"
#include "payloads/memory.h"
#include "payloads/signal-argument.h"

#define ARCS_LEAST	4096u
#define ARCS_MOST	(1u << 20)
#define MAKER_LOOKS	1000000
#define BYTES_AN_ARC	16u		/* of code, one for another; a call and what leads to it */

struct profile gprof_profiles[GPROF_OBJECTS];
uint32_t gprof_count;
uint64_t gprof_missed;
static const char *libraries;		/* objects=; NULL: none */
static int maker;			/* a thread makes a profile */
static struct spi_object *unchosen[64];	/* of a call tree, found by address */

/* ---- profiles ---- */

/* Without libc, whose functions may use vector registers. */
static int text_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* Does a glob of * and ?, which ends at `end`, mean the name? */
static int glob_means(const char *glob, const char *end, const char *name)
{
	for (; glob < end && *glob != '*'; glob++, name++)
		if (!*name || (*glob != '?' && *glob != *name))
			return 0;
	if (glob == end)
		return !*name;
	do
		if (glob_means(glob + 1, end, name))
			return 1;
	while (*name++);
	return 0;
}

/* The executable, and what objects= names. */
static int is_chosen(struct spi_object *object)
{
	const char *end;

	if (object == spi_object_executable())
		return 1;
	for (const char *glob = libraries; glob && *glob; glob = *end ? end + 1 : end) {
		for (end = glob; *end && *end != ','; end++)
			;
		if (glob_means(glob, end, spi_object_name(object)))
			return 1;
	}
	return 0;
}

static int tables_make(struct profile *p)
{
	uint64_t room = ARCS_LEAST;

	while (room < ARCS_MOST && room * BYTES_AN_ARC < p->size)
		room *= 2;
	p->room = room;
	p->bin_count = p->size / GPROF_BIN;
	p->arcs = own_memory(p->room * sizeof(*p->arcs));
	p->bins = own_memory(p->bin_count * sizeof(*p->bins));
	return p->arcs && p->bins;
}

/* Before a function of the object is counted, by one thread at a time. NULL, or why the function is not counted. */
static const char *profile_make(struct spi_object *object)
{
	struct profile *p = &gprof_profiles[gprof_count];
	uint64_t low, high;

	if (spi_object_text(object, &low, &high) < 0)
		return "its object has no code";
	low &= ~UINT64_C(15);
	high = (high + 15) & ~UINT64_C(15);
	for (uint32_t i = 0; i < gprof_count; i++) {
		struct profile *other = &gprof_profiles[i];

		if (other->object == object && other->low == low && !other->is_over)
			return NULL;
		if (low < other->low + other->size && other->low < high)
			other->is_over = 1;
	}
	if (gprof_count == GPROF_OBJECTS)
		return "64 objects have profiles already";
	if (high - low >= UINT32_MAX)
		return "its object has 4 GB of code and more";
	*p = (struct profile) { .object = object, .low = low, .size = high - low, .base = spi_object_base(object) };
	for (uint32_t i = 0; i < gprof_count; i++)
		p->twin += text_equal(spi_object_name(gprof_profiles[i].object), spi_object_name(object));
	if (!tables_make(p))
		return "there is no memory for its object's profile";
	__atomic_store_n(&gprof_count, gprof_count + 1, __ATOMIC_RELEASE);
	return NULL;
}

/* ---- counting ---- */

static inline struct profile *profile_at(uint64_t address)
{
	const uint32_t count = __atomic_load_n(&gprof_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++)
		if (address - gprof_profiles[i].low < gprof_profiles[i].size && !gprof_profiles[i].is_over)
			return &gprof_profiles[i];
	return NULL;
}

static void arc_count(struct profile *p, uint64_t from, uint64_t to)
{
	const uint64_t key = (from - p->low < p->size ? from - p->low + 1 : 0) << 32 | (to - p->low + 1);
	uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	for (uint64_t tries = 0; tries < p->room; tries++, at++) {
		struct arc *a = &p->arcs[at & (p->room - 1)];
		uint64_t known = __atomic_load_n(&a->key, __ATOMIC_RELAXED);

		if (known == key || (!known && (__atomic_compare_exchange_n(&a->key, &known, key, 0, __ATOMIC_RELAXED,
				__ATOMIC_RELAXED) || known == key))) {
			__atomic_fetch_add(&a->calls, 1, __ATOMIC_RELAXED);
			return;
		}
	}
	__atomic_fetch_add(&p->lost, 1, __ATOMIC_RELAXED);
}

/* A call tree's functions are met as they are called: an object's profile is made with its first call. */
static struct profile *profile_met(struct spi_function *function)
{
	struct spi_object *object = spi_function_object(function), **known = &unchosen[((uint64_t) object >> 6) % 64];
	int nobody = 0, looks = 0;

	if (!object || __atomic_load_n(known, __ATOMIC_RELAXED) == object)
		return NULL;
	if (!is_chosen(object)) {
		__atomic_store_n(known, object, __ATOMIC_RELAXED);
		return NULL;
	}
	while (!__atomic_compare_exchange_n(&maker, &nobody, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		nobody = 0;
		if (looks++ == MAKER_LOOKS) {	/* this is a signal's handler, which has interrupted the maker */
			__atomic_fetch_add(&gprof_missed, 1, __ATOMIC_RELAXED);
			return NULL;
		}
	}
	profile_make(object);
	__atomic_store_n(&maker, 0, __ATOMIC_RELEASE);
	return profile_at(spi_function_address(function));
}

static void *enter(struct spi_call *call, void *data)
{
	struct spi_function *function = spi_call_callee(call);
	const uint64_t callee = spi_function_address(function);
	struct profile *p = profile_at(callee);

	(void) data;
	if (!p)
		p = profile_met(function);
	if (p)
		arc_count(p, spi_call_return_address(call), callee);
	spi_call_propel(call);
	return NULL;
}

static void sample(const struct spi_sample *s, void *data)
{
	struct profile *p = profile_at(s->address);

	(void) data;
	if (p)
		__atomic_fetch_add(&p->bins[(s->address - p->low) / GPROF_BIN], s->weight, __ATOMIC_RELAXED);
}

/* ---- which functions ---- */

/* What the compiler's and libc's files for the start of a program have; -pg does not count them either. */
static int is_of_start(const char *name)
{
	static const char *const names[] = {
		"_start", "_init", "_fini", "deregister_tm_clones", "register_tm_clones", "__do_global_dtors_aux",
		"frame_dummy", "_dl_relocate_static_pie", "__libc_csu_init", "__libc_csu_fini", "__gmon_start__",
		"atexit", "at_quick_exit", "pthread_atfork", "__pthread_atfork", "_mcount", "mcount", "__fentry__",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return 1;
	return 0;
}

/*
 * C++: gcc's code that only moves `this`, and jumps to a virtual function. -pg counts the virtual function alone. A
 * thunk that the virtual function itself was put into is a function like others.
 */
static int is_thunk(const struct spi_function *function)
{
	const char *name = spi_function_mangled_name(function);
	const unsigned char *at = (const unsigned char *) spi_function_address(function);
	const unsigned char *begin;

	if (strncmp(name, "_ZT", 3) || !strchr("hvc", name[3]) || spi_function_size(function) < 6)
		return 0;
	at += !memcmp(at, "\xf3\x0f\x1e\xfa", 4) ? 4 : 0;				/* endbr64 */
	begin = at;
	if (at[0] == 0x48 && (at[1] == 0x83 || at[1] == 0x81) && (at[2] == 0xef || at[2] == 0xc7))
		at += at[1] == 0x83 ? 4 : 7;						/* sub or add $n, %rdi */
	if (!memcmp(at, "\x4c\x8b\x17\x49\x03", 5) && (at[5] == 0x7a || at[5] == 0xba))
		at += at[5] == 0x7a ? 7 : 10;						/* mov (%rdi), %r10; add n(%r10), %rdi */
	return at != begin && (at[0] == 0xe9 || at[0] == 0xeb);			/* jmp */
}

static const char *filter(struct spi_agent *agent, struct spi_function *function, void *data)
{
	(void) agent;
	(void) data;
	if (is_of_start(spi_function_mangled_name(function)) || is_thunk(function))
		return "";
	return profile_make(spi_function_object(function));
}

/* ---- begin and end ---- */

static void flush(struct spi_agent *agent, void *data)
{
	(void) data;
	gprof_files_write(agent, 0);
}

/* A rule that comes again begins anew. */
static void fini(struct spi_agent *agent, void *data)
{
	(void) data;
	gprof_files_write(agent, 1);
	for (uint32_t i = 0; i < gprof_count; i++) {
		own_memory_clear(gprof_profiles[i].arcs, gprof_profiles[i].room * sizeof(struct arc));
		own_memory_clear(gprof_profiles[i].bins, gprof_profiles[i].bin_count * sizeof(uint32_t));
		gprof_profiles[i].lost = 0;
	}
}

static int arguments_take(struct spi_agent *agent, void *data)
{
	(void) data;
	libraries = spi_agent_argument(agent, "objects");
	for (size_t i = 0; i < sizeof(unchosen) / sizeof(unchosen[0]); i++)
		unchosen[i] = NULL;
	gprof_files_begin(agent);
	return spi_agent_set_flush(agent, flush, NULL, signal_argument(spi_agent_argument(agent, "signal")));
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = {
		.size = sizeof(options), .version = LTTNG_SPI_VERSION, .name = "gprof",
		.flags = SPI_PAYLOAD_SIGNAL_SAFE | SPI_PAYLOAD_GENERAL_REGISTERS | SPI_PAYLOAD_SMALL_STACK,
	};
	struct spi_agent *agent = spi_agent_create(&options);

	if (!agent)
		return;
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_filter(agent, filter, NULL);
	spi_agent_set_sampler(agent, GPROF_US, sample, NULL);
	spi_agent_set_fini(agent, fini, NULL);
	spi_agent_set_again(agent, arguments_take, NULL);
	if (arguments_take(agent, NULL) == 0)
		spi_agent_go(agent);
}
