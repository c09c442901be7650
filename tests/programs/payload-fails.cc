/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A payload that ends at its third call as the argument `how` says: throw, segv, abort, divide, at its entry, or with
 * at=exit at its exit; with at=left at the exit of the first call that did not return. What it throws and catches itself
 * is its own matter. Without `how` it counts.
 */
#include <lttng/spi.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

static struct spi_agent *agent;
static const char *how, *at;
static int entries, exits, left;
static int *volatile nowhere;

static void fail()
{
	volatile int zero = 0;

	/* registers that the program keeps values in: none of these is put back by a payload that does not return */
	__asm__ volatile("mov $7, %%ebx\n\tmov $7, %%r12d\n\tmov $7, %%r13d\n\tmov $7, %%r14d\n\tmov $7, %%r15d"
		: : : "rbx", "r12", "r13", "r14", "r15");
	if (!strcmp(how, "throw"))
		throw std::runtime_error("not caught");
	if (!strcmp(how, "segv"))
		*nowhere = 1;
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "divide"))
		entries = 7 / zero;
}

static void *enter(struct spi_call *call, void *)
{
	std::string text(1000, 'x');		/* malloc() */

	try {
		throw static_cast<int>(text.size());
	} catch (int size) {
		entries += size == 1000;
	}
	spi_call_propel(call);
	if (entries == 3 && !*at)
		fail();
	return nullptr;
}

static void leave(struct spi_call *call, void *)
{
	left += spi_call_ending(call) == SPI_CALL_JUMPED;
	if (++exits == 3 && !strcmp(at, "exit"))
		fail();
	if (!strcmp(at, "left") && spi_call_ending(call) != SPI_CALL_RETURNED)
		fail();
}

static void fini(struct spi_agent *, void *)
{
	char line[100];

	snprintf(line, sizeof(line), "%d entries, %d exits, %d left by a jump\n", entries, exits, left);
	spi_agent_write(agent, line, strlen(line));
}

__attribute__((constructor)) static void begin()
{
	struct spi_agent_options options = {};

	options.size = sizeof(options);
	options.version = LTTNG_SPI_VERSION;
	agent = spi_agent_create(&options);
	if (!agent)
		return;
	how = spi_agent_argument(agent, "how");
	how = how ? how : "";
	at = spi_agent_argument(agent, "at");
	at = at && strcmp(at, "entry") ? at : "";
	spi_agent_set_entry(agent, enter, nullptr);
	spi_agent_set_exit(agent, leave, nullptr);
	spi_agent_set_fini(agent, fini, nullptr);
	spi_agent_go(agent);
}
