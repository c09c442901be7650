/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A payload that is told by arguments which call instructions are instrumented, and writes what it sees.
 *	leave=KIND	the propeller leaves call sites of mixed() of this kind alone, enum spi_call_site_kind
 *	callee=NAME	of the direct calls of mixed() the propeller takes those of NAME alone
 *	calls=OFFSETS	of mixed(), spi_call_propel_calls() with the call instructions at these addresses in the file
 *	direct=1, tail=0, trap=1, ipc=1	spi_agent_enable_*()
 *	libc=1		libc is instrumented, too
 *	later=OFFSET	nothing is propelled, but the function there, by spi_agent_propel(), once mixed() was called
 */
#include <lttng/spi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct spi_agent *agent;
static const char *leave, *callee, *calls, *later;
static int was_mixed, was_inside;

static void say(const char *what, const char *name)
{
	char line[300];
	int n = snprintf(line, sizeof(line), "%s %s\n", what, name);

	spi_agent_write(agent, line, (size_t) n);
}

/* May run while the agent changes code, and asks it to change more, which is refused. */
static int decide(struct spi_agent *a, const struct spi_call_site *site, void *data)
{
	struct spi_function *in = spi_function_at(site->function);
	const char *to = spi_function_name(spi_function_at(site->callee));

	if (a != agent || data != &agent || site->size < sizeof(*site) || !site->length || !in)
		return 0;
	if (strcmp(spi_function_name(in), "mixed"))
		return 1;
	__atomic_store_n(&was_inside, spi_agent_propel(agent, in), __ATOMIC_RELAXED);
	if (leave)
		return site->kind != (uint32_t) atoi(leave);
	return !callee || !site->callee || !strcmp(to, callee);
}

static void chosen_propel(struct spi_call *call)
{
	const uint64_t base = spi_object_base(spi_object_executable());
	uint64_t addresses[8];
	size_t count = 0;
	char *end;

	for (const char *at = calls; *at && count < 8; at = *end ? end + 1 : end)
		addresses[count++] = base + strtoul(at, &end, 16);
	if (spi_call_propel_calls(call, addresses, count) < 0)
		say("refused", "calls");
	addresses[0]++;
	if (spi_call_propel_calls(call, addresses, 1) < 0)
		say("refused", "what is no call instruction");
}

static void *enter(struct spi_call *call, void *data)
{
	const char *name = spi_function_name(spi_call_callee(call));

	(void) data;
	say("enter", name);
	if (spi_call_is_ipc_read(call))
		say("reads", name);
	if (spi_call_is_ipc_write(call))
		say("writes", name);
	if (spi_call_can_start_tracing(call) != 1)
		say("cannot start", name);
	if (!strcmp(name, "mixed")) {
		if (calls)
			chosen_propel(call);
		__atomic_store_n(&was_mixed, 1, __ATOMIC_RELEASE);
	}
	if (!later && (!calls || strcmp(name, "mixed")))
		spi_call_propel(call);
	return NULL;
}

static void fini(struct spi_agent *a, void *data)
{
	(void) a;
	(void) data;
	if (was_inside)
		say("in the propeller:", was_inside < 0 ? "refused" : "taken");
}

static void *propel_later(void *unused)
{
	const struct timespec moment = { 0, 1000000 };
	struct spi_function *f;

	while (!__atomic_load_n(&was_mixed, __ATOMIC_ACQUIRE))
		nanosleep(&moment, NULL);
	f = spi_function_at(spi_object_base(spi_object_executable()) + strtoul(later, NULL, 16));
	say("later", spi_agent_propel(agent, f) == 0 ? spi_function_name(f) : spi_agent_error(agent));
	return unused;
}

static int is_given(const char *name)
{
	const char *value = spi_agent_argument(agent, name);

	return value ? atoi(value) : -1;
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = { .size = sizeof(options), .version = LTTNG_SPI_VERSION };
	const char *const none[] = { "libc.so.6", "ld-linux*" };
	pthread_t thread;

	agent = spi_agent_create(&options);
	if (!agent)
		return;
	leave = spi_agent_argument(agent, "leave");
	callee = spi_agent_argument(agent, "callee");
	calls = spi_agent_argument(agent, "calls");
	later = spi_agent_argument(agent, "later");
	if (!spi_agent_argument(agent, "libc"))
		spi_agent_set_libraries_not_to_instrument(agent, none, 2);
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_fini(agent, fini, NULL);
	if (leave || callee)
		spi_agent_set_propeller(agent, decide, &agent);
	if (is_given("direct") == 1)
		spi_agent_enable_direct_calls_only(agent, 1);
	if (is_given("tail") == 0)
		spi_agent_enable_tail_calls(agent, 0);
	if (is_given("trap") == 1)
		spi_agent_enable_trap_only(agent, 1);
	if (is_given("ipc") == 1 && spi_agent_enable_ipc(agent, 1) < 0)
		say("ipc:", spi_agent_error(agent));
	if (is_given("ipc") == 1) {
		const struct spi_ipc_worker worker = { .size = sizeof(worker) };

		if (spi_agent_set_ipc_worker(agent, &worker) < 0)
			say("worker:", spi_agent_error(agent));
	}
	if (spi_agent_go(agent) < 0)
		say("not begun:", spi_agent_error(agent));
	if (later)
		pthread_create(&thread, NULL, propel_later, NULL);
}
