/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* A payload that writes a line a call and a line an exit: caller, callee, arguments that it knows, result, user data. */
#include <lttng/spi.h>
#include <stdio.h>
#include <string.h>

static struct spi_agent *agent;

static void say(const char *line)
{
	spi_agent_write(agent, line, strlen(line));
}

static void *enter(struct spi_call *call, void *data)
{
	struct spi_function *callee = spi_call_callee(call);
	struct spi_arguments arguments = { 0 };
	char line[300];

	if (!strcmp(spi_function_name(callee), "scale")) {
		int *n = spi_call_pop_argument(call, &arguments, sizeof(*n));
		double *x = spi_call_pop(call, &arguments, SPI_ARGUMENT_FLOAT, sizeof(*x));
		const char **name = spi_call_pop_argument(call, &arguments, sizeof(*name));

		snprintf(line, sizeof(line), "enter scale(%d, %g, %s)\n", *n, *x, *name);
	} else {
		int *x = spi_call_pop_argument(call, &arguments, sizeof(*x));

		snprintf(line, sizeof(line), "enter %s(%d) from %s %s\n", spi_function_name(callee), *x,
			spi_function_name(spi_call_caller(call)), data == (void *) 4 ? "data" : "no data");
	}
	say(line);
	spi_call_propel(call);
	return callee;
}

static void leave(struct spi_call *call, void *data)
{
	struct spi_function *callee = spi_call_callee(call);
	const double *x = spi_call_return_float(call);
	char line[300];

	if (!strcmp(spi_function_name(callee), "scale"))
		snprintf(line, sizeof(line), "leave scale = %g\n", x ? *x : -1);
	else
		snprintf(line, sizeof(line), "leave %s = %d%s\n", spi_function_name(callee), (int) spi_call_return_value(call),
			spi_call_user_data(call) == callee && !data && spi_call_is_exit(call) ? "" : " not its own");
	say(line);
}

static void fini(struct spi_agent *a, void *data)
{
	(void) data;
	if (a == agent)
		say("fini\n");
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = { .size = sizeof(options), .version = LTTNG_SPI_VERSION };
	const char *const none[] = { "libc.so.6", "ld-linux*" };

	agent = spi_agent_create(&options);
	if (!agent)
		return;
	spi_agent_set_libraries_not_to_instrument(agent, none, 2);
	spi_agent_set_entry(agent, enter, (void *) 4);
	spi_agent_set_exit(agent, leave, NULL);
	spi_agent_set_fini(agent, fini, NULL);
	spi_agent_go(agent);
}
