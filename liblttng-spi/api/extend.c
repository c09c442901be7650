/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What a user may replace or add: observer, propeller, workers, and what is left alone. */
#include <errno.h>
#include <string.h>
#include "liblttng-spi/tree/sites/internal.h"
#include "liblttng-spi/tree/tree.h"
#include "liblttng-spi/api/internal.h"

/* ---- the observer ---- */

static uint64_t ask(struct spi_agent *agent, struct spi_function *f)
{
	return agent->observer.function(agent, f, agent->observer.data) != 0;
}

/* One that fails leaves functions as they are. */
static int watches(struct spi_client *client, uint64_t address)
{
	struct spi_function *f = spi_function_begins_at(address);

	return !f || spi_client_run(client, (void *) ask, client->owner, f) || client->state == SPI_CLIENT_FAILED;
}

SPI_API int spi_agent_set_observer(struct spi_agent *agent, const struct spi_observer *observer)
{
	int r = spi_agent_configurable(agent);
	size_t size;

	if (r < 0)
		return r;
	if (!observer || observer->size < offsetof(struct spi_observer, created))
		return -EINVAL;
	size = observer->size < sizeof(agent->observer) ? observer->size : sizeof(agent->observer);
	memcpy(&agent->observer, observer, size);
	agent->client->watches = agent->observer.function ? watches : NULL;
	agent->client->observer = &agent->observer;
	return 0;
}

/* ---- the propeller ---- */

SPI_API int spi_agent_set_propeller(struct spi_agent *agent, spi_propeller *decide, void *data)
{
	int r = spi_agent_configurable(agent);

	if (r == 0) {
		agent->client->decide = decide;
		agent->client->decide_data = data;
	}
	return r;
}

SPI_API int spi_call_propel_calls(struct spi_call *call, const uint64_t *addresses, size_t count)
{
	if (spi_is_exit(call) || !call->trees || !addresses)
		return -EINVAL;
	return spi_tree_propel_calls(call->point->address, call->trees, addresses, count);
}

SPI_API int spi_agent_propel(struct spi_agent *agent, struct spi_function *function)
{
	char name[SPI_RULE_OBJECT_MAX + SPI_RULE_FUNCTION_MAX + 2];
	const char *names[] = { name };
	struct spi_event *event;
	int r;

	if (!agent || !agent->has_gone || !function)
		return -EINVAL;
	if (spi_thread.busy)
		return -EDEADLK;
	agent->error[0] = 0;
	for (uint32_t i = 0; i < agent->propelled_count; i++)
		if (agent->propelled[i] == function)
			return 0;
	spi_format(name, sizeof(name), "%s:%s", spi_object_name(spi_function_object(function)),
		spi_function_mangled_name(function));
	event = spi_event_functions(names, 1);
	r = event ? spi_agent_begin(agent, event) : -ENOMEM;
	if (r == 0 && agent->propelled_count < SPI_EVENT_LIST_MAX)
		agent->propelled[agent->propelled_count++] = function;
	return r;
}

/* ---- what is left alone ---- */

#define BIT(kind)	(1u << SPI_CALL_SITE_##kind)

static int leave_out(struct spi_agent *agent, uint32_t kinds, int is_on)
{
	int r = spi_agent_configurable(agent);

	if (r == 0)
		agent->client->left_out = is_on ? agent->client->left_out | kinds : agent->client->left_out & ~kinds;
	return r;
}

SPI_API int spi_agent_enable_direct_calls_only(struct spi_agent *agent, int is_on)
{
	return leave_out(agent, BIT(INDIRECT) | BIT(TAIL_INDIRECT), is_on);
}

SPI_API int spi_agent_enable_tail_calls(struct spi_agent *agent, int is_on)
{
	return leave_out(agent, BIT(TAIL_DIRECT) | BIT(TAIL_LIBRARY) | BIT(TAIL_INDIRECT), !is_on);
}

SPI_API int spi_agent_enable_trap_only(struct spi_agent *agent, int is_on)
{
	int r = spi_agent_configurable(agent);

	if (r == 0 && is_on)
		spi_site_workers_only(SPI_SITE_WORKER_TRAP);
	return r;
}

/* As a preloaded payload's user says: the environment adds to what the payload's code says. */
void spi_agent_environment(struct spi_agent *agent)
{
	if (spi_env.no_tail_call)
		spi_agent_enable_tail_calls(agent, 0);
	if (spi_env.direct_call_only)
		spi_agent_enable_direct_calls_only(agent, 1);
	if (spi_env.trap)
		spi_agent_enable_trap_only(agent, 1);
}

/* ---- workers ---- */

SPI_API int spi_agent_add_worker(struct spi_agent *agent, const struct spi_worker *worker)
{
	struct spi_worker copy = { 0 };
	int r = spi_agent_configurable(agent);

	if (r < 0)
		return r;
	if (worker)
		memcpy(&copy, worker, worker->size < sizeof(copy) ? worker->size : sizeof(copy));
	if (!copy.save || !copy.run || !copy.undo)
		return -EINVAL;
	copy.name = copy.name ? spi_text_keep(copy.name, 64) : NULL;
	return spi_site_custom_add(agent->client, &copy);
}

SPI_API uint64_t spi_worker_address(const struct spi_site *site)
{
	return spi_site_address(site);
}

SPI_API uint32_t spi_worker_size(const struct spi_site *site)
{
	return site->map->size;
}

SPI_API const uint8_t *spi_worker_bytes(const struct spi_site *site)
{
	return spi_site_bytes(site->map, 0);
}

SPI_API uint64_t spi_worker_snippet(const struct spi_site *site)
{
	return site->stub;
}

SPI_API int spi_worker_write(struct spi_site *site, uint64_t address, const void *bytes, size_t size)
{
	return spi_clients_hold_patch() ? spi_site_custom_write(site, address, bytes, size) : -EINVAL;
}

SPI_API uint64_t spi_snippet_at(uint64_t address)
{
	return spi_site_custom_at(address);
}

SPI_API int spi_agent_set_fault(struct spi_agent *agent, spi_fault *fault, void *data)
{
	const char *why = NULL;
	int r = spi_agent_configurable(agent);

	if (r < 0)
		return r;
	agent->client->fault_data = data;
	__atomic_store_n(&agent->client->fault, fault, __ATOMIC_RELEASE);
	if (fault)
		r = spi_agent_take_faults(agent, &why);
	if (r < 0 && why)
		spi_format(agent->error, sizeof(agent->error), "%s", why);
	return r;
}
