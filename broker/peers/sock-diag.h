/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Asking the kernel about sockets: for a child of the broker's, in one namespace at a time. */
#ifndef SPI_BROKER_PEERS_SOCK_DIAG_H
#define SPI_BROKER_PEERS_SOCK_DIAG_H

#include <linux/inet_diag.h>
#include <stddef.h>

#include "broker/peers/find.h"

#define SOCK_NO_COOKIE { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE }

/* -error; `why` says more. */
int sock_refuse(struct found *found, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* body, size: one socket, and its attributes. Not 0: no more is to be shown. */
typedef int (*sock_sees_fn)(void *data, const void *body, size_t size);
/* dumps: all sockets that fit; else one. 0, what `sees` returned, or a negative errno. */
int sock_ask(const void *request, size_t size, bool dumps, sock_sees_fn sees, void *data);
/* The value of an attribute behind the first `skip` bytes; *size: its bytes. NULL: it is not there. */
const void *sock_attribute(const void *body, size_t all, size_t skip, unsigned short type, size_t *size);

static inline void sock_end_add(struct end *end, uint64_t inode)
{
	if (inode && end->nr_inodes < ENDS_MAX)
		end->inodes[end->nr_inodes++] = inode;
}

/* The caller's own namespace. 0, or a negative errno. */
int sock_open(void);

static inline void sock_listening_add(struct listening *list, unsigned int *count, uint64_t inode, uint32_t channels)
{
	if (inode && *count < LISTENING_MAX)
		list[(*count)++] = (struct listening) { inode, channels };
}

/* More of list[*count]. 0, or a negative errno. */
int unix_listening(struct listening *list, unsigned int *count);
int inet_listening(struct listening *list, unsigned int *count);

int unix_find_connected(uint64_t inode, struct found *found);
int unix_find_named(const struct question *q, int directory, struct found *found);
int inet_find(const struct question *q, struct found *found);

#endif /* SPI_BROKER_PEERS_SOCK_DIAG_H */
