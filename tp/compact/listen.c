/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Who listens to batches of compact records, and whether it is still who knows the numbers in them.
 *
 * Numbers are described again (site.c) when somebody else listens, now and then for snapshots, and for a while
 * after a command that may cut the trace.
 */
#include "liblttng-spi/base/base.h"
#include "tp/compact/compact.h"

#define DESCRIBE_EVERY	(1u << 20)	/* bytes written, after which every number is described again, for snapshots */
#define CUT_NS		UINT64_C(400000000)
#define CUT_STEP_NS	UINT64_C(2000000)

static uint64_t written;			/* bytes, since every number was described */
static uint64_t listeners;			/* made of the channels that listened at the latest batch */

void tp_compact_written(uint32_t bytes)
{
	__atomic_fetch_add(&written, bytes, __ATOMIC_RELAXED);
}

/*
 * A command for whose sake all was just written may begin a new chunk of the trace (rotation) at any moment from then
 * on, which is to be readable by itself: for a while numbers are described again and again.
 */
static uint64_t cut_until, cut_next;

void tp_compact_expect_cut(void)
{
	__atomic_store_n(&cut_next, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&cut_until, tp_clock_now() + CUT_NS, __ATOMIC_RELAXED);
}

static int cut_may_be(void)
{
	uint64_t until = __atomic_load_n(&cut_until, __ATOMIC_RELAXED), now;

	if (spi_likely(!until))
		return 0;
	now = tp_clock_now();
	if (now >= until) {
		__atomic_store_n(&cut_until, 0, __ATOMIC_RELAXED);
		tp_function_again();
		return 1;
	}
	if (now < __atomic_load_n(&cut_next, __ATOMIC_RELAXED))
		return 0;
	__atomic_store_n(&cut_next, now + CUT_STEP_NS, __ATOMIC_RELAXED);
	return 1;
}

static void describe_again(void)
{
	__atomic_store_n(&written, 0, __ATOMIC_RELAXED);
	tp_site_forget_all();
}

int tp_compact_listeners(void)
{
	uint64_t sum = tp_channels_on(tp_compact_calls);

	if (!sum) {
		tp_compact_unheard();
		return 0;
	}
	if (sum != __atomic_exchange_n(&listeners, sum, __ATOMIC_RELAXED)) {
		tp_function_look();
		describe_again();
	} else if (__atomic_load_n(&written, __ATOMIC_RELAXED) > DESCRIBE_EVERY) {
		tp_function_again();
		describe_again();
	} else if (cut_may_be()) {
		describe_again();
	}
	return 1;
}

/* The next channel may well be where the last one was in memory, and knows no number yet. */
void tp_compact_unheard(void)
{
	__atomic_store_n(&listeners, 0, __ATOMIC_RELAXED);
}

int tp_compact_is_heard(struct spi_thread *t)
{
	tp_reader *reader = tp_read_lock(t);
	int heard = tp_channels_on(tp_compact_calls) != 0;

	tp_read_unlock(reader);
	return heard;
}
