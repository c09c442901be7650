/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The controller's side of the agent socket (liblttng-spi/base/agent-proto.h).
 *
 * A struct spi_control is a set of connections to agents, one per traced
 * process, driven by the caller's loop: poll spi_control_fd() for POLLIN and
 * call spi_control_dispatch(). Nothing here blocks. What agents ask for while
 * they carry rules out (code maps, files) is served inside: spi-codemap runs as
 * a child with the target's rights, several at once, each with a deadline. What
 * the user should know arrives in the callbacks.
 *
 * One thread at a time. Callbacks run inside spi_control_dispatch() only; they
 * may call anything here except spi_control_destroy(). Strings handed to a
 * callback live until it returns.
 */
#ifndef SPI_INJECTOR_CONTROL_H
#define SPI_INJECTOR_CONTROL_H

#include <stdint.h>
#include <sys/types.h>

#include "liblttng-spi/base/agent-proto.h"

struct spi_control;
struct spi_agent;	/* one connection; valid from on_hello (or adopt) until on_gone has returned */

/* CPU time so far, in us: the program's own, tracing's, and of that what records of calls took. */
struct spi_budget_told {
	unsigned int budget;	/* 1/1000 of `own` that tracing may take; 0: there is no limit, or no longer */
	uint64_t own, spent, records;
};
struct spi_left_out_told {
	int is_out;		/* 0: it is recorded again */
	uint64_t calls;		/* recorded before it was left out */
	unsigned int share;	/* of what the tree's records took then, 1/1000 */
	const char *object, *function;
};

/* Any callback may be NULL. */
struct spi_control_ops {
	/* The agent said who it is, and was answered WELCOME: add rules now, then spi_agent_go() if it waits. */
	void (*on_hello)(struct spi_agent *agent, void *data);
	/* A rule is in force (status 0), or could not be: text says why. */
	void (*on_rule_done)(struct spi_agent *agent, const struct spi_msg_rule_done *done, const char *text,
			void *data);
	/* A library that was loaded since adds so much to a rule's numbers; text: why nothing could be done, or empty. */
	void (*on_rule_more)(struct spi_agent *agent, const struct spi_msg_rule_done *more, const char *text, void *data);
	/* One function that was asked for and has no point. Once per function. */
	void (*on_declined)(struct spi_agent *agent, const char *object, const char *function, const char *reason,
			    void *data);
	void (*on_note)(struct spi_agent *agent, const char *text, void *data);
	/* So many calls of a function were recorded in call trees since it was last told of. */
	void (*on_hot)(struct spi_agent *agent, uint64_t count, const char *object, const char *function, void *data);
	/* What tracing costs the program; then each function that a budget leaves out, or has left out, whole each time. */
	void (*on_budget)(struct spi_agent *agent, const struct spi_budget_told *told, void *data);
	void (*on_left_out)(struct spi_agent *agent, const struct spi_left_out_told *told, void *data);
	/* A whole object's analysis begins, or is over: what a user may have to wait for. `object` is its file name. */
	void (*on_analysis)(struct spi_agent *agent, const char *object, int begins, void *data);
	void (*on_flushed)(struct spi_agent *agent, uint32_t id, void *data);
	void (*on_closed)(struct spi_agent *agent, uint32_t id, void *data);
	/* Everything is removed from the process; on_gone follows. */
	void (*on_detached)(struct spi_agent *agent, void *data);
	/* Has this user sessions? Then its agents are served before those of users who have none. NULL: all are alike. */
	int (*has_sessions)(uid_t uid, void *data);
	/* It goes on as another user, by a connection that it has made as such. */
	void (*on_renewed)(struct spi_agent *agent, void *data);
	/*
	 * A message is about to go out, or the receiver of one asks: which process is at the other end? Answered by spi_agent_peers()
	 * with the same id. NULL: every such question is answered with -ENOSYS. The path ends with a NUL, and there are
	 * SPI_PEER_RULES_MAX rules at most.
	 */
	void (*on_peer_request)(struct spi_agent *agent, uint32_t id, const struct spi_msg_peer_request *request, void *data);
	void (*on_channel_done)(struct spi_agent *agent, uint32_t id, const struct spi_msg_channel_done *done, void *data);
	/* The connection is over: the process ended, detached, replaced itself by exec, or broke the protocol. */
	void (*on_gone)(struct spi_agent *agent, void *data);
};

