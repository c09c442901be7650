/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The state of a controller and of its agents, and what every room above works with: sources of
 * events, sending to an agent, what each user has taken up, and the rules that agents still work on.
 */
#ifndef SPI_INJECTOR_CONTROL_INTERNAL_H
#define SPI_INJECTOR_CONTROL_INTERNAL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "injector/control/control.h"

struct spi_map_job;
struct spi_file;
struct spi_awaited;

/* Anything that is polled: `ready` is called when its descriptor is. */
struct spi_source {
	int fd;
	void (*ready)(struct spi_control *control, struct spi_source *source, uint32_t events);
};

/* A message that the socket did not take at once. */
struct spi_outgoing {
	struct spi_outgoing *next;
	int fd;			/* sent along, then closed; -1: none */
	size_t size;
	char packet[];
};

struct spi_agent {
	struct spi_source source;
	struct spi_control *control;
	struct spi_agent *next;
	pid_t pid;
	uid_t uid;					/* who made the connection */
	uint64_t start_time;
	bool said_hello, over, told_first_ended;
	bool is_shared;					/* others may have our end of the connection, too: base/foreign-fd.c */
	int former;					/* the connection that the target made, or -1: agent_move() */
	bool is_child;					/* its connection came over its parent's nursery: */
	pid_t parent;
	uint64_t given_ms;				/* when, CLOCK_MONOTONIC */
	struct ucred sender;				/* of its last message; pid 0: not known */
	uint32_t flags;
	char exe[PATH_MAX];
	char follow[SPI_FOLLOW_MAX];
	const volatile struct spi_status_page *status;	/* status_size bytes of the agent's status memory */
	size_t status_size;
	struct spi_status_page totals;			/* what spi_agent_status() last gave */
	struct spi_outgoing *first, **last;
	size_t queued_bytes;
	unsigned int queued_fds;
	unsigned int jobs;				/* questions that are not answered */
	struct spi_account *account;
	struct spi_awaited *awaited;			/* awaited-rules.c */
	void *user;
};

/* A process whose connection has ended: it may have executed a program. */
struct spi_former {
	pid_t pid;
	uint64_t start_time;
};
#define FORMER_MAX 256u

struct spi_control {
	int epoll;
	struct spi_control_ops ops;
	void *data;
	uint32_t welcome_flags, string_max, run;
	int output;					/* where payloads write text for the user; -1: nowhere */
	struct spi_source listener;
	struct spi_source look;				/* connections/first-thread.c: a timer */
	bool looking;
	char directory[96], path[108];			/* of the socket */
	int directory_lock;				/* connections/directory.c; -1: there is none */
	char executed[108];				/* where programs that are executed come to */
	char daemon_directory[PATH_MAX];
	char home[PATH_MAX];				/* "daemon-home", when it was made */
	struct spi_agent *agents;
	struct spi_former formers[FORMER_MAX];		/* the latest */
	unsigned int nr_formers;
	struct spi_nursery *nurseries, *nurseries_over;	/* connections/nursery.c */
	struct spi_map_job *jobs;
	struct spi_account *accounts;
	struct spi_kept_map *kept_maps;			/* serve/kept-map.c, the latest first */
	struct spi_known_file *known_files;
	char **prototypes;				/* serve/prototypes.c: files, NULL at the end; NULL: the user's directory */
	unsigned int jobs_running;
	struct spi_file *files;
	struct spi_floor *floors;
	char *packet;					/* SPI_PROTO_BODY_MAX + header + 1 */
};

/* ---- source.c ---- */

int spi_source_add(struct spi_control *control, struct spi_source *source, int fd, uint32_t events,
		   void (*ready)(struct spi_control *, struct spi_source *, uint32_t));
void spi_source_remove(struct spi_control *control, struct spi_source *source);	/* closes the descriptor */

/* ---- send.c ---- */

/* Queue a message of two parts; `fd` (or -1) is consumed. 0, -EPIPE, -E2BIG, -ENOMEM. */
int spi_agent_send(struct spi_agent *agent, uint16_t type, uint32_t id, const void *head, size_t head_size,
		   const void *text, size_t text_size, int fd);

/* Send what the socket takes of the queue; forget what is in it. */
void spi_agent_flush(struct spi_agent *agent);
void spi_agent_drop_queue(struct spi_agent *agent);

#define PACKET_MAX	(sizeof(struct spi_msg) + SPI_PROTO_BODY_MAX)

/* awaited-rules.c: rules that the agent was sent and has not answered. */
void spi_awaited_add(struct spi_agent *agent, uint32_t rule, const char *text);
void spi_awaited_done(struct spi_agent *agent, uint32_t rule);
void spi_awaited_free(struct spi_agent *agent);
/*
 * The pattern of the next one (*at NULL: the first) for which the agent will ask about this object; NULL: no more.
 */
const char *spi_awaited_next(struct spi_agent *agent, struct spi_awaited **at, const char *object, bool is_exe);

/*
 * account.c: what one user's agents have of us, all together. Users who have sessions, as the caller says, get it before those who have none: what
 * one person can make of many user ids, such as those of his user namespaces, is no more than what is left.
 */
struct spi_account {
	struct spi_account *next;
	uid_t uid;
	unsigned int holders;		/* agents and jobs */
	unsigned int jobs, running;	/* questions that are not answered, and children that answer some */
	size_t job_bytes, queued_bytes;
};
struct spi_account *spi_account_hold(struct spi_control *control, uid_t uid);	/* NULL: no memory */
void spi_account_put(struct spi_control *control, struct spi_account *account);
bool spi_account_has_sessions(const struct spi_control *control, const struct spi_account *account);
/* Sums over all users who have no sessions. */
void spi_accounts_sum(const struct spi_control *control, struct spi_account *sum);

#endif /* SPI_INJECTOR_CONTROL_INTERNAL_H */
