/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What all rooms of the broker stand on: the loop, child processes, notes, the session daemon that is served, and
 * messages to the daemon's plugin. The broker has one thread: every function here is for that thread.
 */
#ifndef SPI_BROKER_BASE_BASE_H
#define SPI_BROKER_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "spi-sessiond-plugin/broker/proto.h"

/* ---- loop.c: descriptors and timers; nothing that blocks ------------------------------------------------- */

/* A descriptor that is waited for. `fd` is -1 while it is not in the loop. */
struct loop_source {
	int fd;
	void (*ready)(struct loop_source *source, uint32_t events);
};

struct loop_timer {
	struct loop_timer *next;
	uint64_t at;		/* ms of loop_now() */
	bool armed;
	void (*fire)(struct loop_timer *timer);
};

#define LOOP_OWNER(pointer, type, member) ((type *) ((char *) (pointer) - __builtin_offsetof(type, member)))

int loop_init(void);	/* 0 or a negative errno */
uint64_t loop_now(void);	/* CLOCK_MONOTONIC, ms */

/* 0 or a negative errno, and the descriptor is the caller's still. */
int loop_add(struct loop_source *source, int fd, uint32_t events, void (*ready)(struct loop_source *, uint32_t));
void loop_change(struct loop_source *source, uint32_t events);
int loop_take(struct loop_source *source);	/* the descriptor, which is not closed, is the caller's */
void loop_remove(struct loop_source *source);	/* closes the descriptor; nothing when there is none */

void loop_timer_set(struct loop_timer *timer, unsigned int ms, void (*fire)(struct loop_timer *));
void loop_timer_cancel(struct loop_timer *timer);

/*
 * Serve until done() or the loop itself fails. turn() is called after each event and after the timers that are due. It
 * does what they have left to do, and returns whether there is more for the next turn. done() is asked after each.
 */
int loop_run(bool (*turn)(void), bool (*done)(void));

/* ---- child.c: processes that do what may block, or what needs other rights -------------------------------- */

#define CHILD_FD 3	/* the child's end of its socket */

struct child {
	pid_t pid;			/* 0: does not run */
	struct loop_source socket;	/* SOCK_SEQPACKET; .fd -1 when it does not run */
	uid_t uid;			/* the user whose rights the child takes; (uid_t) -1: no other user's */
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

/* ---- notes.c: lines about the broker itself for `lttng list --spi` ---------------------------------------- */

struct note {
	struct note *next;
	char key[32], text[400];
};

/* One line for each key: a new text replaces the former one. */
void broker_note(const char *key, const char *format, ...) __attribute__((format(printf, 2, 3)));
void broker_note_clear(const char *key);
const struct note *broker_notes(void);		/* the first one */
bool broker_is_root(void);

/* ---- daemon.c: the session daemon that is served ---------------------------------------------------------- */

struct daemon {
	struct spi_broker_daemon told;	/* what the plugin says of the daemon */
	bool is_known;			/* the plugin has said so */
	bool is_gone;			/* the connection to the plugin is over: agents are being detached */
	bool is_front_end;		/* no daemon, but a front end that processes are found for (SPI_BROKER_FIND) */
	char directory[108];		/* of the daemon's sockets, and of the broker's */
	char version[32];		/* of lttng-tools; "" until the version is known */
};

const struct daemon *the_daemon(void);
bool daemon_is_gone(void);
int daemon_take(const struct spi_broker_daemon *told);	/* 0, or -EPROTO: no path among them names a directory */
void daemon_take_front_end(pid_t pid);
void daemon_set_version(const char *version);
void daemon_set_gone(void);

/* ---- plugin.c: messages to the plugin --------------------------------------------------------------------- */

/*
 * What does not fit the socket waits in a queue: neither side waits for the other. plugin_open() and the functions that
 * send return 0 or a negative errno. ready() is called when the plugin has sent something, or is gone.
 */
int plugin_open(void (*ready)(struct loop_source *source, uint32_t events));
void plugin_close(void);
void plugin_flush(void);		/* the socket takes more */
int plugin_release(uint64_t id);	/* the registration of that number may go on */
int plugin_table(uint64_t generation, uint32_t flags, const struct spi_broker_entry *entries, uint32_t count);
int plugin_querier(pid_t pid);
int plugin_disabled(uint64_t id);
int plugin_flushed(uint64_t id);
/* To a front end. The connection to the agent is taken over. */
int plugin_found(pid_t pid, bool by_message, int fd);
int plugin_lacks(pid_t pid, const char *name, bool is_late, const char *why);
int plugin_looked(void);
int plugin_tell(pid_t pid, uint32_t number, const struct spi_msg_channel_told *told);
int plugin_peers(pid_t pid, uint32_t id, const struct spi_msg_peers *peers, const char *text);

#endif /* SPI_BROKER_BASE_BASE_H */
