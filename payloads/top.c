/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The payload `top`: where the process spends its time now, for `lttng-spi top`, which reads these lines:
 *
 *	top: sample COUNT ADDRESS PATH		so many samples at this address of the file, since the line before
 *	top: calls CALLS NS OBJECT FUNCTION	of an instrumented function: calls that ended, and the time in them
 *	top: end WALL-NS CPU-NS LOST		an interval is over: how long it was, the process's CPU time in it, and
 *						samples that found no place in the table
 *
 *	interval=MS	between two times that lines are written (1000)
 *	count=0		of the functions that the rule names, one is instrumented at most
 *
 * Samples come each 10 ms of a thread's CPU time. The thread whose sample comes when an interval is over writes the lines,
 * so a process that does nothing writes none. Whoever reads gives a pipe that does not block: what does not fit stays in
 * the tables.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <lttng/spi.h>
#include "payloads/memory.h"
#include "payloads/text.h"

#define TABLE		8192u		/* addresses, and functions; a power of two */
#define TRIES		64u
#define SAMPLE_US	10000u
#define NS		UINT64_C(1000000000)

static struct spi_agent *agent;

static struct place {
	uint64_t address;		/* 0: free */
	uint64_t count;			/* samples since lines were written */
} *places;
static uint64_t lost;

static struct subject {
	struct spi_function *function;
	uint64_t calls, ns;		/* since lines were written */
} *subjects;

static uint64_t interval, written, cpu;	/* ns: between lines, when the last ones were written, the CPU time then */
static int is_writing;
static int counts_calls;
static struct spi_function *first;	/* the one function of count=0 */

/* ---- counting ---- */

static struct subject *subject_of(struct spi_function *function)
{
	uint64_t at = (uint64_t) function >> 4;

	for (uint32_t tries = 0; tries < TRIES; tries++, at++) {
		struct subject *s = &subjects[at % TABLE];
		struct spi_function *known = __atomic_load_n(&s->function, __ATOMIC_ACQUIRE);

		if (!known && __atomic_compare_exchange_n(&s->function, &known, function, 0, __ATOMIC_ACQ_REL,
				__ATOMIC_ACQUIRE))
			known = function;
		if (known == function)
			return s;
	}
	return NULL;
}

static void *enter(struct spi_call *call, void *data)
{
	(void) call;
	(void) data;
	return (void *) spi_clock_ns();
}

static void leave(struct spi_call *call, void *data)
{
	struct subject *s = subject_of(spi_call_callee(call));

	(void) data;
	if (!s)
		return;
	__atomic_fetch_add(&s->calls, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&s->ns, spi_clock_ns() - (uint64_t) spi_call_user_data(call), __ATOMIC_RELAXED);
}

static int place_count(uint64_t address, uint32_t weight)
{
	uint64_t at = address * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	for (uint32_t tries = 0; tries < TRIES; tries++, at++) {
		struct place *p = &places[at % TABLE];
		uint64_t known = __atomic_load_n(&p->address, __ATOMIC_RELAXED);

		if (known == address || (!known && (__atomic_compare_exchange_n(&p->address, &known, address, 0,
				__ATOMIC_RELAXED, __ATOMIC_RELAXED) || known == address))) {
			__atomic_fetch_add(&p->count, weight, __ATOMIC_RELAXED);
			return 1;
		}
	}
	return 0;
}

/* ---- lines ---- */

static uint64_t cpu_ns(void)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t) ts.tv_sec * NS + (uint64_t) ts.tv_nsec;
}

/* 0: nobody can read it now. */
static int line_write(struct text *t)
{
	text_byte(t, '\n');
	return spi_agent_write(agent, t->line, t->size) >= 0;
}

static int place_write(struct place *p)
{
	const uint64_t count = __atomic_exchange_n(&p->count, 0, __ATOMIC_RELAXED);
	const struct spi_object *object = count ? spi_object_at(p->address) : NULL;
	struct text t = { .size = 0 };

	if (!count)
		return 1;
	text_put(&t, "top: sample ");
	text_number(&t, count, 0);
	text_byte(&t, ' ');
	text_hex(&t, p->address - (object ? spi_object_base(object) : 0));
	text_byte(&t, ' ');
	text_put(&t, object ? spi_object_path(object) : "");
	if (line_write(&t))
		return 1;
	__atomic_fetch_add(&p->count, count, __ATOMIC_RELAXED);
	return 0;
}

