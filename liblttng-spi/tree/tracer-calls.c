/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls of the tracer. The program, or libc at a thread's end, calls lttng-ust itself: a tracepoint of its own, a key's destructor. What
 * that calls in libc comes by sites; to record it would take locks that it holds. So the thread counts as busy
 * until the call is over.
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/internal.h"

static void quiet_end(struct spi_thread *t)
{
	spi_barrier();
	if (t->busy & (SPI_BUSY_ALWAYS - 1))
		t->busy--;
}

static uint64_t quiet_call(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_thread *t = &spi_thread;
	struct spi_slot *slot;
	uint64_t code = 0;

	(void) stride;
	if (t->busy || spi_thread_is_foreign(t))
		return 0;
	if (!vec)
		return SPI_ANSWER_FULL;
	spi_busy_begin(t, (uint64_t) &frame->ra);
	slot = spi_slot_ready(t, (uint64_t) &frame->ra);
	if (!slot) {
		t->busy = 0;
		return 0;
	}
	code = spi_slot_push(t, &slot, point, frame);
	slot->cookie = NULL;
	slot->aux = 0;
	if (spi_unlikely(!code))
		t->busy = 0;
	return code;
}

static void quiet_exit(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_thread *t = &spi_thread;

	(void) frame;
	(void) vec;
	(void) stride;
	spi_slot_pop(t, slot);
	quiet_end(t);
}

static void quiet_left(struct spi_slot *slot, enum spi_left how)
{
	(void) slot;
	(void) how;
	quiet_end(&spi_thread);
}

int spi_tree_tracer_take(struct spi_point *point, uint64_t callee, uint32_t trees)
{
	if (!spi_tracer_code_has(callee))
		return 0;
	if (spi_tree_is_agent(callee)) {		/* that looks after itself; a slot would outlive the end of a thread, which is one of these */
		spi_tree_todo_done(point, trees);
		return 1;
	}
	point->exit = quiet_exit;
	point->left = quiet_left;
	if (point->full_thunk)
		point->exit_thunk = point->full_exit_thunk;
	__atomic_store_n(&point->record, quiet_call, __ATOMIC_RELEASE);
	spi_tree_live_add(point, trees);
	spi_tree_todo_done(point, trees);
	return 1;
}
