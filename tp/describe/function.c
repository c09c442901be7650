/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * spi_tree:function - what the address of a call means: the function's name, demangled and with its scope, its size, and the
 * object that it is in. It comes before the function's first call, by the thread that calls it.
 *
 * It comes again, of all functions that were met, when another channel listens, by the agent's control thread; and with compact
 * records, whose numbers are described again likewise, for snapshots and new chunks. What a forked child has from its parent,
 * its parent has said: readers know a function by its object (build-id) and its place in it.
 *
 * said, of each function: the generation in which that was done last; 0: it was not met. A signal handler or another thread may come
 * in between: then it is said twice.
 */
#include <string.h>
#include "tp/record/call.h"
#include "tp/compact/compact.h"
#include "tp/describe/function.h"
#include "tp/describe/gatekeeper.h"

#define NAME_MOST	1024u
#define PATH_MOST	512u
#define CHANNELS_MAX	16u

static const struct lttng_ust_type_integer u64_type = {
	.parent = { lttng_ust_type_integer }, .struct_size = sizeof(u64_type), .size = 64, .alignment = 8, .base = 10,
};
static const struct lttng_ust_type_integer hex_type = {
	.parent = { lttng_ust_type_integer }, .struct_size = sizeof(hex_type), .size = 64, .alignment = 8, .base = 16,
};
static const struct lttng_ust_type_string string_type = {
	.parent = { lttng_ust_type_string }, .struct_size = sizeof(string_type), .encoding = lttng_ust_string_encoding_UTF8,
};
#define FIELD(name_, type_) { .struct_size = sizeof(struct lttng_ust_event_field), .name = name_, .type = &type_.parent }
static const struct lttng_ust_event_field fields[] = {
	FIELD("addr", hex_type), FIELD("size", u64_type), FIELD("baddr", hex_type), FIELD("build_id", hex_type),
	FIELD("object", string_type), FIELD("name", string_type),
};
static const struct lttng_ust_event_field *const field_list[] = {
	&fields[0], &fields[1], &fields[2], &fields[3], &fields[4], &fields[5],
};
static struct lttng_ust_probe_desc provider;
static const struct lttng_ust_tracepoint_class function_class = {
	.struct_size = sizeof(function_class), .fields = field_list, .nr_fields = 6, .probe_callback = tp_probe_mark,
	.signature = "spi", .probe_desc = &provider,
};
static const struct lttng_ust_event_desc function_desc = {
	.struct_size = sizeof(function_desc), .event_name = "function", .probe_desc = &provider, .tp_class = &function_class,
};
static const struct lttng_ust_event_desc *const events[] = { &function_desc };
static struct lttng_ust_probe_desc provider = {
	.struct_size = sizeof(provider), .provider_name = TP_PROVIDER_TREE, .event_desc = events, .nr_events = 1, .major = 3, .minor = 0,
};
static struct lttng_ust_tracepoint tracepoint = {
	.struct_size = sizeof(tracepoint), .provider_name = TP_PROVIDER_TREE, .event_name = "function", .signature = "spi",
};
static struct lttng_ust_tracepoint *tracepoints[] = { &tracepoint };
static const struct tp_column columns[] = {
	{ TP_COLUMN_UNSIGNED, 8, 1 }, { TP_COLUMN_UNSIGNED, 8, 1 }, { TP_COLUMN_UNSIGNED, 8, 1 }, { TP_COLUMN_UNSIGNED, 8, 1 },
	{ TP_COLUMN_STRING, 0, 1 }, { TP_COLUMN_STRING, 0, 1 },
};

static uint8_t generation = 1;

int tp_function_ready(void)
{
	static int registered;

	if (!registered && (tp_gate_event(TP_PROVIDER_TREE, &function_desc) || lttng_ust_tracepoint_module_register(tracepoints, 1) ||
			!lttng_ust_probe_register(&provider)))
		return -1;
	registered = 1;
	return 0;
}

void tp_function_again(void)
{
	uint8_t next = (uint8_t) (__atomic_load_n(&generation, __ATOMIC_RELAXED) + 1);

	__atomic_store_n(&generation, (uint8_t) (next + !next), __ATOMIC_RELAXED);
}

/* ---- who listens ---- */

static const void *channels[CHANNELS_MAX];	/* that did, at the latest look */
static uint32_t adopts;				/* those of the next look are the parent's */

