/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Payloads that take too long: an agent may say how long one call of a payload is to take at most. A thread of the
 * agent's looks at all threads that are in such a payload. A client whose time is over is switched off, and the thread
 * gets a signal by which it leaves the payload (guard.c), also where it waits for a lock that never comes free.
 *
 * A thread that has the signal blocked stays where it is.
 */
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "liblttng-spi/signals/signals.h"
#include "liblttng-spi/payload/internal.h"

#define LOOK_LEAST_US	200u
#define LOOK_MOST_US	20000u
#define IDLE_US		100000u		/* while no client with a limit is in force */

static uint32_t look_us;		/* 0: no client has a limit */
static SPI_FORK_DATA int is_running, has_tried;	/* the thread */

static void look_at(const struct spi_thread_own *own, uint64_t now)
{
	const uint64_t since = __atomic_load_n(&own->watched.since, __ATOMIC_ACQUIRE);
	struct spi_client *client = __atomic_load_n(&own->watched.client, __ATOMIC_ACQUIRE);

	if (!since || !client || now < since + client->limit_us * UINT64_C(1000))
		return;
	if (!__atomic_load_n(&own->in_use, __ATOMIC_ACQUIRE))
		return;
	if (__atomic_load_n(&own->watched.since, __ATOMIC_ACQUIRE) != since)
		return;			/* another one's time, or it is over */
	spi_client_fails(client, "a call of it has taken longer than its time limit");
	spi_fault_late_tell(own->tid);
}

/* Clients that rules have brought are in force while a rule names them. */
static int any_is_on(void)
{
	for (unsigned int i = 0; i < SPI_CLIENTS_MAX && spi_clients[i]; i++) {
		const struct spi_client *client = spi_clients[i];

		if (client->limit_us && client->state == SPI_CLIENT_ON && (client->rules || !client->file))
			return 1;
	}
	return 0;
}

static void *watch(void *unused)
{
	spi_thread.busy = SPI_BUSY_ALWAYS;
	spi_sys(SYS_prctl, PR_SET_NAME, "lttng-spi", 0L, 0L, 0L);
	spi_threads_learn(watch);
	while (spi_may(SPI_MAY_ACT)) {
		const uint64_t now = spi_now_ns();

		for (const struct spi_thread_own *own = spi_threads_first(); own; own = own->next)
			look_at(own, now);
		spi_sleep_us(any_is_on() ? __atomic_load_n(&look_us, __ATOMIC_RELAXED) : IDLE_US);
	}
	return unused;
}

static void start(void)
{
	if (!__atomic_exchange_n(&is_running, 1, __ATOMIC_ACQ_REL) && spi_tracer_thread(watch, NULL) != 0) {
		is_running = 0;
		spi_note("payloads have no time limit: the agent can start no thread");
	}
}

void spi_limit_begin(struct spi_client *client)
{
	uint32_t us = client->limit_us / 4;

	if (!client->limit_us)
		return;
	us = us < LOOK_LEAST_US ? LOOK_LEAST_US : us > LOOK_MOST_US ? LOOK_MOST_US : us;
	if (!look_us || us < look_us)
		__atomic_store_n(&look_us, us, __ATOMIC_RELAXED);
	start();
}

/* A forked child has its own. */
void spi_limit_fork_child(void)
{
	is_running = has_tried = 0;
}

/* A forked child in which nothing is recorded never begins. */
void spi_limit_here(void)
{
	if (!__atomic_load_n(&is_running, __ATOMIC_RELAXED) && !__atomic_exchange_n(&has_tried, 1, __ATOMIC_ACQ_REL))
		start();
}

void spi_limit_child_begins(void)
{
	if (look_us)
		start();
}
