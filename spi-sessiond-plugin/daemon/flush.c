/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Packed records are written before a client's command, and before a trigger's. Stopping a session, a
 * snapshot, a rotation: users expect the trace to have what happened before. Traced processes keep
 * compact records back for some ten milliseconds. So while there are rules for such records, the
 * thread that has just accepted a client's connection, and holds no lock of the daemon's, asks the
 * broker to have them written, and waits for the answer, a moment at most.
 *
 * Triggers have their commands carried out by a thread of the daemon that does nothing else, and is
 * known by its name; rotations by a timer or by size have such a thread, too. What these threads do
 * with a session begins with a message to a consumer daemon. So when one of them is about to send a
 * message, and has not just sent another, the same is done. It holds that session's lock then,
 * which nobody needs for this.
 */
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "spi-sessiond-plugin/base/base.h"
#include "spi-sessiond-plugin/broker/broker.h"
#include "spi-sessiond-plugin/daemon/daemon.h"

#define FLUSH_MS	100
#define PAUSE_MS	2	/* between two messages: they are of different commands */

static const char *const threads[] = { "Action Executor", "Rotation" };

static pthread_cond_t answer = PTHREAD_COND_INITIALIZER;
static uint64_t asked, answered;
static bool is_asking;

/* With plugin_lock held, which is let go while waiting. */
void flush_wait(void)
{
	struct spi_broker_release message;
	struct timespec until;

	if (!table_has_compact())
		return;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += FLUSH_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	/* a client and a trigger: one after the other */
	while (is_asking && queue_is_open() && !pthread_cond_clockwait(&answer, &plugin_lock, CLOCK_MONOTONIC, &until))
		;
	message.id = asked + 1;
	if (is_asking || !queue_post(SPI_BROKER_FLUSH, &message, sizeof(message), NULL, 0, -1, QUEUE_URGENT))
		return;
	asked = message.id;
	is_asking = true;
	while (answered < message.id && queue_is_open() &&
	       !pthread_cond_clockwait(&answer, &plugin_lock, CLOCK_MONOTONIC, &until))
		;
	is_asking = false;
	pthread_cond_broadcast(&answer);
}

void flush_before_message(void)
{
	static __thread enum { UNKNOWN, BY_ITSELF, ANOTHER } who;	/* carries commands out by itself, without a client */
	static __thread int64_t latest;
	char name[16] = "";

	if (who == UNKNOWN) {
		prctl(PR_GET_NAME, name);
		who = ANOTHER;
		for (unsigned int i = 0; i < sizeof(threads) / sizeof(threads[0]); i++)
			if (!strcmp(name, threads[i]))
				who = BY_ITSELF;
	}
	if (who == ANOTHER)
		return;
	if (plugin_clock() - latest > PAUSE_MS) {
		pthread_mutex_lock(&plugin_lock);
		flush_wait();
		pthread_mutex_unlock(&plugin_lock);
	}
	latest = plugin_clock();
}

void flush_done(uint64_t id)
{
	pthread_mutex_lock(&plugin_lock);
	answered = id;
	pthread_cond_broadcast(&answer);
	pthread_mutex_unlock(&plugin_lock);
}
