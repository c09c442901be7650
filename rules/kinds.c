/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The kinds of rules, and how a user reads a rule of each. */
#include <string.h>

#include "rules/options.h"
#include "rules/writer.h"

/* ---- functions ---- */

static int check_records(const struct spi_rule *rule, char *why)
{
	if (rule->backtrace && (rule->one_event || rule->compact))
		return spi_refuse(why, "a backtrace belongs to a call's entry event: leave out one-event and compact");
	if (rule->backtrace && rule->payloads.count)
		return spi_refuse(why, "a payload asks for its backtraces itself (spi_call_backtrace): "
				  "leave out backtrace");
	if (rule->libcalls && rule->compact)
		return spi_refuse(why, "library calls have events of their own: leave out compact");
	if (rule->libcalls && rule->payloads.count)
		return spi_refuse(why, "library calls are recorded: leave out the payload");
	if (!rule->payloads.count)
		return rule->payload_args.count ? spi_refuse(why, "an argument needs a payload that it is for") : 0;
	if (rule->one_event || rule->compact || rule->budget)
		return spi_refuse(why, "a payload gets each call, and nothing is recorded: leave out one-event, compact and budget");
	return 0;
}

static void describe_target(struct spi_writer *w, const struct spi_rule *rule)
{
	spi_put(w, rule->function);
	if (*rule->object) {
		spi_put(w, " of ");
		spi_put(w, rule->object);
	}
}

/* ---- call trees ---- */

static int check_tree(const struct spi_rule *rule, char *why)
{
	if (rule->after && rule->on_signal)
		return spi_refuse(why, "a tree begins after a time or on a signal, not both");
	if (rule->calls_of.count && rule->depth)
		return spi_refuse(why, "the calls of single functions have no depth: leave it out");
	if (rule->ipc_wait && !rule->ipc)
		return spi_refuse(why, "ipc-wait goes with ipc");
	return check_records(rule, why);
}

static void describe_tree(struct spi_writer *w, const struct spi_rule *rule)
{
	for (uint32_t i = 0; i < rule->calls_of.count; i++) {
		spi_put(w, i ? ", " : "calls made by ");
		spi_put(w, rule->calls_of.name[i]);
	}
	if (!rule->calls_of.count)
		spi_put(w, "call tree");
	if (!*rule->function)
		return;
	spi_put(w, rule->calls_of.count ? " below " : " of ");
	describe_target(w, rule);
}

/* ---- all of them ---- */

const struct spi_rule_kind spi_rule_kinds[SPI_KINDS] = {
	[SPI_KIND_CALL] = { SPI_KIND_CALL, "call", true, check_records, describe_target },
	[SPI_KIND_TREE] = { SPI_KIND_TREE, "tree", false, check_tree, describe_tree },
};

const struct spi_rule_kind *spi_rule_kind_of(const char *text)
{
	for (unsigned int i = 0; i < SPI_KINDS; i++) {
		size_t n = strlen(spi_rule_kinds[i].name);

		if (!strncmp(text, spi_rule_kinds[i].name, n) && text[n] == '(')
			return &spi_rule_kinds[i];
	}
	return NULL;
}

static void describe_scope(struct spi_writer *w, const struct spi_rule *rule)
{
	if (rule->nr_pids == 1 && rule->pids[0] == SPI_PID_STARTED) {
		spi_put(w, ", in a program that lttng trace has started");
		return;
	}
	for (uint32_t i = 0; i < rule->nr_pids; i++) {
		spi_put(w, i ? ", " : rule->nr_pids > 1 ? ", in processes " : ", in process ");
		spi_put_number(w, (uint64_t) rule->pids[i]);
	}
	for (uint32_t i = 0; i < rule->exec.count; i++) {
		spi_put(w, i ? ", " : rule->nr_pids ? " if named " : ", in processes named ");
		spi_put(w, rule->exec.name[i]);
	}
}

void spi_rule_describe(const struct spi_rule *rule, char *text, size_t size)
{
	const uint32_t where = SPI_IN(rule->kind->number, SPI_FORM_EVENT);
	struct spi_writer w = { text, size, 0 };

	rule->kind->describe(&w, rule);
	for (int first = 1; first >= 0; first--)
		for (unsigned int i = 0; i < spi_rule_options_count; i++) {
			const struct spi_rule_option *option = &spi_rule_options[i];

			if (option->is_said_first == first && (option->where & where))
				spi_option_say(&w, rule, option);
		}
	describe_scope(&w, rule);
	spi_put_end(&w);
}