/* spi_control_create() - 0 or a negative errno. `ops` is copied. */
int spi_control_create(struct spi_control **control, const struct spi_control_ops *ops, void *data);

/*
 * spi_control_destroy() - close all connections (an agent that was not told
 * SPI_WELCOME_KEEP then removes its instrumentation), end and reap what still
 * runs, remove the socket and every directory made here, and those that killed
 * processes of this user left beside it. No callback is called.
 */
void spi_control_destroy(struct spi_control *control);

/* A descriptor that polls readable whenever spi_control_dispatch() has work. */
int spi_control_fd(const struct spi_control *control);

/*
 * Do work that is ready, of 32 connections at most. Never blocks. 0; 1: there may be more; or a negative errno (the set
 * itself is broken).
 */
int spi_control_dispatch(struct spi_control *control);

/*
 * No function of the file that `st` is of matches these patterns, and its debug files were looked for in our own root
 * directory: agents are told so for a minute without an analysis. 0 or -ENOMEM.
 */
struct stat;
int spi_control_lacks(struct spi_control *control, const struct stat *st, const char *const *patterns, unsigned int count);

/*
 * spi_control_analyse() - have the map for call trees of a file made that a process has mapped, as when its agent
 * asks: with the rights of the process's user, and into that user's cache. At the lowest priority. `over` is called
 * once, when the map is made or cannot be, unless spi_control_destroy() comes first; it does not ask for another one.
 * 0 or a negative errno.
 */
struct spi_analysis {
	pid_t pid;
	uint64_t start_time;
	uid_t uid;			/* whose process it is, in all its ids; if that is another by then it is not analysed */
	const char *path;		/* as /proc/PID/maps has it */
	void (*over)(void *data);
	void *data;
};
int spi_control_analyse(struct spi_control *control, const struct spi_analysis *analysis);

/*
 * Files of prototypes for functions without debug info, instead of those of the user's directory. They are opened with
 * the caller's rights at each question, and parsed by spi-codemap alone. 0 or -ENOMEM.
 */
int spi_control_prototypes(struct spi_control *control, const char *const *paths, unsigned int count);

/* What every WELCOME says from now on: SPI_WELCOME_* flags, bytes kept of a string (0: 256). */
void spi_control_welcome(struct spi_control *control, uint32_t flags, uint32_t string_max);
/* Where payloads of the agents write text for the user (spi_agent_write()); the caller's, and open as long as `control` is. */
void spi_control_output(struct spi_control *control, int fd);
/* And the number of a run (SPI_WELCOME_RUN_SHIFT); the flags stay. */
void spi_control_run(struct spi_control *control, uint32_t run);

/*
 * spi_control_unborn() - is there a child of that process whose connection came less than most_ms before, and that has
 * said nothing yet? It is about to be forked, or on its way to us. With SPI_WELCOME_CHILDREN, or in a run.
 */
int spi_control_unborn(const struct spi_control *control, pid_t parent, unsigned int most_ms);

/*
 * spi_control_listen() - take connections of preloaded agents. Makes a socket
 * of mode 0600 in a fresh directory of mode 0700, root one that others can get at;
 * *path (owned by `control`) is for LTTNG_SPI_SOCKET. Only peers with our uid, or
 * root's, are accepted, and by root traced processes that have changed their user.
 * 0 or a negative errno.
 */
int spi_control_listen(struct spi_control *control, const char **path);

/*
 * spi_control_adopt() - the connection that spi_inject() made: `fd` becomes
 * ours, on failure too. NULL on failure, errno set. on_hello follows.
 */
struct spi_agent *spi_control_adopt(struct spi_control *control, int fd, pid_t pid);
/* The same for a connection to a socket of the caller's, whose end nobody else has, fresh from accept(). */
struct spi_agent *spi_control_accept(struct spi_control *control, int fd, pid_t pid);

/* The directory of the session daemon's sockets, when not the one spi_path_daemon_directory() finds. */
int spi_control_daemon_directory(struct spi_control *control, const char *path);

/* Where agents in programs that a traced one executes are to connect, when the listening socket is the caller's own. */
int spi_control_executed(struct spi_control *control, const char *path);

