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
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include "tp/compact/compact.h"
#include "tp/describe/function.h"
#include "tp/describe/gatekeeper.h"

#define CHUNK	4096u		/* points */

static const struct lttng_ust_type_integer u32_type = {
	.parent = { lttng_ust_type_integer }, .struct_size = sizeof(u32_type), .size = 32, .alignment = 8, .base = 10,
};
static const struct lttng_ust_type_integer u64_type = {
	.parent = { lttng_ust_type_integer }, .struct_size = sizeof(u64_type), .size = 64, .alignment = 8, .base = 10,
};
static const struct lttng_ust_type_integer hex_type = {
	.parent = { lttng_ust_type_integer }, .struct_size = sizeof(hex_type), .size = 64, .alignment = 8, .base = 16,
};
static const struct lttng_ust_type_sequence words_type = {
	.parent = { lttng_ust_type_sequence }, .struct_size = sizeof(words_type), .length_name = "_data_length",
	.elem_type = &hex_type.parent, .encoding = lttng_ust_string_encoding_none,
};
#define FIELD(name_, type_, unseen) \
	{ .struct_size = sizeof(struct lttng_ust_event_field), .name = name_, .type = &type_.parent, .nofilter = unseen }
static const struct lttng_ust_event_field site_fields[] = {
	FIELD("id", u32_type, 0), FIELD("addr", hex_type, 0), FIELD("call_site", hex_type, 0),
	FIELD("process", hex_type, 0),
};
static const struct lttng_ust_event_field *const site_list[] = {
	&site_fields[0], &site_fields[1], &site_fields[2], &site_fields[3],
};
static const struct lttng_ust_event_field calls_fields[] = {
	FIELD("begin_tick", u64_type, 1), FIELD("begin_ns", u64_type, 1), FIELD("end_tick", u64_type, 1),
	FIELD("end_ns", u64_type, 1), FIELD("process", hex_type, 1), FIELD("tid", u32_type, 1), FIELD("seq", u32_type, 1), FIELD("depth", u32_type, 1),
	FIELD("low", u32_type, 1), FIELD("flags", u32_type, 1), FIELD("_data_length", u32_type, 1),
	FIELD("data", words_type, 1),
};
static const struct lttng_ust_event_field *const calls_list[] = {
	&calls_fields[0], &calls_fields[1], &calls_fields[2], &calls_fields[3], &calls_fields[4], &calls_fields[5],
	&calls_fields[6], &calls_fields[7], &calls_fields[8], &calls_fields[9], &calls_fields[10], &calls_fields[11],
};

static struct lttng_ust_probe_desc provider;
static const struct lttng_ust_tracepoint_class site_class = {
	.struct_size = sizeof(site_class), .fields = site_list, .nr_fields = 4, .probe_callback = tp_probe_mark,
	.signature = "spi", .probe_desc = &provider,
};
static const struct lttng_ust_tracepoint_class calls_class = {
	.struct_size = sizeof(calls_class), .fields = calls_list, .nr_fields = 12, .probe_callback = tp_probe_mark,
	.signature = "spi", .probe_desc = &provider,
};
static const struct lttng_ust_event_desc site_desc = {
	.struct_size = sizeof(site_desc), .event_name = "site", .probe_desc = &provider, .tp_class = &site_class,
};
static const struct lttng_ust_event_desc calls_desc = {
	.struct_size = sizeof(calls_desc), .event_name = "calls", .probe_desc = &provider, .tp_class = &calls_class,
};
static const struct lttng_ust_event_desc *const events[] = { &site_desc, &calls_desc };
static struct lttng_ust_probe_desc provider = {
	.struct_size = sizeof(provider),
	.provider_name = TP_PROVIDER_TREE,
	.event_desc = events,
	.nr_events = 2,
	.major = 3,
	.minor = 0,
};

#define TRACEPOINT(name) \
	{ .struct_size = sizeof(struct lttng_ust_tracepoint), .provider_name = TP_PROVIDER_TREE, .event_name = name, .signature = "spi" }
