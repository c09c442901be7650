/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Operations of one side whose positions are not sure. Each gets the range that its bytes must lie in: behind all that
 * had ended when it began, and before all that began when it had ended. Those whose ranges overlap are one segment, a
 * group.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "reader/flow/match.h"

static int by_low(const void *a, const void *b)
{
	const struct flow_op *x = *(const struct flow_op *const *) a, *y = *(const struct flow_op *const *) b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->high < y->high ? -1 : x->high > y->high;
}

static int by_begin(const void *a, const void *b)
{
	const struct flow_op *x = *(const struct flow_op *const *) a, *y = *(const struct flow_op *const *) b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_end(const void *a, const void *b)
{
	const struct flow_op *x = *(const struct flow_op *const *) a, *y = *(const struct flow_op *const *) b;

	return x->end < y->end ? -1 : x->end > y->end;
}

/* The range of each: what had ended before it began lies before it, what began after it had ended lies behind it. */
static void ranges_find(struct flow_op **ops, uint32_t count, struct flow_op **by_ends)
{
	uint64_t first = UINT64_MAX, last = 0, sum = 0, units = 0;

	for (uint32_t i = 0; i < count; i++) {
		first = ops[i]->position < first ? ops[i]->position : first;
		last = ops[i]->position + ops[i]->units > last ? ops[i]->position + ops[i]->units : last;
		units += ops[i]->units;
	}
	if (last - first < units)
		last = first + units;
	memcpy(by_ends, ops, count * sizeof(struct flow_op *));
	qsort(ops, count, sizeof(struct flow_op *), by_begin);
	qsort(by_ends, count, sizeof(struct flow_op *), by_end);
	for (uint32_t i = 0, k = 0; i < count; i++) {
		for (; k < count && by_ends[k]->end < ops[i]->begin; k++)
			sum += by_ends[k]->units;
		ops[i]->low = first + sum;
	}
	sum = 0;
	for (uint32_t i = count, k = count; i-- > 0;) {
		for (; k > 0 && ops[k - 1]->begin > by_ends[i]->end; k--)
			sum += ops[k - 1]->units;
		by_ends[i]->high = last - sum;
	}
	qsort(ops, count, sizeof(struct flow_op *), by_low);
}

int stream_settle(struct flow *f, struct flow_stream *s, enum flow_way way)
{
	struct flow_side *side = &s->sides[way];
	struct flow_op **ops = side->open, **by_ends;
	const uint32_t count = side->open_count;
	int r = 0;

	if (!count)
		return 0;
	by_ends = malloc(count * sizeof(struct flow_op *));
	if (!by_ends)
		return -ENOMEM;
	ranges_find(ops, count, by_ends);
	free(by_ends);
	side->open_count = 0;
	side->settled_end = side->open_end;
	for (uint32_t i = 0, next; r == 0 && i < count; i = next) {
		struct flow_segment segment = { .begin = ops[i]->low, .end = ops[i]->high, .missing = ops[i]->units };

		for (next = i + 1; next < count && ops[next]->low < segment.end; next++) {
			segment.end = ops[next]->high > segment.end ? ops[next]->high : segment.end;
			segment.missing += ops[next]->units;
		}
		if (next - i == 1 && segment.end - segment.begin == ops[i]->units) {
			segment.op = ops[i];
		} else {
			segment.group = malloc((next - i) * sizeof(struct flow_op *));
			if (!segment.group)
				return -ENOMEM;
			memcpy(segment.group, ops + i, (next - i) * sizeof(struct flow_op *));
			segment.group_count = next - i;
		}
		r = stream_add(f, s, way, &segment);
	}
	return r;
}
