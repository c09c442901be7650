/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room link: the agent's end of a connection to its controller (base/agent-proto.h): connecting, sending, receiving, and
 * waiting for an answer. One link at a time is the process's: spi_link_current, guarded by the control lock. What
 * commands do, and which thread serves them, is room control's.
 *
 * Threads: control side, under the control lock, unless a function says otherwise. No function waits for the controller
 * while the patch lock is held.
 */
#ifndef SPI_LINK_H
#define SPI_LINK_H

#include <stddef.h>
#include <stdint.h>
#include "liblttng-spi/base/base.h"

#define SPI_PACKET_MAX	(sizeof(struct spi_msg) + SPI_PROTO_BODY_MAX)

/* A packet that was put aside. */
struct spi_pending {
	struct spi_pending *next;
	uint32_t bytes;			/* of the mapping */
	uint32_t size;			/* of the packet */
	uint8_t packet[];
};

struct spi_link {
	int fd;
	uint32_t next_id;
	uint32_t welcome_flags;
	uint32_t hello_flags;
	char *packet;			/* SPI_PROTO_BODY_MAX + header */
	struct spi_pending *pending;	/* commands that came while an answer was awaited */
	uint32_t uid;			/* the user of the connection */
	uint32_t refused;		/* a user as which the controller did not take the process */
	int renews;			/* the controller asks for a connection of the process's present user */
	int renewed;			/* where it goes on once `fd` has ended; 0: nowhere */
	int is_child;			/* a forked child begins with it: SPI_LINK_*; fd -1: it is to find its controller */
};

enum { SPI_LINK_CHILD = 1, SPI_LINK_CHILD_BY_CALLER, SPI_LINK_CHILD_LATER };

/* ---- transport.c ---- */
/* One packet into link->packet. Its size, 0 at the end of the link, -ETIMEDOUT or another errno; *fd: with it, or -1. */
long spi_link_receive(struct spi_link *link, int timeout_ms, int *fd);
void spi_link_close(struct spi_link *link);
extern uint32_t spi_link_attached;	/* a control thread owns a link */
int spi_link_connect(const char *path);
int spi_link_send(struct spi_link *link, uint16_t type, uint32_t id, const void *a, size_t na, const void *b, size_t nb, int fd);
/* Wait for the answer to `id`; other messages are kept. Returns body size or -errno; *fd as received or -1. */
long spi_link_answer(struct spi_link *link, uint16_t type, uint32_t id, void *body, size_t size, int *fd);
extern struct spi_link *spi_link_current;
extern int spi_link_renewed_fd, spi_link_fd;	/* numbers that the program's close() leaves open; -1: none */

/* ---- nursery.c ---- */
void spi_nursery_open(struct spi_link *link);	/* for controllers that take children; the others find them by themselves */
extern int spi_nursery_fd;	/* where a child finds its parent's controller; -1: nowhere */
int spi_nursery_connect(int may_wait);	/* a forked child's connection to its parent's controller; -ENOENT: there is no nursery; or a negative errno */
void spi_nursery_note(const char *line);	/* to it, of a child that has no connection */
/* A note for the user: by the link, or a child's to its parent's controller. Control side. */
void spi_link_note(const char *line, size_t size);

/* ---- renewal.c ---- */
/* Control thread, without the lock: go on as the user that the process has become. */
void spi_link_keep_user(struct spi_link *link);

/* ---- declined.c ---- */
void spi_link_declined_forget(void);
/* What could not be instrumented: counted, and told with the next flush. Control lock. */
void spi_link_declined(struct spi_link *link, const char *object, const char *function, const char *reason);
void spi_link_declined_flush(struct spi_link *link);

#endif /* SPI_LINK_H */
