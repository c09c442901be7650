/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* From an agent's event to rules, whose payload is the agent's client. */
#include <errno.h>
#include <string.h>
#include "liblttng-spi/rules/rules.h"
#include "liblttng-spi/control/control.h"
#include "liblttng-spi/tree/tree.h"
#include "liblttng-spi/api/internal.h"

#define CONTROL_LOOKS	2000u
#define CONTROL_US	1000u

static uint32_t latest_id = UINT32_MAX;		/* the numbers of controllers' rules are all over the range */

static void rule_of_agent(const struct spi_agent *agent, struct spi_rule *rule, char number[4])
{
	memset(rule, 0, sizeof(*rule));
	rule->object = rule->function = "";
	spi_format(number, 4, "#%u", agent->client->number);
	rule->payloads.count = 1;
	rule->payloads.name[0] = number;
}

static void tree_of_agent(const struct spi_agent *agent, struct spi_rule *rule)
{
	rule->kind = spi_kind_tree;
	rule->exclude = agent->exclude;
	rule->exclude_lib = agent->exclude_lib;
	rule->parse_only = agent->parse_only;
	rule->unfollowed = agent->unfollowed | SPI_FOLLOW_EXEC;
}

/* One rule takes force. */
static int rule_begin(struct spi_agent *agent, const struct spi_rule *rule)
{
	static struct spi_rule_result result;	/* under the control lock */
	static char text[SPI_RULE_TEXT_MAX];
	int r;

	if (agent->rule_count == sizeof(agent->rules) / sizeof(agent->rules[0])) {
		spi_format(agent->error, sizeof(agent->error), "too many functions and events");
		return -E2BIG;
	}
	r = spi_rule_write(rule, SPI_FORM_AGENT, text, sizeof(text));
	if (r < 0) {
		spi_format(agent->error, sizeof(agent->error), "the names are too long together");
		return r;
	}
	memset(&result, 0, sizeof(result));
	do
		spi_rule_add(NULL, latest_id--, SPI_RULE_OF_AGENT, text, &result);	/* a controller's link is the control thread's */
	while (result.status == -EEXIST);
	if (result.status < 0 && !(result.flags & SPI_DONE_WAITS)) {
		spi_format(agent->error, sizeof(agent->error), "%s%s%s", rule->function, rule->function[0] ? ": " : "", result.text);
		return result.status;
	}
	agent->rules[agent->rule_count++] = latest_id + 1;
	return 0;
}

static int names_begin(struct spi_agent *agent, const struct spi_event *event)
{
	int done = 0, r = 0;

	for (size_t i = 0; i < event->count; i++) {
		struct spi_rule rule;
		char number[4], room[SPI_RULE_FUNCTION_MAX + SPI_RULE_OBJECT_MAX], why[SPI_RULE_WHY];

		rule_of_agent(agent, &rule, number);
		rule.kind = spi_kind_call;
		if (event->kind == SPI_EVENT_FUNCTIONS)
			tree_of_agent(agent, &rule);
		r = spi_rule_set_target(&rule, event->name[i], room, sizeof(room), why);
		if (r < 0)
			spi_format(agent->error, sizeof(agent->error), "%s: %s", event->name[i], why);
		else
			r = rule_begin(agent, &rule);
		done += r == 0;
	}
	return done ? 0 : r;
}

static int tree_begin(struct spi_agent *agent, const struct spi_event *event)
{
	struct spi_rule rule;
	char number[4];

	rule_of_agent(agent, &rule, number);
	tree_of_agent(agent, &rule);
	rule.function = "main";		/* in a process that runs already: what its threads are in */
	rule.after = event->milliseconds;
	rule.on_signal = (uint32_t) event->signal;
	return rule_begin(agent, &rule);
}

static int event_begin(struct spi_agent *agent, const struct spi_event *event)
{
	int r = 0, done = 0, one;

	switch (event->kind) {
	case SPI_EVENT_SYNC:
	case SPI_EVENT_ASYNC:
		return tree_begin(agent, event);
	case SPI_EVENT_FUNCTIONS:
	case SPI_EVENT_CALLS:
		return names_begin(agent, event);
	case SPI_EVENT_COMBINED:
		for (size_t i = 0; i < event->count; i++) {
			one = event->event[i] ? event_begin(agent, event->event[i]) : -EINVAL;
			done += one == 0;
			r = one < 0 ? one : r;
		}
		return done ? 0 : r;
	default:
		return 0;
	}
}

