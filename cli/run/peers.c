/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The front end between its agents and its broker: see peers.h, and SPI_BROKER_FIND in the broker's proto.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/say.h"
#include "cli/run/finder.h"
#include "cli/run/peers.h"
#include "cli/run/run.h"
#include "cli/ui/trace-options.h"
#include "injector/control/control.h"

struct peers_question {
	struct peers_question *next;
	uint32_t number;
	struct spi_agent *agent;
	uint32_t id;			/* of the agent's */
};

struct peers_told {
	struct peers_told *next;
	struct spi_agent *agent;
	struct spi_broker_tell tell;
	int is_sent;			/* 0: the agent's rules are not answered yet */
};

/* ---- whose agents there are ---- */

static void has(struct peers *peers, pid_t pid, int has)
{
	const struct spi_broker_has message = { .pid = pid, .has = (uint32_t) has };

	finder_send(&peers->run->finder, SPI_BROKER_HAS, &message, sizeof(message));
}

/* The agent of that process, but not this one: a process that became another program may have two for a moment. */
static struct spi_agent *agent_of(const struct peers *peers, pid_t pid, const struct spi_agent *but)
{
	struct spi_agent *agent = NULL;

	while ((agent = spi_control_next(peers->run->agents.control, agent)) && (spi_agent_pid(agent) != pid || agent == but))
		;
	return agent;
}

void peers_begin(struct peers *peers)
{
	struct spi_agent *agent = NULL;

	while ((agent = spi_control_next(peers->run->agents.control, agent)))
		if (*spi_agent_exe(agent))
			has(peers, spi_agent_pid(agent), 1);
}

void peers_come(struct peers *peers, const struct spi_agent *agent)
{
	if (peers)
		has(peers, spi_agent_pid(agent), 1);
}

/* ---- what begins where ---- */

static void told_over(struct peers *peers, struct peers_told *told, int status)
{
	const struct spi_broker_told message = { .pid = told->tell.pid, .number = told->tell.number, .status = status };
	struct peers_told **at = &peers->told;

	while (*at != told)
		at = &(*at)->next;
	*at = told->next;
	free(told);
	finder_send(&peers->run->finder, SPI_BROKER_TOLD, &message, sizeof(message));
}

static void told_send(struct peers *peers, struct peers_told *told)
{
	struct spi_msg_channel_told *channel = &told->tell.told;

	channel->nr_rules = agents_tree_rules(&peers->run->agents, told->agent, channel->rules, SPI_PEER_RULES_MAX);
	told->is_sent = 1;
	if (!channel->nr_rules)
		told_over(peers, told, -ENOENT);
	else if (spi_agent_channel(told->agent, told->tell.number, channel))
		told_over(peers, told, -EPIPE);
}

void peers_tell(struct peers *peers, const struct spi_broker_tell *tell)
{
	struct peers_told *told = malloc(sizeof(*told));
	const struct spi_broker_told failed = { .pid = tell->pid, .number = tell->number, .status = told ? -ESRCH : -ENOMEM };

	if (!told || !(told->agent = agent_of(peers, tell->pid, NULL))) {
		free(told);
		finder_send(&peers->run->finder, SPI_BROKER_TOLD, &failed, sizeof(failed));
		return;
	}
	told->tell = *tell;
	told->is_sent = 0;
	told->next = peers->told;
	peers->told = told;
	if (agents_settled(&peers->run->agents, tell->pid))
		told_send(peers, told);
}

void peers_settled(struct peers *peers, struct spi_agent *agent, int has_rules)
{
	struct peers_told *told, *next;

	for (told = peers ? peers->told : NULL; told; told = next) {
		next = told->next;
		if (told->agent != agent || told->is_sent)
			continue;
		if (has_rules)
			told_send(peers, told);
		else
			told_over(peers, told, -ENOENT);
	}
}

void peers_channel_done(struct peers *peers, const struct spi_agent *agent, uint32_t number, int status)
{
	struct peers_told *told = peers ? peers->told : NULL;

	while (told && (told->tell.number != number || told->agent != agent))
		told = told->next;
	if (told)
		told_over(peers, told, status);
}

/* ---- questions ---- */

static void refuse(struct spi_agent *agent, uint32_t id, int error, const char *why)
{
	char line[200];

	snprintf(line, sizeof(line), "0\t\t-%d\t%s\n", error, why);
	spi_agent_peers(agent, id, &(struct spi_msg_peers) { .status = -error }, line);
}

