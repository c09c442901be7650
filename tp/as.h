/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Records in another thread's name (as.c).
 */
#ifndef SPI_TP_AS_H
#define SPI_TP_AS_H

#include "tp/fire.h"

struct tp_as {
	int32_t tid;
	uint32_t reserved;
	uint64_t self;		/* its thread pointer; 0: not known */
	char name[24];		/* ""; or what the context procname is to say */
};

/* As tp_record(), with contexts as if `as` had written it. -EAGAIN: that cannot be done. Inside a read-side section. */
SPI_HIDDEN int tp_as_record(const struct tp_as *as, const struct tp_event *event, const uint8_t *record, uint32_t length,
	struct lttng_ust_event_recorder *recorder, struct lttng_ust_channel_buffer *channel);
/* A thread's first record: tp_record(), from which is learned what tp_as_record() needs. */
SPI_HIDDEN int tp_as_learn(const struct tp_event *event, const uint8_t *record, uint32_t length,
	struct lttng_ust_event_recorder *recorder, struct lttng_ust_channel_buffer *channel);
SPI_HIDDEN void tp_as_fork_child(void);

/* left.c */
SPI_HIDDEN void tp_left_fire_as(struct spi_thread *t, const struct tp_as *as, const struct spi_point *point,
	enum spi_left how);

/* The first record of the thread that is about to enter a read-side section? */
SPI_INLINE int tp_as_first(const struct spi_thread *t)
{
	return !t->payload[TP_WORD_READER] || t->payload[TP_WORD_READER] == &tp_reader_ended;
}

#endif /* SPI_TP_AS_H */
