/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The agents of a run, as callbacks of injector/control/control.h. Rule ids are the positions of the
 * FUNCs, from 1; those of rules that record beside payloads follow, in the same order. The answers still awaited are
 * counted in the agent's own state; at zero, a program that waits before main() is let go. A generic event must be
 * enabled in the session before it can happen, so it is enabled between the two.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/base/say.h"
#include "cli/daemon/session.h"
#include "cli/functions/func.h"
#include "cli/run/agents-internal.h"
#include "cli/run/peers.h"
#include "cli/run/report.h"
#include "cli/ui/tree-options.h"
#include "injector/control/control.h"
#include "injector/procfs/procfs.h"
#include "rules/rule.h"

#define AGENTS_LAST_MS 5
#define GENERIC_EVENTS "lttng_ust_cyg_profile:func_*"

struct agent_state {
	int has_come;		/* it has said HELLO */
	int by_message;		/* to its process: trees wait for that */
	unsigned int awaited;	/* RULE_DONE answers */
	unsigned int asked, failed;
	unsigned int payloads, payloads_failed;	/* of them those that are for payloads, where others record */
	uint64_t points;	/* instrumented, as far as was seen */
	int detached;
	int told;		/* what it executes next cannot be followed */
	struct budget budget;
	char failure[256];	/* the first rule that could not be carried out, and why */
};

static const char *agent_name(const struct spi_agent *agent)
{
	const char *slash = strrchr(spi_agent_exe(agent), '/');

	return slash ? slash + 1 : spi_agent_exe(agent);
}

static const char *agent_title(const struct spi_agent *agent, char *title, size_t size)
{
	snprintf(title, size, "%.255s (%d)", agent_name(agent), (int) spi_agent_pid(agent));
	return title;
}

/* A program that waits before it begins, preloaded or stopped at its start. */
static void agent_go(struct spi_agent *agent)
{
	if (spi_agent_flags(agent) & (SPI_HELLO_PRELOADED | SPI_HELLO_WAITS))
		spi_agent_go(agent);
}

/* Who asks for a payload and for a record of the calls has neither without the payload. */
static int is_hopeless(const struct agent_state *state)
{
	return state->failed == state->asked || (state->payloads && state->payloads_failed == state->payloads);
}

static void agent_let_go(struct agents *a, struct spi_agent *agent)
{
	struct agent_state *state = spi_agent_user(agent);
	char title[300];

	/* A program that another one has executed may have none of the functions: it runs on, and is not traced. */
	if (state && state->asked && is_hopeless(state) &&
	    !(a->ready && spi_agent_flags(agent) & SPI_HELLO_PRELOADED)) {
		peers_settled(a->peers, agent, 0);
		a->hopeless += !state->by_message;
		if (a->lets_go || state->by_message) {
			agents_say_left(a, agent_name(agent), spi_agent_pid(agent),
				*state->failure ? state->failure : a->failure);
			agent_go(agent);
			spi_agent_detach(agent);
			return;
		}
		report_unrecorded(a->report, agent_title(agent, title, sizeof(title)), *state->failure ? state->failure : a->failure);
		return;
	}
	if (!a->ready++ && a->on_ready)
		a->on_ready(a->data);
	agent_go(agent);
	peers_settled(a->peers, agent, 1);
}

static const struct func *agents_funcs_of(const struct agents *a, pid_t pid)
{
	unsigned int i;

	for (i = 0; i < a->set_count; i++)
		if (a->sets[i].pid == pid)
			return a->sets[i].funcs;
	return a->funcs;
}

/* Which FUNC the rule is for; NULL: none. */
static const struct func *func_of_rule(const struct agents *a, const struct func *funcs, uint32_t rule)
{
	return a->func_count && rule - 1 < 2 * a->func_count ? &funcs[(rule - 1) % a->func_count] : NULL;
}

/* `text` NULL: there is no such rule. */
static void agent_rule_add(const struct agents *a, struct spi_agent *agent, const struct func *func, uint32_t rule,
	const char *text)
{
	struct agent_state *state = spi_agent_user(agent);
	char waiting[SPI_RULE_TEXT_MAX];
	int ret = 0;

	if (text && func->tree && state->by_message) {
		ret = func_rule_on_message(text, waiting, sizeof(waiting));
		text = waiting;
	}
	if (text && ret == 0)
		ret = spi_agent_rule_add(agent, rule, func->tree ? 0 : a->rule_flags, text);

	if (text && ret == 0)
		state->asked = ++state->awaited;
	else if (ret < 0)
		say_warning("%s: %s", tree_title(func->text), strerror(-ret));
}

