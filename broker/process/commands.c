/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What an agent was told and has not answered yet. An agent answers in order. */
#include <stdlib.h>

#include "broker/process/internal.h"

#define COMMANDS_MAX	100000u

/* Its answer is due. */
static bool command_add(struct process *p, struct request *request, enum command_kind kind)
{
	struct command *command = p->talk.nr_commands < COMMANDS_MAX ? calloc(1, sizeof(*command)) : NULL;

	if (!command) {
		spi_agent_close(p->agent);	/* it answers nothing any more */
		return false;
	}
	if (!p->talk.last_command)
		p->talk.last_command = &p->talk.commands;
	command->kind = kind;
	command->request = request_hold(request);
	*p->talk.last_command = command;
	p->talk.last_command = &command->next;
	p->talk.nr_commands++;
	return true;
}

void command_send(struct process *p, struct request *request, enum command_kind kind)
{
	if (!command_add(p, request, kind))
		return;
	if (kind == COMMAND_ADD)
		spi_agent_rule_add(p->agent, request->id, request->flags, request->text);
	else if (kind == COMMAND_ENABLE)
		spi_agent_rule_enable(p->agent, request->id);
	else if (kind == COMMAND_DISABLE)
		spi_agent_rule_disable(p->agent, request->id);
	else
		spi_agent_rule_remove(p->agent, request->id);
}

/*
 * The agent may have rules of which the broker knows nothing: its parent's, which the broker has forgotten since, or
 * another broker's. All rules but those that the agent is to have go. This takes as long as there are rules now,
 * however many there have been.
 */
void command_keep(struct process *p, const unsigned char *want)
{
	struct spi_msg_rule_kept kept[512];
	unsigned int n = 0;

	_Static_assert(sizeof(kept) / sizeof(kept[0]) <= SPI_RULES_KEPT_MAX, "one message");
	for (unsigned int i = 0; i < request_count(); i++) {
		const struct request *request = want[i] != WANT_NOT ? request_at(i) : NULL;

		if (!request)
			continue;
		if (n == sizeof(kept) / sizeof(kept[0])) {
			if (!command_add(p, NULL, COMMAND_KEEP))
				return;
			spi_agent_rules_keep(p->agent, kept, n, false);
			n = 0;
		}
		kept[n++] = (struct spi_msg_rule_kept) { .rule = request->id, .sum = request->sum };
	}
	if (command_add(p, NULL, COMMAND_KEEP))
		spi_agent_rules_keep(p->agent, kept, n, true);
}

struct command *command_take(struct process *p)
{
	struct command *command = p->talk.commands;

	if (!command)
		return NULL;
	p->talk.commands = command->next;
	if (!p->talk.commands)
		p->talk.last_command = &p->talk.commands;
	p->talk.nr_commands--;
	if (p->talk.awaited)
		p->talk.awaited--;
	return command;
}

void command_free(struct command *command)
{
	if (!command)
		return;
	request_put(command->request);
	free(command);
}

/* What the agent has not answered yet says nothing of the same request when that comes again. */
void commands_forget(struct process *p, const struct request *request)
{
	for (struct command *command = p->talk.commands; command; command = command->next)
		if (command->request == request)
			command->kind = COMMAND_REMOVE;
}

void commands_clear(struct process *p)
{
	struct command *command;

	while ((command = command_take(p)))
		command_free(command);
}