/* In a constructor this thread has the dynamic linker's lock, which the control thread may be waiting for. */
static int control_take(void)
{
	for (uint32_t i = 0; i < CONTROL_LOOKS; i++) {
		if (spi_control_try())
			return 0;
		spi_sleep_us(CONTROL_US);
	}
	return -EBUSY;
}

int spi_api_control(int (*work)(void *data), void *data)
{
	const uint32_t busy = spi_thread.busy;
	int r = -EBUSY;

	spi_thread.busy = SPI_BUSY_ALWAYS;	/* what this thread calls meanwhile is the tracer's doing */
	if (spi_control_is_mine()) {		/* a rule loads the payload's file */
		r = work(data);
	} else if (control_take() == 0) {
		r = work(data);
		spi_control_unlock();
	}
	spi_thread.busy = busy;
	return r;
}

struct agent_work {
	struct spi_agent *agent;
	int (*work)(struct spi_agent *agent, const void *data);
	const void *data;
	int is_done;
};

static int agent_work(void *data)
{
	struct agent_work *w = data;

	w->is_done = 1;
	return w->work(w->agent, w->data);
}

/* The same for an agent, whose process may have no controller; it is told when it has to do without. */
static int with_control(struct spi_agent *agent, int (*work)(struct spi_agent *agent, const void *data),
	const void *data)
{
	struct agent_work w = { .agent = agent, .work = work, .data = data };
	const uint32_t busy = spi_thread.busy;
	int r;

	spi_thread.busy = SPI_BUSY_ALWAYS;
	if (!spi_control_is_mine())
		spi_control_alone_begins();
	spi_thread.busy = busy;
	r = spi_api_control(agent_work, &w);
	if (!w.is_done)
		spi_format(agent->error, sizeof(agent->error), "the agent is busy with other rules");
	return r;
}

/* In the injected thread, while it loads the file: 0 elsewhere. */
static uint64_t stack_from(const struct spi_agent *agent)
{
	const uint64_t here = (uint64_t) __builtin_frame_address(0);

	return agent->has_frame && agent->frame[1] - here < SPI_STACK_LOOKED ? agent->frame[1] : 0;
}

static int rules_make(struct spi_agent *agent, const void *event)
{
	int r;

	spi_tree_stack_from = stack_from(agent);
	r = event_begin(agent, event);
	spi_tree_stack_from = 0;
	return r;
}

int spi_agent_rules_begin(struct spi_agent *agent, const struct spi_event *event)
{
	if (spi_control_is_mine()) {	/* within a rule's beginning no other one begins */
		spi_format(agent->error, sizeof(agent->error), "the agent is busy with other rules");
		return -EBUSY;
	}
	return with_control(agent, rules_make, event);
}

static int faults_take(struct spi_agent *agent, const void *why)
{
	(void) agent;
	return spi_clients_take_faults((const char **) why);
}

int spi_agent_take_faults(struct spi_agent *agent, const char **why)
{
	return with_control(agent, faults_take, why);
}

static int watch_begin(struct spi_agent *agent, const void *unused)
{
	(void) unused;
	spi_observe_begin(agent->client);
	spi_limit_begin(agent->client);
	return 0;
}

int spi_agent_watch_begin(struct spi_agent *agent)
{
	if (!agent->client->observer && !agent->client->limit_us)
		return 0;
	return with_control(agent, watch_begin, NULL);
}

void spi_agent_rules_end(struct spi_agent *agent)
{
	static struct spi_rule_result result;
	const uint32_t busy = spi_thread.busy;

	spi_thread.busy |= SPI_BUSY_ALWAYS;
	spi_control_lock();
	while (agent->rule_count)
		spi_rule_remove(agent->rules[--agent->rule_count], &result);
	spi_control_unlock();
	spi_thread.busy = busy;
}
