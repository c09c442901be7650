/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The payload `hist`: for each function how often it was called, and a histogram by powers of two, of latency in
 * nanoseconds, or of a value.
 *
 *	by=ARG		of the argument ARG: a parameter's name, or argN for the Nth one, from 1 on
 *	by=return	of the result
 *	signal=SIGNAL	print what was counted so far when the program gets this signal
 *
 * A call's latency is the time from its entry to its exit; each call of a recursion counts. Nothing is recorded: any
 * thread counts in the function's own table, without a lock. A value with a fraction counts without the fraction.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <lttng/spi.h>
#include "payloads/memory.h"
#include "payloads/report.h"
#include "payloads/signal-argument.h"
#include "payloads/table.h"

#define TABLE		8192u		/* functions; a power of two */
#define BUCKETS		64u		/* of one sign */
#define BAR		52u		/* columns of the longest bar */

enum by { BY_LATENCY, BY_ARGUMENT, BY_RETURN };

static struct spi_agent *agent;
static enum by by;
static const char *argument = "";	/* its name */
static unsigned int position;		/* argN: N; 0: it is a name */
static int first_pid;
static int has_subject;			/* a function that a rule names is instrumented */

static struct subject {
	uint64_t function;
	int parameter;			/* its number; -ENODATA: the register by `position` */
} subjects[TABLE];

/* A forked child has them zeroed. Bucket n: from 2^(n-1) on, below 2^n; 0: the value 0. */
static struct counts {
	uint64_t entered, counted, unknown;
	int64_t sum;
	uint64_t under, over;		/* how far the least is below INT64_MAX, and the greatest above INT64_MIN */
	uint64_t above[BUCKETS + 1], below[BUCKETS + 1];
} *counts;
static uint64_t full;			/* calls of functions beyond the table */

/* ---- counting ---- */

static uint32_t subject_of(struct spi_function *function)
{
	const struct subject *s = table_place(subjects, TABLE, sizeof(*subjects), (uint64_t) function);

	return s ? (uint32_t) (s - subjects) : TABLE;
}

