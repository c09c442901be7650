/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The payload `top`: where the process spends its time now, for `lttng-spi top`, which reads these lines:
 *
 *	top: sample COUNT KERNEL ADDRESS PATH
 *		So many samples at this address of the file, since the line before. KERNEL: 1: in a system call there.
 *	top: calls CALLS OPEN-NS ENDED NS ADDRESS PATH
 *		Of the instrumented function at this address: calls, in so much time; calls that ended, and the time
 *		in them.
 *	top: end WALL-NS CPU-NS LOST TRACING
 *		An interval is over: how long it was, the process's CPU time in it, samples that found no place in the
 *		table, and samples in code that tracing has brought.
 *
 *	interval=MS	between two times that lines are written (1000)
 *
 * Samples come each 10 ms of a thread's CPU time. The thread whose sample comes when an interval is over writes the
 * lines, so a process that does nothing writes none. Whoever reads gives a pipe that does not block: what does not fit
 * stays in the tables.
 *
 * Counting may take BUDGET of the CPU time. A function has its part of that in each interval; once that is used up,
 * calls go past the payload until the next interval begins.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <lttng/spi.h>
#include "payloads/memory.h"
#include "payloads/table.h"
#include "payloads/text.h"

#define PLACES		2048u		/* addresses in an interval; a power of two */
#define SUBJECTS	256u		/* functions; likewise */
#define SAMPLE_US	10000u
#define NS		UINT64_C(1000000000)
#define CALL_NS		250u		/* what counting a call takes, caches that it fills included */
#define BUDGET		400u		/* one part of so many, of the CPU time */
#define CALLS_FIRST	256u		/* a function's before it is known how much CPU time there is */

static struct spi_agent *agent;

static struct place {
	uint64_t address;		/* 0: free */
	uint64_t count;			/* samples since lines were written */
} *places;				/* two tables: samples go to one while the other one is written */
static uint32_t table;			/* which */
static uint64_t lost, tracing;		/* likewise */

static struct subject {
	uint64_t function;		/* 0: free */
	struct spi_point *point;
	uint64_t entered, ended, ns;	/* since lines were written */
	uint64_t opened, open_ns;	/* when calls began to come; and so long they came before that */
	uint32_t is_open;		/* do they come? */
} *subjects;
static uint32_t subject_count;
static uint64_t calls_most = CALLS_FIRST;	/* of a function, in an interval */

static uint64_t interval, written, cpu;	/* ns: between lines; when they were written last; the CPU time then */
static int is_writing;

/* ---- counting ---- */

static struct subject *subject_of(struct spi_call *call)
{
	return table_place(subjects, SUBJECTS, sizeof(*subjects), (uint64_t) spi_call_callee(call));
}

static void subject_open(struct subject *s, uint64_t now)
{
	s->opened = now;
	__atomic_store_n(&s->is_open, 1, __ATOMIC_RELEASE);
	spi_agent_pause(agent, s->point, 0);
}

static void subject_close(struct subject *s, uint64_t now)
{
	if (!__atomic_exchange_n(&s->is_open, 0, __ATOMIC_ACQ_REL))
		return;
	spi_agent_pause(agent, s->point, 1);
	__atomic_fetch_add(&s->open_ns, now - s->opened, __ATOMIC_RELAXED);
}

/* NULL: the call is not counted. */
static void *enter(struct spi_call *call, void *data)
{
	const uint64_t now = spi_clock_ns();
	struct subject *s = subject_of(call);
	struct spi_point *none = NULL;

	(void) data;
	if (!s)
		return NULL;
	if (!s->point && __atomic_compare_exchange_n(&s->point, &none, spi_call_point(call), 0, __ATOMIC_ACQ_REL,
			__ATOMIC_RELAXED)) {
		__atomic_fetch_add(&subject_count, 1, __ATOMIC_RELAXED);
		subject_open(s, now);
	}
	if (!__atomic_load_n(&s->is_open, __ATOMIC_ACQUIRE))
		return NULL;
	if (__atomic_add_fetch(&s->entered, 1, __ATOMIC_RELAXED) >= __atomic_load_n(&calls_most, __ATOMIC_RELAXED))
		subject_close(s, now);
	return (void *) now;
}

static void leave(struct spi_call *call, void *data)
{
	const uint64_t begin = (uint64_t) spi_call_user_data(call);
	struct subject *s = begin ? subject_of(call) : NULL;

	(void) data;
	if (!s)
		return;
	__atomic_fetch_add(&s->ended, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&s->ns, spi_clock_ns() - begin, __ATOMIC_RELAXED);
}

static int place_count(uint64_t address, uint32_t weight)
{
	struct place *first = places + PLACES * __atomic_load_n(&table, __ATOMIC_RELAXED);
	struct place *p = table_place(first, PLACES, sizeof(*places), address);

	if (p)
		__atomic_fetch_add(&p->count, weight, __ATOMIC_RELAXED);
	return p != NULL;
}

/* ---- lines ---- */

static uint64_t cpu_ns(void)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t) ts.tv_sec * NS + (uint64_t) ts.tv_nsec;
}

/* A thread that was within the kernel is about to run what stands behind its `syscall`, or that once more. */
static int is_system_call(uint64_t address)
{
	static const uint8_t instruction[2] = { 0x0f, 0x05 };
	const uint8_t *code = (const uint8_t *) address;
	const uint64_t offset = address & 4095;		/* in a page that can be read */

	return (offset >= 2 && !memcmp(code - 2, instruction, 2)) || (offset <= 4094 && !memcmp(code, instruction, 2));
}

