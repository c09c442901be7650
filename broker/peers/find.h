/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Which process is at the other end of a channel: what is asked, and what is answered. The questions are answered by child
 * processes (finder.c), from what the kernel says of sockets (sock-diag.c) and of descriptors (holders.c). Whoever can
 * answer for processes elsewhere takes the same question and gives the same answer.
 */
#ifndef SPI_BROKER_PEERS_FIND_H
#define SPI_BROKER_PEERS_FIND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "liblttng-spi/base/agent-proto.h"

#define HOLDERS_MAX	16u	/* of one end: others are counted */
#define ENDS_MAX	16u	/* listening sockets that any of may take the connection */
#define WHY_SIZE	160u
#define FOUND_MAX	32u	/* ends that one look at all processes is for */

/* A process, of whatever number. */
struct one {
	pid_t pid;
	uint32_t reserved;
	uint64_t start_time;
};

/* What a descriptor is to be of: a socket with one of these inodes, or the reading end of a pipe. */
struct end {
	uint32_t nr_inodes;
	bool is_pipe;
	bool is_file;			/* that a worker has named: only processes of the asker's user have it */
	bool is_listening;		/* nobody has accepted the connection yet */
	uint64_t inodes[ENDS_MAX];
	uint64_t device;		/* of that file (fstat()), or of a FIFO with a name; 0: it has none */
};

struct question {
	uint64_t number;
	bool is_scan;			/* who of all processes has `end`? Otherwise: what is the other end, and who of `known` has it? */
	bool by_receiver;
	bool is_urgent;			/* a program waits for the answer */
	struct one asker;		/* whose channel it is, */
	uid_t uid;			/* and whose process */
	gid_t gid;
	struct spi_msg_channel channel;
	uint32_t descriptor;		/* where the asker says that it has the channel, and 1; 0: anywhere */
	uint32_t nr_known;
	struct one known[HOLDERS_MAX];
	struct end end;
};

struct found {
	uint64_t number;
	bool is_scan;
	int32_t status;			/* 0, or a negative errno: `why` */
	char why[WHY_SIZE];
	uint64_t inode;			/* of the other end; 0: not known */
	struct end end;
	uint32_t nr, beyond;		/* holders; and so many more */
	struct one holders[HOLDERS_MAX];
};

/* A socket that messages may come to from whoever knows its address. */
struct listening {
	uint64_t inode;
	uint32_t channels;		/* SPI_CHANNELS_*: of what kind they are */
};
#define LISTENING_MAX	4096u

/* ---- sock-diag.c: the other end of a socket. 0, or a negative errno with `why` -------------------------------- */

/* The process of the question, /proc/PID of which is open as `directory`. Fills in `end`, and `inode`. */
int sockets_find(const struct question *question, int directory, struct found *found);

/* All of the network namespace that the caller is in; ascending. How many, or a negative errno. */
int sockets_listening(struct listening list[LISTENING_MAX]);

/* ---- holders.c: descriptors ------------------------------------------------------------------------------------ */

/* /proc/PID, as long as it is that process. -1: it has ended. */
int process_directory(const struct one *one);
bool process_is_of(int directory, uid_t uid);	/* in all its ids */
/*
 * Has the process a descriptor of a pipe or socket with that inode? likely: 0, or the number of one that may be it, and
 * 1. *device: of a FIFO with a name, else 0.
 */
bool process_holds(int directory, bool is_pipe, uint64_t inode, uint32_t likely, uint64_t *device);
/*
 * Does the front end that has started the process (/proc/PID, open as `asker`), or one of its ancestors, hold it as well? Then it is
 * the user's: what `lttng trace` itself reads from or writes to.
 */
bool front_end_holds(int asker, bool is_pipe, uint64_t inode);
/* Those that a worker has named, as far as they are the asker's user's. */
void holders_named(const struct question *question, struct found *found);
/* Which of `found->end` the known ones hold; the first 4096 descriptors of each are looked at. */
void holders_among(const struct question *question, struct found *found);
/* All processes that do, for all of the questions at once. */
void holders_scan(const struct question *questions, struct found *found, unsigned int count);
/* All processes that have some of these sockets. `sees` is told of which kinds they are. */
void holders_listening(const struct listening *list, unsigned int count,
		       void (*sees)(const struct one *one, uint32_t channels));

#endif /* SPI_BROKER_PEERS_FIND_H */
