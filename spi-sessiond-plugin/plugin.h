/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the files of the plugin share.
 *
 * Threads: the daemon's own, which come by through the hooks (hooks.c), and one
 * of the plugin's (thread.c). Hooks decide from what is in memory, queue
 * messages, and wait for nobody (but for the end of a rule, and before a command, a
 * moment: rules.c, flush.c); every exchange with the broker, every connect() and every deadline is the
 * plugin thread's.
 *
 * One lock, plugin_lock, guards all that both sides touch. It is held for some
 * hundred instructions, never across a system call that can block, and never by
 * a forked child: there the plugin is not armed any more (plugin_armed()), and
 * the hooks do nothing but call what they stand before.
 */
#ifndef SPI_SESSIOND_PLUGIN_H
#define SPI_SESSIOND_PLUGIN_H

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "spi-sessiond-plugin/broker-proto.h"

#define PLUGIN_LIBRARY	"lttng-spi-sessiond.so"
#define PLUGIN_THREAD	"spi-plugin"

/* ---- got.c: the main program's imports ----------------------------------- */

struct got_hook {
	const char *name, *old_name;	/* as imported; old_name: before 2.13, or NULL */
	void *hook;
	void **real;			/* where to keep what the slot held */
	unsigned int slots;		/* found */
};

/* Count the slots of each hook in the main program, and fill *real. */
void got_find(struct got_hook *hooks, unsigned int nr);
/* Put the hooks in. 0 or a negative errno; what was put in already stays. */
int got_patch(const struct got_hook *hooks, unsigned int nr);

/* ---- init.c ---------------------------------------------------------------- */

extern pthread_mutex_t plugin_lock;
extern pid_t plugin_pid;	/* of the daemon, once armed */
extern bool plugin_attached;	/* it ran already when the plugin was loaded */

/* True in the daemon once the plugin thread runs; false before, and in every child of a fork. */
bool plugin_armed(void);
/* Start the plugin thread and arm the hooks; at most once. */
void plugin_start(void);
void plugin_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
int64_t plugin_clock(void);	/* monotonic, milliseconds */

/* ---- hooks.c --------------------------------------------------------------- */

extern struct got_hook plugin_hooks[];
extern const unsigned int plugin_nr_hooks;

/* Is this lttng-sessiond? After got_find(). */
bool hooks_wanted(void);

/* ---- sockets.c: the daemon's own sockets ------------------------------------- */

struct sockets {
	int client_fd, app_fd;		/* listening; -1: not known yet */
	char client_path[108], app_path[108];
};
extern struct sockets sockets;	/* written before the plugin is armed, or under plugin_lock */

/* The daemon made `fd` listen. Starts the plugin when it is the application socket. */
void sockets_listening(int fd);
/* Look through the descriptors of a daemon that runs already. True: its application socket is there. */
bool sockets_find(void);
/* Report every application that is connected and not held. Plugin thread. */
void sockets_report_apps(void);
/* A pidfd of a connection's peer, or -1. */
int sockets_peer_pidfd(int fd, pid_t pid);

/* ---- clients.c: client commands, counted --------------------------------------- */

void clients_accepted(int fd);
void clients_closed(int fd);
/* With plugin_lock held. */
bool clients_has_user(uid_t uid);	/* has it ever given a command, or is it the daemon's own? With plugin_lock held */
uint64_t clients_begun(void);
uint64_t clients_ended(void);	/* every command up to this number has ended */
int64_t clients_oldest(void);	/* when the oldest that has not ended began; INT64_MAX: there is none */
int64_t clients_latest(void);	/* when the latest began: plugin_clock(). No lock */
bool clients_series_goes_on(int64_t now);	/* one of several that a client gives one after the other, or the next may come */
void clients_set_querier(pid_t pid);
void clients_report_users(void);	/* to a new broker */
bool clients_users_known(void);	/* those are all there were since the plugin came */

/* ---- rules.c: event rules on their way to applications ------------------------ */

void rules_created(int sock, const void *event, bool trigger, const void *channel, const void *object);
void rules_switched(int sock, const void *object, bool enabled);
void rules_released(const void *object);
/* Before it is switched off: waits for the broker, a moment at most. */
void rules_switching_off(const void *object);
void rules_disabled(uint64_t id);	/* the broker's answer */

/* ---- flush.c: before a client's command, and a trigger's ---- */
void flush_wait(void);
void flush_before_message(void);	/* the calling thread is about to send one. No lock */
void flush_done(uint64_t id);		/* the broker's answer */

/* ---- table.c: who is to be held ------------------------------------------------ */

enum verdict {
	VERDICT_PASS,
	VERDICT_STALE,		/* not concerned by a table that is out of date */
	VERDICT_CONCERNED,
	VERDICT_NAME_NEEDED,	/* ask again with the executable's name */
};

/* All with plugin_lock held. `exec`: from table_exec_name(), or NULL; `name`: that it registered with, 16 characters at most. */
enum verdict table_judge(uid_t uid, pid_t pid, const char *exec, const char *name);
bool table_has_compact(void);	/* rules for compact records */
void table_set(const struct spi_broker_table *table, const struct spi_broker_entry *entries);
void table_forget(void);
uint64_t table_generation(void);
bool table_known(void);
/* The executable's file name, cut as entries are; "" when it can't be read. No lock. */
void table_exec_name(pid_t pid, char exec[static 24]);

