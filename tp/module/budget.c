/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * spi_tree:budget - a function, or the calls of one call site, that a tree with a
 * budget leaves out from here on, or records again: so that a reader of the trace
 * does not take calls for missing that were left out, and knows by what.
 */
#include <errno.h>
#include "liblttng-spi/base/base.h"
#include "tp/module/module.h"

#define NAME_MAX_BYTES	200u

static struct tp_own budget;

/* spi_payload_ops.budget_prepare */
int tp_budget_prepare(const char **why)
{
	static const char *const labels[] = { "recorded_again", "left_out" };
	static const struct tp_own_field fields[] = {
		{ "addr", TP_OWN_HEX }, { "call_site", TP_OWN_HEX }, { "calls", TP_OWN_U64 }, { "share", TP_OWN_U32 },
		{ "budget", TP_OWN_U32 }, { "state", TP_OWN_LABELS }, { "function", TP_OWN_TEXT },
	};

	if (!budget.labels)
		budget.labels = tp_labels_type("spi_tree_budget", labels, 2);
	if (budget.labels && !tp_own_register(&budget, TP_PROVIDER_TREE, "budget", fields, 7))
		return 0;
	*why = "LTTng-UST refused the event that says so";
	return -1;
}

/* In the fields' order. */
struct __attribute__((packed)) record {
	uint64_t address, call_site, calls;
	uint32_t share, budget;
	uint8_t state;
	char name[NAME_MAX_BYTES];
};

/* spi_payload_ops.budget_event */
int tp_budget_event(const struct spi_left_out *l)
{
	struct tp_event event = tp_own_event(&budget, l->address);
	struct record record = { l->address, l->call_site, l->calls, l->share, l->budget, (uint8_t) l->is_out, "" };
	struct tp_shot shot = { .event = &event, .record = (uint8_t *) &record };
	struct spi_thread *t = &spi_thread;
	uint32_t now = t->tree_now;
	int *error, error_was;
	unsigned int took;
	tp_reader *reader;

	if (tp_closed > TP_CAREFUL || !CMM_ACCESS_ONCE(budget.tracepoint.state))
		return 0;
	error = tp_errno(t);
	error_was = *error;
	spi_format(record.name, sizeof(record.name), "%s", l->name);
	shot.length = (uint32_t) (offsetof(struct record, name) + strlen(record.name) + 1);
	t->tree_now = l->trees;
	reader = tp_read_lock(t);
	took = tp_fire(&shot, 0);
	tp_read_unlock(reader);
	t->tree_now = now;
	*error = error_was;
	return (took & TP_TOOK_WAIT) && !(took & TP_TOOK_ONE) ? -ENOBUFS : 0;
}
