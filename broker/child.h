/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The broker's own children: processes that do what may block, or needs other rights. */
#ifndef SPI_BROKER_CHILD_H
#define SPI_BROKER_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "broker/loop.h"

#define CHILD_FD 3	/* the child's end of its socket */

struct child {
	pid_t pid;			/* 0: does not run */
	struct loop_source socket;	/* SOCK_SEQPACKET; .fd -1 when it does not run */
	uid_t uid;		/* whose rights it takes; (uid_t) -1: nobody's in particular */
};

/*
 * child_start() - fork; the child runs work(data) with standard streams on
 * /dev/null, its socket as CHILD_FD, no other descriptor, and ends with the
 * broker. The socket is non-blocking on our side. 0 or a negative errno.
 */
int child_start(struct child *child, int (*work)(void *data), void *data,
		void (*ready)(struct loop_source *, uint32_t));

/* Kill it if it still runs, and close its socket. It is reaped when it has ended. */
void child_stop(struct child *child);

/* Reap all that have ended (injector/base/foreign-fd.h), now and as long as there are some to come. */
void children_reap(void);

/*
 * One packet with at most `max_fds` descriptors. send: 0 or a negative errno.
 * receive: bytes, 0 at the end, or a negative errno; *nr_fds says how many
 * came; more than max_fds are closed and make it -EPROTO.
 */
int packet_send(int socket, const void *data, size_t size, const int *fds, unsigned int nr_fds);
ssize_t packet_receive(int socket, void *data, size_t size, int *fds, unsigned int max_fds, unsigned int *nr_fds);

/* Become uid and gid, with no way back and no capability. 0 or a negative errno. */
int become(uid_t uid, gid_t gid);

/* Are there other users at all? In a user namespace of one there are not. */
bool others_exist(void);

#endif /* SPI_BROKER_CHILD_H */
