/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The application contexts `$app.spi:rules`, which rules asked for a function, and
 * `$app.spi:run`, "rNUMBER" of the front end's run that the process belongs to (ust/runs.c), or "".
 *
 * Rules of two sessions may mean different functions of one name, or the same
 * function in different processes, while their events have the same names. Each
 * such rule has a tag; its session records with the filter
 * `$app.spi:rules == "*|TAG|*"`, and so only what this rule asked for. The
 * context's value is "|TAG|TAG|" for a tagged function's events, "" for all else.
 *
 * lttng-ust hands a context provider the event's instruction pointer, which is
 * the function's address here: so nothing has to be kept for it on the path of a
 * call, and only a filter that asks pays for the look-up. Nodes are never
 * freed, and the core's texts live for ever, since a filter may be reading them in
 * any thread.
 *
 * An exit goes to the channels that have the entry: a rule that was switched off meanwhile is still among what the end of a call is asked for, while its
 * beginning no longer has it. So calls under way end in each session as they have begun, whichever rules come and go.
 *
 * The provider interface is part of lttng-ust's ABI (its Java bindings are built
 * on it) but in no installed header; it is declared here as 2.13 to 2.15 have it.
 */
#include <errno.h>
#include <string.h>
#include "liblttng-spi/base/base.h"
#include "tp/describe/describe.h"

#define BUCKETS		1024u
#define CONTEXT_NAME	"rules"
#define CONTEXT_RUN	"run"
#define DYNAMIC_NONE	0
#define DYNAMIC_STRING	11

struct lttng_ust_ctx_value {
	int sel;
	union {
		int64_t s64;
		uint64_t u64;
		const char *str;
		double d;
	} u;
};
struct lttng_ust_context_provider {
	uint32_t struct_size;
	const char *name;
	size_t (*get_size)(void *priv, struct lttng_ust_probe_ctx *probe, size_t offset);
	void (*record)(void *priv, struct lttng_ust_probe_ctx *probe, struct lttng_ust_ring_buffer_ctx *ctx,
		struct lttng_ust_channel_buffer *channel);
	void (*get_value)(void *priv, struct lttng_ust_probe_ctx *probe, struct lttng_ust_ctx_value *value);
	void *priv;
};
/* What `priv` is in a callback. */
struct lttng_ust_app_context {
	uint32_t struct_size;
	struct lttng_ust_event_field *event_field;
	char *ctx_name;
};
extern void *lttng_ust_context_provider_register(struct lttng_ust_context_provider *provider) __attribute__((weak));

struct node {
	struct node *next;
	uint64_t address;
	const char *tags, *all;		/* all: and those that were there before */
};

static struct node *buckets[BUCKETS];

static struct node **bucket(uint64_t address)
{
	return &buckets[(address >> 4 ^ address >> 14) % BUCKETS];
}

static struct node *node_find(uint64_t address)
{
	struct node *node = __atomic_load_n(bucket(address), __ATOMIC_ACQUIRE);

	while (node && node->address != address)
		node = __atomic_load_n(&node->next, __ATOMIC_ACQUIRE);
	return node;
}

static void get_value(void *priv, struct lttng_ust_probe_ctx *probe, struct lttng_ust_ctx_value *value)
{
	const struct lttng_ust_app_context *context = priv;
	const char *name = context->ctx_name ? strchr(context->ctx_name, ':') : NULL;
	const struct node *node = probe ? node_find((uint64_t) probe->ip) : NULL;

	if (name && !strcmp(name + 1, CONTEXT_RUN)) {
		value->sel = DYNAMIC_STRING;
		value->u.str = tp_runs_name();
		return;
	}
	if (!name || strcmp(name + 1, CONTEXT_NAME)) {
		value->sel = DYNAMIC_NONE;
		return;
	}
	value->sel = DYNAMIC_STRING;
	if (tp_context_text) {		/* of compact records: a number's description, or a batch */
		value->u.str = tp_context_text;
		return;
	}
	if (spi_thread.tree_now) {	/* a call of a tree: by the trees, not by the function */
		value->u.str = tp_core->tree_tags(spi_thread.tree_now);
		return;
	}
	value->u.str = node ? __atomic_load_n(tp_context_is_end ? &node->all : &node->tags, __ATOMIC_ACQUIRE) : "";
}

/*
 * As a context in records it has no value: between the two calls another thread
 * may give a function another text, of another size.
 */
static size_t get_size(void *priv, struct lttng_ust_probe_ctx *probe, size_t offset)
{
	return 1;
}

static void record(void *priv, struct lttng_ust_probe_ctx *probe, struct lttng_ust_ring_buffer_ctx *ctx,
	struct lttng_ust_channel_buffer *channel)
{
	char none = DYNAMIC_NONE;

	channel->ops->event_write(ctx, &none, 1, 1);
}

void tp_context_register(void)
{
	static struct lttng_ust_context_provider provider = {
		.struct_size = sizeof(provider),
		.name = "$app." TP_PROVIDER,
		.get_size = get_size,
		.record = record,
		.get_value = get_value,
	};

	if (!lttng_ust_context_provider_register || !lttng_ust_context_provider_register(&provider))
		tp_core->note("LTTng-UST refused the context $app.spi:rules: rules that are limited to an object or to "
			"processes record nothing");
}

/* Bytes. Beyond it calls under way may have no exit in the session of a rule that is switched off. */
#define TAGS_MAX	4096u

const char *tp_tags_join(const char *all, const char *tags)
{
	size_t n = strlen(all);
	const char *end;
	char *both = NULL, tag[TAGS_MAX];

	for (const char *at = tags; *at && (end = strchr(at + 1, '|')); at = end) {
		const size_t size = (size_t) (end - at) + 1;

		if (size >= sizeof(tag))
			return NULL;
		memcpy(tag, at, size);		/* with both bars */
		tag[size] = 0;
		if (strstr(both ? both : all, tag))
			continue;
		if (!both) {
			both = n + strlen(tags) < TAGS_MAX ? tp_alloc(n + strlen(tags) + 2) : NULL;
			if (!both)
				return NULL;
			memcpy(both, all, n + 1);
		}
		memcpy(both + n, tag + (n != 0), size + (n == 0));	/* its first bar is the one before */
		n += size - (n != 0);
		both[n] = 0;
	}
	return both ? both : all;
}

int tp_context_set(struct spi_point *point, const char *tags)
{
	struct node *node = node_find(point->address), **head = bucket(point->address);
	const char *all;

	if (!node && !*tags)
		return 0;
	if (!node) {
		node = tp_alloc(sizeof(*node));
		if (!node)
			return -ENOMEM;
		node->address = point->address;
		node->next = *head;
		node->tags = node->all = tags;
		__atomic_store_n(head, node, __ATOMIC_RELEASE);
	}
	all = tp_tags_join(node->all, tags);
	__atomic_store_n(&node->all, all ? all : tags, __ATOMIC_RELEASE);
	__atomic_store_n(&node->tags, tags, __ATOMIC_RELEASE);
	return 0;
}
