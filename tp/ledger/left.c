/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * spi_call:left - the event before each exit event that was made up, because the call ended by an exception or
 * longjmp, or with its thread or process. The exit's values are zero; this event says so, and how the call ended. The
 * event has a provider of its own, so that a rule for spi:* functions never asks for the event by chance. The same
 * labels make the `left` field of one-event records.
 */
#include "tp/describe/gatekeeper.h"
#include "tp/ledger/ledger.h"

static const struct lttng_ust_type_integer u8_type = {
	.parent = { lttng_ust_type_integer }, .struct_size = sizeof(u8_type), .size = 8, .alignment = 8, .base = 10,
};
static const struct lttng_ust_type_integer address_type = {
	.parent = { lttng_ust_type_integer }, .struct_size = sizeof(address_type), .size = 64, .alignment = 8,
	.base = 16,
};

#define LABEL(n, text) \
	{ .struct_size = sizeof(struct lttng_ust_enum_entry), .start = { .value = n }, .end = { .value = n }, \
	  .string = text }
static const struct lttng_ust_enum_entry labels[] = {
	LABEL(SPI_LEFT_RETURN, "return"), LABEL(SPI_LEFT_UNWOUND, "unwound"), LABEL(SPI_LEFT_JUMPED, "longjmp"),
	LABEL(SPI_LEFT_THREAD_END, "thread_end"), LABEL(SPI_LEFT_PROCESS_END, "process_end"),
	LABEL(SPI_LEFT_TAIL, "tail"), LABEL(SPI_LEFT_DETACHED, "detached"),
};
static const struct lttng_ust_enum_entry *const label_list[] = {
	&labels[0], &labels[1], &labels[2], &labels[3], &labels[4], &labels[5], &labels[6],
};

static struct lttng_ust_probe_desc provider;
static const struct lttng_ust_enum_desc left_enum = {
	.struct_size = sizeof(left_enum), .name = "spi_left", .entries = label_list, .nr_entries = 7,
	.probe_desc = &provider,
};
static struct lttng_ust_type_enum left_type = {
	.parent = { lttng_ust_type_enum }, .struct_size = sizeof(left_type), .desc = &left_enum,
	.container_type = &u8_type.parent,
};
struct lttng_ust_type_common *const tp_left_type = &left_type.parent;

static const struct lttng_ust_event_field address_field = {
	.struct_size = sizeof(address_field), .name = "address", .type = &address_type.parent,
};
static const struct lttng_ust_event_field how_field = {
	.struct_size = sizeof(how_field), .name = "how", .type = &left_type.parent,
};
static const struct lttng_ust_event_field *const fields[] = { &address_field, &how_field };
static const struct lttng_ust_tracepoint_class left_class = {
	.struct_size = sizeof(left_class), .fields = fields, .nr_fields = 2, .probe_callback = tp_probe_mark,
	.signature = "spi", .probe_desc = &provider,
};
static const struct lttng_ust_event_desc left_desc = {
	.struct_size = sizeof(left_desc), .event_name = "left", .probe_desc = &provider, .tp_class = &left_class,
};
static const struct lttng_ust_event_desc *const events[] = { &left_desc };
static struct lttng_ust_probe_desc provider = {
	.struct_size = sizeof(provider), .provider_name = "spi_call", .event_desc = events, .nr_events = 1,
	.major = 3, .minor = 0,
};

static struct lttng_ust_tracepoint tracepoint = {
	.struct_size = sizeof(tracepoint), .provider_name = "spi_call", .event_name = "left", .signature = "spi",
};
static struct lttng_ust_tracepoint *tracepoints[] = { &tracepoint };
static const struct tp_column columns[] = { { TP_COLUMN_UNSIGNED, 8, 1 }, { TP_COLUMN_UNSIGNED, 1, 1 } };

int tp_left_register(void)
{
	if (tp_gate_event("spi_call", &left_desc) || lttng_ust_tracepoint_module_register(tracepoints, 1))
		return -1;
	return lttng_ust_probe_register(&provider) ? 0 : -1;
}

void tp_left_fire(struct spi_thread *t, const struct tp_other *other, const struct spi_point *point, enum spi_left how)
{
	struct tp_event event = {
		.tracepoint = &tracepoint, .columns = columns, .column_count = 2, .is_end = 1,
		.probe = { .struct_size = sizeof(event.probe), .ip = (void *) point->address }};
	uint8_t record[9];
	struct tp_shot shot = { .event = &event, .record = record, .length = sizeof(record) };
	tp_reader *reader;

	if (!CMM_ACCESS_ONCE(tracepoint.state))
		return;
	memcpy(record, &point->address, 8);
	record[8] = (uint8_t) how;
	reader = tp_read_lock(t);
	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(&event); probe && probe->func; probe++) {
		struct lttng_ust_event_recorder *recorder = tp_recorder_of(probe);

		if (recorder && tp_recorder_takes(&shot, probe->data, recorder->chan))
			tp_record_as(other, shot.event, shot.record, shot.length, recorder);
		else if (!recorder)
			tp_notify_by(&shot, probe);
	}
	tp_read_unlock(reader);
}