static struct lttng_ust_tracepoint site_tracepoint = TRACEPOINT("site"), calls_tracepoint = TRACEPOINT("calls");
static struct lttng_ust_tracepoint *tracepoints[] = { &site_tracepoint, &calls_tracepoint };
static const struct tp_column site_columns[] = {
	{ TP_COLUMN_UNSIGNED, 4, 1 }, { TP_COLUMN_UNSIGNED, 8, 1 }, { TP_COLUMN_UNSIGNED, 8, 1 },
	{ TP_COLUMN_UNSIGNED, 8, 1 },
};

/* What stands for a batch in the context $app.spi:rules: it has the tags of all rules for compact records. */
static struct spi_point carrier = { .address = (uint64_t) &carrier };
static const char *carrier_tags = "";
const struct tp_event tp_compact_calls = {
	.tracepoint = &calls_tracepoint,
	.probe = { .struct_size = sizeof(struct lttng_ust_probe_ctx), .ip = (void *) &carrier },
};

/* ---- numbers ---- */

static struct tp_compact_point *chunks[TP_SITE_MAX / CHUNK];
static uint32_t numbers;
uint8_t tp_site_seen[TP_SITE_MAX], tp_site_generation = 1;

static struct tp_compact_point *number_take(void)
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
	cp = number_take();
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
	for (probe = tp_probes(&tp_compact_calls); probe && probe->func; probe++) {
		const struct lttng_ust_event_common *e = probe->data;

		if (probe->func == tp_probe_mark && e->type == LTTNG_UST_EVENT_TYPE_RECORDER &&
				((struct lttng_ust_event_recorder *) e->child)->chan == channel && CMM_ACCESS_ONCE(e->eval_filter))
			return 1;
	}
	return 0;
}

/* Inside a read-side section. */
__attribute__((noinline)) void tp_site_describe(struct spi_thread *t, uint32_t number)
{
	const struct tp_compact_point *cp = &chunks[number / CHUNK][number % CHUNK];
	struct spi_point *point = cp->point;
	struct tp_event event = {
		.tracepoint = &site_tracepoint, .columns = site_columns, .column_count = 4,
		.probe = { .struct_size = sizeof(event.probe), .ip = (void *) point->address }};
	uint8_t record[28];
	struct tp_shot shot = { .event = &event, .record = record, .length = sizeof(record) };
	struct lttng_ust_tracepoint_probe *probe;
	uint8_t generation = tp_site_generation;
	uint32_t now = t->tree_now;
	int lost = 0, taken = 0;

	tp_function_met(t, point, 0);
	t->tree_now = cp->trees;
	tp_context_text = cp->tags;
	memcpy(record, &number, 4);
	memcpy(record + 4, &point->address, 8);
	memcpy(record + 12, &point->call_site, 8);
	memcpy(record + 20, &tp_compact_process, 8);
	for (probe = tp_probes(&event); probe && probe->func; probe++) {
		struct lttng_ust_event_common *e = probe->data;
		struct lttng_ust_event_recorder *recorder = e->child;

		if (probe->func != tp_probe_mark || e->type != LTTNG_UST_EVENT_TYPE_RECORDER)
			continue;
		if (!tp_recorder_takes(&shot, e, recorder->chan))
			continue;
		if (filter_is_coming(e, recorder->chan)) {
			lost = 1;	/* again with the next */
			continue;
		}
		taken = 1;
		lost |= tp_discarded(tp_record(&event, record, sizeof(record), recorder, recorder->chan));
	}
	t->tree_now = now;
	tp_context_text = NULL;
	/* a tree may be in force before the rule that records it with its tag: until then nobody takes it */
	if (taken && !lost)
		tp_site_seen[number] = generation;
}

/* ---- functions that do not come back ---- */

/* What is called may be the last thing that this program does: its calls are written before. */
static uint64_t lasts[16];

void tp_compact_last_find(void)
{
	static const char *const names[] = { "execve", "execv", "execvp", "execvpe", "execl", "execle", "execlp", "fexecve",
		"execveat", "_exit", "_Exit", "abort", "quick_exit" };

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		lasts[i] = (uint64_t) dlsym(RTLD_DEFAULT, names[i]);
}

