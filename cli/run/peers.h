/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Payloads along channels. An agent asks before its process's first message on a channel which process is at the other
 * end. The broker of the run's own (finder.h) knows, and brings that process in. Everything passes through the front
 * end, whose the agents are: questions and answers, and from which byte on a message begins the trees of a process.
 */
#ifndef SPI_CLI_RUN_PEERS_H
#define SPI_CLI_RUN_PEERS_H

#include <stdint.h>
#include <sys/types.h>

#include "spi-sessiond-plugin/broker/proto.h"

struct run;
struct spi_agent;
struct peers_question;
struct peers_told;

struct peers {
	struct run *run;
	struct peers_question *questions;	/* without an answer yet */
	struct peers_told *told;		/* whose agents have not answered yet */
	uint32_t number;			/* of the last question */
	pid_t named[64];			/* those that run without, and were named: the last ones, in turn */
	unsigned int named_count;
};

/* ---- what agents say (agents.c). `peers` NULL: nothing happens ---- */

void peers_come(struct peers *peers, const struct spi_agent *agent);
/* Its rules are answered. has_rules 0: none is in force. */
void peers_settled(struct peers *peers, struct spi_agent *agent, int has_rules);
void peers_ask(struct peers *peers, struct spi_agent *agent, uint32_t id, const struct spi_msg_peer_request *request);
void peers_channel_done(struct peers *peers, const struct spi_agent *agent, uint32_t number, int status);
void peers_gone(struct peers *peers, const struct spi_agent *agent);

/* ---- what the broker says (finder.c) ---- */

void peers_begin(struct peers *peers);		/* it is there: told of all agents */
void peers_tell(struct peers *peers, const struct spi_broker_tell *tell);
void peers_answer(struct peers *peers, const struct spi_broker_peers *answer, char *text);
int peers_name(struct peers *peers, pid_t pid);	/* it runs without. 0: it was named before */
void peers_end(struct peers *peers);		/* it has ended: nobody is waited for */

#endif /* SPI_CLI_RUN_PEERS_H */