static int subject_write(struct subject *s)
{
	const uint64_t calls = __atomic_exchange_n(&s->calls, 0, __ATOMIC_RELAXED);
	const uint64_t ns = __atomic_exchange_n(&s->ns, 0, __ATOMIC_RELAXED);
	struct text t = { .size = 0 };

	if (!calls)
		return 1;
	text_put(&t, "top: calls ");
	text_number(&t, calls, 0);
	text_byte(&t, ' ');
	text_number(&t, ns, 0);
	text_byte(&t, ' ');
	text_put(&t, spi_object_name(spi_function_object(s->function)));
	text_byte(&t, ' ');
	text_put(&t, spi_function_name(s->function));
	if (line_write(&t))
		return 1;
	__atomic_fetch_add(&s->calls, calls, __ATOMIC_RELAXED);
	__atomic_fetch_add(&s->ns, ns, __ATOMIC_RELAXED);
	return 0;
}

static void lines_write(uint64_t now)
{
	const uint64_t cpu_now = cpu_ns();
	struct text t = { .size = 0 };
	int is_read = 1;

	for (uint32_t i = 0; is_read && i < TABLE; i++)
		if (places[i].address)
			is_read = place_write(&places[i]);
	for (uint32_t i = 0; is_read && counts_calls && i < TABLE; i++)
		if (subjects[i].function)
			is_read = subject_write(&subjects[i]);
	text_put(&t, "top: end ");
	text_number(&t, now - written, 0);
	text_byte(&t, ' ');
	text_number(&t, cpu_now - cpu, 0);
	text_byte(&t, ' ');
	text_number(&t, __atomic_exchange_n(&lost, 0, __ATOMIC_RELAXED), 0);
	if (is_read)
		is_read = line_write(&t);
	if (is_read)
		cpu = cpu_now;
	__atomic_store_n(&written, now, __ATOMIC_RELAXED);
}

static void sample(const struct spi_sample *s, void *data)
{
	const uint64_t now = spi_clock_ns();
	int nobody = 0;

	(void) data;
	if (!place_count(s->address, s->weight))
		__atomic_fetch_add(&lost, s->weight, __ATOMIC_RELAXED);
	if (now - __atomic_load_n(&written, __ATOMIC_RELAXED) < interval ||
			!__atomic_compare_exchange_n(&is_writing, &nobody, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	lines_write(now);
	__atomic_store_n(&is_writing, 0, __ATOMIC_RELEASE);
}

/* ---- begin and end ---- */

static const char *filter(struct spi_agent *a, struct spi_function *function, void *data)
{
	(void) a;
	(void) data;
	if (counts_calls)
		return NULL;
	if (!first)
		first = function;	/* a rule that has none would be refused */
	return function == first ? NULL : "";
}

static void fini(struct spi_agent *a, void *data)
{
	const char *reason = spi_agent_sampler_reason(a);

	(void) data;
	if (reason) {
		struct text t = { .size = 0 };

		text_put(&t, "top: no samples: ");
		text_put(&t, reason);
		line_write(&t);
	}
	own_memory_clear(places, TABLE * sizeof(*places));
	own_memory_clear(subjects, TABLE * sizeof(*subjects));
}

static int arguments_take(struct spi_agent *a, void *data)
{
	const char *count = spi_agent_argument(a, "count"), *ms = spi_agent_argument(a, "interval");

	(void) data;
	first = NULL;
	counts_calls = !count || strcmp(count, "0");
	interval = (ms ? strtoul(ms, NULL, 10) : 1000) * UINT64_C(1000000);
	written = spi_clock_ns();
	cpu = cpu_ns();
	return 0;
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = {
		.size = sizeof(options), .version = LTTNG_SPI_VERSION, .name = "top",
		.flags = SPI_PAYLOAD_SIGNAL_SAFE | SPI_PAYLOAD_GENERAL_REGISTERS | SPI_PAYLOAD_SMALL_STACK,
	};

	agent = spi_agent_create(&options);
	places = own_memory(TABLE * sizeof(*places));
	subjects = own_memory(TABLE * sizeof(*subjects));
	if (!agent || !places || !subjects)
		return;
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_exit(agent, leave, NULL);
	spi_agent_set_filter(agent, filter, NULL);
	spi_agent_set_sampler(agent, SAMPLE_US, sample, NULL);
	spi_agent_set_fini(agent, fini, NULL);
	spi_agent_set_again(agent, arguments_take, NULL);
	spi_agent_enable_fork(agent, 0);
	if (arguments_take(agent, NULL) == 0)
		spi_agent_go(agent);
}
