/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Points are bound to compact records: the object's gate, the point's number, and the thread that writes for others. */
#include <errno.h>
#include "liblttng-spi/base/base.h"
#include "tp/compact/compact.h"

static struct tp_near *gates;		/* each object has a tracepoint, whose state its stubs test, and which nothing fires */

int tp_compact_prepare(struct spi_object *object, const volatile int **state, const char **why)
{
	static const char *const name = "calls";
	const struct tp_near *gate;

	*why = tp_compact_ready();
	if (*why)
		return -EEXIST;
	if (!tp_compact_started && tp_compact_start() < 0)
		tp_core->note("no thread for compact records: those of a thread that rests come late into the trace");
	gate = tp_near_get(&gates, object, TP_PROVIDER_TREE, &name, 1, why);
	if (!gate)
		return -ENOMEM;
	*state = &gate->list[0]->state;
	*why = NULL;
	return 0;
}

int tp_compact_bind_one(struct spi_point *point)
{
	struct tp_compact_point *cp = tp_compact_number_take();

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
