/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The payload `count`: calls by function, the most frequent first, at the end and on a signal.
 *
 *	signal=SIGNAL	print what was counted so far when the program gets this signal
 *	top=N		so many functions; all without it
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <lttng/spi.h>
#include "payloads/report.h"
#include "payloads/signal-argument.h"
#include "payloads/table.h"

#define TABLE	(1u << 17)	/* functions; a power of two */

static struct spi_agent *agent;
static struct counter {
	uint64_t function;		/* 0: free */
	uint64_t calls;
} table[TABLE], sorted[TABLE];
static uint64_t unknown, full;
static uint32_t top;
static int first_pid;
static int has_subject;	/* a function that a rule names is instrumented */
static struct report report = { .name = "count" };

static const struct spi_function *function_of(const struct counter *c)
{
	return (const struct spi_function *) c->function;
}

static void *enter(struct spi_call *call, void *data)
{
	struct spi_function *callee = spi_call_callee(call);
	struct counter *c = callee ? table_place(table, TABLE, sizeof(*table), (uint64_t) callee) : NULL;

	(void) data;
	__atomic_fetch_add(c ? &c->calls : callee ? &full : &unknown, 1, __ATOMIC_RELAXED);
	spi_call_propel(call);
	return NULL;
}

static int is_before(const struct counter *a, const struct counter *b)
{
	if (a->calls != b->calls)
		return a->calls > b->calls;
	return strcmp(spi_function_name(function_of(a)), spi_function_name(function_of(b))) < 0;
}

/* Heap sort: qsort() allocates memory, which a signal handler must not. */
static void sink(uint32_t at, uint32_t n)
{
	for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
		struct counter c = sorted[at];

		child += child + 1 < n && is_before(&sorted[child], &sorted[child + 1]);
		if (!is_before(&c, &sorted[child]))
			return;
		sorted[at] = sorted[child];
		sorted[child] = c;
	}
}

static void sort(uint32_t n)
{
	for (uint32_t at = n / 2; at--;)
		sink(at, n);
	while (n > 1) {
		struct counter last = sorted[--n];

		sorted[n] = sorted[0];
		sorted[0] = last;
		sink(0, n);
	}
}

static void say(uint64_t calls, const char *name, const char *object)
{
	struct text t = { .size = 0 };

	text_number(&t, calls, 12);
	text_put(&t, "  ");
	text_put(&t, name);
	if (*object) {
		text_put(&t, "  ");
		text_put(&t, object);
	}
	report_line(&report, &t);
}

/* At the end counting begins anew; on a signal (`a` is NULL) it goes on. */
static void table_say(struct spi_agent *a, void *data)
{
	static const char none[] = "count: none of the functions was called\n";
	uint32_t n = 0, i;

	(void) data;
	for (i = 0; i < TABLE; i++) {
		uint64_t calls = a ? __atomic_exchange_n(&table[i].calls, 0, __ATOMIC_RELAXED) : table[i].calls;

		if (calls)
			sorted[n++] = (struct counter) { table[i].function, calls };
	}
	if (!n && !unknown) {
		if (a && has_subject && first_pid == (int) getpid())
			spi_agent_write(agent, none, sizeof(none) - 1);
		return;
	}
	report.agent = agent;
	report_begin(&report);
	sort(n);
	for (i = 0; i < n && (!top || i < top); i++)
		say(sorted[i].calls, spi_function_name(function_of(&sorted[i])),
			spi_object_name(spi_function_object(function_of(&sorted[i]))));
	if (unknown)
		say(unknown, "(code that nothing is known of)", "");
	if (full)
		say(full, "(further functions)", "");
	report_end(&report);
}

static const char *filter(struct spi_agent *a, struct spi_function *function, void *data)
{
	(void) a;
	(void) function;
	(void) data;
	has_subject = 1;
	return NULL;
}

/* A forked child counts its own calls alone. */
static void child(void)
{
	for (uint32_t i = 0; i < TABLE; i++)
		if (table[i].calls)
			table[i].calls = 0;
	unknown = full = 0;
}

static void flush(struct spi_agent *a, void *data)
{
	(void) a;
	table_say(NULL, data);
}

static int arguments_take(struct spi_agent *a, void *data)
{
	const char *number = spi_agent_argument(a, "top");

	(void) data;
	top = number ? (uint32_t) atoi(number) : 0;
	return spi_agent_set_flush(a, flush, NULL, signal_argument(spi_agent_argument(a, "signal")));
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = {
		.size = sizeof(options), .version = LTTNG_SPI_VERSION, .flags = SPI_PAYLOAD_SIGNAL_SAFE, .name = "count",
	};

	agent = spi_agent_create(&options);
	if (!agent)
		return;
	first_pid = (int) getpid();
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_filter(agent, filter, NULL);
	spi_agent_set_fini(agent, table_say, NULL);
	spi_agent_set_again(agent, arguments_take, NULL);
	pthread_atfork(NULL, NULL, child);
	if (arguments_take(agent, NULL) == 0)
		spi_agent_go(agent);
}
