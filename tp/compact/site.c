/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Numbers for points, the two events of provider spi_tree, and how points get
 * their compact records.
 *
 * A number is for ever; its point is found in a table that grows by chunks. It is
 * described to all channels before its first use, and again when another channel
 * listens or a megabyte was written: "seen" is the generation in which that was
 * done last, and is set behind the description, so that of two threads that come
 * to a number at once both describe it.
 *
 * The events are fired through one pair of tracepoints (module/budget.c has a third). Stubs test a state near
 * their own code: each object has a tracepoint more for that, which nothing fires.
 */
#include <errno.h>
#include <string.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "tp/compact/compact.h"

#define CHUNK	4096u		/* points */

static struct tp_own sites, batches;
static const struct tp_own_field site_fields[] = {
	{ "id", TP_OWN_U32 }, { "addr", TP_OWN_HEX }, { "call_site", TP_OWN_HEX }, { "process", TP_OWN_HEX },
};
static const struct tp_own_field calls_fields[] = {
	{ "begin_tick", TP_OWN_U64 }, { "begin_ns", TP_OWN_U64 }, { "end_tick", TP_OWN_U64 }, { "end_ns", TP_OWN_U64 },
	{ "process", TP_OWN_HEX }, { "tid", TP_OWN_U32 }, { "seq", TP_OWN_U32 }, { "depth", TP_OWN_U32 },
	{ "low", TP_OWN_U32 }, { "flags", TP_OWN_U32 }, { TP_WORDS_LENGTH, TP_OWN_U32 }, { "data", TP_OWN_WORDS },
};
const struct tp_event *const tp_compact_calls = &batches.event;

uint64_t tp_compact_process;
int tp_compact_tsc;
static const char *function_tags = "";	/* of all rules by name for compact records */

/* ---- numbers ---- */

static struct tp_compact_point *chunks[TP_SITE_MAX / CHUNK];
static uint32_t numbers;
uint8_t tp_site_seen[TP_SITE_MAX], tp_site_generation = 1;

struct tp_compact_point *tp_compact_number_take(void)
{
	uint32_t number = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
	struct tp_compact_point *chunk, *none = NULL, *cp;

