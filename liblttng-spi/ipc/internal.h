/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the files of ipc/ share. Any thread, any state, unless it is said.
 *
 * Who may race whom: all but `users`, `used`, `is_asked`, `is_early`, `asking`, `told`, `peer`, `id` and `place` of a
 * channel is final before others find the channel. A channel that somebody uses (`users`) stays what it is; one that
 * nobody uses may become another at any time, so a pointer is good within the call that it was handed to, and no
 * longer.
 */
#ifndef SPI_IPC_INTERNAL_H
#define SPI_IPC_INTERNAL_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include "include/lttng/spi.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/ipc/ipc.h"

#define SPI_IPC_DATAGRAM	1u	/* flags of spi_ipc:send and spi_ipc:recv */
#define SPI_IPC_NOT_SURE	2u
#define SPI_IPC_NOT_KNOWN	4u
#define SPI_IPC_CUT		8u
#define SPI_IPC_ASKED		16u
#define SPI_IPC_LATE		32u

/* ---- what all traced processes of a user share ---- */

/*
 * One direction of a channel; 64 bytes, in the order of enum spi_ipc_end. A word: operations under way, and from bit
 * 16 on those that ever began.
 */
struct spi_ipc_place {
	uint64_t id;			/* 0: free */
	uint32_t used;			/* when somebody last looked for it, seconds */
	uint32_t state;			/* SPI_IPC_LOST and so on */
	struct {
		uint64_t position, word;
	} end[2];
	uint64_t joined;		/* when the hooks came into the last process that was met by a rule while it ran; ns of spi_now_ns() */
	uint64_t reserved;
};
_Static_assert(sizeof(struct spi_ipc_place) == 64, "shared with programs that have another agent of this build");
#define SPI_IPC_UNDER_WAY	UINT64_C(0xffff)	/* of a word */
#define SPI_IPC_BEGUN		(UINT64_C(1) << 16)
#define SPI_IPC_LOST	1u	/* what is counted here is not what the channel carries */
#define SPI_IPC_BORN	2u	/* all that it ever carried was counted here, as far as processes are traced */
#define SPI_IPC_AGREED(end)	(4u << (end))	/* this end's count has been compared with the queue, and was right or set right */
#define SPI_IPC_WANTED(end)	(16u << (end))	/* it could not be compared, as the other end is busy: who is there is to do it */
enum spi_ipc_end { SPI_IPC_SEND, SPI_IPC_RECV };

/* ---- places.c ---- */
/* NULL: there is no memory, or no room. *is_new: nobody has counted there. */
struct spi_ipc_place *spi_ipc_place_find(uint64_t id, int *is_new) SPI_HIDDEN;
int spi_ipc_place_is_idle(const struct spi_ipc_place *place) SPI_HIDDEN;	/* no call is under way at either end */

/* ---- workers.c ---- */
struct spi_ipc_kind;			/* a worker, and whose it is */

/* What a worker says of a call. */
struct spi_ipc_said {
	int64_t offset;			/* of pread() and pwrite(); -1: where the descriptor is */
	const struct spi_ipc_kind *kind;
	struct spi_channel channel;
};

struct spi_ipc_channel;
extern uint32_t spi_ipc_workers SPI_HIDDEN;	/* those that are asked; 0: none */
/* Control side: there are trees with these clients that follow channels. */
void spi_ipc_workers_take(uint32_t clients) SPI_HIDDEN;
const char *spi_ipc_worker_name(const struct spi_ipc_kind *kind) SPI_HIDDEN;
struct stat;
/* 1: it is one of theirs. */
int spi_ipc_worker_ask(int fd, enum spi_ipc_end end, const struct stat *st, struct spi_ipc_said *said) SPI_HIDDEN;
/* The same for all channels: nothing is done for those that are no worker's. */
int spi_ipc_worker_injects(const struct spi_ipc_channel *channel, uint64_t position) SPI_HIDDEN;	/* 1: it has */
void spi_ipc_worker_remote(const struct spi_ipc_channel *channel, uint64_t position, int is_on) SPI_HIDDEN;
void spi_ipc_worker_local(const struct spi_ipc_channel *channel, uint64_t position, int is_on) SPI_HIDDEN;
/* `usual`: what the position says. */
int spi_ipc_worker_may_start(const struct spi_ipc_channel *channel, int fd, uint64_t position, int usual) SPI_HIDDEN;

