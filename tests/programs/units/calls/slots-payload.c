/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* A payload that counts, and the few things that the core's slow paths want from parts which this test leaves out. */
#include <errno.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/calls/internal.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/ledger/ledger.h"
#include "liblttng-spi/tree/tree.h"

long test_entries, test_exits, test_left, test_no_slot, test_nested;
void test_payload_set(struct spi_point *point);

/* There is no call tree here. */
void spi_tree_caller_back(uint64_t address)
{
}

void spi_first_call_init(void)
{
}

/* What is called here allocates nothing. */
int spi_first_call_has_memory(void)
{
	return 1;
}

int spi_first_call_is_in_malloc(uint64_t p)
{
	(void) p;
	return 0;
}

#define COUNT(c) __atomic_fetch_add(&(c), 1, __ATOMIC_RELAXED)

static uint64_t on_entry(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_thread *t = &spi_thread;
	uint64_t p = (uint64_t) &frame->ra, code = 0;
	struct spi_slot *slot;

	if (!spi_call_begin(t, p, 1)) {
		COUNT(test_nested);
		return 0;
	}
	slot = spi_slot_ready(t, p);
	COUNT(test_entries);
	if (slot)
		code = spi_slot_push(t, &slot, point, frame);
	else
		COUNT(test_no_slot);
	spi_call_end(t);
	return code;
}

static void on_exit_(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_thread *t = &spi_thread;

	COUNT(test_exits);
	if (!t->busy)
		t->busy_p = (uint64_t) frame;
	t->busy++;
	spi_slot_pop(t, slot);
	t->busy--;
}

static void on_left(struct spi_slot *slot, enum spi_left how)
{
	COUNT(test_left);
}

void test_payload_set(struct spi_point *point)
{
	point->entry = on_entry;
	point->exit = on_exit_;
	point->left = on_left;
	spi_thread_thunks(point, 1, 1);
}

int spi_memory_copy(void *dst, uint64_t src, size_t n)
{
	__builtin_memcpy(dst, (const void *) src, n);
	return 0;
}

/* signal-share.c is left out */
void spi_signal_return(void)
{
}

/* log.c is left out */
void spi_note(const char *format, ...)
{
	(void) format;
}

/* No child here has begun to wait (child.c). */
int spi_child_may(struct spi_thread *t, uint64_t p)
{
	(void) t, (void) p;
	return 0;
}