/* Threads may overwrite each other's: then it is looked once more, or said once more. Inside a read-side section. */
__attribute__((noinline)) void tp_function_look(void)
{
	struct lttng_ust_tracepoint_probe *probe = lttng_ust_rcu_dereference(tracepoint.probes);
	const void *now[CHANNELS_MAX] = { NULL };
	uint32_t n = 0, fresh = 0;

	for (; probe && probe->func; probe++) {
		const struct lttng_ust_event_common *e = probe->data;
		const struct lttng_ust_event_recorder *recorder = e->child;
		uint32_t k = 0;

		if (probe->func != tp_probe_mark || e->type != LTTNG_UST_EVENT_TYPE_RECORDER || !tp_recorder_on(e, recorder->chan) ||
				n == CHANNELS_MAX)
			continue;
		while (k < CHANNELS_MAX && channels[k] != recorder->chan)
			k++;
		fresh |= k == CHANNELS_MAX;
		now[n++] = recorder->chan;
	}
	if (!fresh && (n == CHANNELS_MAX || !channels[n]))
		return;
	memcpy(channels, now, sizeof(channels));
	if (!fresh || __atomic_exchange_n(&adopts, 0, __ATOMIC_RELAXED))
		return;
	tp_function_again();
	tp_core->functions_ask();
}

/* The next channel may well be where the last one was in memory, and knows no function yet. */
void tp_function_unheard(void)
{
	memset(channels, 0, sizeof(channels));
	tp_pair_latest = NULL;		/* its next call looks */
}

void tp_function_fork_child(void)
{
	adopts = 1;
	memset(channels, 0, sizeof(channels));
}

/* ---- the event ---- */

static uint8_t *put(uint8_t *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	return to + size;
}

/* One that is too long ends in "...". */
static uint8_t *put_text(uint8_t *to, const char *from, size_t size, size_t most)
{
	size_t n = size < most ? size : most - 4;

	to = put(to, from, n);
	if (n < size)
		to = put(to, "...", 3);
	*to++ = 0;
	return to;
}

/* Inside a read-side section. 1: somebody had no room for it. */
static int function_write(const struct spi_function *f, int is_first)
{
	struct tp_event event = {
		.tracepoint = &tracepoint, .columns = columns, .column_count = 6,
		.probe = { .struct_size = sizeof(event.probe), .ip = (void *) f->address }};
	uint8_t record[32 + NAME_MOST + PATH_MOST + TP_SLOP], *to = record;
	struct tp_shot shot = { .event = &event, .record = record };
	struct lttng_ust_tracepoint_probe *probe;
	int lost = 0, error;

	to = put(to, &f->address, 8);
	to = put(to, &f->size, 8);
	to = put(to, &f->base, 8);
	to = put(to, &f->build_id, 8);
	to = put_text(to, f->path, strlen(f->path), PATH_MOST);
	to = put_text(to, f->name, f->name_size, NAME_MOST);
	shot.length = (uint32_t) (to - record);
	for (probe = tp_probes(&event); probe && probe->func; probe++) {
		struct lttng_ust_event_common *e = probe->data;
		struct lttng_ust_event_recorder *recorder = e->child;

		if (probe->func != tp_probe_mark || e->type != LTTNG_UST_EVENT_TYPE_RECORDER ||
				!tp_recorder_takes(&shot, e, recorder->chan))
			continue;
		error = is_first ? tp_record_first(&event, record, shot.length, recorder)
				 : tp_record(&event, record, shot.length, recorder, recorder->chan);
		lost |= tp_may_wait(error);
	}
	return lost;
}

/* Whoever records some tree's calls has it, as another tree may be the next to call the function. */
static int function_say(struct spi_thread *t, const struct spi_function *f, int is_first)
{
	const uint8_t now = __atomic_load_n(&generation, __ATOMIC_RELAXED);
	const char *text = tp_context_text;
	uint32_t trees = t->tree_now;
	int lost;

	if (!CMM_ACCESS_ONCE(tracepoint.state)) {
		__atomic_store_n(f->said, now, __ATOMIC_RELAXED);
		return 0;
	}
	t->tree_now = f->is_tree ? *tp_core->tree_tagged : 0;
	tp_context_text = NULL;
	lost = function_write(f, is_first);
	tp_context_text = text;
	t->tree_now = trees;
	if (!lost)
		__atomic_store_n(f->said, now, __ATOMIC_RELAXED);
	return lost;
}

__attribute__((noinline)) void tp_function_met(struct spi_thread *t, struct spi_point *point, int is_first)
{
	struct spi_function f;
	int lost = 0;

	if (CMM_ACCESS_ONCE(tracepoint.state))
		tp_function_look();
	if (tp_core->function_of(point, &f) == 0 && *f.said != __atomic_load_n(&generation, __ATOMIC_RELAXED))
		lost = function_say(t, &f, is_first);
	if (!lost)
		__atomic_fetch_and(&point->flags, ~(uint32_t) SPI_POINT_UNNAMED, __ATOMIC_RELAXED);
}

/* spi_payload_ops.function_say */
void tp_function_tell(const struct spi_function *f)
{
	struct spi_thread *t = &spi_thread;
	int *error, error_was;
	tp_reader *reader;

	if (tp_closed > TP_CAREFUL || *f->said == __atomic_load_n(&generation, __ATOMIC_RELAXED))
		return;
	error = tp_errno(t);
	error_was = *error;
	reader = tp_read_lock(t);
	function_say(t, f, 0);
	tp_read_unlock(reader);
	*error = error_was;
}