/* 0: nobody can read it now. */
static int line_write(struct text *t)
{
	text_byte(t, '\n');
	return spi_agent_write(agent, t->line, t->size) >= 0;
}

static void address_put(struct text *t, uint64_t address, const struct spi_object *object)
{
	text_hex(t, address - (object ? spi_object_base(object) : 0));
	text_byte(t, ' ');
	text_put(t, object ? spi_object_path(object) : "");
}

/* The place is free again. A thread that found it before the tables changed may lose its sample. */
static int place_write(struct place *p)
{
	const uint64_t count = __atomic_exchange_n(&p->count, 0, __ATOMIC_RELAXED);
	const struct spi_object *object = spi_object_at(p->address);
	struct text t = { .size = 0 };

	text_put(&t, "top: sample ");
	text_number(&t, count, 0);
	text_put(&t, object && is_system_call(p->address) ? " 1 " : " 0 ");
	address_put(&t, p->address, object);
	if (!line_write(&t)) {
		__atomic_fetch_add(&p->count, count, __ATOMIC_RELAXED);
		return 0;
	}
	__atomic_store_n(&p->address, 0, __ATOMIC_RELEASE);
	return 1;
}

static void number_put(struct text *t, uint64_t number)
{
	text_number(t, number, 0);
	text_byte(t, ' ');
}

/* Calls come again from now on. */
static int subject_write(struct subject *s, uint64_t now)
{
	const struct spi_function *function = (const struct spi_function *) s->function;
	uint64_t entered, open_ns, ended, ns;
	struct text t = { .size = 0 };

	subject_close(s, now);
	entered = __atomic_exchange_n(&s->entered, 0, __ATOMIC_RELAXED);
	open_ns = __atomic_exchange_n(&s->open_ns, 0, __ATOMIC_RELAXED);
	ended = __atomic_exchange_n(&s->ended, 0, __ATOMIC_RELAXED);
	ns = __atomic_exchange_n(&s->ns, 0, __ATOMIC_RELAXED);
	subject_open(s, now);
	text_put(&t, "top: calls ");
	number_put(&t, entered);
	number_put(&t, open_ns);
	number_put(&t, ended);
	number_put(&t, ns);
	address_put(&t, spi_function_address(function), spi_function_object(function));
	return line_write(&t);
}

static void lines_write(uint64_t now)
{
	const uint64_t cpu_now = cpu_ns(), cpu_used = cpu_now - cpu;
	const uint32_t n = __atomic_load_n(&subject_count, __ATOMIC_RELAXED);
	struct place *written_places = places + PLACES * table;
	struct text t = { .size = 0 };
	int is_read = 1;

	__atomic_store_n(&calls_most, 1 + cpu_used / BUDGET / CALL_NS / (n ? n : 1), __ATOMIC_RELAXED);
	__atomic_store_n(&table, !table, __ATOMIC_RELAXED);
	for (uint32_t i = 0; is_read && i < PLACES; i++)
		if (written_places[i].address)
			is_read = place_write(&written_places[i]);
	for (uint32_t i = 0; is_read && n && i < SUBJECTS; i++)
		if (subjects[i].point)
			is_read = subject_write(&subjects[i], now);
	text_put(&t, "top: end ");
	number_put(&t, now - written);
	number_put(&t, cpu_used);
	number_put(&t, __atomic_exchange_n(&lost, 0, __ATOMIC_RELAXED));
	number_put(&t, __atomic_exchange_n(&tracing, 0, __ATOMIC_RELAXED));
	if (is_read && line_write(&t)) {
		cpu = cpu_now;
		__atomic_store_n(&written, now, __ATOMIC_RELAXED);
	}
}

static void sample(const struct spi_sample *s, void *data)
{
	const uint64_t now = spi_clock_ns();
	int nobody = 0;

	(void) data;
	if (s->is_tracing || !place_count(s->address, s->weight))
		__atomic_fetch_add(s->is_tracing ? &tracing : &lost, s->weight, __ATOMIC_RELAXED);
	if (now - __atomic_load_n(&written, __ATOMIC_RELAXED) < interval ||
			!__atomic_compare_exchange_n(&is_writing, &nobody, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	lines_write(now);
	__atomic_store_n(&is_writing, 0, __ATOMIC_RELEASE);
}

/* ---- begin and end ---- */

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
	own_memory_clear(places, 2 * PLACES * sizeof(*places));
	own_memory_clear(subjects, SUBJECTS * sizeof(*subjects));
	subject_count = 0;
	calls_most = CALLS_FIRST;
}

static int arguments_take(struct spi_agent *a, void *data)
{
	const char *ms = spi_agent_argument(a, "interval");

	(void) data;
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
	places = own_memory(2 * PLACES * sizeof(*places));
	subjects = own_memory(SUBJECTS * sizeof(*subjects));
	if (!agent || !places || !subjects)
		return;
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_exit(agent, leave, NULL);
	spi_agent_set_sampler(agent, SAMPLE_US, sample, NULL);
	spi_agent_set_fini(agent, fini, NULL);
	spi_agent_set_again(agent, arguments_take, NULL);
	spi_agent_enable_fork(agent, 0);
	if (arguments_take(agent, NULL) == 0)
		spi_agent_go(agent);
}
