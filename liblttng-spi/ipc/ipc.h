/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room ipc: messages to other processes. While a tree with ipc is in force, the agent stands before libc's functions
 * that send and receive, knows which channel and which bytes each call means, and records that (spi_ipc:*).
 *
 * Threads: a replacement runs in any thread of the program, in any state. It holds no lock while it is within libc's
 * function, where a thread may be cancelled, left by longjmp(), or killed.
 */
#ifndef SPI_IPC_H
#define SPI_IPC_H

#include <stdint.h>
#include "liblttng-spi/base/base.h"

/* ---- stream-hooks.c, message-hooks.c, birth-hooks.c: rows for control/init.c ---- */
extern const struct spi_hook spi_ipc_stream_hooks[] SPI_HIDDEN, spi_ipc_message_hooks[] SPI_HIDDEN, spi_ipc_birth_hooks[] SPI_HIDDEN;

/* ---- trees.c: a participant. Control side, but for the child and the end ---- */
void spi_ipc_trees_changed(void) SPI_HIDDEN;
void spi_ipc_fork_child(void) SPI_HIDDEN;
void spi_ipc_process_end(void) SPI_HIDDEN;

/* ---- positions.c ---- */
void spi_ipc_thread_over(void) SPI_HIDDEN;

/* ---- peer.c, starts.c: what the controller is asked, and what it says. Control side ---- */
struct spi_link;
void spi_ipc_asks_send(struct spi_link *link) SPI_HIDDEN;		/* what threads ask */
void spi_ipc_peers_take(uint32_t number, const char *body, size_t size) SPI_HIDDEN;	/* PEERS */
int spi_ipc_told(const struct spi_msg_channel_told *told) SPI_HIDDEN;	/* CHANNEL. 0 or a negative errno */

/* ---- workers.c, channels.c: for the public interface ---- */
struct spi_channel;
struct spi_client;
struct spi_ipc_worker;
int spi_ipc_worker_set(struct spi_client *client, const struct spi_ipc_worker *worker) SPI_HIDDEN;	/* while it is configured */
/* What the descriptor is an end of. 0, -EBADF, or -ENOENT: of no channel. Any thread, any state. */
int spi_ipc_describe(int fd, int is_write, struct spi_channel *channel) SPI_HIDDEN;

/* ---- participants ---- */
void spi_ipc_asks_fork_child(void) SPI_HIDDEN;
void spi_ipc_alone_tell(void) SPI_HIDDEN;	/* at the end: more channels whose other end nobody looked for */
void spi_ipc_blocked_fork_child(void) SPI_HIDDEN;
void spi_ipc_blocked_look(void) SPI_HIDDEN;	/* once the hooks stand. Control side */

#endif /* SPI_IPC_H */
