/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * spi_tree:budget - a function, or the calls of one call site, that a tree with a
 * budget leaves out from here on, or records again: so that a reader of the trace
 * does not take calls for missing that were left out, and knows by what. A provider
 * of its own, of the same name, as most trees have no budget, and each event that is
 * registered costs a program's start a question to the session daemon, an enumeration
 * another one.
 */
#include <errno.h>
#include <string.h>
#include "tp/compact/compact.h"
#include "tp/describe/gatekeeper.h"

#define NAME_MAX_BYTES	200u

static const struct lttng_ust_type_integer u64_type = {
	.parent = { lttng_ust_type_integer }, .struct_size = sizeof(u64_type), .size = 64, .alignment = 8, .base = 10,
};
static const struct lttng_ust_type_integer u32_type = {
	.parent = { lttng_ust_type_integer }, .struct_size = sizeof(u32_type), .size = 32, .alignment = 8, .base = 10,
};
static const struct lttng_ust_type_integer u8_type = {
	.parent = { lttng_ust_type_integer }, .struct_size = sizeof(u8_type), .size = 8, .alignment = 8, .base = 10,
};
static const struct lttng_ust_type_integer hex_type = {
	.parent = { lttng_ust_type_integer }, .struct_size = sizeof(hex_type), .size = 64, .alignment = 8, .base = 16,
};
static const struct lttng_ust_type_string string_type = {
	.parent = { lttng_ust_type_string }, .struct_size = sizeof(string_type), .encoding = lttng_ust_string_encoding_UTF8,
};

#define LABEL(n, text) \
	{ .struct_size = sizeof(struct lttng_ust_enum_entry), .start = { .value = n }, .end = { .value = n }, .string = text }
static const struct lttng_ust_enum_entry labels[] = { LABEL(0, "recorded_again"), LABEL(1, "left_out") };
static struct lttng_ust_probe_desc provider;
static const struct lttng_ust_enum_entry *const label_list[] = { &labels[0], &labels[1] };
static const struct lttng_ust_enum_desc state_enum = {
	.struct_size = sizeof(state_enum), .name = "spi_tree_budget", .entries = label_list, .nr_entries = 2,
	.probe_desc = &provider,
};
static const struct lttng_ust_type_enum state_type = {
	.parent = { lttng_ust_type_enum }, .struct_size = sizeof(state_type), .desc = &state_enum, .container_type = &u8_type.parent,
};

#define FIELD(name_, type_) { .struct_size = sizeof(struct lttng_ust_event_field), .name = name_, .type = &type_.parent }
static const struct lttng_ust_event_field fields[] = {
	FIELD("addr", hex_type), FIELD("call_site", hex_type), FIELD("calls", u64_type), FIELD("share", u32_type),
	FIELD("budget", u32_type), FIELD("state", state_type), FIELD("function", string_type),
};
static const struct lttng_ust_event_field *const field_list[] = {
	&fields[0], &fields[1], &fields[2], &fields[3], &fields[4], &fields[5], &fields[6],
};
static const struct lttng_ust_tracepoint_class budget_class = {
	.struct_size = sizeof(budget_class), .fields = field_list, .nr_fields = 7, .probe_callback = tp_probe_mark,
	.signature = "spi", .probe_desc = &provider,
};
static const struct lttng_ust_event_desc budget_desc = {
	.struct_size = sizeof(budget_desc), .event_name = "budget", .probe_desc = &provider,
	.tp_class = &budget_class,
};
static const struct lttng_ust_event_desc *const events[] = { &budget_desc };
static struct lttng_ust_probe_desc provider = {
	.struct_size = sizeof(provider), .provider_name = TP_PROVIDER_TREE, .event_desc = events, .nr_events = 1, .major = 3, .minor = 0,
};
static struct lttng_ust_tracepoint tracepoint = {
	.struct_size = sizeof(tracepoint), .provider_name = TP_PROVIDER_TREE, .event_name = "budget", .signature = "spi",
};
static struct lttng_ust_tracepoint *tracepoints[] = { &tracepoint };
static const struct tp_column columns[] = {
	{ TP_COLUMN_UNSIGNED, 8, 1 }, { TP_COLUMN_UNSIGNED, 8, 1 }, { TP_COLUMN_UNSIGNED, 8, 1 }, { TP_COLUMN_UNSIGNED, 4, 1 },
	{ TP_COLUMN_UNSIGNED, 4, 1 }, { TP_COLUMN_UNSIGNED, 1, 1 }, { TP_COLUMN_STRING, 0, 1 },
};

/* spi_payload_ops.budget_prepare */
int tp_budget_prepare(const char **why)
{
	static int registered;

	if (!registered && (tp_gate_event(TP_PROVIDER_TREE, &budget_desc) || lttng_ust_tracepoint_module_register(tracepoints, 1) ||
			!lttng_ust_probe_register(&provider))) {
		*why = "LTTng-UST refused the event that says so";
		return -1;
	}
	registered = 1;
	return 0;
}

static uint8_t *put(uint8_t *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	return to + size;
}

static uint32_t record_fill(uint8_t *record, const struct spi_left_out *l)
{
	uint8_t *to = record, state = (uint8_t) l->is_out;
	uint32_t n = 0;

	to = put(to, &l->address, 8);
	to = put(to, &l->call_site, 8);
	to = put(to, &l->calls, 8);
	to = put(to, &l->share, 4);
	to = put(to, &l->budget, 4);
	to = put(to, &state, 1);
	while (l->name[n] && n < NAME_MAX_BYTES - 1)
		*to++ = (uint8_t) l->name[n++];
	*to++ = 0;
	return (uint32_t) (to - record);
}

/* spi_payload_ops.budget_event */
int tp_budget_event(const struct spi_left_out *l)
{
	struct tp_event event = {
		.tracepoint = &tracepoint, .columns = columns, .column_count = 7,
		.probe = { .struct_size = sizeof(event.probe), .ip = (void *) l->address }};
	uint8_t record[37 + NAME_MAX_BYTES + TP_SLOP];
	struct tp_shot shot = { .event = &event, .record = record };
	struct lttng_ust_tracepoint_probe *probe;
	struct spi_thread *t = &spi_thread;
	uint32_t now = t->tree_now;
	int *error, error_was, refused = 0, taken = 0;
	tp_reader *reader;

	if (tp_closed > TP_CAREFUL || !CMM_ACCESS_ONCE(tracepoint.state))
		return 0;
	error = tp_errno(t);
	error_was = *error;
	shot.length = record_fill(record, l);
	t->tree_now = l->trees;
	reader = tp_read_lock(t);
	for (probe = tp_probes(&event); probe && probe->func; probe++) {
		struct lttng_ust_event_common *e = probe->data;
		struct lttng_ust_event_recorder *recorder = e->child;

		if (probe->func != tp_probe_mark)
			continue;
		if (e->type == LTTNG_UST_EVENT_TYPE_NOTIFIER)
			tp_notify(&shot, e);
		else if (e->type != LTTNG_UST_EVENT_TYPE_RECORDER || !tp_recorder_takes(&shot, e, recorder->chan))
			continue;
		else if (tp_may_wait(tp_record(shot.event, shot.record, shot.length, recorder, recorder->chan)))
			refused = 1;
		else
			taken = 1;
	}
	tp_read_unlock(reader);
	t->tree_now = now;
	*error = error_was;
	return refused && !taken ? -ENOBUFS : 0;
}
