/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Events of whole calls (--one-event) come when the calls end, inner ones first. They are kept until all are there, and
 * are then given a thread at a time, outer calls before the calls that they made.
 */
#include <errno.h>
#include <stdlib.h>
#include "reader/views/wholes.h"

int wholes_add(struct wholes *w, const struct call *call, uint64_t own)
{
	if (w->count == w->room) {
		uint64_t room = w->room ? w->room * 2 : 1024;
		struct whole_call *more = realloc(w->calls, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		w->calls = more;
		w->room = room;
	}
	w->calls[w->count++] = (struct whole_call) { call->function, call->thread, call->begin, call->ns, call->self, own,
		call->left };
	return 0;
}

static int whole_compare(const void *a, const void *b)
{
	const struct whole_call *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread->number < y->thread->number ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

int wholes_give(struct wholes *w, int (*take)(void *data, const struct whole_call *call, uint32_t depth), void *data)
{
	uint64_t *around = malloc((w->count + 1) * sizeof(*around));
	uint32_t depth = 0;
	int r = around ? 0 : -ENOMEM;

	if (w->count)
		qsort(w->calls, w->count, sizeof(*w->calls), whole_compare);
	for (uint64_t i = 0; r == 0 && i < w->count; i++) {
		const struct whole_call *call = &w->calls[i];

		while (depth && (w->calls[around[depth - 1]].thread != call->thread ||
				w->calls[around[depth - 1]].end <= call->begin))
			depth--;
		r = take(data, call, depth);
		around[depth++] = i;
	}
	free(around);
	wholes_free(w);
	return r;
}

void wholes_free(struct wholes *w)
{
	free(w->calls);
	*w = (struct wholes) { .calls = NULL };
}
