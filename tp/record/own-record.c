/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Events of users' payloads (spi_agent_add_record()). A payload says which fields an event has, and gives a word for
 * each; what is packed here goes the way of the module's own events.
 */
#include <errno.h>
#include "include/lttng/spi.h"
#include "tp/record/record.h"

/* [enum spi_record_kind] */
static const uint8_t own_kinds[] = {
	[SPI_RECORD_UNSIGNED] = TP_OWN_U64, [SPI_RECORD_HEX] = TP_OWN_HEX, [SPI_RECORD_SIGNED] = TP_OWN_I64,
	[SPI_RECORD_INT] = TP_OWN_I32, [SPI_RECORD_TEXT] = TP_OWN_TEXT, [SPI_RECORD_ADDRESSES] = TP_OWN_SEQUENCE,
};

/* The sequence NAME, and before it the field _NAME_length, as lttng-ust's macros make them. NULL: no memory. */
static const char *sequence_make(const char *name, struct tp_own *own)
{
	struct lttng_ust_type_sequence *type = tp_alloc(sizeof(*type));
	const size_t n = strlen(name) + sizeof("__length");
	char *length = tp_alloc(n);

	if (!type || !length)
		return NULL;
	spi_format(length, n, "_%s_length", name);
	*type = (struct lttng_ust_type_sequence) {
		.parent = { lttng_ust_type_sequence }, .struct_size = sizeof(*type), .length_name = length,
		.elem_type = &tp_integers[1][0][3].parent, .encoding = lttng_ust_string_encoding_none,
	};
	own->labels = &type->parent;
	return length;
}

int tp_record_prepare(struct spi_record *record, const char **why)
{
	struct tp_own_field fields[SPI_RECORD_FIELDS + 1];
	struct tp_own *own = tp_alloc(sizeof(*own));
	unsigned int n = 0;

	*why = "no memory";
	for (uint32_t i = 0; own && i < record->count; i++) {
		if (record->kind[i] == SPI_RECORD_ADDRESSES) {
			fields[n] = (struct tp_own_field) { sequence_make(record->field[i], own), TP_OWN_U32 };
			if (!fields[n++].name)
				return -1;
		}
		fields[n++] = (struct tp_own_field) { record->field[i], (enum tp_own_kind) own_kinds[record->kind[i]] };
	}
	if (!own)
		return -1;
	*why = "LTTng-UST refused it, or another payload has an event of this name";
	if (tp_own_register(own, record->provider, record->name, fields, n) < 0)
		return -1;
	record->event = own;
	__atomic_store_n(&record->gate, &own->tracepoint.state, __ATOMIC_RELEASE);
	return 0;
}

/* In the order of the fields. Returns what is behind it. */
static uint8_t *values_pack(const struct spi_record *record, const uint64_t *values, uint8_t *to)
{
	for (uint32_t i = 0; i < record->count; i++) {
		int is_cut;
		long n;

		switch (record->kind[i]) {
		case SPI_RECORD_ADDRESSES:
			break;
		case SPI_RECORD_INT:
			__builtin_memcpy(to, &values[i], 4);
			to += 4;
			break;
		case SPI_RECORD_TEXT:
			*to = 0;
			n = values[i] ? tp_core->string_copy((char *) to, values[i], SPI_RECORD_TEXT_MOST, &is_cut) : 0;
			to[n < 0 ? 0 : n] = 0;
			to += (n < 0 ? 0 : n) + 1;
			break;
		default:
			__builtin_memcpy(to, &values[i], 8);
			to += 8;
		}
	}
	return to;
}

static unsigned int fire(const struct spi_record *record, uint64_t ip, uint8_t *bytes, uint32_t length)
{
	struct spi_thread *t = &spi_thread;
	struct tp_event event = tp_own_event(record->event, ip);
	struct tp_shot shot = { .event = &event, .record = bytes, .length = length };
	const int first = tp_is_first(t);
	uint64_t mask = first ? spi_signals_hold(TP_SIGNALS) : 0;	/* call.c, fire_entry() */
	tp_reader *reader = tp_read_lock(t);
	unsigned int took = tp_fire(&shot, 0);

	tp_read_unlock(reader);
	if (spi_unlikely(first)) {
		tp_in_name_learn(tp_tid());
		spi_signals_release(mask);
	}
	return took;
}

int tp_record_write(const struct spi_record *record, uint64_t ip, const uint64_t *values, const uint64_t *addresses,
	uint32_t count)
{
	uint32_t texts = 0, most = SPI_RECORD_FIELDS * 8;
	struct spi_thread *t = &spi_thread;
	unsigned int took;

	if (tp_reader_is_over(t, t->busy_p))
		return -EAGAIN;
	if (spi_unlikely(tp_closed > TP_CAREFUL)) {
		spi_call_missed(tp_closed == TP_EXEC ? SPI_APART_EXEC : SPI_APART_END);
		return -EAGAIN;
	}
	for (uint32_t i = 0; i < record->count; i++)
		texts += record->kind[i] == SPI_RECORD_TEXT;
	most += texts * SPI_RECORD_TEXT_MOST + 4 + count * 8;
	{
		uint8_t bytes[most], *end = values_pack(record, values, bytes);

		if (record->kind[record->count - 1] == SPI_RECORD_ADDRESSES) {
			__builtin_memcpy(end, &count, 4);
			__builtin_memcpy(end + 4, addresses, count * 8);
			end += 4 + count * 8;
		}
		took = fire(record, ip, bytes, (uint32_t) (end - bytes));
	}
	tp_count(t)->entries += !record->is_apart && took & TP_TOOK_ONE;
	tp_count(t)->lost_entries += !record->is_apart && took & TP_TOOK_LOST;
	return took & TP_TOOK_LOST ? -ENOBUFS : 0;
}
