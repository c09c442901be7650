/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * spi_call:left - the event before each exit event that was made up, because the call ended by an exception or
 * longjmp, or with its thread or process. The exit's values are zero; this event says so, and how the call ended. The
 * event has a provider of its own, so that a rule for spi:* functions never asks for the event by chance. The same
 * labels make the `left` field of one-event records.
 */
#include "liblttng-spi/base/base.h"
#include "tp/describe/describe.h"

static struct tp_own left;
const struct lttng_ust_type_common *tp_left_type;

int tp_left_register(void)
{
	static const char *const labels[] = {
		[SPI_LEFT_RETURN] = "return", [SPI_LEFT_UNWOUND] = "unwound", [SPI_LEFT_JUMPED] = "longjmp",
		[SPI_LEFT_THREAD_END] = "thread_end", [SPI_LEFT_PROCESS_END] = "process_end", [SPI_LEFT_TAIL] = "tail",
		[SPI_LEFT_DETACHED] = "detached",
	};
	static const struct tp_own_field fields[] = { { "address", TP_OWN_HEX }, { "how", TP_OWN_LABELS } };

	tp_left_type = tp_labels_type("spi_left", labels, sizeof(labels) / sizeof(labels[0]));
	left.labels = tp_left_type;
	return tp_left_type ? tp_own_register(&left, "spi_call", "left", fields, 2) : -1;
}

void tp_left_fire(struct spi_thread *t, int32_t other, const struct spi_point *point, enum spi_left how)
{
	struct tp_event event = tp_own_event(&left, point->address);
	uint8_t record[9];
	struct tp_shot shot = { .event = &event, .record = record, .length = sizeof(record) };
	tp_reader *reader;

	if (!CMM_ACCESS_ONCE(left.tracepoint.state))
		return;
	memcpy(record, &point->address, 8);
	record[8] = (uint8_t) how;
	reader = tp_read_lock(t);
	tp_fire(&shot, other);
	tp_read_unlock(reader);
}
