/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A payload that writes each call with its parameters' names, types and values, and the result, as debug info has them;
 * and at its end how many samples it had, and in which threads.
 */
#include <stdio.h>
#include <string.h>
#include <lttng/spi.h>

static unsigned int samples, elsewhere;
static uint64_t latest, text_low, text_high;

static int value_write(char *to, size_t size, int r, const struct spi_scalar *value)
{
	if (r < 0)
		return snprintf(to, size, "error %d", r);
	if (value->kind == SPI_SCALAR_REAL)
		return snprintf(to, size, "%g", value->real);
	return value->kind == SPI_SCALAR_SIGNED ? snprintf(to, size, "%lld", (long long) value->integer) :
		snprintf(to, size, "%llu", (unsigned long long) value->integer);
}

static void *enter(struct spi_call *call, void *data)
{
	struct spi_function *f = spi_call_callee(call);
	const size_t count = spi_function_parameter_count(f);
	char line[1024];
	int n = snprintf(line, sizeof(line), "%s(", spi_function_name(f));

	for (size_t i = 0; i < count; i++) {
		struct spi_scalar value, same;
		const char *name = spi_function_parameter_name(f, i);
		int r = spi_call_argument(call, i, &value), named = spi_call_argument_by_name(call, name, &same);

		n += snprintf(line + n, sizeof(line) - (size_t) n, "%s%s %s = ", i ? ", " : "",
			spi_function_parameter_type(f, i), name);
		n += value_write(line + n, sizeof(line) - (size_t) n, r, &value);
		if (r != named || (r == 0 && (value.integer != same.integer || value.size != same.size)))
			n += snprintf(line + n, sizeof(line) - (size_t) n, " (by its name it is another)");
	}
	n += snprintf(line + n, sizeof(line) - (size_t) n, ")\n");
	spi_agent_write(data, line, (size_t) n);
	return (void *) (spi_clock_ns() | 1);
}

static void leave(struct spi_call *call, void *data)
{
	struct spi_function *f = spi_call_callee(call);
	const uint64_t now = spi_clock_ns(), began = (uint64_t) spi_call_user_data(call);
	struct spi_scalar value;
	char line[256];
	int r = spi_call_result(call, &value);
	int n = snprintf(line, sizeof(line), "%s: %s = ", spi_function_name(f), spi_function_result_type(f));

	n += value_write(line + n, sizeof(line) - (size_t) n, r, &value);
	n += snprintf(line + n, sizeof(line) - (size_t) n, "%s\n", now + 1 < began ? " (the clock went back)" : "");
	spi_agent_write(data, line, (size_t) n);
}

static void take(const struct spi_sample *sample, void *data)
{
	(void) data;
	latest = sample->address;
	__atomic_fetch_add(latest >= text_low && latest < text_high ? &samples : &elsewhere, sample->weight,
		__ATOMIC_RELAXED);
}

static const char *filter(struct spi_agent *agent, struct spi_function *function, void *data)
{
	(void) agent;
	(void) data;
	if (!text_high)
		spi_object_text(spi_function_object(function), &text_low, &text_high);
	if (!strcmp(spi_function_name(function), "main"))
		return "main is left out";
	return strcmp(spi_function_name(function), "slow") ? NULL : "";
}

static void flush(struct spi_agent *agent, void *data)
{
	(void) data;
	spi_agent_write(agent, "flush\n", 6);
}

static void fini(struct spi_agent *agent, void *data)
{
	const char *reason = spi_agent_sampler_reason(agent);
	char line[256];
	int n = snprintf(line, sizeof(line), "samples %u, elsewhere %u, reason %s\n", samples, elsewhere,
		reason ? reason : "none");

	(void) data;
	spi_agent_write(agent, line, (size_t) n);
}

__attribute__((constructor)) static void begin(void)
{
	struct spi_agent_options options = { .size = sizeof(options), .version = LTTNG_SPI_VERSION };
	struct spi_agent *agent = spi_agent_create(&options);

	spi_agent_set_entry(agent, enter, agent);
	spi_agent_set_exit(agent, leave, agent);
	spi_agent_set_filter(agent, filter, NULL);
	spi_agent_set_sampler(agent, 1000, take, NULL);
	spi_agent_set_flush(agent, flush, NULL, 10);
	spi_agent_set_fini(agent, fini, NULL);
	if (spi_agent_set_sampler(agent, 1, take, NULL) == 0)
		spi_agent_write(agent, "an interval of 1 us was taken\n", 30);
	spi_agent_go(agent);
}