/* ---- channels.c ---- */

/* One direction of a pipe or connection, as this process's end of it sees it. */
struct spi_ipc_channel {
	uint64_t key;			/* which end this is, in this process's table. 0: none */
	uint64_t id;			/* the same at both ends; 0: not known yet, as of a UNIX stream whose sender is not known */
	uint64_t inode, peer;		/* of this end, and of the other; 0: not known. A pipe's twice */
	struct spi_ipc_place *place;	/* where it is counted; NULL: nowhere */
	uint32_t kind;			/* enum spi_channel_kind */
	uint32_t is_receiver;
	uint32_t is_asked;		/* the peer was asked for while spi_tree_epoch was this; 0: never */
	uint32_t once;			/* SPI_IPC_ASKED: the message that asked has failed, and the next one says so */
	uint32_t told;			/* the event spi_ipc:channel was written: spi_ipc_era() */
	uint32_t users, used;
	uint32_t is_early;		/* the peer is not under the rules: what is sent is marked as such */
	uint32_t is_aligned;		/* the place agrees with what the kernel has queued, or it did once */
	uint32_t is_path_own;		/* `path` is this end's name, not the other's */
	uint32_t is_packets;		/* seqpacket: what is left of a message is gone */
	uint32_t has_asked_peer;	/* spi_ipc_know_peer() was called */
	uint64_t asking;		/* 0, or until when others wait for the thread that asks, in ns of spi_now_ns() */
	struct spi_msg_address from, to;	/* TCP, UDP */
	char path[112];			/* as in struct spi_msg_channel */
	uint32_t is_named;		/* it was named to the user, as nobody looks for the other end */
	int32_t pids[SPI_PEER_PIDS_MAX];	/* processes at the other end, as far as they are known; 0 ends the list */
	const struct spi_ipc_kind *worker;	/* SPI_CHANNEL_OTHER alone, as what follows: whose it is, */
	uint64_t said, device;		/* and what the worker calls it; `inode` is a file's there */
};

/* Where a datagram goes, as the program says it; a NULL name: where the socket is connected to. */
struct spi_ipc_address {
	const void *name;
	socklen_t size;
};

/*
 * The end of a channel that this descriptor is; users is one more, for spi_ipc_channel_leave(). NULL: it is none that
 * any tree follows.
 */
struct spi_ipc_channel *spi_ipc_channel_find(int fd, enum spi_ipc_end end, const struct spi_ipc_address *to) SPI_HIDDEN;
/* At a call of the program's: workers are asked, too. *said is theirs if the channel is; offset: pread()'s, or -1. */
struct spi_ipc_channel *spi_ipc_channel_of_call(int fd, enum spi_ipc_end end, const struct spi_ipc_address *to,
	struct spi_ipc_said *said) SPI_HIDDEN;
/* A call's whole descriptor, whether a tree follows the channel or not: a copy. 0; -EBADF; -ENOENT: it is none. */
int spi_ipc_channel_copy(struct spi_ipc_channel *copy, int fd, enum spi_ipc_end end, struct spi_ipc_said *said) SPI_HIDDEN;
void spi_ipc_others_end(void) SPI_HIDDEN;		/* control side: nobody follows workers' channels any more */
void spi_ipc_channel_leave(struct spi_ipc_channel *channel) SPI_HIDDEN;
/* The end that has this key in the process's table; then as spi_ipc_channel_find(). NULL: it is there no more. */
struct spi_ipc_channel *spi_ipc_channel_by_key(uint64_t key) SPI_HIDDEN;
void spi_ipc_channel_name(struct spi_ipc_channel *channel, int fd) SPI_HIDDEN;	/* before it is told */
uint64_t spi_ipc_born_id(int fd, uint32_t *kind) SPI_HIDDEN;
void spi_ipc_channel_forget(int fd) SPI_HIDDEN;		/* the socket is connected to somebody else now */
/* As spi_msg_channel has it, but for the position and the length. */
void spi_ipc_channel_fill(const struct spi_ipc_channel *channel, struct spi_msg_channel *message) SPI_HIDDEN;
uint64_t spi_ipc_id(const char *kind, uint64_t a, uint64_t b) SPI_HIDDEN;
uint64_t spi_ipc_unix_peer(uint64_t inode) SPI_HIDDEN;	/* unix-peer.c: the inode of the socket that this one is connected to; 0: not known */

