/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What only peers/ uses. */
#ifndef SPI_BROKER_PEERS_INTERNAL_H
#define SPI_BROKER_PEERS_INTERNAL_H

#include <limits.h>

#include "broker/peers/find.h"
#include "broker/peers/peers.h"

/* ---- finder.c -------------------------------------------------------------------------------------------------- */

/* The answer is peers_found(), perhaps before this returns. 0 or -ENOMEM. */
int finder_ask(const struct question *question);
void finder_stop(void);
void peers_found(const struct found *found);	/* asking.c */

/* ---- bring.c --------------------------------------------------------------------------------------------------- */

enum peer_state {
	PEER_COMES,		/* until its rules are in force */
	PEER_TOLD,		/* until its agent knows what begins where */
	PEER_READY,
	PEER_REFUSED,
};

/* A process at the other end. */
struct peer {
	struct one one;
	uint64_t serial;		/* of its struct process; 0: it has none */
	uid_t uid;
	char name[20];
	enum peer_state state;
	bool was_in;			/* it had the rules before */
	bool is_slow;			/* another message has waited for it in vain: this one does not */
	uint32_t told;			/* the number of what its agent, this one, was told */
	struct spi_agent *agent;
	int error;			/* why it was refused, and not brought in */
	char why[200];
};

/* One question of an agent's. */
struct asking {
	struct asking *next;
	uint64_t number;
	struct spi_agent *agent;	/* the agent that asks, and is answered; NULL: a front end has it */
	uint32_t id;			/* with that */
	struct one one;			/* whose question it is */
	uid_t uid;
	char name[20];
	struct spi_msg_peer_request request;
	unsigned int nr_rules;
	struct rule_name {		/* what peers are brought under */
		uint32_t plain, on_message;	/* ids of the request of those who begin so, and of those who wait for a message */
	} rules[SPI_PEER_RULES_MAX];
	gid_t gid;			/* of whose question it is */
	struct loop_timer timer;	/* it is to be answered by then; later: it is forgotten */
	bool within_user;		/* only processes of that user are brought in */
	bool is_answered, is_scanned, is_news;
	bool is_again;			/* it is looked for once more, as somebody was brought in meanwhile */
	struct end end;			/* the end whose holders are still to be looked for; no inodes: they have been */
	bool is_listening;		/* nobody has accepted the connection */
	uint64_t inode;			/* of the other end */
	unsigned int nr, beyond;
	struct peer peers[HOLDERS_MAX];
};

bool peer_is_never(const struct facts *facts);	/* one of the programs that messages never bring in */
bool rule_follows_messages(const struct rule *rule);
/*
 * A question of the process's. agent NULL: a front end has its agent. uid: who made the agent's connection.
 * within_user: others' processes are not brought in, whoever the rule's owner is.
 */
void asking_begin(struct process *process, struct spi_agent *agent, uid_t uid, bool within_user, uint32_t id,
		  const struct spi_msg_peer_request *request);
/* Which of the rules that it names may it ask for? Fills in .rules. 0, or a negative errno with `why`. */
int asking_take_rules(struct asking *asking, const struct process *process, char *why, size_t size);
/* Bring in another one, or refuse it. It may be ready at once: peer_advance(). */
void peer_add(struct asking *asking, const struct one *one);
/* What follows from what its process is now. A process that is gone is NULL. */
void peer_advance(struct asking *asking, struct peer *peer, struct process *process);
void peer_refuse(const struct asking *asking, struct peer *peer, int error, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Processes that are under the rules; how many of list[most]. */
unsigned int peers_known(const struct asking *asking, struct one *list, unsigned int most);

/* ---- ahead.c, listening.c --------------------------------------------------------------------------------------- */

/*
 * What a child says of a process with listening sockets: that it is there (path ""), then each file that it has mapped
 * code of. Answered with one byte: 1: go on; 0: no more of this process.
 */
struct listening_said {
	struct one one;
	uint32_t channels;		/* SPI_CHANNELS_* of its sockets */
	uint32_t is_executable;
	uint64_t device, inode;
	char path[PATH_MAX];
};
int listening_work(void *data);		/* the child */

void ahead_update(void);		/* other rules are there */
void ahead_stop(void);

/* ---- front.c --------------------------------------------------------------------------------------------------- */

void asking_reply(const struct asking *asking, const struct spi_msg_peers *peers, const char *text);
int peer_tell(const struct peer *peer, const struct spi_msg_channel_told *told);	/* 0, or its agent cannot be reached */
const struct rule *front_rule(void);	/* NULL: no memory for it */

/* ---- account.c ------------------------------------------------------------------------------------------------- */

void asked_add(const struct asking *asking);
bool asked_may(uid_t uid);		/* one more a second, of that user's processes */
void asked_nobody(const struct asking *asking, const char *why);
void asked_late(const struct asking *asking);
void unfollowed_add(const struct asking *asking, const struct peer *peer);

#endif /* SPI_BROKER_PEERS_INTERNAL_H */
