/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What an agent was told, and how it came into the process. */
#include <errno.h>
#include <string.h>
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/cfi/cfi.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/tree/tree.h"
#include "liblttng-spi/api/internal.h"

#define STACK_FUNCTIONS	1024u

/* ---- at spi_agent_create() ---- */

/*
 * A thread that was injected has its own registers on the stack, as a signal's handler has, above the frames of
 * dlopen(), which it is made to call (injector/inject/call-frame.c).
 */
static void frame_find(struct spi_agent *agent)
{
	const uint64_t low = (uint64_t) __builtin_frame_address(0) & ~UINT64_C(7);
	struct spi_registers regs;
	uint64_t words[3];

	for (uint64_t at = low; at < low + SPI_STACK_LOOKED; at += 8) {
		if (spi_memory_copy(words, at, sizeof(words)) < 0)
			return;
		if (!spi_signal_words_may_be(words + 1) || !spi_restorer_of(words[0]))
			continue;
		if (spi_frame_load(&regs, at + 8) < 0 || regs.r[SPI_DWARF_SP] <= at)
			continue;
		agent->frame[0] = regs.r[SPI_DWARF_PC];
		agent->frame[1] = regs.r[SPI_DWARF_SP];
		agent->frame[2] = regs.r[SPI_DWARF_FP];
		agent->has_frame = 1;
		return;
	}
}

static int objects_look(void *unused)
{
	(void) unused;
	spi_objects_scan();
	return 0;
}

static int is_running(void)
{
	/* rules come on the first thread before main(), then on the control thread */
	if (spi_env.preloaded && !spi_attached_early)
		return spi_sys(SYS_gettid) != spi_sys(SYS_getpid);
	return !spi_attached_early || (spi_link_current && spi_tree_main_runs());
}

void spi_agent_context_look(struct spi_agent *agent, const void *caller)
{
	struct spi_vma vma;
	char path[1024] = "";

	if (spi_maps_find((uint64_t) caller, &vma, path, sizeof(path)))
		agent->path = spi_text_keep(path, sizeof(path));
	agent->is_injected = (uint32_t) is_running();
	if (agent->is_injected && !spi_thread_is_tracer())
		frame_find(agent);
	if (!spi_objects_list())
		spi_api_control(objects_look, NULL);
}

/* ---- */

SPI_API int spi_agent_configuration(const struct spi_agent *agent, struct spi_agent_configuration *configuration)
{
	struct spi_agent_configuration c = { 0 };

	if (!agent || configuration->size < sizeof(c.size))
		return -EINVAL;
	c.size = configuration->size;
	c.name = agent->client->name;
	c.path = spi_agent_path(agent);
	c.flags = agent->client->flags;
	c.has_gone = agent->has_gone;
	c.entry = agent->client->entry;
	c.exit = agent->client->exit;
	c.entry_data = agent->client->entry_data;
	c.exit_data = agent->client->exit_data;
	c.event = agent->event;
	c.is_parse_only = agent->parse_only;
	c.is_threads = !(agent->unfollowed & SPI_FOLLOW_THREADS);
	c.is_dlopen = !(agent->unfollowed & SPI_FOLLOW_DLOPEN);
	c.is_fork = !(agent->unfollowed & SPI_FOLLOW_FORK);
	memcpy(configuration, &c, c.size < sizeof(c) ? c.size : sizeof(c));
	return 0;
}

SPI_API const char *spi_agent_path(const struct spi_agent *agent)
{
	return agent && agent->path ? agent->path : "";
}

SPI_API int spi_agent_is_injected(const struct spi_agent *agent)
{
	return agent && agent->is_injected;
}

SPI_API int spi_agent_injection_frame(const struct spi_agent *agent, uint64_t *pc, uint64_t *sp, uint64_t *fp)
{
	if (!agent || !agent->has_frame)
		return -ENODATA;
	*pc = agent->frame[0];
	*sp = agent->frame[1];
	*fp = agent->frame[2];
	return 0;
}

SPI_API long spi_agent_call_stack(const struct spi_agent *agent, struct spi_function **functions, size_t room)
{
	uint64_t addresses[STACK_FUNCTIONS];
	long n = 0;
	uint32_t count;

	if (!agent)
		return 0;
	count = spi_tree_stack_functions(agent->client->trees, addresses, STACK_FUNCTIONS);
	for (uint32_t i = 0; i < count; i++) {
		struct spi_function *f = spi_function_at(addresses[i]);

		if (f && (size_t) n < room)
			functions[n] = f;
		n += f != NULL;
	}
	return n;
}