/* ---- identity.c: fill in what a new one is; users, key and place are the table's ---- */
union spi_ipc_name {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
	uint8_t bytes[128];
};

void spi_ipc_channel_identify(struct spi_ipc_channel *channel, int fd, const struct stat *st, const union spi_ipc_name *to,
	socklen_t to_size) SPI_HIDDEN;
void spi_ipc_channel_identify_other(struct spi_ipc_channel *channel, const struct spi_ipc_said *said) SPI_HIDDEN;
/* One that has no id yet: a TCP socket that is not connected, a UNIX stream whose sender is not known. */
void spi_ipc_channel_complete(struct spi_ipc_channel *channel, int fd) SPI_HIDDEN;

/* ---- agreement.c ---- */
/* Where the channel is counted; the counts have been compared with the queue, if that could be. NULL: nowhere. */
struct spi_ipc_place *spi_ipc_place_of(struct spi_ipc_channel *channel, int fd) SPI_HIDDEN;
/*
 * A call of this end is over, whose word is so now: compare, where the other end wants that, or a rule came to
 * processes that talked already.
 */
void spi_ipc_compare(struct spi_ipc_channel *channel, int fd, uint64_t word) SPI_HIDDEN;
void spi_ipc_born(int fd) SPI_HIDDEN;	/* a pipe or socket that was just made: nothing has gone out of it */
void spi_ipc_op_doubt(struct spi_ipc_channel *channel) SPI_HIDDEN;	/* something was received that nobody has counted */
/*
 * What the controller says of a channel that leads here (SPI_MSG_CHANNEL): its receiving end is at channel->position
 * minus what is queued now. 0, or a negative errno: -ENOENT, no descriptor of this process is that end; -EAGAIN: it
 * is always being read from.
 */
int spi_ipc_align(const struct spi_msg_channel *channel) SPI_HIDDEN;

/* ---- positions.c ---- */

/* One call of the program's, between its begin and its end. */
struct spi_ipc_op {
	struct spi_ipc_channel *channel;	/* NULL: nothing is done */
	struct spi_ipc_place *place;
	uint64_t word;			/* as the call began */
	uint64_t position;		/* or hash */
	uint64_t begin, serial;
	uint64_t length;
	uint64_t p;			/* where its return address stands */
	int fd;
	enum spi_ipc_end end;
	uint32_t is_given;		/* a worker has said the position: nothing is counted */
	uint32_t flags;
	uint32_t trees;			/* that record it */
	struct spi_ipc_op_left {
		uint64_t p, serial;
		struct spi_ipc_channel *channel;
		struct spi_ipc_place *place;
		enum spi_ipc_end end;
	} outer;			/* the call that a handler has interrupted */
};

/* channel, fd, end, p, is_given and position are set. The place first; between the two the thread may wait. */
void spi_ipc_op_place(struct spi_ipc_op *op) SPI_HIDDEN;
void spi_ipc_op_begin(struct spi_ipc_op *op) SPI_HIDDEN;
void spi_ipc_op_end(struct spi_ipc_op *op, uint64_t moved) SPI_HIDDEN;	/* sets position and flags; the channel is still used */
void spi_ipc_op_over(struct spi_ipc_op *op) SPI_HIDDEN;	/* and now it is not */
int spi_ipc_thread_is_in_call(void) SPI_HIDDEN;	/* one that was seen to begin */
uint64_t spi_ipc_position(const struct spi_ipc_op *op) SPI_HIDDEN;	/* where the channel is now */

