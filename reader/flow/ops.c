/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Operations, which are many and short-lived; each is kept by those that refer to it. */
#include <inttypes.h>
#include <stdlib.h>
#include "reader/flow/flow.h"

struct flow_op *flow_op_make(struct flow *f)
{
	struct flow_op *op = f->free_ops;

	if (!op)
		return malloc(sizeof(*op));
	f->free_ops = op->next;
	return op;
}

struct flow_op *flow_hold(struct flow_op *op)
{
	op->refs++;
	return op;
}

void flow_release(struct flow *f, struct flow_op *op)
{
	if (--op->refs)
		return;
	flow_span_release(op->span);
	op->next = f->free_ops;
	f->free_ops = op;
}

void flow_span_release(struct flow_span *s)
{
	while (s && --s->refs == 0) {
		struct flow_span *parent = s->parent;

		free(s);
		s = parent;
	}
}

uint64_t flow_host(const struct flow *f, const struct flow_op *op)
{
	return f->processes[op->thread->process->number].host;
}

void flow_process_text(const struct call_process *p, char *text, size_t size)
{
	snprintf(text, size, "%s (%" PRId64 ")", *p->name ? p->name : "process", p->pid);
}
