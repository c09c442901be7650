/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Before a client's command. Stopping a session, a snapshot, a rotation: whatever it
 * is, users expect the trace to have what happened before. Traced processes keep compact
 * records back for some ten milliseconds; so while there are rules for such,
 * the thread that has just accepted a client's connection, and holds no lock of the daemon's, asks
 * the broker to have them written, and waits for the answer, a moment at most.
 */
#include <time.h>

#include "spi-sessiond-plugin/plugin.h"

#define FLUSH_MS	100

static pthread_cond_t answer = PTHREAD_COND_INITIALIZER;
static uint64_t asked, answered;

/* With plugin_lock held, which is let go while waiting. */
void flush_wait(void)
{
	struct spi_broker_release message = { .id = asked + 1 };
	struct timespec until;

	if (!table_has_compact() ||
	    !queue_post(SPI_BROKER_FLUSH, &message, sizeof(message), NULL, 0, -1, QUEUE_URGENT))
		return;
	asked = message.id;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += FLUSH_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	while (answered < message.id && queue_is_open() &&
	       !pthread_cond_clockwait(&answer, &plugin_lock, CLOCK_MONOTONIC, &until))
		;
}

void flush_done(uint64_t id)
{
	pthread_mutex_lock(&plugin_lock);
	answered = id;
	pthread_cond_broadcast(&answer);
	pthread_mutex_unlock(&plugin_lock);
}