/* ---- op.c: what the replacements call ---- */

/* In a replacement: where the call's return address stands. */
#define SPI_IPC_P	((uint64_t) __builtin_frame_address(0) + 8)
#define SPI_IPC_DECLARE(name)	static __typeof__(&name) next_##name
#define SPI_IPC_ONE(buffer, n)	((struct spi_ipc_data) { .bytes = (buffer), .length = (n) })
#define SPI_IPC_MANY(vector, n)	((struct spi_ipc_data) { .parts = (vector), .count = (uint64_t) (n) })
#define SPI_IPC_ROW_OF(which, name, what) \
	{ #name, (void *) ipc_##name, (void **) &next_##name, .ways = SPI_HOOK_ENTRY, .flags = SPI_HOOK_NO_TRAP, \
		.set = which, .lost = what }
#define SPI_IPC_ROW(name, what)	SPI_IPC_ROW_OF(SPI_HOOKS_IPC, name, what)
#define SPI_IPC_WRONG	"messages that it moves are not recorded, and positions behind them are wrong"

SPI_INLINE int spi_ipc_is_datagram(uint32_t kind)
{
	return kind == SPI_CHANNEL_UDP || kind == SPI_CHANNEL_UNIX_DATAGRAM;
}

/* What a call reads from or writes to; the program's memory, which may not be there. */
struct spi_ipc_data {
	const struct iovec *parts;
	uint64_t count;
	const void *bytes;		/* parts NULL: one part, of `length` */
	uint64_t length;
};

/*
 * 1: the call is one of the program's, on a channel that is followed. spi_ipc_end() comes when libc's function is
 * back. p: where the call's return address stands; to, data: NULL or what it sends.
 */
int spi_ipc_begin(struct spi_ipc_op *op, uint64_t p, int fd, enum spi_ipc_end end, const struct spi_ipc_address *to,
	const struct spi_ipc_data *data) SPI_HIDDEN;
/* Likewise, of bytes at an offset of the descriptor's, which a pipe and a socket do not have; -1: where that is. */
int spi_ipc_begin_at(struct spi_ipc_op *op, uint64_t p, int fd, enum spi_ipc_end end, int64_t offset,
	const struct spi_ipc_data *data) SPI_HIDDEN;
/* result: as the function returns it. flags: SPI_IPC_CUT. errno stays. */
void spi_ipc_end(struct spi_ipc_op *op, int64_t result, const struct spi_ipc_data *data, uint32_t flags) SPI_HIDDEN;
/* The same of functions that move several messages; n: how many they did, or -1. */
void spi_ipc_end_many(struct spi_ipc_op *op, const struct mmsghdr *messages, int n) SPI_HIDDEN;
/* The program's, which may not be there: 0, and the call fails. */
int spi_ipc_message(const struct msghdr *from, struct spi_ipc_data *data, struct spi_ipc_address *to) SPI_HIDDEN;
uint32_t spi_ipc_message_flags(const struct msghdr *from) SPI_HIDDEN;	/* of one that was received: SPI_IPC_CUT or 0 */
uint64_t spi_ipc_data_length(const struct spi_ipc_data *data) SPI_HIDDEN;

/* ---- record.c ---- */
void spi_ipc_records_prepare(void) SPI_HIDDEN;	/* control side; the event module is there */
/*
 * Write spi_ipc:send or spi_ipc:recv of an op that is over, and before it spi_ipc:channel, where that was not told
 * yet.
 */
