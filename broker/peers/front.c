/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What differs where the agents are a front end's (SPI_BROKER_FIND). The front end relays what they ask and what they
 * are told. There is one rule with ipc, which all that messages bring in come under. Whether a process has it is
 * whether the front end has its agent.
 */
#include <errno.h>

#include "broker/peers/internal.h"

void front_has(pid_t pid, bool has)
{
	struct process *p = has ? process_get(pid, -1) : process_find(pid);

	if (p && has)
		process_handed(p);
	else if (p && p->is_handed)
		process_taken_back(p);
}

void front_asked(const struct spi_broker_asked *asked)
{
	struct process *p = process_get(asked->pid, -1);

	if (p)
		asking_begin(p, NULL, asked->uid, asked->flags & SPI_BROKER_ASKED_BY_PAYLOAD, asked->id, &asked->request);
	else
		plugin_peers(asked->pid, asked->id, &(struct spi_msg_peers) { .status = -ESRCH }, "");
}

void front_told(const struct spi_broker_told *told)
{
	struct process *p = process_find(told->pid);

	if (p)
		peers_told(p, told->number, told->status);
}

void asking_reply(const struct asking *asking, const struct spi_msg_peers *peers, const char *text)
{
	if (the_daemon()->is_front_end)
		plugin_peers(asking->one.pid, asking->id, peers, text);
	else
		spi_agent_peers(asking->agent, asking->id, peers, text);
}

int peer_tell(const struct peer *peer, const struct spi_msg_channel_told *told)
{
	return the_daemon()->is_front_end ? plugin_tell(peer->one.pid, peer->told, told) :
		spi_agent_channel(peer->agent, peer->told, told);
}

const struct rule *front_rule(void)
{
	const struct rule *rule = rules_now()->rules;

	while (rule && !rule->on_message)
		rule = rule->next;
	return rule;
}