static void at_least(uint64_t *place, uint64_t value)
{
	uint64_t seen = __atomic_load_n(place, __ATOMIC_RELAXED);

	while (seen < value && !__atomic_compare_exchange_n(place, &seen, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void count(struct counts *c, int64_t value)
{
	const uint64_t size = value < 0 ? 0 - (uint64_t) value : (uint64_t) value;
	const unsigned int bucket = size ? 64u - (unsigned int) __builtin_clzll(size) : 0;

	__atomic_fetch_add(value < 0 ? &c->below[bucket] : &c->above[bucket], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&c->sum, value, __ATOMIC_RELAXED);
	at_least(&c->under, (uint64_t) INT64_MAX - (uint64_t) value);
	at_least(&c->over, (uint64_t) value - (uint64_t) INT64_MIN);
	__atomic_fetch_add(&c->counted, 1, __ATOMIC_RELAXED);
}

/* Without debug info: an integer argument as the psABI passes it. */
static int argument_pop(struct spi_call *call, int64_t *value)
{
	struct spi_arguments arguments = { 0 };
	const int64_t *at = NULL;

	for (unsigned int i = 0; i < position; i++)
		at = spi_call_pop_argument(call, &arguments, sizeof(*at));
	if (at)
		*value = *at;
	return at ? 0 : -ENODATA;
}

/* What is not a number has no place among the rows. Payloads that come along use no floating-point registers. */
static int scalar_take(int r, const struct spi_scalar *scalar, int64_t *value)
{
	uint64_t bits;

	memcpy(&bits, &scalar->real, sizeof(bits));
	if (r == 0 && scalar->kind == SPI_SCALAR_REAL && bits << 1 > UINT64_C(0x7ff) << 53)
		return -ENODATA;
	*value = scalar->integer;
	return r;
}

static int argument_get(struct spi_call *call, const struct subject *s, int64_t *value)
{
	struct spi_scalar scalar = { 0 };

	if (s->parameter < 0)
		return position ? argument_pop(call, value) : -ENODATA;
	return scalar_take(spi_call_argument(call, (size_t) s->parameter, &scalar), &scalar, value);
}

static void *enter(struct spi_call *call, void *data)
{
	const uint32_t n = subject_of(spi_call_callee(call));
	int64_t value;

	(void) data;
	spi_call_propel(call);
	if (n == TABLE) {
		__atomic_fetch_add(&full, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	__atomic_fetch_add(&counts[n].entered, 1, __ATOMIC_RELAXED);
	if (by == BY_LATENCY)
		return (void *) spi_clock_ns();
	if (by == BY_ARGUMENT && argument_get(call, &subjects[n], &value) == 0)
		count(&counts[n], value);
	else if (by == BY_ARGUMENT)
		__atomic_fetch_add(&counts[n].unknown, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void leave(struct spi_call *call, void *data)
{
	const uint64_t now = by == BY_LATENCY ? spi_clock_ns() : 0;
	const uint32_t n = subject_of(spi_call_callee(call));
	const enum spi_call_ending ending = spi_call_ending(call);
	struct spi_scalar scalar = { 0 };
	int64_t value;

	(void) data;
	if (n == TABLE)
		return;
	if (by == BY_LATENCY && ending < SPI_CALL_THREAD_ENDED)
		count(&counts[n], (int64_t) (now - (uint64_t) spi_call_user_data(call)));
	else if (by == BY_RETURN && ending == SPI_CALL_RETURNED && scalar_take(spi_call_result(call, &scalar), &scalar, &value) == 0)
		count(&counts[n], value);
	else if (ending < SPI_CALL_THREAD_ENDED)
		__atomic_fetch_add(&counts[n].unknown, 1, __ATOMIC_RELAXED);
}

/* ---- which functions ---- */

/* The user is told of the latest one; `function`: with the parameters that there are. */
static const char *refusal(const char *begin, const struct spi_function *function)
{
	const size_t count = function ? spi_function_parameter_count(function) : 0;
	static char text[256];
	struct text t = { .size = 0 };

	text_put(&t, begin);
	text_put(&t, argument);
	for (size_t i = 0; i < count && t.size < sizeof(text) - 64; i++) {
		text_put(&t, i ? ", " : "; it has ");
		text_put(&t, spi_function_parameter_name(function, i));
	}
	t.line[t.size < sizeof(text) ? t.size : sizeof(text) - 1] = 0;
	memcpy(text, t.line, sizeof(text));
	return text;
}

/* argN: the parameter that the source has in this place. */
static int parameter_find(struct spi_function *function)
{
	const size_t count = spi_function_parameter_count(function);
	int number = spi_function_parameter_find(function, argument);

	if (number == -ENOENT && position && position <= count)
		number = (int) position - 1;
	return number;
}

static const char *filter(struct spi_agent *a, struct spi_function *function, void *data)
{
	const uint32_t n = subject_of(function);
	int number = by == BY_ARGUMENT ? parameter_find(function) : 0;

	(void) a;
	(void) data;
	if (n == TABLE)
		return "beyond the 8192 functions that have a histogram";
	if (by == BY_RETURN && !*spi_function_result_type(function) &&
			spi_function_parameter_find(function, "") != -ENODATA)
		return "it returns nothing";
	if (number == -ENOENT)
		return refusal("it has no parameter ", function);
	if (number == -ENODATA && !position)
		return refusal("without debug info nothing is known of a parameter ", NULL);
	subjects[n].parameter = number;
	has_subject = 1;
	return NULL;
}

/* ---- what is printed ---- */

static struct report report = { .name = "hist" };

static void text_signed(struct text *t, int64_t value)
{
	if (value < 0)
		text_byte(t, '-');
	text_number(t, value < 0 ? 0 - (uint64_t) value : (uint64_t) value, 0);
}

/* As bpftrace: 1K is 1024. */
static void text_power(struct text *t, unsigned int power)
{
	static const char units[] = "\0KMGTPE";

	text_number(t, UINT64_C(1) << power % 10, 0);
	if (power >= 10)
		text_byte(t, units[power / 10]);
}

static void text_bucket(struct text *t, unsigned int bucket, int is_negative)
{
	const size_t begin = t->size;

	text_byte(t, is_negative && bucket > 1 ? '(' : '[');
	if (!bucket || bucket == 1) {
		text_put(t, !bucket ? "0]" : is_negative ? "-1]" : "1]");
	} else if (is_negative) {
		text_byte(t, '-');
		text_power(t, bucket);
		text_put(t, ", -");
		text_power(t, bucket - 1);
		text_byte(t, ']');
	} else {
		text_power(t, bucket - 1);
		text_put(t, ", ");
		text_power(t, bucket);
		text_byte(t, ')');
	}
	while (t->size < begin + 16)
		text_byte(t, ' ');
}

static void row_say(uint64_t calls, uint64_t longest, unsigned int bucket, int is_negative)
{
	const uint64_t bar = longest > UINT32_MAX ? calls / (longest / BAR) : calls * BAR / longest;
	struct text t = { .size = 0 };

	text_bucket(&t, bucket, is_negative);
	text_number(&t, calls, 12);
	text_put(&t, " |");
	for (unsigned int i = 0; i < BAR; i++)
		text_byte(&t, i < bar ? '@' : ' ');
	text_byte(&t, '|');
	report_line(&report, &t);
}

/* From the lowest bucket that has calls to the highest one, those between them without calls, too. */
static void rows_say(const struct counts *c)
{
	int low = (int) BUCKETS, high = -(int) BUCKETS;
	uint64_t longest = 1;

	for (int i = -(int) BUCKETS; i <= (int) BUCKETS; i++) {
		const uint64_t calls = i < 0 ? c->below[-i] : c->above[i];

		if (!calls)
			continue;
		low = i < low ? i : low;
		high = i;
		longest = calls > longest ? calls : longest;
	}
	for (int i = low; i <= high; i++)
		row_say(i < 0 ? c->below[-i] : c->above[i], longest, (unsigned int) (i < 0 ? -i : i), i < 0);
}

static void field_say(struct text *t, const char *name, int64_t value)
{
	text_put(t, name);
	text_signed(t, value);
}

static void title_say(const struct spi_function *function, const struct counts *c)
{
	const char *object = spi_object_name(spi_function_object(function));
	struct text t = { .size = 0 };

	text_put(&t, *spi_function_name(function) ? spi_function_name(function) : "(code that nothing is known of)");
	if (*object) {
		text_put(&t, "  ");
		text_put(&t, object);
	}
	text_put(&t, by == BY_LATENCY ? ": latency in ns" : by == BY_RETURN ? ": result" : ": ");
	text_put(&t, argument);
	report_line(&report, &t);
	field_say(&t, "count ", (int64_t) c->counted);
	if (c->counted) {
		field_say(&t, ", sum ", c->sum);
		field_say(&t, ", average ", c->sum / (int64_t) c->counted);
		field_say(&t, ", minimum ", (int64_t) ((uint64_t) INT64_MAX - c->under));
		field_say(&t, ", maximum ", (int64_t) (c->over + (uint64_t) INT64_MIN));
	}
	if (c->unknown)
		field_say(&t, "; calls whose value is not known: ", (int64_t) c->unknown);
	if (by != BY_ARGUMENT && c->entered > c->counted + c->unknown)
		field_say(&t, "; calls that had not returned: ", (int64_t) (c->entered - c->counted - c->unknown));
	report_line(&report, &t);
}

/* How many functions were called. */
static unsigned int tables_say(void)
{
	unsigned int called = 0;
	struct text t = { .size = 0 };

	report.agent = agent;
	for (uint32_t i = 0; i < TABLE; i++) {
		if (!subjects[i].function || (!counts[i].entered && !counts[i].counted))
			continue;
		if (!called++)
			report_begin(&report);
		title_say((const struct spi_function *) subjects[i].function, &counts[i]);
		rows_say(&counts[i]);
		report_line(&report, &t);
	}
	if (full) {
		field_say(&t, "hist: calls of further functions: ", (int64_t) full);
		report_line(&report, &t);
	}
	report_end(&report);
	return called;
}

static void flush(struct spi_agent *a, void *data)
{
	(void) a;
	(void) data;
	tables_say();
}

/* A rule that comes again begins anew. */
static void fini(struct spi_agent *a, void *data)
{
	static const char none[] = "hist: none of the functions was called\n";

	(void) data;
	if (!tables_say() && has_subject && first_pid == (int) getpid())
		spi_agent_write(a, none, sizeof(none) - 1);
	has_subject = 0;
	own_memory_clear(counts, TABLE * sizeof(*counts));
}

/* ---- begin ---- */

static int arguments_take(struct spi_agent *a, void *data)
{
	const char *asked = spi_agent_argument(a, "by");
	char *end;

	(void) data;
	argument = asked ? asked : "";
	by = !asked ? BY_LATENCY : strcmp(asked, "return") ? BY_ARGUMENT : BY_RETURN;
	position = 0;
	if (by == BY_ARGUMENT && !strncmp(asked, "arg", 3)) {
		unsigned long n = strtoul(asked + 3, &end, 10);

		position = asked[3] >= '1' && asked[3] <= '9' && !*end && n < 100 ? (unsigned int) n : 0;
	}
	if (by == BY_RETURN)
		argument = "";
	spi_agent_set_exit(a, by == BY_ARGUMENT ? NULL : leave, NULL);
	return spi_agent_set_flush(a, flush, NULL, signal_argument(spi_agent_argument(a, "signal")));
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = {
		.size = sizeof(options), .version = LTTNG_SPI_VERSION, .name = "hist",
		.flags = SPI_PAYLOAD_SIGNAL_SAFE | SPI_PAYLOAD_SMALL_STACK,
	};

	agent = spi_agent_create(&options);
	counts = own_memory(TABLE * sizeof(*counts));
	if (!agent || !counts)
		return;
	first_pid = (int) getpid();
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_filter(agent, filter, NULL);
	spi_agent_set_fini(agent, fini, NULL);
	spi_agent_set_again(agent, arguments_take, NULL);
	if (arguments_take(agent, NULL) == 0)
		spi_agent_go(agent);
}