static void agents_on_hello(struct spi_agent *agent, void *data)
{
	struct agents *a = data;
	struct agent_state *state = spi_agent_user(agent) ?: calloc(1, sizeof(*state));
	const struct func *funcs = agents_funcs_of(a, spi_agent_pid(agent));
	unsigned int i;

	a->seen++;
	if (state)
		state->has_come = 1;
	peers_come(a->peers, agent);
	agents_lost_forget(a, spi_agent_pid(agent));
	spi_agent_set_user(agent, state);
	say_detail("%s (%d): agent is there", spi_agent_exe(agent), (int) spi_agent_pid(agent));
	/* Forked a moment ago, with its parent's rules; or a program that was executed, which goes on as well. */
	if (a->is_over) {
		spi_agent_detach(agent);
		return;
	}
	/* A forked child has its parent's rules already. */
	if (!state || spi_agent_flags(agent) & SPI_HELLO_FORKED) {
		agent_let_go(a, agent);
		return;
	}
	for (i = 0; i < a->func_count; i++) {
		agent_rule_add(a, agent, &funcs[i], i + 1, funcs[i].rule);
		agent_rule_add(a, agent, &funcs[i], a->func_count + i + 1, funcs[i].recorded);
		state->payloads += funcs[i].rule && funcs[i].recorded;
	}
	if (!state->awaited)
		agent_let_go(a, agent);
}

/*
 * OBJECT is not loaded where the rule arrives: the process may load it, or execute what has it. A library that comes and goes was
 * perhaps there when the names were looked up, and is not when the agent looks.
 */
static int rule_is_late(const struct agents *a, const struct spi_agent *agent, const struct spi_msg_rule_done *done)
{
	const struct func *func = func_of_rule(a, agents_funcs_of(a, spi_agent_pid(agent)), done->rule);

	if ((done->status != -ENOENT && done->status < 0) || !func)
		return 0;
	if (func->is_optional)
		return 1;
	return done->flags & SPI_DONE_WAITS ? func->is_late || func->object : func->is_late && spi_agent_flags(agent) & SPI_HELLO_PRELOADED;
}

static void agents_rule_failed(struct agents *a, const struct spi_agent *agent, const struct spi_msg_rule_done *done,
			       const char *text)
{
	const struct func *of = func_of_rule(a, a->funcs, done->rule);
	const char *func = of ? tree_title(of->text) : "rule";
	const struct agent_state *state = spi_agent_user(agent);

	/* A program that a traced one executed has no such function, or a tree went into one that has no such root. */
	if (a->lets_go || state->by_message || rule_is_late(a, agent, done) ||
	    (a->ready && of && (of->tree || spi_agent_flags(agent) & SPI_HELLO_PRELOADED)))
		say_detail("%s: %s", func, text);
	else if (of && of->is_optional && a->failed)
		say_detail("%s: %s", func, text);
	else if (!a->failed++)
		snprintf(a->failure, sizeof(a->failure), "%s: %s", func, text);
	else
		say_warning("%s: %s", func, text);
}

/* Where the agent has declined functions of the rule's, it has named each. */
static void agent_rule_failed(const struct agents *a, const struct spi_agent *agent, const struct spi_msg_rule_done *done, const char *text)
{
	const struct func *of = func_of_rule(a, a->funcs, done->rule);
	struct agent_state *state = spi_agent_user(agent);
	char title[300];

	state->payloads_failed += of && of->recorded && done->rule - 1 < a->func_count;
	if (!state->failed++)
		snprintf(state->failure, sizeof(state->failure), "%s: %s", of ? tree_title(of->text) : "rule", text);
	/* of programs that come and go, each name once */
	if (of && !of->tree && !done->declined && !(spi_agent_flags(agent) & SPI_HELLO_PRELOADED))
		report_declined(a->report, a->lets_go ? agent_name(agent) : agent_title(agent, title, sizeof(title)),
			tree_title(of->text), text);
}

/*
 * How much is instrumented: two rules may cover one function, and a tree grows, so
 * the page knows how many there really are. What was taken out again counts; what a
 * forked child has from its parent does not.
 */
static void points_take(struct agents *a, struct spi_agent *agent, uint64_t points)
{
	struct agent_state *state = spi_agent_user(agent);

	if (!state || !state->asked || points <= state->points)
		return;
	a->report->functions += points - state->points;
	state->points = points;
}

static void agent_take_points(struct agents *a, struct spi_agent *agent)
{
	const volatile struct spi_status_page *page = spi_agent_status(agent);

	points_take(a, agent, page ? page->points : 0);
}