static struct peers_question *question_take(struct peers *peers, uint32_t number)
{
	struct peers_question **at = &peers->questions, *question;

	while (*at && (*at)->number != number)
		at = &(*at)->next;
	question = *at;
	if (question)
		*at = question->next;
	return question;
}

void peers_ask(struct peers *peers, struct spi_agent *agent, uint32_t id, const struct spi_msg_peer_request *request)
{
	struct peers_question *question = NULL;
	struct spi_broker_asked asked = { .pid = spi_agent_pid(agent), .uid = spi_agent_uid(agent), .request = *request };

	if (peers && (peers->run->agents.is_ending || peers->run->agents.is_over)) {
		refuse(agent, id, ECANCELED, "lttng trace is about to end");
		return;
	}
	if (peers && finder_reach(&peers->run->finder, peers->run) == 0)
		question = malloc(sizeof(*question));
	if (!question) {
		refuse(agent, id, ENOSYS, "lttng trace has no broker");
		return;
	}
	*question = (struct peers_question) { .next = peers->questions, .number = ++peers->number, .agent = agent, .id = id };
	peers->questions = question;
	asked.id = question->number;
	asked.flags = peers->run->options->asked.ipc ? 0 : SPI_BROKER_ASKED_BY_PAYLOAD;
	if (finder_send(&peers->run->finder, SPI_BROKER_ASKED, &asked, sizeof(asked)) < 0) {
		free(question_take(peers, asked.id));
		refuse(agent, id, EPIPE, "the broker of lttng trace has ended");
	}
}

int peers_name(struct peers *peers, pid_t pid)
{
	const unsigned int most = sizeof(peers->named) / sizeof(peers->named[0]);

	for (unsigned int i = 0; i < peers->named_count && i < most; i++)
		if (peers->named[i] == pid)
			return 0;
	peers->named[peers->named_count++ % most] = pid;
	return 1;
}

/* One of "PID\tNAME\tSTATUS\tREASON". What lttng trace has from its user (-EXDEV) is meant to be left alone. */
static void name_one(struct peers *peers, char *line)
{
	char *field[4], note[400];
	unsigned int n = 0;
	int status;
	pid_t pid;

	while (n < 4 && (field[n] = strsep(&line, "\t")))
		n++;
	if (n < 4)
		return;
	pid = atoi(field[0]);
	status = atoi(field[2]);
	if (status >= 0 || status == -EXDEV)
		return;
	if (status == -ESRCH && pid) {
		snprintf(note, sizeof(note), "%s (%d), which a message was for, ended before it had the payload", field[1],
			(int) pid);
		report_note(&peers->run->report, note);
	} else if (status == -EINPROGRESS) {
		snprintf(note, sizeof(note), "messages went out before %s (%d) had the payload: %s", field[1], (int) pid, field[3]);
		report_note(&peers->run->report, note);
	} else if (pid && peers_name(peers, pid)) {
		agents_say_left(&peers->run->agents, field[1], pid, field[3]);
	} else if (!pid) {
		snprintf(note, sizeof(note), "a message was not followed: %s%s%s", field[1], *field[1] ? ": " : "", field[3]);
		report_note(&peers->run->report, note);
	}
}

void peers_answer(struct peers *peers, const struct spi_broker_peers *answer, char *text)
{
	struct peers_question *question = question_take(peers, answer->id);
	char *line;

	if (question)
		spi_agent_peers(question->agent, question->id, &answer->peers, text);
	free(question);
	while ((line = strsep(&text, "\n")))
		name_one(peers, line);
}

void peers_gone(struct peers *peers, const struct spi_agent *agent)
{
	struct peers_question **at, *question;
	struct peers_told *told, *next;

	if (!peers)
		return;
	for (at = &peers->questions; (question = *at);) {
		if (question->agent != agent) {
			at = &question->next;
			continue;
		}
		*at = question->next;
		free(question);
	}
	for (told = peers->told; told; told = next) {
		next = told->next;
		if (told->agent == agent)
			told_over(peers, told, -EPIPE);
	}
	if (!agent_of(peers, spi_agent_pid(agent), agent))
		has(peers, spi_agent_pid(agent), 0);
}

void peers_end(struct peers *peers)
{
	while (peers->questions) {
		struct peers_question *question = question_take(peers, peers->questions->number);

		refuse(question->agent, question->id, EPIPE, "the broker of lttng trace has ended");
		free(question);
	}
	while (peers->told)
		told_over(peers, peers->told, -EPIPE);
}