/* How many connections are open now. */
unsigned int spi_control_count(const struct spi_control *control);

/* The first agent, or the one after `agent`; NULL at the end. */
struct spi_agent *spi_control_next(struct spi_control *control, struct spi_agent *agent);

/* ---- one agent ---------------------------------------------------------- */

pid_t spi_agent_pid(const struct spi_agent *agent);		/* in our pid namespace */
uint64_t spi_agent_start_time(const struct spi_agent *agent);	/* field 22 of /proc/PID/stat, as we saw it */
/*
 * Does the process that made the connection still run? Its id may be another's
 * as soon as it does not, while a child of it keeps the connection; start times
 * are too coarse to tell.
 */
int spi_agent_lives(const struct spi_agent *agent);
uid_t spi_agent_uid(const struct spi_agent *agent);	/* who made the connection, which speaks for its process while that is this user in all its ids */
int spi_agent_is_child(const struct spi_agent *agent);		/* its connection came over its parent's (SPI_MSG_CHILD) */
const char *spi_agent_exe(const struct spi_agent *agent);	/* path as the target sees it; "" before HELLO */
uint32_t spi_agent_flags(const struct spi_agent *agent);	/* SPI_HELLO_* */
/* "" or the numbers of rules, "1+2", that it says it has come under by being executed (or forked) by a process under them. */
const char *spi_agent_follow(const struct spi_agent *agent);

/*
 * The counters, mapped read-only: may be read at any time until on_gone has
 * returned, also after the process was killed. NULL when the agent gave none.
 */
const volatile struct spi_status_page *spi_agent_status(struct spi_agent *agent);

/*
 * The caller's own word for this agent: NULL at first; for a caller that keeps
 * something per process.
 */
void spi_agent_set_user(struct spi_agent *agent, void *user);
void *spi_agent_user(const struct spi_agent *agent);

/*
 * Requests. Each queues one message and returns 0, -EPIPE when the connection is
 * over, -E2BIG when the text does not fit a message, or -ENOMEM. `rule` is an id
 * of the caller's, unique in the connection. Answers come as callbacks:
 * on_rule_done for add and enable, on_detached for detach.
 */
int spi_agent_rule_add(struct spi_agent *agent, uint32_t rule, uint32_t flags, const char *text);
int spi_agent_rule_remove(struct spi_agent *agent, uint32_t rule);
/* All but these, and those of messages before that were not the last: answered as a rule with number 0. SPI_RULES_KEPT_MAX at most. */
#define SPI_RULES_KEPT_MAX	((SPI_PROTO_BODY_MAX - sizeof(struct spi_msg_rule)) / sizeof(struct spi_msg_rule_kept))
int spi_agent_rules_keep(struct spi_agent *agent, const struct spi_msg_rule_kept *kept, unsigned int n, int is_last);
int spi_agent_rule_disable(struct spi_agent *agent, uint32_t rule);
int spi_agent_rule_enable(struct spi_agent *agent, uint32_t rule);
int spi_agent_detach(struct spi_agent *agent);
int spi_agent_go(struct spi_agent *agent);
/* Its process has become another user: have it make a connection as that one. on_renewed() follows, should it. */
int spi_agent_renew(struct spi_agent *agent);
/* Have it write what its threads keep back; on_flushed() with the same id follows. */
int spi_agent_flush_calls(struct spi_agent *agent, uint32_t id);
/* The calls of a rule that was disabled have returned, or a tree's are closed: on_closed() with the same id follows. flags: SPI_CLOSE_*. */
int spi_agent_rule_close(struct spi_agent *agent, uint32_t rule, uint32_t flags, uint32_t id);

/* The answer to on_peer_request(). lines: "PID\tNAME\tSTATUS\tREASON\n" each, or "". */
int spi_agent_peers(struct spi_agent *agent, uint32_t id, const struct spi_msg_peers *peers, const char *lines);
/* What begins where; on_channel_done() with the same id follows. */
int spi_agent_channel(struct spi_agent *agent, uint32_t id, const struct spi_msg_channel_told *told);

/* Close the connection; on_gone is called at the next dispatch. */
void spi_agent_close(struct spi_agent *agent);

#endif /* SPI_INJECTOR_CONTROL_H */
