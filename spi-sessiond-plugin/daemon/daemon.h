/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the plugin knows of the daemon, from what comes by the hooks: its sockets, its clients'
 * commands, the event rules that it sends; and from the broker: which applications rules concern.
 */
#ifndef SPI_SESSIOND_DAEMON_H
#define SPI_SESSIOND_DAEMON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "spi-sessiond-plugin/broker/proto.h"

/* ---- sockets.c: the daemon's own sockets ---- */

struct sockets {
	int client_fd, app_fd;		/* listening; -1: not known yet */
	char client_path[108], app_path[108];
};
extern struct sockets sockets;	/* written before the plugin is armed, or under plugin_lock */

/* The daemon made `fd` listen: remember its socket. True: it is the application socket. */
bool sockets_listening(int fd);
/* Look through the descriptors of a daemon that runs already. True: its application socket is there. */
bool sockets_find(void);
/* Call visit() for each descriptor of this process. */
void sockets_visit(void (*visit)(int fd, void *data), void *data);
/* The path a UNIX socket is bound to, "" when none; returns its file name. */
const char *sockets_path(int fd, char path[static 109]);
bool sockets_is_app(const char *name);
int sockets_option(int fd, int option);	/* a number; 0 where there is none */
/* A pidfd of a connection's peer, or -1. */
int sockets_peer_pidfd(int fd, pid_t pid);

/* ---- clients.c: client commands, counted ---- */

void clients_accepted(int fd);
void clients_closed(int fd);
/* With plugin_lock held. */
/* Has this user ever given a command, or is the user the daemon's own? With plugin_lock held. */
bool clients_has_user(uid_t uid);
uint64_t clients_begun(void);
uint64_t clients_ended(void);	/* every command up to this number has ended */
int64_t clients_oldest(void);	/* when the oldest that has not ended began; INT64_MAX: there is none */
int64_t clients_latest(void);	/* when the latest began: plugin_clock(). No lock */
/* Does a client give several commands one after the other, the next of which may come? */
bool clients_series_goes_on(int64_t now);
void clients_set_querier(pid_t pid);
void clients_report_users(void);	/* to a new broker */
bool clients_users_known(void);	/* those are all there were since the plugin came */

/* ---- rules.c: event rules on their way to applications ---- */

void rules_created(int sock, const void *event, bool trigger, const void *channel, const void *object);
void rules_switched(int sock, const void *object, bool enabled);
void rules_released(const void *object);
/* Before it is switched off: waits for the broker, a moment at most. */
void rules_switching_off(const void *object);
void rules_disabled(uint64_t id);	/* the broker's answer */
bool rules_have_name_first(void);	/* in what is handed over of one: behind its instrumentation */

/* ---- told-rules.c: what tells a trace of rules ---- */

/* Of lttng-ust's, as the daemon would call them: hooks.c has them. */
struct ust_calls {
	long (*create_event)(long sock, long event, long channel, long object, long, long);
	long (*enable)(long sock, long object, long, long, long, long);
	long (*release)(long sock, long object, long, long, long, long);
};
/* The daemon has made an event rule in an application. No lock. */
void told_rules_created(int sock, const void *event, const void *channel, const struct ust_calls *ust);

/* ---- flush.c: before a client's command, and a trigger's ---- */

void flush_wait(void);
void flush_before_message(void);	/* the calling thread is about to send one. No lock */
void flush_done(uint64_t id);		/* the broker's answer */

/* ---- table.c: which applications rules may concern ---- */

enum verdict {
	VERDICT_PASS,
	VERDICT_STALE,		/* not concerned by a table that is out of date */
	VERDICT_CONCERNED,
	VERDICT_NAME_NEEDED,	/* ask again with the executable's name */
};

/*
 * All with plugin_lock held. `exec`: from table_exec_name(), or NULL; `name`: the application's name
 * in its registration, 16 characters at most.
 */
enum verdict table_judge(uid_t uid, pid_t pid, const char *exec, const char *name);
bool table_has_compact(void);	/* rules for compact records */
void table_set(const struct spi_broker_table *table, const struct spi_broker_entry *entries);
void table_forget(void);
uint64_t table_generation(void);
bool table_known(void);
/* The executable's file name, cut as entries are; "" when it can't be read. No lock. */
void table_exec_name(pid_t pid, char exec[static 24]);

#endif /* SPI_SESSIOND_DAEMON_H */
