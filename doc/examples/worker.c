/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A worker: another way to redirect call instructions. It writes ud2, an instruction that faults, over the call's first
 * two bytes. The fault's handler leads the thread into the snippet. At the end the program's bytes are written back.
 *
 *	cc -shared -fPIC worker.c $(pkg-config --cflags --libs lttng-spi) -o worker.so
 *	LD_PRELOAD=./worker.so ./prog
 */
#define _GNU_SOURCE
#include <lttng/spi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#define UD2_SIZE	2

static struct spi_agent *agent;
static int saved, ran, undone;

/* The site is new. A call of five bytes has room for ud2; a shorter one is left to the agent's own workers. */
static int save(struct spi_site *site, void *data)
{
	(void) data;
	if (spi_worker_size(site) < 5 || !spi_worker_snippet(site))
		return 0;
	__atomic_fetch_add(&saved, 1, __ATOMIC_RELAXED);
	return 1;
}

static int run(struct spi_site *site, void *data)
{
	static const unsigned char ud2[UD2_SIZE] = { 0x0f, 0x0b };

	(void) data;
	if (spi_worker_write(site, spi_worker_address(site), ud2, UD2_SIZE) < 0)
		return 0;
	__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
	return 1;
}

static int undo(struct spi_site *site, void *data)
{
	(void) data;
	if (spi_worker_write(site, spi_worker_address(site), spi_worker_bytes(site), UD2_SIZE) < 0)
		return 0;
	__atomic_fetch_add(&undone, 1, __ATOMIC_RELAXED);
	return 1;
}

/* In the handler of a fault. Other faults are the program's, whose handler comes next. */
static int fault(struct spi_agent *a, int number, void *info, void *context, void *data)
{
	ucontext_t *interrupted = context;
	uint64_t snippet = 0;

	(void) a;
	(void) info;
	(void) data;
	if (number == SIGILL)
		snippet = spi_snippet_at((uint64_t) interrupted->uc_mcontext.gregs[REG_RIP]);
	if (!snippet)
		return 0;
	interrupted->uc_mcontext.gregs[REG_RIP] = (greg_t) snippet;
	return 1;
}

static void *enter(struct spi_call *call, void *data)
{
	(void) data;
	fprintf(stderr, "%s\n", spi_function_name(spi_call_callee(call)));
	spi_call_propel(call);
	return NULL;
}

static void fini(struct spi_agent *a, void *data)
{
	char line[100];
	int n = snprintf(line, sizeof(line), "ud2: %d saved, %d in place, %d undone\n", saved, ran, undone);

	(void) data;
	spi_agent_write(a, line, (size_t) n);
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = { .size = sizeof(options), .version = LTTNG_SPI_VERSION };
	const struct spi_worker worker = {
		.size = sizeof(worker), .name = "ud2", .save = save, .run = run, .undo = undo,
	};

	agent = spi_agent_create(&options);
	if (!agent)
		return;
	spi_agent_use_default_libraries_not_to_instrument(agent);
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_fini(agent, fini, NULL);
	if (spi_agent_set_fault(agent, fault, NULL) < 0 || spi_agent_add_worker(agent, &worker) < 0 ||
			spi_agent_go(agent) < 0)
		fprintf(stderr, "worker: %s\n", spi_agent_error(agent));
}