/* A rule's functions are too many for events of their own: what is recorded, after what its addresses mean. */
static void agents_generic(struct agents *a)
{
	a->report->generic = 1;
	session_enable(a->session, "spi_tree:function");
	session_enable(a->session, GENERIC_EVENTS);
}

static void agents_found(struct agents *a, uint32_t rule, int is_found)
{
	if (is_found && func_of_rule(a, a->funcs, rule))
		a->found[(rule - 1) % a->func_count] = 1;
}

static void agents_on_rule_more(struct spi_agent *agent, const struct spi_msg_rule_done *more, const char *text,
				void *data)
{
	struct agents *a = data;

	if (*text)
		say_detail("%s", text);
	if (more->flags & SPI_DONE_GENERIC) {
		agents_generic(a);
	}
	agents_found(a, more->rule, more->status > 0);
	/* The library may be gone by now, and its functions with it. */
	points_take(a, agent, more->status > 0 ? (uint64_t) more->status : 0);
	agent_take_points(a, agent);
}

static void agents_on_rule_done(struct spi_agent *agent, const struct spi_msg_rule_done *done, const char *text,
				void *data)
{
	struct agents *a = data;
	struct agent_state *state = spi_agent_user(agent);
	const volatile struct spi_status_page *page = spi_agent_status(agent);

	if (!state || !state->awaited)
		return;
	agents_found(a, done->rule, done->matched > 0);
	if (done->status < 0) {
		if (!rule_is_late(a, agent, done))
			agent_rule_failed(a, agent, done, text && *text ? text : strerror(-done->status));
		else if (!(done->flags & SPI_DONE_WAITS) || func_of_rule(a, a->funcs, done->rule)->is_optional)
			state->asked--;
		agents_rule_failed(a, agent, done, text && *text ? text : strerror(-done->status));
	} else if (text && *text) {
		say_detail("%s", text);
	}
	if (done->flags & SPI_DONE_GENERIC) {
		agents_generic(a);
	}
	if (page) {
		agent_take_points(a, agent);
	} else {
		state->points += done->instrumented;
		a->report->functions += done->instrumented;
	}
	if (--state->awaited == 0)
		agent_let_go(a, agent);
}

static void agents_on_declined(struct spi_agent *agent, const char *object, const char *function, const char *reason,
			       void *data)
{
	struct agents *a = data;

	report_declined(a->report, object, function, reason);
}

static void agents_on_note(struct spi_agent *agent, const char *text, void *data)
{
	struct agents *a = data;
	struct agent_state *state = spi_agent_user(agent);

	if (state && !strncmp(text, "not followed: ", 14))
		state->told = 1;
	say_detail("%s (%d): %s", spi_agent_exe(agent), (int) spi_agent_pid(agent), text);
	report_note(a->report, text);
}

static void agents_on_hot(struct spi_agent *agent, uint64_t count, const char *object, const char *function, void *data)
{
	struct agents *a = data;

	hot_add(&a->report->hot, count, object, function);
}

static void agents_on_budget(struct spi_agent *agent, const struct spi_budget_told *told, void *data)
{
	struct agent_state *state = spi_agent_user(agent);

	if (state)
		budget_told(&state->budget, told);
}

static void agents_on_left_out(struct spi_agent *agent, const struct spi_left_out_told *told, void *data)
{
	struct agent_state *state = spi_agent_user(agent);

	if (state)
		budget_left_out(&state->budget, told);
}

static void agents_on_detached(struct spi_agent *agent, void *data)
{
	struct agent_state *state = spi_agent_user(agent);

	if (state)
		state->detached = 1;
}

static void agents_on_gone(struct spi_agent *agent, void *data)
{
	struct agents *a = data;
	struct agent_state *state = spi_agent_user(agent);

	peers_gone(a->peers, agent);
	if (state && state->has_come && !state->detached && !state->told)
		agents_lost_add(a, agent);
	agent_take_points(a, agent);
	report_add_status(a->report, spi_agent_status(agent));
	if (state)
		budget_add(&a->report->budget, &state->budget);
	free(spi_agent_user(agent));
	spi_agent_set_user(agent, NULL);
}

static void agents_on_peer_request(struct spi_agent *agent, uint32_t id, const struct spi_msg_peer_request *request,
				   void *data)
{
	const struct agents *a = data;

	peers_ask(a->peers, agent, id, request);
}

static void agents_on_channel_done(struct spi_agent *agent, uint32_t id, const struct spi_msg_channel_done *done,
				   void *data)
{
	const struct agents *a = data;

	peers_channel_done(a->peers, agent, id, done->status);
}