void spi_ipc_record(const struct spi_ipc_op *op, int64_t result) SPI_HIDDEN;
uint64_t spi_ipc_clock(void) SPI_HIDDEN;	/* ns of CLOCK_MONOTONIC */
/* spi_ipc:peer. status and reason: doc/rooms/ipc.md. In the thread that was about to send. */
void spi_ipc_record_peer(const struct spi_ipc_channel *channel, int32_t pid, const char *name, int32_t status, const char *reason,
	uint64_t took) SPI_HIDDEN;

/* "pipe", "tcp"; of a worker's channels the worker's name. */
const char *spi_ipc_kind_name(const struct spi_ipc_channel *channel) SPI_HIDDEN;
void spi_ipc_channel_text(const struct spi_ipc_channel *channel, char *text, size_t size) SPI_HIDDEN;	/* kind and other end */

/* ---- trees.c ---- */
extern uint32_t spi_ipc_is_on SPI_HIDDEN;	/* there is a tree that follows messages, or waits for one */
extern uint64_t spi_ipc_joined SPI_HIDDEN;	/* a rule came while the program ran, and the hooks with it: ns of spi_now_ns(). Else 0 */
extern uint32_t spi_ipc_wait_ms SPI_HIDDEN;	/* so long a first message waits for its receiver */
int spi_ipc_follows(uint32_t kind) SPI_HIDDEN;	/* such a tree follows channels of this kind */
/* The calling thread's trees that follow messages along channels of this kind; 0: none. */
uint32_t spi_ipc_trees_of(uint32_t kind) SPI_HIDDEN;
uint32_t spi_ipc_era(void) SPI_HIDDEN;		/* another one in each process, and when the trees change; never 0 */
void spi_ipc_not_followed(uint32_t what) SPI_HIDDEN;	/* enum spi_ipc_not: noted once */
enum spi_ipc_not {
	SPI_IPC_NOT_URGENT, SPI_IPC_NOT_TLS, SPI_IPC_NOT_FULL, SPI_IPC_NOT_RING, SPI_IPC_NOT_SHARED,
	SPI_IPC_NOT_ROOM, SPI_IPC_NOT_COUNTED, SPI_IPC_NOTS,
};

/* ---- others.c ---- */
void spi_ipc_others_look(void) SPI_HIDDEN;

/* ---- peer.c ---- */
/*
 * The calling thread, which is in trees with ipc (spi_ipc_trees_of()), is about to send on a channel for the first
 * time since those trees are as they are. May wait. Datagrams: the hash of the message, and its length; streams:
 * where the channel is. 1: it has asked; 0: another thread has meanwhile.
 */
int spi_ipc_before_send(struct spi_ipc_channel *channel, int fd, uint64_t position_or_hash, uint64_t length) SPI_HIDDEN;
/* The sender of a UNIX stream is not known, and could not be found here (unix-peer.c): sets channel->peer. May wait. */
void spi_ipc_know_peer(struct spi_ipc_channel *channel, int fd) SPI_HIDDEN;

/* ---- blocked.c: receives that were under way when the hooks came ---- */
struct spi_ipc_receive {
	int64_t number;			/* the system call's */
	int fd;
	uint64_t arguments[5];		/* behind the descriptor */
};
/*
 * What it tells of: the receive has returned `result` to its caller, or -1; its return address stood at p. The thread
 * of the program.
 */
void spi_ipc_receive_over(const struct spi_ipc_receive *receive, uint64_t p, int64_t result) SPI_HIDDEN;
/*
 * Is it the receiving end of a channel that some tree follows? Then bytes are counted from here on. Nobody receives
 * meanwhile.
 */
void spi_ipc_count_from_here(int fd) SPI_HIDDEN;
int spi_ipc_receives(int fd) SPI_HIDDEN;	/* is it the receiving end of a channel that is followed? */

/* ---- starts.c ---- */
/*
 * A receive has returned `count` bytes from op->position on, which of a datagram is its hash, and the program is not
 * told yet. Called while spi_tree_awaiting is not 0. May begin trees, and wait.
 */
void spi_ipc_received(const struct spi_ipc_op *op, uint64_t count) SPI_HIDDEN;

#endif /* SPI_IPC_INTERNAL_H */
