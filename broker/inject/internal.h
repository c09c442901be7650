/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What only inject/ uses. */
#ifndef SPI_BROKER_INJECT_INTERNAL_H
#define SPI_BROKER_INJECT_INTERNAL_H

#include "broker/inject/inject.h"

struct worker;

struct injection {
	struct injection *next;
	struct process *process;	/* NULL: nobody waits any more */
	uid_t uid;
	struct worker *worker;		/* NULL: waits for its turn */
};

/* ---- what a worker is told, and what it answers (injector.c) ----------------------------------------------- */

struct order {
	struct facts facts;
	unsigned int deadline_ms, again_ms;
	/* AT_START_STOP: only stop it; facts has the pid, and another order says what to do. Pid 0: nothing. */
	enum at_start { AT_ANY_TIME, AT_START_STOP, AT_START } at_start;
};

/* With the agent's socket when `ret` is 0. */
struct outcome {
	int32_t ret;
	uint32_t already, begun;
	char text[1024];
};

struct identity {
	bool become;
	uid_t uid;
	gid_t gid;
};

int injector_work(void *data);		/* what a worker runs (child_start()). data: struct identity */

/* ---- workers.c --------------------------------------------------------------------------------------------- */

/* A child process; `injection` is NULL while it waits for work. */
struct worker {
	struct worker *next;
	uid_t uid;
	gid_t gid;
	unsigned int done;
	pid_t stopped;			/* at its start, or asked to; 0: none */
	struct child child;
	struct loop_timer timer;	/* it is late, or idle for long */
	struct injection *injection;
};

/* An idle worker for that process, or a new one. NULL: errno. */
struct worker *worker_get(uid_t uid, gid_t gid, pid_t pid);
/* Give it the injection to do. 0, or a negative errno and there is no such worker any more. */
int worker_begin(struct worker *worker, struct injection *injection, const struct order *order);
unsigned int workers_at_work(void);
unsigned int workers_at_work_of(uid_t uid);
void workers_make_room(void);		/* those that wait for another user's processes go, when there are too many */
void workers_stop(void);

/* ---- queue.c ----------------------------------------------------------------------------------------------- */

/* So many times room_most() with the injections of users who have no other one, and workers at all. */
#define PLACES		ROOM_EACH

void injections_wake(void);		/* there may be a place for the next */
void injection_over(struct injection *injection, const struct outcome *outcome, int fd);	/* takes fd over */

/* ---- places.c ---------------------------------------------------------------------------------------------- */

unsigned int room_most(void);		/* injections at a time, at most */
/* Times room_most(): the bound where each injection is its user's first one. Users with sessions are beyond that. */
#define ROOM_EACH	2u
unsigned int room_taken(void);		/* agents that begin now */
bool room_for_agent(const struct process *next, unsigned int taken);	/* may it be injected, as one more? */
void room_agent_begins(struct process *process);	/* injected while held: its agent is at its rules now */

#endif /* SPI_BROKER_INJECT_INTERNAL_H */
