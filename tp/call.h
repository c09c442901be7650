/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What calls with two events (call.c) and with one (one.c) have in common.
 */
#ifndef SPI_TP_CALL_H
#define SPI_TP_CALL_H

#include "tp/fire.h"

/*
 * spi_slot.aux: the epoch, so that slots from before a fork mean nothing in the
 * child, and in the low half TP_SLOT_SET when the channels are in the slot's area,
 * or, with one event a call, the length of the arguments there plus 1.
 */
#define TP_EPOCH_STEP	(1u << 16)
#define TP_SLOT_SET	1u
#define TP_SLOT_AGAIN	2u	/* closed from outside, and to be entered again: others.c */
extern SPI_HIDDEN uint32_t tp_epoch;

#define TP_SMALL_RECORD	96u	/* bytes; longer ones take just the stack that they need */

/* May a channel have a call's exit? */
enum tp_due {
	TP_DUE_NOT = 0,
	TP_DUE_BALANCE,	/* it has the entry: must get the exit */
	TP_DUE_ALONE,	/* it wants exits only */
};

/* ---- call.c, call-exit.c: any call; in these terms the usual one is recorded by fast.c ---- */
SPI_HIDDEN uint64_t tp_call_entry(
	struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
SPI_HIDDEN void tp_call_exit(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
/* The same for calls whose record is an address and a call site: generic.c, tree.c. */
SPI_HIDDEN uint64_t tp_generic_entry(
	struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
SPI_HIDDEN void tp_generic_exit(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
SPI_HIDDEN void tp_generic_left(struct spi_slot *slot, enum spi_left how);
SPI_HIDDEN void tp_call_left(struct spi_slot *slot, enum spi_left how);
SPI_HIDDEN int tp_hears_exits_alone(struct tp_point *tp, const struct lttng_ust_channel_buffer *channel);
SPI_HIDDEN int tp_exit_wanted_alone(struct spi_thread *t, struct tp_point *tp);
SPI_HIDDEN uint32_t tp_exit_failed(struct spi_thread *t, const struct tp_point *tp, uint8_t *record, uint32_t length,
	struct lttng_ust_event_recorder *recorder, enum tp_due due, int error);

SPI_HIDDEN void tp_call_is_late(uint64_t p);	/* one that comes when nothing is recorded any more: it is counted */

/* Is this channel owed the exit of the call? others.c */
SPI_HIDDEN int tp_exit_is_due(const struct spi_slot *slot, const struct lttng_ust_channel_buffer *channel);
SPI_HIDDEN int tp_heard_has(const struct spi_slot *slot, const void *channel);	/* of TP_SLOT_SET */
SPI_HIDDEN void tp_call_again(struct spi_slot *slot);	/* a call of the calling thread that was closed */

SPI_HIDDEN void tp_heard_forget(const struct spi_slot *slot, const void *channel);

/* ---- kept.c ---- */
extern SPI_HIDDEN uint32_t tp_keeping;	/* 0: nothing is kept */
SPI_HIDDEN uint32_t tp_kept_exit(struct spi_thread *t, struct tp_point *tp, struct tp_shot *shot, const struct spi_slot *slot);

/* ---- pairs.c ---- */
/* May this channel have the entry of a tree's call, as it takes exits? Inside a read-side section. */
SPI_HIDDEN int tp_pair_takes(const struct tp_point *tp, const struct lttng_ust_event_common *entry,
	const struct lttng_ust_channel_buffer *channel, int has_slot);
/* A channel in which both are recorded. */
SPI_HIDDEN void tp_pair_seen(const void *channel);
extern SPI_HIDDEN const void *tp_pair_latest;

/* ---- alone.c ---- */
#define TP_ALONE_KEPT	1u	/* there is a channel in alone[] */
#define TP_ALONE_FRESH	2u	/* nobody has had an entry since it was instrumented */
SPI_HIDDEN void tp_alone_init(void);
SPI_HIDDEN void tp_alone_forked(void);
SPI_HIDDEN void tp_alone_installed(struct spi_point **points, unsigned int n);
SPI_HIDDEN int tp_alone_lasts(struct tp_point *tp, const void *channel);
SPI_HIDDEN void tp_alone_over(struct tp_point *tp, const void *channel);

/* A channel has an entry of this point. */
SPI_INLINE void tp_alone_heard(struct tp_point *tp, const void *channel)
{
	if (spi_unlikely(CMM_ACCESS_ONCE(tp->alone_used)))
		tp_alone_over(tp, channel);
}

/* ---- one.c ---- */
/* The record of a call that did not return: 0 when there is none. */
SPI_HIDDEN int tp_one_shot(struct spi_slot *slot, enum spi_left how, struct tp_shot *shot);

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

#endif /* SPI_TP_CALL_H */
