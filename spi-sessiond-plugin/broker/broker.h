/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The broker, a process of its own that does the plugin's work outside of the daemon: starting
 * and ending it (life.c, spawn.c), and messages to it (queue.c).
 */
#ifndef SPI_SESSIOND_BROKER_H
#define SPI_SESSIOND_BROKER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "spi-sessiond-plugin/broker/proto.h"

/* ---- queue.c ---- */

enum queue_kind {
	QUEUE_HINT,		/* left out when the broker lags */
	QUEUE_TOLD_AGAIN,	/* left out when it lags much, and made up for later: APP, HELD */
	QUEUE_URGENT,		/* few */
	QUEUE_VITAL,		/* never left out: a broker that can't be told is given up */
};

/*
 * Queue a message; takes `fd` (-1: none) in any case. With plugin_lock held.
 * False: there is no broker, or the message was left out.
 */
bool queue_post(uint16_t type, const void *body, size_t size, const void *more, size_t more_size, int fd,
		enum queue_kind kind);
bool queue_lost(void);		/* the queue is empty, and messages had been left out: once. Plugin thread */
void queue_open(bool open);	/* with plugin_lock held; closing forgets all that is queued */
bool queue_is_open(void);	/* with plugin_lock held: there is a broker */
/* Send what can be sent now. 0: all; 1: the socket is full; negative: the broker is to be given up. Plugin thread. */
int queue_send(int socket);
void queue_wake(void);		/* the plugin thread, from anywhere */
unsigned int queue_poll(struct pollfd *set);	/* 2 */
void queue_drain(const struct pollfd *set);	/* those two, after poll() */
int queue_create(void);

/* ---- life.c ---- */

/* What the broker's life means to the rooms above. Called by the plugin thread, without the lock. */
struct broker_events {
	bool (*must_wait)(void);	/* is something of the daemon's still to come, so that a start waits for a moment? */
	void (*begun)(void);		/* a broker runs, and knows nothing: open the queue, and tell it */
	void (*given_up)(void);		/* no more of this one: close the queue */
	void (*lagged)(void);		/* messages were left out, and the queue is empty again: tell of everything */
	int (*said)(const struct spi_broker_msg *head, const void *body);	/* a message; negative: it can't be understood */
};

/* Before the plugin thread begins. */
void broker_set_events(const struct broker_events *events);
/* Plugin thread. Start, restart or stop it as due; milliseconds until called again, -1: never. */
int broker_advance(int64_t now);
unsigned int broker_poll(struct pollfd *set);	/* at most 2 */
void broker_dispatch(void);
/* A hold ran out without an answer. */
void broker_expired(int64_t since, int64_t now);
/* Is `pid` the broker or below it? Reads /proc. No lock. */
bool broker_family(pid_t pid);

/* ---- spawn.c ---- */

/*
 * Run `path` with `socket` as descriptor SPI_BROKER_FD, nobody's child. Its
 * pid, and a pidfd in *pidfd; or a negative errno.
 */
pid_t spawn_broker(const char *path, int socket, int *pidfd);

#endif /* SPI_SESSIOND_BROKER_H */
