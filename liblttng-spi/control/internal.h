/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room control: the top. It starts the rooms (init.c, in an order that stands in one place), lists what they take part in
 * (participants.c), and serves the controller: handshake.c, commands.c, and the control thread (thread.c). No room calls
 * it; what one asks of it comes by base/wakeup.h and by pointers that control sets.
 */
#ifndef SPI_CONTROL_INTERNAL_H
#define SPI_CONTROL_INTERNAL_H

#include "liblttng-spi/link/link.h"

/* ---- handshake.c ---- */
int spi_link_hello(struct spi_link *link, int fd, uint32_t hello_flags);
int spi_link_welcome(struct spi_link *link);

/* ---- commands.c ---- */
int spi_link_serve_until_go(struct spi_link *link);
/* Serve until GO (stop_at_go), DETACH or the link's end: 1, 2 or -errno. */
int spi_control_serve(struct spi_link *link, int timeout_ms, int stop_at_go);

/* ---- thread.c ---- */
int spi_link_serve_thread(struct spi_link *link);	/* start the control thread; it owns link from then on */
int spi_attach_thread(int fd, int is_waited);	/* the same for an injected agent: HELLO is said on the new thread; does the program wait? */
void spi_link_wait(void);	/* until then */
void spi_link_goes(void);	/* rules are what they are to be: the program goes on */
int spi_attach_child(int fd, int how);	/* SPI_LINK_CHILD*: the same in a forked child that begins; fd -1: it finds its controller itself, if it had one */
void spi_link_fork_child(void);
void spi_control_thread_ready(void);	/* control thread: lttng-ust's memory for it, if it has none yet */
void spi_control_wait(struct spi_link *link);	/* for the next packet, or the end; does meanwhile what is asked */

/* ---- init.c ---- */
void spi_control_fork_child(void);
void spi_agent_end(void);			/* the process ends: once, from whichever destructor or _exit() comes first */

/* ---- participants.c ---- */
void spi_participants_begin(void);

#endif /* SPI_CONTROL_INTERNAL_H */
