/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Messages into other processes: which process is at the other end of a channel, and how that process comes under the rules of
 * the one that sends. For the broker's one thread.
 *
 * The agent of a process asks before its first message on a channel, and its thread waits. The processes at the other
 * end are found (finder.c), each is marked to follow the rules (bring.c), and is injected as any other. Once the rules
 * are in force there, its agent is told from which byte on a message begins its trees. When that is known everywhere,
 * the agent that asked is answered (asking.c).
 */
#ifndef SPI_BROKER_PEERS_PEERS_H
#define SPI_BROKER_PEERS_PEERS_H

#include "broker/process/process.h"

/* ---- asking.c: hooks of processes (struct process_hooks) ------------------------------------------------------- */

void peers_asked(struct process *process, uint32_t id, const struct spi_msg_peer_request *request);
void peers_told(struct process *process, uint32_t id, int status);
void peers_looked(struct process *process);
void peers_end(struct process *process);
void peers_agent_over(const struct spi_agent *agent);

void peers_rules_changed(void);	/* what has come under rules that are gone comes under none of that name by itself */
void peers_settle(void);		/* answer what can be, by what has become of processes in this turn */
void peers_stop(void);

/* ---- front.c: what a front end says of its agents --------------------------------------------------------------- */

void front_has(pid_t pid, bool has);
void front_asked(const struct spi_broker_asked *asked);
void front_told(const struct spi_broker_told *told);

/* ---- account.c: for `lttng list --spi` ------------------------------------------------------------------------- */

const char *channel_kind_name(uint32_t kind);		/* "pipe", "unix", ... */

/* How often one user's processes have asked, since the broker began. */
struct asked {
	uid_t uid;
	uint64_t second;			/* of loop_now(), and how often in it */
	unsigned int now;
	struct {
		unsigned int asked;
		unsigned int nobody;		/* no process was found */
		unsigned int late;		/* not all were ready in time */
	} kind[SPI_CHANNEL_KINDS];
};
#define ASKED_MAX	64u		/* users, those that asked last */
unsigned int asked_count(void);
const struct asked *asked_at(unsigned int n);	/* below asked_count() */

/* What was not followed, and why: a line for each user, program at the other end and reason. */
struct unfollowed {
	uid_t uid;			/* whose process asked */
	uid_t peer_uid;			/* whose is at the other end; (uid_t) -1: nobody's */
	uint32_t kind;
	unsigned int times;
	pid_t pid;			/* the last one; 0: there is none */
	char name[20], why[200];
	uint64_t used;
};
#define UNFOLLOWED_MAX	64u		/* the latest */
unsigned int unfollowed_count(void);
const struct unfollowed *unfollowed_at(unsigned int n);	/* below unfollowed_count(), any order */

#endif /* SPI_BROKER_PEERS_PEERS_H */
