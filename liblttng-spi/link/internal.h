/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of link/ share, and control/ with them: packets, one after the other. */
#ifndef SPI_LINK_INTERNAL_H
#define SPI_LINK_INTERNAL_H

#include "liblttng-spi/core.h"

#define SPI_PACKET_MAX	(sizeof(struct spi_msg) + SPI_PROTO_BODY_MAX)

/* A packet that was put aside. */
struct spi_pending {
	struct spi_pending *next;
	uint32_t bytes;			/* of the mapping */
	uint32_t size;			/* of the packet */
	uint8_t packet[];
};

/* One packet into link->packet. Its size, 0 at the end of the link, -ETIMEDOUT or another errno; *fd: with it, or -1. */
long spi_link_receive(struct spi_link *link, int timeout_ms, int *fd);
/* As spi_link_send(), with flags for sendmsg(). */
int spi_link_send_with(struct spi_link *link, uint16_t type, uint32_t id, const void *a, size_t na, const void *b, size_t nb, int fd,
	long flags);
void spi_link_put_aside(struct spi_link *link, long size);
void spi_link_renewed_close(struct spi_link *link);
void spi_nursery_open(struct spi_link *link);	/* for controllers that take children; the others find them by themselves */
void spi_nursery_close(void);
/* The two halves of spi_link_open(). */
int spi_link_hello(struct spi_link *link, int fd, uint32_t hello_flags);
int spi_link_welcome(struct spi_link *link);
void spi_link_close(struct spi_link *link);
/* Control thread, without the lock: go on as the user that the process has become. */
void spi_link_keep_user(struct spi_link *link);

extern uint32_t spi_link_attached;	/* a control thread owns a link */
void spi_link_declined_forget(void);
/* Serve until GO (stop_at_go), DETACH or the link's end: 1, 2 or -errno. */
int spi_control_serve(struct spi_link *link, int timeout_ms, int stop_at_go);
void spi_control_thread_ready(void);	/* control thread: lttng-ust's memory for it, if it has none yet */
void spi_control_wait(struct spi_link *link);	/* for the next packet, or the end; does meanwhile what is asked */

#endif /* SPI_LINK_INTERNAL_H */
