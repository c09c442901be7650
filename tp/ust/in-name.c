/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A record that one thread writes in the name of another.
 *
 * lttng-ust writes the contexts of a record while the record's room is reserved, each with
 * channel->ops->event_write(). For that moment the channel has a copy of its table, in which this function is ours.
 * The function replaces the value of the context vtid by the other thread's, and hands everything on. Threads that
 * record in this channel meanwhile come by here, too, and pass; so a copy that was ever used stays as it is.
 *
 * The vtid is the write of 4 bytes that are the writer's thread id. In the first thread vpid is the same number: so
 * the module learns with another thread's first record from where lttng-ust writes the vtid.
 */
#include <string.h>
#include <sys/syscall.h>
#include "liblttng-spi/arch/arch.h"
#include "tp/ust/ust.h"

#define KINDS		8u
#define TABLE_BYTES	256u

/* A table of lttng-ust's, and our copy. */
static struct kind {
	struct lttng_ust_channel_buffer_ops *real;
	union {
		struct lttng_ust_channel_buffer_ops ops;
		uint8_t bytes[TABLE_BYTES];
	} ours;
} kinds[KINDS];

/* The thread that writes. `lock` guards it, and is only ever tried. */
static SPI_FORK_DATA uint32_t lock;
static struct {
	uint64_t self;			/* the writer's thread pointer */
	int32_t tid, other;		/* other 0: the record is the writer's own, to learn from */
	uint32_t matches;
	uint64_t from;
} writer;
static uint64_t vtid_from;		/* a return address; 0: not known yet */

/* What is to be written instead; NULL: what lttng-ust says. */
static const void *other_value(const void *src, size_t len, uint64_t from)
{
	int32_t word;

	if (len != sizeof(word))
		return NULL;
	memcpy(&word, src, sizeof(word));
	if (word != writer.tid || (writer.other && vtid_from && from != vtid_from))
		return NULL;
	writer.matches++;
	writer.from = from;
	return writer.other ? &writer.other : NULL;
}

/* In each copy; the channel's table may be lttng-ust's own again by now. */
static void context_write(struct lttng_ust_ring_buffer_ctx *ctx, const void *src, size_t len, size_t alignment)
{
	const struct lttng_ust_event_recorder *recorder = ctx->client_priv;
	const struct lttng_ust_channel_buffer_ops *ops = recorder->chan->ops;
	const void *other = NULL;

	for (unsigned int i = 0; i < KINDS; i++)
		if (ops == &kinds[i].ours.ops)
			ops = kinds[i].real;
	if (writer.self == spi_thread_pointer())
		other = other_value(src, len, (uint64_t) __builtin_return_address(0));
	ops->event_write(ctx, other ? other : src, len, alignment);
}

static struct kind *kind_get(struct lttng_ust_channel_buffer_ops *real)
{
	unsigned int i = 0;

	while (i < KINDS && kinds[i].real && kinds[i].real != real)
		i++;
	if (i == KINDS || real->struct_size > TABLE_BYTES)
		return NULL;
	if (!kinds[i].real) {
		memcpy(&kinds[i].ours, real, real->struct_size);
		kinds[i].ours.ops.event_write = context_write;
		spi_barrier();
		kinds[i].real = real;
	}
	return &kinds[i];
}

/* Under the lock. */
static int record_with(int32_t other, const struct tp_event *event, const uint8_t *record,
	uint32_t length, struct lttng_ust_event_recorder *recorder)
{
	struct lttng_ust_channel_buffer *channel = recorder->chan;
	struct lttng_ust_channel_buffer_ops *real = channel->ops;
	struct lttng_ust_ring_buffer_ctx ctx;
	struct kind *kind = kind_get(real);
	int error;

	if (!kind)
		return other ? -EAGAIN : tp_record(event, record, length, recorder, channel);
	writer.other = other;
	writer.tid = tp_tid();
	writer.matches = 0;
	writer.self = spi_thread_pointer();
	lttng_ust_ring_buffer_ctx_init(&ctx, recorder, length, 1, (struct lttng_ust_probe_ctx *) &event->probe);
	__atomic_store_n(&channel->ops, &kind->ours.ops, __ATOMIC_RELEASE);
	error = real->event_reserve(&ctx);
	__atomic_store_n(&channel->ops, real, __ATOMIC_RELEASE);
	spi_barrier();
	writer.self = 0;
	if (error < 0)
		return error;
	real->event_write(&ctx, record, length, 1);
	real->event_commit(&ctx);
	return 0;
}

static int is_first_thread(void)
{
	return spi_raw3(SYS_gettid, 0, 0, 0) == spi_raw3(SYS_getpid, 0, 0, 0);
}

int tp_record_as(int32_t other, const struct tp_event *event, const uint8_t *record, uint32_t length,
	struct lttng_ust_event_recorder *recorder)
{
	int error = -EAGAIN;

	if (!other)
		return tp_record(event, record, length, recorder, recorder->chan);
	if ((!vtid_from && is_first_thread()) || __atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		return error;
	error = record_with(other, event, record, length, recorder);
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	return error;
}

__attribute__((noinline)) int tp_record_first(const struct tp_event *event, const uint8_t *record, uint32_t length,
	struct lttng_ust_event_recorder *recorder)
{
	int error;

	if (vtid_from || is_first_thread() || __atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		return tp_record(event, record, length, recorder, recorder->chan);
	error = record_with(0, event, record, length, recorder);
	if (!error && writer.matches == 1)
		__atomic_store_n(&vtid_from, writer.from, __ATOMIC_RELEASE);
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	return error;
}

void tp_in_name_fork_child(void)
{
	lock = 0;
	if (writer.self)		/* else the page stays the parent's, too */
		writer.self = 0;
}
