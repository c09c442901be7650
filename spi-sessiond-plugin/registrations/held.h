/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The records of held registrations, shared by held.c (hooks) and replay.c (the
 * plugin thread).
 *
 * Records are unlinked and freed by the plugin thread only, which therefore may
 * walk the list without the lock; the hooks put new ones at its head and change
 * the state of sockets, under the lock.
 */
#ifndef SPI_SESSIOND_REGISTRATIONS_HELD_H
#define SPI_SESSIOND_REGISTRATIONS_HELD_H

#include <sys/un.h>

#include "spi-sessiond-plugin/base/base.h"
#include "spi-sessiond-plugin/registrations/registrations.h"

#define HOLD_STALE_MS	300	/* while nothing but a new table is waited for */
#define HOLD_BUSY_MS	1000	/* the same when it is on its way, and only the machine is slow */

enum socket_state {
	SOCKET_NONE,		/* not come; fd is set aside */
	SOCKET_KEPT,
	SOCKET_OFFERED,		/* our connection is on its way to the hook */
	SOCKET_TAKEN,		/* the daemon has it */
};

struct held_socket {
	enum socket_state state;
	int fd;			/* -1: handed over */
	int client;		/* our connection, or -1; the plugin thread's */
	struct sockaddr_un token;
	socklen_t token_size;
	struct registration reg;
};

struct held {
	struct held *next;
	uint64_t id, generation;
	pid_t pid;
	uid_t uid;
	char exec[24];
	int64_t started;	/* the program, or when that was long before: since */
	int64_t since, deadline;
	bool stale;		/* held only because the table was out of date */
	bool released;
	bool behind;		/* there was an earlier registration under the same pid when it came */
	struct held_socket socket[2];	/* REGISTRATION_CMD, REGISTRATION_NOTIFY */
};

int held_limit_ms(void);
struct held *held_first(void);		/* plugin thread */
void held_tell_late(const struct held *h);	/* its application does not wait any more; plugin thread */
void held_remove(struct held *h);	/* unlinks and frees; plugin thread */
void held_free(struct held *h);

#endif /* SPI_SESSIOND_REGISTRATIONS_HELD_H */
