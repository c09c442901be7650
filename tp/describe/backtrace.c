/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Entry events with a backtrace. Behind the parameters such an event has
 *
 *	backtrace_end		how the backtrace ends: complete, limit or lost
 *	_backtrace_length	a sequence's length, as lttng-ust's own events have one
 *	backtrace		return addresses, the traced call's own first
 *
 * The event has the name of the entry event without these, and its tracepoint; so every session that records the one
 * knows the other. Which one a session gets says record/backtrace.c. lttng-ust tells two descriptions of one name
 * apart by their addresses, the session daemon by their fields.
 */
#include <errno.h>
#include "liblttng-spi/base/base.h"
#include "tp/describe/draft.h"

#define LENGTH_NAME	"_backtrace_length"
#define OWN_FIELDS	3u

static const struct lttng_ust_type_sequence addresses = {
	.parent = { lttng_ust_type_sequence }, .struct_size = sizeof(addresses), .length_name = LENGTH_NAME,
	.elem_type = &tp_integers[1][0][3].parent, .encoding = lttng_ust_string_encoding_none,
};

/* Several points of a function share its events, by the tracepoint. */
struct made {
	struct spi_hash_link link;
	const struct lttng_ust_tracepoint *tracepoint;
	struct tp_event event;
};
static struct spi_hash_link *made_buckets[256];
static struct spi_hash made = SPI_HASH_OVER(made_buckets);

static struct made *made_find(const struct lttng_ust_tracepoint *tracepoint)
{
	struct made *m = spi_hash_find(&made, spi_hash_number((uintptr_t) tracepoint));

	while (m && m->tracepoint != tracepoint)
		m = spi_hash_again(&m->link);
	return m;
}

static const struct lttng_ust_type_common *end_type(void)
{
	static const char *const labels[] = {
		[SPI_STACK_COMPLETE] = "complete", [SPI_STACK_LIMIT] = "limit", [SPI_STACK_LOST] = "lost",
	};
	static const struct lttng_ust_type_common *type;

	if (!type)
		type = tp_labels_type("spi_backtrace_end", labels, sizeof(labels) / sizeof(labels[0]));
	return type;
}

/* Filters do not see a backtrace, which is made for those that take the event. */
static int own_add(struct draft *d, const char *const names[OWN_FIELDS])
{
	const struct lttng_ust_type_common *const types[OWN_FIELDS] = {
		end_type(), &tp_integers[0][0][2].parent, &addresses.parent };

	for (unsigned int i = 0; i < OWN_FIELDS; i++) {
		if (tp_draft_add(d, names[i], types[i], (struct tp_column) { 0 }) < 0)
			return -ENOMEM;
		((struct lttng_ust_event_field *) d->fields[d->n - 1])->nofilter = 1;
	}
	return 0;
}

/* The event of a point that has none yet; its program records what it has. 0, or -ENOMEM. */
static int describe(const struct spi_point *point, const struct tp_point *tp, struct tp_backtrace *to,
	const struct lttng_ust_probe_desc *provider, const struct lttng_ust_event_desc **desc)
{
	static const char *const own_names[OWN_FIELDS] = { "backtrace_end", LENGTH_NAME, "backtrace" };
	struct tp_not_known lacks = { .length = 0 };
	const char *names[OWN_FIELDS];
	struct tp_fields f;
	struct draft d;

	tp_fields_of(&f, point);
	if (f.entry_count > TP_FIELDS_MAX - OWN_FIELDS - 1)
		f.entry_count = TP_FIELDS_MAX - OWN_FIELDS - 1;
	tp_not_known_add(&lacks, point->map, f.entry, f.entry_count);
	to->program = tp_compile(f.entry, f.entry_count, TP_RECORD_MAX - TP_BACKTRACE_MOST, 0, f.entry_keep,
		tp_not_known_text(&lacks));
	if (!to->program || !desc)
		return to->program ? 0 : -ENOMEM;
	if (tp_draft_begin(&d, point->map) < 0)
		return -ENOMEM;
	for (unsigned int i = 0; i < OWN_FIELDS; i++)		/* these keep their names, parameters give way */
		names[i] = tp_draft_name(&d, own_names[i], 0);
	if (tp_draft_add_all(&d, f.entry, f.entry_count, f.entry_keep, NULL) < 0 ||
			tp_draft_add_not_known(&d, &lacks) < 0 || own_add(&d, names) < 0)
		return -ENOMEM;
	to->event = tp->entry;
	to->event.columns = d.columns;
	to->event.column_count = d.n - OWN_FIELDS;
	*desc = tp_draft_event(&d, tp->entry.tracepoint->event_name, provider, tp_place_of(point));
	if (!*desc)
		return -ENOMEM;
	((struct lttng_ust_tracepoint_class *) (*desc)->tp_class)->probe_callback = tp_backtrace_mark;
	return 0;
}

static int made_keep(const struct tp_backtrace *from)
{
	struct made *m = tp_alloc(sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->tracepoint = from->event.tracepoint;
	m->event = from->event;
	spi_hash_add(&made, &m->link, spi_hash_number((uintptr_t) m->tracepoint));
	return 0;
}

static int has_none(const struct spi_point *point)
{
	const uint32_t others = SPI_POINT_ONE_EVENT | SPI_POINT_COMPACT | SPI_POINT_GENERIC | SPI_POINT_TREE |
		SPI_POINT_CLIENTS;

	return point->payload && !(point->flags & others) && !((const struct tp_point *) point->payload)->backtrace;
}

int tp_describe_backtraces(struct spi_point **points, unsigned int n, struct tp_backtrace **made_for)
{
	struct lttng_ust_probe_desc *provider = tp_alloc(sizeof(*provider));
	const struct lttng_ust_event_desc **events = tp_alloc(n * sizeof(*events));
	unsigned int fresh = 0;

	if (!provider || !events || !end_type())
		return -ENOMEM;
	*provider = tp_provider(TP_PROVIDER, events, 0);
	for (unsigned int i = 0; i < n; i++) {
		const struct tp_point *tp = points[i]->payload;
		const struct made *m = has_none(points[i]) ? made_find(tp->entry.tracepoint) : NULL;
		struct tp_backtrace *to = has_none(points[i]) ? tp_alloc(sizeof(*to)) : NULL;

		made_for[i] = NULL;
		if (!to) {
			if (has_none(points[i]))
				return -ENOMEM;
			continue;
		}
		if (m)
			to->event = m->event;
		if (describe(points[i], tp, to, provider, m ? NULL : &events[fresh]) < 0 || (!m && made_keep(to) < 0))
			return -ENOMEM;
		fresh += !m;
		made_for[i] = to;
	}
	provider->nr_events = fresh;
	return !fresh || lttng_ust_probe_register(provider) ? 0 : -EIO;
}
