/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Functions that rules name for clients. Such a function has a point that is the clients', which the function's jump
 * leads to; where rules have the calls recorded, too, the event module's point stands behind it, and is called by it
 * (rules/point-write.c).
 */
#include <errno.h>
#include <string.h>
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/payload/internal.h"

/* A jump inside of the function to its first byte: the same call goes on. */
static int goes_on(const struct spi_thread *t, const struct spi_point *point, uint64_t p)
{
	const struct spi_slot *top = t->cur && t->cur > t->base ? t->cur - 1 : NULL;

	return top && spi_slot_is_chained(top, p) && top->point->address == point->address;
}

uint64_t spi_clients_entry(struct spi_point *point, struct spi_frame *frame, const uint8_t *vectors, uint64_t stride)
{
	struct spi_clients *clients = point->clients;
	struct spi_point *recorder = __atomic_load_n(&clients->recorder, __ATOMIC_ACQUIRE);
	const uint32_t which = __atomic_load_n(&clients->in_force, __ATOMIC_ACQUIRE);
	uint64_t code = 0;

	if (!vectors && (recorder || !__atomic_load_n(&clients->are_general, __ATOMIC_RELAXED)))
		return SPI_ANSWER_FULL;
	if (spi_unlikely(point->flags & SPI_POINT_LOOPS) && goes_on(&spi_thread, point, (uint64_t) &frame->ra))
		return 0;
	spi_clients_before(point, (uint64_t) &frame->ra);
	if (recorder && ((recorder->gate[0] && *recorder->gate[0]) || (recorder->gate[1] && *recorder->gate[1])))
		code = recorder->entry(recorder, frame, vectors, stride);
	return spi_clients_call(point, which, 0, code, frame, vectors, stride);
}

static struct spi_point *point_behind(const struct spi_point *point)
{
	return point->clients ? point->clients->recorder : NULL;
}

/* Not while its only client has paused it and nobody records. */
static int gets_calls(const struct spi_clients *clients)
{
	const uint32_t which = __atomic_load_n(&clients->in_force, __ATOMIC_SEQ_CST);

	return !__atomic_load_n(&clients->is_paused, __ATOMIC_SEQ_CST) || !which || (which & (which - 1)) ||
		__atomic_load_n(&clients->recorder, __ATOMIC_SEQ_CST);
}

/* Whoever has changed what the gate depends on comes here, in any thread: the last one to look sees all of that. */
static void gate_set(struct spi_point *point)
{
	int *gate = point->clients->gate, is_open;

	do {
		is_open = gets_calls(point->clients);
		if (gate)			/* the object is there */
			__atomic_store_n(gate, is_open, __ATOMIC_SEQ_CST);
	} while (gets_calls(point->clients) != is_open);
}

int spi_clients_point_make(struct spi_point *point)
{
	if (spi_clients_have(point) < 0)
		return -ENOMEM;
	if (!point->clients->gate)
		point->gate[0] = point->clients->gate = spi_near_alloc(point->object, sizeof(int), sizeof(int));
	if (!point->clients->gate)
		return -ENOMEM;
	gate_set(point);
	spi_point_behind = point_behind;
	point->entry = spi_clients_entry_fast;
	return 0;
}

/*
 * How the point's calls go from now on. They go straight to the client where there is one, no recorder, and nothing
 * else to look at (arch/<cpu>/payload/call.S). The thunk that saves all registers comes first where it has to come; a
 * thunk that is neither of the two stays: the point's stub is lent (patch/patch.c).
 */
static void way_choose(struct spi_point *point)
{
	const uint32_t unusual = SPI_POINT_LOOPS | SPI_POINT_NO_EXIT;
	struct spi_clients *clients = point->clients;
	const uint32_t which = clients->in_force;
	const int is_full = clients->recorder || !clients->are_general;
	const uint64_t general = (uint64_t) spi_thunk_entry_general, thunk = is_full ? point->full_thunk : general;
	uint64_t was = is_full ? general : point->full_thunk;
	struct spi_client *one = NULL;

	if (which && !(which & (which - 1)) && !clients->recorder && !(point->flags & unusual))
		one = spi_clients[__builtin_ctz(which)];
	if (one && (one->flags & SPI_CLIENT_RECORDS))
		one = NULL;
	__atomic_store_n(&clients->one, one, __ATOMIC_SEQ_CST);
	__atomic_compare_exchange_n(&point->thunk, &was, thunk, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	gate_set(point);
}

void spi_clients_point_use(struct spi_point *point, uint32_t which)
{
	for (unsigned int i = 0; i < SPI_CLIENTS_MAX; i++)
		point->clients->uses[i] += (which >> i) & 1;
	if (!spi_clients_are_general(which))		/* for good: a call that has read in_force reads this afterwards */
		__atomic_store_n(&point->clients->are_general, 0, __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&point->clients->in_force, which, __ATOMIC_RELEASE);
	way_choose(point);
}

int spi_clients_point_pause(struct spi_point *point, uint32_t which, int is_paused)
{
	struct spi_clients *clients = point->clients;

	if (!clients || !clients->gate)
		return -ENOTSUP;
	if (is_paused && (clients->in_force != which || clients->recorder))
		return -EBUSY;
	__atomic_store_n(&clients->is_paused, is_paused != 0, __ATOMIC_SEQ_CST);
	gate_set(point);
	return 0;
}

void spi_clients_point_record(struct spi_point *point, struct spi_point *recorder)
{
	__atomic_store_n(&point->clients->recorder, recorder, __ATOMIC_RELEASE);
	way_choose(point);
}

void spi_clients_point_forget(struct spi_point *point)
{
	memset(point->clients->uses, 0, sizeof(point->clients->uses));
	point->clients->in_force = point->clients->is_paused = 0;
	point->clients->recorder = NULL;
	point->clients->one = NULL;
	if (point->clients->gate)	/* near memory of the object that is gone */
		point->gate[0] = point->clients->gate = NULL;
}

void spi_clients_point_leave(struct spi_point *point, uint32_t which)
{
	struct spi_clients *clients = point->clients;
	uint32_t left = clients->in_force;

	for (unsigned int i = 0; i < SPI_CLIENTS_MAX; i++)
		if ((which & 1u << i) && clients->uses[i] && !--clients->uses[i])
			left &= ~(1u << i);
	__atomic_store_n(&clients->in_force, left, __ATOMIC_RELEASE);
	way_choose(point);
}
