/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Arguments and results: the code that a program passes to exit(), and what fork() returns in the parent.
 *
 *	cc -shared -fPIC exit-code.c $(pkg-config --cflags --libs lttng-spi) -o exit-code.so
 *	LD_PRELOAD=./exit-code.so ./prog
 */
#include <lttng/spi.h>
#include <stdio.h>
#include <string.h>

/* Runs before each call. */
static void *enter(struct spi_call *call, void *data)
{
	struct spi_arguments arguments = { 0 };
	const char *name = spi_function_name(spi_call_callee(call));

	(void) data;
	if (!strcmp(name, "exit")) {
		int *code = spi_call_pop_argument(call, &arguments, sizeof(*code));

		if (code)
			fprintf(stderr, "exit code: %d\n", *code);
	}
	spi_call_propel(call);	/* what the callee calls is instrumented as well */
	return NULL;
}

/* Runs after each call. */
static void leave(struct spi_call *call, void *data)
{
	const char *name = spi_function_name(spi_call_callee(call));
	int child = (int) spi_call_return_value(call);

	(void) data;
	if (!strcmp(name, "fork") && child > 0)
		fprintf(stderr, "child process id: %d\n", child);
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = { .size = sizeof(options), .version = LTTNG_SPI_VERSION };
	struct spi_agent *agent = spi_agent_create(&options);

	if (!agent)
		return;
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_exit(agent, leave, NULL);
	if (spi_agent_go(agent) < 0)
		fprintf(stderr, "exit-code: %s\n", spi_agent_error(agent));
}
