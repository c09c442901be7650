/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What calls with two events (call.c) and with one (one-event.c) have in common.
 */
#ifndef SPI_TP_RECORD_H
#define SPI_TP_RECORD_H

#include "liblttng-spi/arch/offsets.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"
#include "tp/ledger/ledger.h"

/* A call whose entry is being recorded: what call.c and backtrace.c make the record of. */
struct tp_entry {
	struct tp_point *tp;
	struct spi_frame *frame;
	const uint8_t *vec;
	uint64_t stride;
	int has_slot;
};

#define TP_SMALL_RECORD	96u	/* bytes; longer ones take just the stack that they need */

/* ---- call.c, call-exit.c: any call; in these terms the usual one is recorded by fast.c ---- */
SPI_HIDDEN uint64_t tp_call_entry(
	struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
SPI_HIDDEN void tp_call_exit(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
SPI_HIDDEN void tp_call_left(struct spi_slot *slot, enum spi_left how);
/* No channel has the call's entry: does a trigger want the exit? A call of which only exits are enabled is counted. */
SPI_HIDDEN int tp_exit_wanted(struct spi_thread *t, struct tp_point *tp);
/* The ring refused an exit record: it waits, or is lost where there can be no room. */
SPI_HIDDEN void tp_exit_failed(struct spi_thread *t, const struct tp_point *tp, uint8_t *record, uint32_t length,
	const void *channel, int error);

SPI_HIDDEN void tp_call_is_late(uint64_t p);	/* one that comes when nothing is recorded any more: it is counted */

/* ---- backtrace.c; inside a read-side section ---- */
/* How many frames the session's record of an entry has; 0: the one without a backtrace. shot, event: of either. */
SPI_HIDDEN uint32_t tp_backtrace_frames(struct tp_shot *shot, const struct spi_point *point,
	const struct lttng_ust_event_common *event, const struct lttng_ust_channel_buffer *channel);
/* The entry to all sessions for which that is so; `heard` names their channels then, too. */
SPI_HIDDEN void tp_backtrace_offer(struct spi_thread *t, const struct tp_entry *entry, struct tp_due_set *heard);
/* Agent thread only. */
SPI_HIDDEN void tp_backtrace_attach(struct spi_point *point, const struct tp_backtrace *backtrace);

/* ---- one-event.c ---- */
/* The record of a call that did not return: 0 when there is none. */
SPI_HIDDEN int tp_one_shot(struct spi_slot *slot, enum spi_left how, struct tp_shot *shot);

/* ---- generic.c: spi_payload_ops.bind_generic ---- */
SPI_HIDDEN int tp_bind_generic(struct spi_point **points, unsigned int n, const char **errors);
SPI_HIDDEN int tp_generic_ready(struct spi_object *object, const volatile int **gate, const char **why);
/* A tree's point, whose object is ready. */
SPI_HIDDEN int tp_tree_bind(struct spi_point *point);

/* ---- own-record.c: spi_payload_ops.record_prepare, record_write ---- */
SPI_HIDDEN int tp_record_prepare(struct spi_record *record, const char **why);
SPI_HIDDEN int tp_record_write(const struct spi_record *record, uint64_t ip, const uint64_t *values,
	const uint64_t *addresses, uint32_t count);

/* ---- what points call: call.c, and one-event.c for one event a call ---- */
SPI_HIDDEN void tp_call_attach(struct spi_point *point, struct tp_point *tp);
SPI_HIDDEN void tp_one_attach(struct spi_point *point, struct tp_point *tp);

/* ---- fast.c: what suits a point ---- */
SPI_HIDDEN spi_entry_fn tp_fast_entry(const struct spi_point *point, const struct tp_point *tp);
SPI_HIDDEN spi_exit_fn tp_fast_exit(const struct tp_point *tp);

/* A jump inside a function to its first byte: the same call goes on. A tree that began in between may have a slot of its own above. */
SPI_INLINE int tp_call_loops(const struct spi_thread *t, const struct spi_point *point, const struct spi_frame *frame)
{
	const struct spi_slot *slot = t->cur;
	uint64_t ra = frame->ra;

	while (slot && slot-- > t->base && slot->p == (uint64_t) &frame->ra && ra == spi_slot_code(slot) + SPI_SLOT_RETURN &&
			slot->point->address == point->address) {
		if (slot->point == point)
			return 1;
		ra = slot->ra;
	}
	return 0;
}

/* Where a return address leads in the program: behind a slot's code stands the one that the slot replaced (tail calls). */
SPI_INLINE uint64_t tp_call_site(const struct spi_point *point, uint64_t ra)
{
	uint64_t at = ra - (uint64_t) spi_slot_code_base;

	if (point->call_site)
		return point->call_site;
	while (spi_unlikely(at < (uint64_t) SPI_SLOT_COUNT * SPI_SLOT_SIZE)) {
		ra = spi_slot_data_base[at / SPI_SLOT_SIZE].ra;
		at = ra - (uint64_t) spi_slot_code_base;
	}
	return ra;
}

/* A call that got a slot is the program's, whatever it interrupts. */
SPI_INLINE void tp_exit_begin(struct spi_thread *t, const struct spi_slot *slot)
{
	spi_busy_begin(t, slot->p);
}

#endif /* SPI_TP_RECORD_H */
