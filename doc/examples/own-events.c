/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A recorder of one's own. Each call is an event own:call of lttng-ust, with caller, callee and the first argument. Each
 * end of a call is an event own:result.
 *
 *	cc -shared -fPIC -I. own-events.c $(pkg-config --cflags --libs lttng-spi) -llttng-ust -ldl -o own-events.so
 *	lttng create; lttng enable-event -u 'own:*'; lttng start
 *	LD_PRELOAD=./own-events.so ./prog
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "own-events.h"
#include <lttng/spi.h>
#include <stdio.h>

static const char *function_name(struct spi_function *function)
{
	const char *name = function ? spi_function_name(function) : NULL;

	return name ? name : "?";
}

static void *enter(struct spi_call *call, void *data)
{
	const char *callee = function_name(spi_call_callee(call));
	struct spi_arguments arguments = { 0 };
	uint64_t *first = spi_call_pop_argument(call, &arguments, sizeof(*first));

	(void) data;
	lttng_ust_tracepoint(own, call, callee, function_name(spi_call_caller(call)), first ? *first : 0);
	spi_call_propel(call);
	return (void *) callee;
}

static void leave(struct spi_call *call, void *data)
{
	(void) data;
	lttng_ust_tracepoint(own, result, spi_call_user_data(call), spi_call_return_value(call), spi_call_ending(call));
}

__attribute__((constructor)) static void begin(void)
{
	struct spi_agent *agent = spi_agent_create(NULL);

	if (!agent)
		return;
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_exit(agent, leave, NULL);
	if (spi_agent_go(agent) < 0)
		fprintf(stderr, "own-events: %s\n", spi_agent_error(agent));
}
