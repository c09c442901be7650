/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * How many bytes have gone through a channel. All traced processes of a user count in the same memory
 * (module/floor.c), so an end that several processes have, or one after the other, has one count, which survives
 * fork() and execve(). A count is right while all processes that use an end count: agreement.c.
 *
 * Who counts what: a call adds the bytes that it has moved when libc's function has returned. Calls of one end that
 * overlap may have moved theirs in either order; that is told by the end's word, in which each call leaves its
 * beginning and its end. A thread that never comes back from a call, because it was killed, leaves the call under
 * way: then others of that end are "not sure" for ever, which is true of those that overlap it.
 */
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/ipc/internal.h"

/*
 * The call that the thread is in, the innermost; by it a call that was left by longjmp() is known, at the next one.
 * In the thread's own memory, as its stack may be another's by then.
 */
static __thread struct spi_ipc_op_left current;
static uint64_t serials;

static void left_release(const struct spi_ipc_op_left *left)
{
	if (left->place)
		__atomic_fetch_sub(&left->place->end[left->end].word, 1, __ATOMIC_SEQ_CST);
	spi_ipc_channel_leave(left->channel);
}

static void op_publish(struct spi_ipc_op *op)
{
	const struct spi_thread *t = &spi_thread;

	while (current.channel && op->p >= current.p && spi_on_own_stack(t, op->p) && spi_on_own_stack(t, current.p)) {
		struct spi_ipc_op_left left = current;

		current.channel = NULL;		/* what it had interrupted was left with it */
		left_release(&left);
	}
	op->outer = current;
	op->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
	current = (struct spi_ipc_op_left) { op->p, op->serial, op->channel, op->place, op->end };
}

int spi_ipc_thread_is_in_call(void)
{
	return current.channel != NULL;
}

void spi_ipc_thread_over(void)
{
	struct spi_ipc_op_left left = current;

	current.channel = NULL;
	if (left.channel)
		left_release(&left);
}

uint64_t spi_ipc_position(const struct spi_ipc_op *op)
{
	if (op->is_given)
		return op->position;
	return op->place ? __atomic_load_n(&op->place->end[op->end].position, __ATOMIC_SEQ_CST) : 0;
}

void spi_ipc_op_place(struct spi_ipc_op *op)
{
	op->flags = 0;
	op->place = spi_ipc_is_datagram(op->channel->kind) || op->is_given ? NULL : spi_ipc_place_of(op->channel, op->fd);
}

void spi_ipc_op_begin(struct spi_ipc_op *op)
{
	op_publish(op);
	if (op->place)
		op->word = __atomic_fetch_add(&op->place->end[op->end].word, SPI_IPC_BEGUN + 1, __ATOMIC_SEQ_CST);
	op->begin = op->trees | spi_tree_awaiting ? spi_ipc_clock() : 0;
}

/* More has been received than was sent, by all that is known: somebody sends who does not count. */
static void sender_catch_up(struct spi_ipc_op *op, uint64_t received)
{
	struct spi_ipc_channel *channel = op->channel;
	const uint64_t senders = __atomic_load_n(&op->place->end[SPI_IPC_SEND].word, __ATOMIC_SEQ_CST);

	/* nobody counts here: an untraced sender, or another user's */
	if (channel->kind == SPI_CHANNEL_TCP || !(op->place->state & (SPI_IPC_BORN | SPI_IPC_AGREED(SPI_IPC_SEND))) ||
		senders & SPI_IPC_UNDER_WAY ||
		received <= __atomic_load_n(&op->place->end[SPI_IPC_SEND].position, __ATOMIC_SEQ_CST))
		return;
	op->flags |= SPI_IPC_NOT_SURE;
	channel->is_aligned = 0;
}

void spi_ipc_op_end(struct spi_ipc_op *op, uint64_t moved)
{
	struct spi_ipc_place *place = op->place;
	uint64_t after;

	if (spi_ipc_is_datagram(op->channel->kind)) {
		op->flags |= SPI_IPC_DATAGRAM;
	} else if (op->is_given) {
		return;
	} else if (!place || place->id != op->channel->id || current.serial != op->serial) {
		op->flags |= SPI_IPC_NOT_KNOWN;
	} else {
		op->position = __atomic_fetch_add(&place->end[op->end].position, moved, __ATOMIC_SEQ_CST);
		after = __atomic_fetch_sub(&place->end[op->end].word, 1, __ATOMIC_SEQ_CST);
		if (op->word & SPI_IPC_UNDER_WAY || after / SPI_IPC_BEGUN != op->word / SPI_IPC_BEGUN + 1)
			op->flags |= SPI_IPC_NOT_SURE;
		if (!op->channel->is_aligned || place->state & SPI_IPC_LOST)
			op->flags |= SPI_IPC_NOT_KNOWN;
		else if (op->end == SPI_IPC_RECV)
			sender_catch_up(op, op->position + moved);
		if (spi_unlikely(place->joined | (place->state & SPI_IPC_WANTED(!op->end))))
			spi_ipc_compare(op->channel, op->fd, after);
		op->place = NULL;
	}
}

void spi_ipc_op_over(struct spi_ipc_op *op)
{
	const int is_ours = current.serial == op->serial && current.channel;

	if (is_ours)
		current = op->outer;
	if (op->place && is_ours)
		__atomic_fetch_sub(&op->place->end[op->end].word, 1, __ATOMIC_SEQ_CST);
	if (is_ours)
		spi_ipc_channel_leave(op->channel);
	op->channel = NULL;
}