int tp_compact_is_last(uint64_t address)
{
	for (unsigned int i = 0; i < sizeof(lasts) / sizeof(lasts[0]); i++)
		if (lasts[i] && lasts[i] == address)
			return 1;
	return 0;
}

/* ---- binding ---- */

/* An object's tracepoint, whose state its stubs test. */
static struct gate {
	struct spi_object *object;
	struct lttng_ust_tracepoint *list[1];	/* lttng-ust keeps this array */
	struct gate *next;
} *gates;
static int registered;

static const char *provider_ready(void)
{
	if (registered)
		return NULL;
	/* `calls` has a sequence, which the gatekeeper refuses to others; it is the same in every process */
	if (tp_gate_event(TP_PROVIDER_TREE, &site_desc) || lttng_ust_tracepoint_module_register(tracepoints, 2) ||
			!lttng_ust_probe_register(&provider))
		return "LTTng-UST refused the events of call trees";
	if (tp_function_ready() < 0)
		tp_core->note("LTTng-UST refused the event spi_tree:function: the trace has no names of functions");
	registered = 1;
	return NULL;
}

static void writer_ready(void)
{
	static int started;

	if (!started && tp_compact_start() < 0)
		tp_core->note("no thread for compact records: those of a thread that rests come late into the trace");
	started = 1;
}

int tp_compact_prepare(struct spi_object *object, const volatile int **state, const char **why)
{
	struct lttng_ust_tracepoint *tp;
	struct gate *g;

	*why = provider_ready();
	if (*why)
		return -EEXIST;
	writer_ready();
	for (g = gates; g && g->object != object; g = g->next)
		;
	if (!g) {
		g = tp_alloc(sizeof(*g));
		tp = tp_core->near_alloc(object, sizeof(*tp), 64);
		*why = "no memory near the object";
		if (!g || !tp)
			return -ENOMEM;
		*tp = (struct lttng_ust_tracepoint) TRACEPOINT("calls");
		g->list[0] = tp;
		*why = "LTTng-UST refused the events of compact records";
		if (lttng_ust_tracepoint_module_register(g->list, 1))
			return -EEXIST;
		g->object = object;
		g->next = gates;
		gates = g;
	}
	*state = &g->list[0]->state;
	return 0;
}

int tp_compact_bind_one(struct spi_point *point)
{
	struct tp_compact_point *cp = number_take();

	if (!cp)
		return -ENOMEM;
	tp_compact_attach(point, cp);
	return 0;
}

/* spi_payload_ops.bind_compact */
int tp_compact_bind(struct spi_point **points, unsigned int n, const char **errors)
{
	int usable = 0;

	for (unsigned int i = 0; i < n; i++) {
		const volatile int *state;

		if (tp_compact_prepare(points[i]->object, &state, &errors[i]) < 0)
			continue;
		if (tp_compact_bind_one(points[i]) < 0) {
			errors[i] = "no more numbers for compact records";
			continue;
		}
		errors[i] = NULL;
		points[i]->entry = points[i]->record;
		points[i]->gate[0] = points[i]->gate[1] = state;
		usable++;
	}
	return usable;
}

/* ---- tags ---- */

/* A batch carries calls of all rules: whoever filters by a tag gets it when one of its points has that. */
void tp_compact_tags(const char *tags)
{
	size_t n = strlen(tags), had = strlen(carrier_tags);
	char *both;

	if (n < 2 || strstr(carrier_tags, tags))
		return;
	both = tp_alloc(had + n + 1);
	if (!both)
		return;
	memcpy(both, carrier_tags, had);
	memcpy(both + had, tags, n + 1);
	__atomic_store_n(&carrier_tags, both, __ATOMIC_RELEASE);
}

int tp_compact_is_carrier(const void *ip)
{
	return ip == &carrier;
}

/*
 * Those of functions, and those of trees, whose text is another one whenever they change. Any thread; what is made
 * anew is never freed, as another may be reading it.
 */
int tp_compact_tagged(void)
{
	return *tp_core->tree_tagged || *carrier_tags;
}

const char *tp_compact_tags_all(void)
{
	static struct both {
		const char *functions, *trees;
		char text[];
	} *latest;
	const char *functions = __atomic_load_n(&carrier_tags, __ATOMIC_ACQUIRE);
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
