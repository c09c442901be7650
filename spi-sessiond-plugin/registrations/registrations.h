/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Registrations of applications: kept back (held.c), played back (replay.c), and worked through by the daemon (turns.c). */
#ifndef SPI_SESSIOND_REGISTRATIONS_H
#define SPI_SESSIOND_REGISTRATIONS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "spi-sessiond-plugin/broker/proto.h"

/* ---- held.c, replay.c ---- */

/* What lttng_ust_ctl_recv_reg_msg() said. */
struct registration {
	int type;
	uint32_t number[12];	/* major to the last alignment, in the order of the arguments */
	int byte_order;
	char name[16];
};
#define REGISTRATION_CMD	0
#define REGISTRATION_NOTIFY	1
#define REGISTRATION_BITS	6	/* number[]: bits per long */

/* In a hook. True: the registration was taken, the daemon is to forget this socket. */
bool held_keep(int sock, const struct ucred *peer, const struct registration *reg);
/* In a hook: a connection of our own. 1: `sock` is now a held one, and *reg what it said; 0: not ours; or -errno. */
int held_take(int sock, struct registration *reg);

/* Plugin thread. Deadlines and connections; returns milliseconds until it wants to be called again, -1: never. */
int held_advance(int64_t now);
unsigned int held_poll(struct pollfd *set, unsigned int max);
void held_release(uint64_t id);
void held_release_all(void);
void held_rejudge(void);	/* a new table has come */
bool held_waits(pid_t pid);	/* held, and not to be played back yet */
bool held_in_turn(pid_t pid);	/* it is being played back, or the daemon is at work on it */

/* ---- turns.c ---- */

/* It has taken this one, of a program started then; *late (pid 0: nothing) is reported if it takes long. With plugin_lock held. */
void turns_begin(int fd, pid_t pid, int64_t started, const struct spi_broker_late *late);
/* It was started that long ago: should that be too long for lttng-ust, the broker is told. With plugin_lock held. */
void turns_tell_late(struct spi_broker_late *late, int64_t started);
bool turns_has(pid_t pid);	/* with plugin_lock held */
void turns_end(int fd);		/* it is done with it */
/*
 * May another one, kept since then, be played back while `taken` are on their way?
 * 0: yes; otherwise the milliseconds after which to ask again, if none ends before.
 */
int turns_left(unsigned int taken, int64_t since, int64_t now);

/* ---- priority.c: the application whose turn it is goes first in line for a processor ---- */

/* Plugin thread. Before `pid` is played back; and milliseconds until called again, -1: never. */
void ahead_take(pid_t pid, uid_t uid, int64_t now);
int ahead_advance(int64_t now);

/* ---- applications.c ---- */

/* Report every application that is connected and not held. Plugin thread. */
void applications_report(void);

#endif /* SPI_SESSIOND_REGISTRATIONS_H */
