/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The payload `print`: the names of functions as they are called, indented by depth; more than one thread: with its number. */
#include <sys/syscall.h>
#include <unistd.h>
#include <lttng/spi.h>
#include "payloads/text.h"

#define DEPTH_SHOWN	64u

static struct spi_agent *agent;
static __thread uint32_t depth, number;
static uint32_t threads;

static void *enter(struct spi_call *call, void *data)
{
	struct spi_function *callee = spi_call_callee(call);
	struct text t = { .size = 0 };

	(void) data;
	if (!number)
		number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
	if (__atomic_load_n(&threads, __ATOMIC_RELAXED) > 1) {
		text_byte(&t, '[');
		text_number(&t, (uint64_t) syscall(SYS_gettid), 0);
		text_put(&t, "] ");
	}
	for (uint32_t i = 0; i < depth && i < DEPTH_SHOWN; i++)
		text_put(&t, "  ");
	if (callee && *spi_function_name(callee))
		text_put(&t, spi_function_name(callee));
	else
		text_hex(&t, spi_point_address(spi_call_point(call)));
	text_byte(&t, '\n');
	spi_agent_write(agent, t.line, t.size);
	spi_call_propel(call);
	depth++;
	return NULL;
}

static void leave(struct spi_call *call, void *data)
{
	(void) call;
	(void) data;
	depth--;
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = {
		.size = sizeof(options), .version = LTTNG_SPI_VERSION, .flags = SPI_PAYLOAD_SIGNAL_SAFE, .name = "print",
	};

	agent = spi_agent_create(&options);
	if (!agent)
		return;
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_exit(agent, leave, NULL);
	spi_agent_go(agent);
}