/* ---- held.c, replay.c: registrations kept back, and played back ---------------------- */

/* What lttng_ust_ctl_recv_reg_msg() said. */
struct registration {
	int type;
	uint32_t number[12];	/* major to the last alignment, in the order of the arguments */
	int byte_order;
	char name[16];
};
#define REGISTRATION_CMD	0
#define REGISTRATION_NOTIFY	1
#define REGISTRATION_BITS	6	/* number[]: bits per long */

/* In a hook. True: the registration was taken, the daemon is to forget this socket. */
bool held_keep(int sock, const struct ucred *peer, const struct registration *reg);
/* In a hook: a connection of our own. 1: `sock` is now a held one, and *reg what it said; 0: not ours; or -errno. */
int held_take(int sock, struct registration *reg);

/* Plugin thread. Deadlines and connections; returns milliseconds until it wants to be called again, -1: never. */
int held_advance(int64_t now);
unsigned int held_poll(struct pollfd *set, unsigned int max);
void held_release(uint64_t id);
void held_release_all(void);
void held_rejudge(void);	/* a new table has come */
bool held_waits(pid_t pid);	/* held, and not to be played back yet */
bool held_in_turn(pid_t pid);	/* it is being played back, or the daemon is at work on it */

/* ---- turns.c: registrations that the daemon is at work on ------------------------------ */

/* It has taken this one, of a program started then; *late (pid 0: nothing) is reported if it takes long. With plugin_lock held. */
void turns_begin(int fd, pid_t pid, int64_t started, const struct spi_broker_late *late);
/* It was started that long ago: should that be too long for lttng-ust, the broker is told. With plugin_lock held. */
void turns_tell_late(struct spi_broker_late *late, int64_t started);
bool turns_has(pid_t pid);	/* with plugin_lock held */
void turns_end(int fd);		/* it is done with it */
/*
 * May another one, kept since then, be played back while `taken` are on their way?
 * 0: yes; otherwise the milliseconds after which to ask again, if none ends before.
 */
int turns_left(unsigned int taken, int64_t since, int64_t now);

/* ---- ahead.c: the application whose turn it is goes first in line for a processor --------- */

/* Plugin thread. Before `pid` is played back; and milliseconds until called again, -1: never. */
void ahead_take(pid_t pid, uid_t uid, int64_t now);
int ahead_advance(int64_t now);

/* ---- broker.c, queue.c: the other end -------------------------------------------- */

enum queue_kind {
	QUEUE_HINT,		/* left out when the broker lags */
	QUEUE_TOLD_AGAIN,	/* left out when it lags much, and made up for later: APP, HELD */
	QUEUE_URGENT,		/* few */
	QUEUE_VITAL,		/* never left out: a broker that can't be told is given up */
};

/*
 * Queue a message; takes `fd` (-1: none) in any case. With plugin_lock held.
 * False: there is no broker, or the message was left out.
 */
bool queue_post(uint16_t type, const void *body, size_t size, const void *more, size_t more_size, int fd,
		enum queue_kind kind);
bool queue_lost(void);		/* the queue is empty, and messages had been left out: once. Plugin thread */
void queue_open(bool open);	/* with plugin_lock held; closing forgets all that is queued */
bool queue_is_open(void);	/* with plugin_lock held: there is a broker */
/* Send what can be sent now. 0: all; 1: the socket is full; negative: the broker is to be given up. Plugin thread. */
int queue_send(int socket);
void queue_wake(void);		/* the plugin thread, from anywhere */
unsigned int queue_poll(struct pollfd *set);	/* 2 */
void queue_drain(const struct pollfd *set);	/* those two, after poll() */
int queue_create(void);

/* Plugin thread. Start, restart or stop it as due; milliseconds until called again, -1: never. */
int broker_advance(int64_t now);
unsigned int broker_poll(struct pollfd *set);	/* at most 2 */
void broker_dispatch(void);
/* A hold ran out without an answer. */
void broker_expired(int64_t since, int64_t now);
/* Is `pid` the broker or below it? Reads /proc. No lock. */
bool broker_family(pid_t pid);

/* ---- process.c: what /proc says; 0 when it does not. No lock --------------------------- */

pid_t process_parent(pid_t pid);
int64_t process_ticks(pid_t pid);	/* when it was started, in the kernel's own count: tells it from another of that number. 0: gone */
int64_t process_started(pid_t pid);	/* as plugin_clock() was then */

/* ---- spawn.c -------------------------------------------------------------------- */

/*
 * Run `path` with `socket` as descriptor SPI_BROKER_FD, nobody's child. Its
 * pid, and a pidfd in *pidfd; or a negative errno.
 */
pid_t spawn_broker(const char *path, int socket, int *pidfd);

/* ---- thread.c --------------------------------------------------------------------- */

int thread_start(void);

#endif /* SPI_SESSIOND_PLUGIN_H */
