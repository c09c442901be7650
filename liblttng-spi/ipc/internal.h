/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the files of ipc/ share. Any thread, any state, unless it is said.
 *
 * Who may race whom: all but `users`, `used`, `is_asked`, `peer`, `id` and `place` of a channel is final before others find the channel.
 * A channel that somebody uses (`users`) stays what it is; one that nobody uses may become another at any time, so a pointer is
 * good within the call that it was handed to, and no longer.
 */
#ifndef SPI_IPC_INTERNAL_H
#define SPI_IPC_INTERNAL_H

#include "liblttng-spi/base/base.h"
#include "liblttng-spi/ipc/ipc.h"

struct spi_ipc_place;

/* One direction of a pipe or connection, as this process's end of it sees it. */
struct spi_ipc_channel {
	uint64_t key;			/* which end this is, in this process's table. 0: none */
	uint64_t id;			/* the same at both ends; 0: not known yet, as of a UNIX stream whose sender is not known */
	uint64_t inode, peer;		/* of this end, and of the other; 0: not known. A pipe's twice */
	struct spi_ipc_place *place;	/* where it is counted; NULL: nowhere */
	uint32_t kind;			/* enum spi_channel_kind */
	uint32_t is_receiver;
	uint32_t is_asked;		/* peer.c's: the epoch of trees (spi_tree_epoch) in which the peer was asked for; 0: never */
	uint32_t is_told;		/* the same of the event spi_ipc:channel */
	uint32_t users, used;
	uint32_t is_early;		/* the peer is not under the rules: what is sent is marked as such */
	uint64_t asking;		/* 0, or until when others wait for the thread that asks, in ns of spi_now_ns() */
	struct spi_msg_address from, to;	/* TCP, UDP */
	char path[112];			/* as in struct spi_msg_channel */
};

/* ---- peer.c ---- */
/*
 * The calling thread, which is in trees with ipc (spi_ipc_trees_of()), is about to send on a channel for the first time since
 * those trees are as they are. May wait. Datagrams: the hash of the message, and its length; streams: where the channel is.
 */
void spi_ipc_before_send(struct spi_ipc_channel *channel, int fd, uint64_t position_or_hash, uint64_t length) SPI_HIDDEN;
/* The sender of a UNIX stream is not known, and could not be found here: sets channel->peer. May wait. */
void spi_ipc_know_peer(struct spi_ipc_channel *channel, int fd) SPI_HIDDEN;

/* ---- blocked.c: receives that were under way when the hooks came ---- */
struct spi_ipc_receive {
	int64_t number;			/* the system call's */
	int fd;
	uint64_t arguments[5];		/* behind the descriptor */
};
void spi_ipc_blocked_take(void) SPI_HIDDEN;		/* control side, once the hooks stand */
/* What it tells of: the receive has returned `result` to its caller, or -1. The thread of the program. */
void spi_ipc_receive_over(const struct spi_ipc_receive *receive, int64_t result) SPI_HIDDEN;
int spi_ipc_is_channel(int fd) SPI_HIDDEN;		/* a receiving end of one whose kind some tree follows; any thread */

/* ---- starts.c ---- */
/*
 * A receive has returned `count` bytes from `position` on (a datagram: its hash, and position is the hash as well), and the program is
 * not told yet. Called while spi_tree_awaiting is not 0. May begin trees, and wait.
 */
void spi_ipc_received(struct spi_ipc_channel *channel, uint64_t position, uint64_t count, uint64_t hash) SPI_HIDDEN;

/* ---- trees.c ---- */
/* The calling thread's trees that follow messages along channels of this kind; 0: none. */
uint32_t spi_ipc_trees_of(uint32_t kind) SPI_HIDDEN;
/* As spi_msg_channel has it, but for the position and the length. */
void spi_ipc_channel_fill(const struct spi_ipc_channel *channel, struct spi_msg_channel *message) SPI_HIDDEN;

/* The end that has this key in the process's table, to be used under the control lock; NULL: there is none. */
struct spi_ipc_channel *spi_ipc_channel_by_key(uint64_t key) SPI_HIDDEN;
/* The event spi_ipc:peer. */
void spi_ipc_record_peer(const struct spi_ipc_channel *channel, int32_t pid, const char *name, int32_t status, const char *reason,
	uint64_t took) SPI_HIDDEN;

/* ---- positions.c ---- */
/*
 * What the controller says of a channel that leads here (SPI_MSG_CHANNEL): its receiving end is at channel->position minus what is
 * queued now. 0, or a negative errno: -ENOENT, no descriptor of this process is that end; -EAGAIN: it is always being read from.
 */
int spi_ipc_align(const struct spi_msg_channel *channel) SPI_HIDDEN;

#endif /* SPI_IPC_INTERNAL_H */
