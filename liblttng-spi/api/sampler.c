/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What an agent has beside its payloads: the choice of functions, samples, what is written while the process goes on.
 */
#include <errno.h>
#include <signal.h>
#include <time.h>
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/signals/signals.h"
#include "liblttng-spi/api/internal.h"

#define INTERVAL_LEAST	100u		/* us */
#define INTERVAL_MOST	10000000u

/* ---- which functions ---- */

static const char *refuse(struct spi_client *client, struct spi_point *point)
{
	struct spi_agent *agent = client->owner;
	struct spi_function *function = spi_function_of_point(point);

	return function ? agent->filter(agent, function, agent->filter_data) : NULL;
}

SPI_API int spi_agent_set_filter(struct spi_agent *agent, spi_filter *filter, void *data)
{
	int r = spi_agent_configurable(agent);

	if (r == 0) {
		agent->filter = filter;
		agent->filter_data = data;
		agent->client->owner = agent;
		agent->client->refuse = filter ? refuse : NULL;
	}
	return r;
}

SPI_API int spi_agent_pause(struct spi_agent *agent, struct spi_point *point, int is_paused)
{
	return agent && point ? spi_clients_point_pause(point, 1u << agent->client->number, is_paused) : -EINVAL;
}

/* ---- a rule that comes again ---- */

static int again(struct spi_client *client, char *why)
{
	struct spi_agent *agent = client->owner;
	int r;

	agent->arguments = client->arguments;
	agent->error[0] = 0;
	agent->has_gone = 0;
	r = agent->again(agent, agent->again_data);
	agent->has_gone = 1;
	if (r < 0)
		spi_format(why, 200, "%s", agent->error[0] ? agent->error : "it does not take these arguments");
	return r;
}

SPI_API int spi_agent_set_again(struct spi_agent *agent, int (*function)(struct spi_agent *agent, void *data),
	void *data)
{
	int r = spi_agent_configurable(agent);

	if (r == 0) {
		agent->again = function;
		agent->again_data = data;
		agent->client->owner = agent;
		agent->client->again = function ? again : NULL;
	}
	return r;
}

/* ---- while the process goes on ---- */

static void flush(struct spi_client *client)
{
	struct spi_agent *agent = client->owner;

	agent->flush(agent, agent->flush_data);
}

static int signal_is_usable(int number)
{
	const uint64_t kept = SPI_SIGNAL_FAULTS | SPI_SIGNAL_BIT(SIGKILL) | SPI_SIGNAL_BIT(SIGSTOP) |
		SPI_SIGNAL_BIT(SIGTRAP) | SPI_SIGNAL_BIT(SIGSTKFLT);

	return number > 0 && number < SPI_SIGNALS && !(kept & SPI_SIGNAL_BIT(number));
}

SPI_API int spi_agent_set_flush(struct spi_agent *agent, void (*function)(struct spi_agent *agent, void *data),
	void *data, int number)
{
	int r = spi_agent_configurable(agent);

	if (r == 0 && number && !signal_is_usable(number)) {
		spi_format(agent->error, sizeof(agent->error),
			"this is no signal that a payload can have: USR1 (%d) and USR2 (%d) are", SIGUSR1, SIGUSR2);
		spi_agent_refuse(agent->error);
		r = -EINVAL;
	}
	if (r == 0) {
		agent->flush = function;
		agent->flush_data = data;
		agent->client->owner = agent;
		agent->client->flush = function ? flush : NULL;
		agent->client->flush_signal = function ? number : 0;
	}
	return r;
}

/* ---- samples ---- */

SPI_API int spi_agent_set_sampler(struct spi_agent *agent, uint32_t interval_us, spi_sampler *take, void *data)
{
	int r = spi_agent_configurable(agent);

	if (r == 0 && (interval_us < INTERVAL_LEAST || interval_us > INTERVAL_MOST)) {
		spi_format(agent->error, sizeof(agent->error), "an interval is from %u to %u microseconds",
			INTERVAL_LEAST, INTERVAL_MOST);
		r = -EINVAL;
	}
	if (r == 0) {
		agent->client->sampler = take;
		agent->client->sampler_data = data;
		agent->client->sample_us = interval_us;
	}
	return r;
}

SPI_API const char *spi_agent_sampler_reason(const struct spi_agent *agent)
{
	return agent ? spi_samples_reason(agent->client) : "there is no agent";
}

/* ---- the clock ---- */

static int (*libcs_clock)(clockid_t clock, struct timespec *ts);

void spi_clock_find(void)
{
	libcs_clock = spi_find_in_libc("clock_gettime");
}

SPI_API uint64_t spi_clock_ns(void)
{
	struct timespec ts = { 0, 0 };

	if (!libcs_clock || libcs_clock(CLOCK_MONOTONIC, &ts) < 0)
		return spi_now_ns();
	return (uint64_t) ts.tv_sec * 1000000000u + (uint64_t) ts.tv_nsec;
}