int agents_create(struct agents *a, const struct func *funcs, unsigned int func_count, uint32_t rule_flags,
		  uint32_t string_max, struct report *report, struct session *session)
{
	static const struct spi_control_ops ops = {
		.on_hello = agents_on_hello,
		.on_rule_done = agents_on_rule_done,
		.on_rule_more = agents_on_rule_more,
		.on_declined = agents_on_declined,
		.on_note = agents_on_note,
		.on_hot = agents_on_hot,
		.on_budget = agents_on_budget,
		.on_left_out = agents_on_left_out,
		.on_analysis = agents_on_analysis,
		.on_detached = agents_on_detached,
		.on_peer_request = agents_on_peer_request,
		.on_channel_done = agents_on_channel_done,
		.on_gone = agents_on_gone,
	};
	int ret;

	memset(a, 0, sizeof(*a));
	a->funcs = funcs;
	a->func_count = func_count;
	a->rule_flags = rule_flags;
	a->report = report;
	a->session = session;
	a->found = calloc(func_count + 1, sizeof(*a->found));
	ret = a->found ? spi_control_create(&a->control, &ops, a) : -ENOMEM;
	if (ret == 0)
		spi_control_welcome(a->control, 0, string_max);
	return ret;
}

int agents_adopt(struct agents *a, int fd, pid_t pid, int by_message)
{
	struct spi_agent *agent = spi_control_adopt(a->control, fd, pid);
	struct agent_state *state = agent && by_message ? calloc(1, sizeof(*state)) : NULL;

	if (state) {
		state->by_message = 1;
		spi_agent_set_user(agent, state);
	} else if (agent && by_message) {
		spi_agent_close(agent);
		errno = ENOMEM;
	}
	return agent && (state || !by_message) ? 0 : -1;
}

unsigned int agents_tree_rules(const struct agents *a, const struct spi_agent *agent, uint32_t *rules,
			       unsigned int most)
{
	const struct func *funcs = agents_funcs_of(a, spi_agent_pid(agent));
	unsigned int n = 0;

	for (unsigned int i = 0; i < a->func_count; i++) {
		if (funcs[i].tree && funcs[i].rule && n < most)
			rules[n++] = i + 1;
		if (funcs[i].tree && funcs[i].recorded && n < most)
			rules[n++] = a->func_count + i + 1;
	}
	return n;
}

int agents_settled(const struct agents *a, pid_t pid)
{
	struct spi_agent *agent = NULL;
	const struct agent_state *state;

	while ((agent = spi_control_next(a->control, agent)))
		if (spi_agent_pid(agent) == pid && (state = spi_agent_user(agent)) && state->has_come && !state->awaited)
			return 1;
	return 0;
}

unsigned int agents_unsettled(const struct agents *a)
{
	struct spi_agent *agent = NULL;
	const struct agent_state *state;
	unsigned int n = 0;

	while ((agent = spi_control_next(a->control, agent))) {
		state = spi_agent_user(agent);
		n += !state || !state->has_come || state->awaited;
	}
	return n;
}

int agents_detach(struct agents *a, int limit)
{
	struct timespec start, now;
	struct spi_agent *agent = NULL;
	struct pollfd fd;
	int left;

	if (!a->control)
		return 0;
	/* What arrived already: last words of processes that ended. */
	spi_control_dispatch(a->control);
	agents_lost_report(a);
	a->is_over = 1;
	while ((agent = spi_control_next(a->control, agent))) {
		agent_take_points(a, agent);
		spi_agent_detach(agent);
	}
	fd.fd = spi_control_fd(a->control);
	fd.events = POLLIN;
	clock_gettime(CLOCK_MONOTONIC, &start);
	/* A child that was forked just before its parent let go is on its way for a moment longer. */
	for (;;) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		left = limit - (int) ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000);
		if (left <= 0 || poll(&fd, 1, spi_control_count(a->control) ? left : AGENTS_LAST_MS) <= 0 ||
		    spi_control_dispatch(a->control) < 0)
			break;
	}
	return (int) spi_control_count(a->control);
}

void agents_destroy(struct agents *a)
{
	struct spi_agent *agent = NULL;

	if (!a->control)
		return;
	/* No callback comes any more for those that never answered. */
	while ((agent = spi_control_next(a->control, agent)))
		agents_on_gone(agent, a);
	spi_control_destroy(a->control);
	a->control = NULL;
	a->analysis_count = 0;
	free(a->found);
}
