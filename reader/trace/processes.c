/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Processes, and what the numbers in their records mean.
 *
 * Numbers belong to a process, told by its records' field `process`, and in each
 * channel they mean what is described there: others' batches are in it as well,
 * as these have the calls of all rules. A trace from before that field has the
 * context vpid; without it a trace counts as one process, as it is with buffers per
 * process. There, a number that is described otherwise than before shows that the
 * process executes another program by now: batches that are held still mean the old
 * one, so the table is left to them and a new one begun.
 */
#include <stdlib.h>
#include <string.h>
#include "reader/trace/trace.h"

#define SITES_MOST	(1u << 24)

static struct image *image_new(struct merge *m)
{
	struct image *image = calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	image->next = m->images;
	m->images = image;
	return image;
}

struct process *process_get(struct merge *m, const bt_event *event)
{
	const bt_stream *stream = bt_event_borrow_stream_const(event);
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	const bt_stream_class *channel = bt_stream_borrow_class_const(stream);
	uint64_t vpid = 0, name = payload_unsigned(event, "process");
	struct process *p, **at = &m->processes;

	context_unsigned(event, "vpid", &vpid);
	while ((p = *at) && (p->name != name || p->vpid != (int64_t) vpid || p->channel != channel || p->trace != trace))
		at = &p->next;
	if (p) {
		*at = p->next;		/* the next event will ask for it again: to the front */
	} else {
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		p->trace = trace;
		p->channel = channel;
		p->name = name;
		p->vpid = (int64_t) vpid;
		p->image = image_new(m);
		p->space = names_space(m, event);
		if (!p->image || !p->space) {
			free(p);
			return NULL;
		}
	}
	p->next = m->processes;
	m->processes = p;
	return p;
}

/*
 * What was described since the last batch of the program before is of the one that it executes now: that one wrote all
 * that it had, and said so for each of its threads. The old image keeps it as well, which nothing there asks for.
 */
static struct image *image_next(struct merge *m, const struct process *process)
{
	const struct image *old = process->image;
	struct image *image = image_new(m);

	if (!image)
		return NULL;
	image->sites = calloc(old->room, sizeof(*image->sites));
	if (!image->sites)
		return NULL;
	image->room = old->room;
	for (uint32_t i = 0; i < old->room; i++)
		if (old->sites[i].address && old->sites[i].batches >= process->begun)
			image->sites[i] = old->sites[i];
	return image;
}

int site_set(struct merge *m, struct process *process, uint64_t number, const struct site *as)
{
	struct image *image = process->image;
	struct site *site;

	if (number >= SITES_MOST)
		return 0;
	if (number < image->room && image->sites[number].address &&
			(image->sites[number].address != as->address || image->sites[number].call_site != as->call_site)) {
		image = image_next(m, process);
		if (!image)
			return -1;
		process->image = image;
	}
	if (number >= image->room) {
		uint32_t room = image->room ? image->room : 1024;
		struct site *more;

		while (room <= number)
			room *= 2;
		more = realloc(image->sites, room * sizeof(*more));
		if (!more)
			return -1;
		memset(more + image->room, 0, (room - image->room) * sizeof(*more));
		image->sites = more;
		image->room = room;
	}
	site = &image->sites[number];
	*site = *as;
	site->batches = process->batches;
	return 0;
}
