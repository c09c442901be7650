/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Exits that found no room. The entry is in the trace already. Without the exit no reader could balance the thread's
 * stack. So the finished record waits, and is written before the thread's next record in that channel. Until then the
 * thread's new calls are lost in that channel as a whole: a thread never owes more than its depth of recorded calls.
 *
 * The records stand one after the other in one mapping, of which the kernel gives what is used, in the order of the
 * exits: inner calls come first. They are written in that order, whatever their channels. Only the thread's bit
 * SPI_THREAD_OWES says that records wait. While the bit is clear, the mapping holds what an ended thread or a fork's
 * parent has left; adding a record empties it first.
 *
 * A signal handler may add a record while the interrupted code pays. Adding holds signals, and handlers never pay.
 */
#include <string.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "tp/ledger/ledger.h"

#define DEBTS_BYTES	(8u << 20)	/* some 200 000 exits; what is owed beyond is lost */
#define END_TRIES	8u		/* with the processor given away between them */
#define BLOCK_LOOKS	64u		/* a thread that owes more than so many exits has its calls lost in all channels */

struct debt {
	uint32_t size;			/* with this header, a multiple of 8 */
	uint32_t length;
	const struct tp_event *event;
	const void *channel;
	uint8_t record[];
};

/* spi_thread_own.debts */
struct tp_debts {
	uint32_t used, paid;		/* bytes; those before `paid` are written, or lost */
	uint32_t waiting;		/* records */
	uint32_t reserved;
	uint8_t data[];
};

static struct debt *debt_at(struct tp_debts *d, uint32_t at)
{
	return at < d->used ? (struct debt *) (d->data + at) : NULL;
}

/* ---- adding: signals are held ---- */

static struct tp_debts *debts_take(struct spi_thread *t)
{
	struct tp_debts *d;

	if (!t->own)
		return NULL;
	d = t->own->debts ? t->own->debts : tp_core->alloc(DEBTS_BYTES);
	t->own->debts = d;
	if (d && !spi_thread_owes(t))
		d->used = d->paid = d->waiting = 0;
	return d;
}

static int debt_put(struct spi_thread *t, const struct tp_shot *shot, const void *channel)
{
	const uint32_t size = (uint32_t) ((sizeof(struct debt) + shot->length + 7) & ~7ul);
	struct tp_debts *d = debts_take(t);
	struct debt *debt;

	if (!d || sizeof(*d) + d->used + size > DEBTS_BYTES)
		return -1;
	debt = (struct debt *) (d->data + d->used);
	*debt = (struct debt) { size, shot->length, shot->event, channel };
	memcpy(debt->record, shot->record, shot->length);
	spi_barrier();
	d->used += size;
	d->waiting++;
	spi_barrier();
	__atomic_fetch_or(&t->owed, SPI_THREAD_OWES, __ATOMIC_RELAXED);
	return 0;
}

void tp_debts_add(struct spi_thread *t, const struct tp_shot *shot, const void *channel)
{
	uint64_t held = spi_signals_hold(~UINT64_C(0));

	if (debt_put(t, shot, channel) < 0)
		tp_count(t)->lost_exits++;
	spi_signals_release(held);
}

int tp_debts_block(const struct spi_thread *t, const void *channel)
{
	struct tp_debts *d = t->own ? t->own->debts : NULL;
	const struct debt *debt = d && d->waiting ? debt_at(d, d->paid) : NULL;

	for (unsigned int n = 0; n < BLOCK_LOOKS && debt; n++) {
		if (debt->channel == channel)
			return 1;
		debt = debt_at(d, (uint32_t) ((const uint8_t *) debt - d->data) + debt->size);
	}
	return debt != NULL;
}

/* ---- paying ---- */

/* 1: written; 0: no room yet; -1: nobody wants it any more, or the ring is switched off. */
static int debt_write(const struct debt *debt, int32_t other)
{
	tp_reader *reader = tp_read_lock(&spi_thread);
	const struct lttng_ust_tracepoint_probe *probe = tp_probe_in(debt->event, debt->channel);
	int error = -EAGAIN;

	if (probe && tp_recorder_on(probe->data, debt->channel))
		error = tp_record_as(other, debt->event, debt->record, debt->length, tp_recorder_of(probe));
	tp_read_unlock(reader);
	return !error ? 1 : tp_may_wait(error) ? 0 : -1;
}

/* As far as there is room. */
static void debts_pay(struct tp_debts *d, int32_t other, struct spi_thread_count *count)
{
	const struct debt *debt;
	int result;

	while (d->waiting && (debt = debt_at(d, d->paid)) && (result = debt_write(debt, other))) {
		d->paid += debt->size;
		count->exits += result > 0;
		count->owed_exits += result > 0;
		count->lost_exits += result < 0;
		__atomic_fetch_sub(&d->waiting, 1, __ATOMIC_RELAXED);
	}
}

void tp_debts_pay(struct spi_thread *t)
{
	struct tp_debts *d = t->own ? t->own->debts : NULL;

	if (t->busy > 1)
		return;
	if (d)
		debts_pay(d, 0, tp_count(t));
	if (d && d->waiting)
		return;
	/* a handler may add until the bit is clear, and then begin anew: the second look sees both */
	__atomic_fetch_and(&t->owed, ~SPI_THREAD_OWES, __ATOMIC_RELAXED);
	spi_barrier();
	if (d && d->waiting)
		__atomic_fetch_or(&t->owed, SPI_THREAD_OWES, __ATOMIC_RELAXED);
}

void tp_debts_close(int32_t other, struct tp_debts *d, struct spi_thread_count *count)
{
	uint32_t waited = 0;

	for (unsigned int i = 0; d && d->waiting && i < END_TRIES; i = d->waiting < waited ? 0 : i + 1) {
		if (i)
			spi_raw3(SYS_sched_yield, 0, 0, 0);
		waited = d->waiting;
		debts_pay(d, other, count);
	}
	if (!d)
		return;
	/* Given up: nothing waits for its turn behind these any more. */
	count->lost_exits += d->waiting;
	d->waiting = 0;
	d->paid = d->used;
}

void tp_debts_end(struct spi_thread *t)
{
	if (spi_thread_owes(t) && t->own)
		tp_debts_close(0, t->own->debts, tp_count(t));
	tp_debts_forget(t);
}

void tp_debts_forget(struct spi_thread *t)
{
	__atomic_fetch_and(&t->owed, ~SPI_THREAD_OWES, __ATOMIC_RELAXED);
}
