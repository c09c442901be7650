/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Processes whose agents are a front end's, and not the broker's (SPI_BROKER_FIND). */
#include "broker/process/internal.h"
#include "injector/procfs/timed-reader.h"

void process_handed(struct process *p)
{
	static const struct setback handed = { .why = "the front end has its agent" };

	p->is_handed = true;
	process_event(p, EVENT_FAILED, &handed);
	process_mark(p, MARK_HOLD);
}

/* A message may bring it in again. What has come by its name stays put off for as long as it is that program. */
void process_taken_back(struct process *p)
{
	p->is_handed = false;
	p->talk.nr_follows = 0;
	p->brought.kind = SPI_CHANNEL_NONE;
	if (!p->is_scoped)
		process_event(p, EVENT_AGAIN, NULL);
	process_mark(p, MARK_HOLD);
}

/* Its agent says nothing before its first call that is to be recorded. */
bool process_is_forked_with_agent(const struct process *p)
{
	const struct process *parent = process_find(p->facts.parent);

	return !p->is_handed && parent && parent->is_handed && facts_same_program(&parent->facts, &p->facts) &&
	       spi_reader_maps_have(p->facts.pid, p->facts.uids[0], "/liblttng-spi.so");
}