	if (number >= TP_SITE_MAX) {
		__atomic_store_n(&numbers, TP_SITE_MAX, __ATOMIC_RELAXED);
		return NULL;
	}
	chunk = __atomic_load_n(&chunks[number / CHUNK], __ATOMIC_ACQUIRE);
	if (!chunk) {
		chunk = tp_core->alloc(CHUNK * sizeof(*chunk));
		if (!chunk)
			return NULL;
		/* whose is not needed is lost; rare, and once a chunk */
		if (!__atomic_compare_exchange_n(&chunks[number / CHUNK], &none, chunk, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			chunk = none;
	}
	cp = &chunk[number % CHUNK];
	cp->word = TP_WORD(number, 0);
	return cp;
}

void tp_site_forget_all(void)
{
	uint8_t next = (uint8_t) (__atomic_load_n(&tp_site_generation, __ATOMIC_RELAXED) + 1);

	if (!next) {
		memset(tp_site_seen, 0, __atomic_load_n(&numbers, __ATOMIC_RELAXED) + 1);
		next = 1;
	}
	__atomic_store_n(&tp_site_generation, next, __ATOMIC_RELAXED);
}

/* The point's number for calls that these rules record, made at need. */
static struct tp_compact_point *number_for(struct spi_point *point, uint32_t trees, const char *tags)
{
	struct tp_compact_point *first = ((const struct tp_compact_point *) point->payload)->first, *cp = first, *next;

	do {
		if (cp->trees == trees && cp->tags == tags)
			return cp;
		cp = __atomic_load_n(&cp->next, __ATOMIC_ACQUIRE);
	} while (cp);
	cp = tp_compact_number_take();
	if (!cp)
		return NULL;
	cp->point = point;
	cp->trees = trees;
	cp->tags = tags;
	cp->first = first;
	next = __atomic_load_n(&first->next, __ATOMIC_ACQUIRE);
	do
		cp->next = next;
	while (!__atomic_compare_exchange_n(&first->next, &next, cp, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	return cp;
}

const struct tp_compact_point *tp_compact_number(struct spi_point *point, uint32_t trees)
{
	return number_for(point, trees, NULL);
}

/*
 * Who records it now has a number of theirs. While these are several trees, the quickest thunk, which has one number for all threads,
 * must not be used.
 */
void tp_compact_changed(struct spi_point *point)
{
	uint32_t trees = point->tree_live & *tp_core->tree_tagged;
	struct tp_compact_point *cp = point->payload;

	if (!(point->flags & SPI_POINT_COMPACT) || !cp)
		return;
	if (cp->first->is_words && (trees & (trees - 1)))
		__atomic_fetch_and(&point->flags, ~(uint32_t) SPI_POINT_WORDS, __ATOMIC_RELEASE);
	if (cp->first->is_fresh) {
		cp->first->is_fresh = 0;
		cp->first->trees = trees;
	}
	cp = number_for(point, trees, NULL);
	if (cp) {
		__atomic_store_n(&point->payload, cp, __ATOMIC_RELEASE);
		__atomic_store_n(&point->word, cp->word, __ATOMIC_RELEASE);
	}
	if (cp && cp->first->is_words && !(trees & (trees - 1)))
		__atomic_fetch_or(&point->flags, SPI_POINT_WORDS, __ATOMIC_RELEASE);
}

void tp_compact_retag(struct spi_point *point, const char *tags)
{
	struct tp_compact_point *cp = point->payload;

	cp = cp ? number_for(point, 0, tags) : NULL;
	if (cp)
		__atomic_store_n(&point->payload, cp, __ATOMIC_RELEASE);
}

/* The rule that records descriptions in this channel is just being switched on: the batches have its filter already (ledger/halves.c). */
static int filter_is_coming(const struct lttng_ust_event_common *site, const struct lttng_ust_channel_buffer *channel)
{
	struct lttng_ust_tracepoint_probe *probe;

	if (CMM_ACCESS_ONCE(site->eval_filter))
		return 0;
	for (probe = tp_probes(tp_compact_calls); probe && probe->func; probe++) {
		const struct lttng_ust_event_common *e = probe->data;

		if (tp_channel_of(probe) == channel && CMM_ACCESS_ONCE(e->eval_filter))
			return 1;
	}
	return 0;
}

/* Inside a read-side section. */
__attribute__((noinline)) void tp_site_describe(struct spi_thread *t, uint32_t number)
{
	const struct tp_compact_point *cp = &chunks[number / CHUNK][number % CHUNK];
	struct spi_point *point = cp->point;
	struct tp_event event = tp_own_event(&sites, point->address);
	uint8_t record[28];
	struct tp_shot shot = { .event = &event, .record = record, .length = sizeof(record) };
	struct lttng_ust_tracepoint_probe *probe;
	uint8_t generation = tp_site_generation;
	uint32_t now = t->tree_now;
	int lost = 0, taken = 0;

	tp_function_met(t, point);
	t->tree_now = cp->trees;
	tp_context_text = cp->tags;
	memcpy(record, &number, 4);
	memcpy(record + 4, &point->address, 8);
	memcpy(record + 12, &point->call_site, 8);
	memcpy(record + 20, &tp_compact_process, 8);
	for (probe = tp_probes(&event); probe && probe->func; probe++) {
		struct lttng_ust_event_common *e = probe->data;
		struct lttng_ust_event_recorder *recorder = tp_recorder_of(probe);

		if (!recorder || !tp_recorder_takes(&shot, e, recorder->chan))
			continue;
		if (filter_is_coming(e, recorder->chan)) {
			lost = 1;	/* again with the next */
			continue;
		}
		taken = 1;
		lost |= tp_discarded(tp_record(&event, record, sizeof(record), recorder));
	}
	t->tree_now = now;
	tp_context_text = NULL;
	/* a tree may be in force before the rule that records it with its tag: until then nobody takes it */
	if (taken && !lost)
		tp_site_seen[number] = generation;
}

/* ---- the two events ---- */

const char *tp_compact_ready(void)
{
	if (tp_own_register(&sites, TP_PROVIDER_TREE, "site", site_fields, 4) ||
			tp_own_register(&batches, TP_PROVIDER_TREE, "calls", calls_fields, 12))
		return "LTTng-UST refused the events of call trees";
	tp_function_ready();
	return NULL;
}

/* ---- tags ---- */

/* A batch carries calls of all rules: whoever filters by a tag gets it when one of its points has that. */
void tp_compact_tags(const char *tags)
{
	const char *both = tp_tags_join(function_tags, tags);

	if (both)
		__atomic_store_n(&function_tags, both, __ATOMIC_RELEASE);
}

/*
 * Those of functions, and those of trees, whose text is another one whenever they change. Any thread; what is made
 * anew is never freed, as another may be reading it.
 */
int tp_compact_tagged(void)
{
	return *tp_core->tree_tagged || *function_tags;
}

const char *tp_compact_tags_all(void)
{
	static struct both {
		const char *functions, *trees;
		char text[];
	} *latest;
	const char *functions = __atomic_load_n(&function_tags, __ATOMIC_ACQUIRE);
	const char *trees = tp_core->tree_tags ? tp_core->tree_tags(~UINT32_C(0)) : "";
	struct both *both = __atomic_load_n(&latest, __ATOMIC_ACQUIRE);
	size_t n = strlen(functions), m = strlen(trees);

	if (!n || !m)
		return n ? functions : trees;
	if (both && both->functions == functions && both->trees == trees)
		return both->text;
	both = tp_core->alloc(sizeof(*both) + n + m + 1);
	if (!both)
		return trees;
	both->functions = functions;
	both->trees = trees;
	memcpy(both->text, functions, n);
	memcpy(both->text + n, trees, m + 1);
	__atomic_store_n(&latest, both, __ATOMIC_RELEASE);
	return both->text;
}
