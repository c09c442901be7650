/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A record that one thread writes in the name of another.
 *
 * lttng-ust writes the contexts of a record while its room is reserved, each with
 * channel->ops->event_write(). For that moment the channel is given a copy of its
 * table in which this function is ours: it puts the other thread's id where the
 * context vtid is written, likewise procname and pthread_id, and hands everything on.
 * Other threads that record in this channel meanwhile come by here, too, and pass;
 * so a copy that was ever used stays as it is.
 *
 * Which write is the vtid's? The one of 4 bytes that are the writer's thread id. In the
 * first thread vpid is the same number: so it has to be known where lttng-ust
 * calls from for the vtid, which is learned with the first record of another thread.
 */
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "tp/as.h"

#define KINDS		8u
#define TABLE_BYTES	256u
#define NAME_BYTES	17u	/* of the context procname */

/* A table of lttng-ust's, and ours. */
static struct kind {
	struct lttng_ust_channel_buffer_ops *real;
	union {
		struct lttng_ust_channel_buffer_ops ops;
		uint8_t bytes[TABLE_BYTES];
	} ours;
} kinds[KINDS];

/* Who writes, under the lock, which is only ever tried. */
static SPI_FORK_DATA uint32_t lock;
static struct {
	uint64_t self;			/* the writer, by its thread pointer */
	const struct tp_as *as;		/* whose record it is; NULL: the writer's own, to learn from */
	int32_t tid;
	uint32_t matches;
	uint64_t from;
	char name[NAME_BYTES];
} writer;
static uint64_t vtid_from;		/* a return address; 0: not known yet */

static int is_first_thread(void)
{
	return spi_raw3(SYS_gettid, 0, 0, 0) == spi_raw3(SYS_getpid, 0, 0, 0);
}

/* What is to be written instead; NULL: what lttng-ust says. */
static const void *other_value(const void *src, size_t len, uint64_t from)
{
	const struct tp_as *as = writer.as;
	uint64_t word = 0;

	if (len == 4) {
		memcpy(&word, src, 4);
		if (word != (uint32_t) writer.tid || (as && vtid_from && from != vtid_from))
			return NULL;
		writer.matches++;
		writer.from = from;
		return as ? &as->tid : NULL;
	}
	if (!as)
		return NULL;
	if (len == 8) {
		memcpy(&word, src, 8);
		return word == writer.self && as->self ? &as->self : NULL;
	}
	return len == NAME_BYTES && as->name[0] && !strncmp(src, writer.name, NAME_BYTES) ? as->name : NULL;
}

static __attribute__((noinline)) void written(const struct kind *kind, struct lttng_ust_ring_buffer_ctx *ctx,
	const void *src, size_t len, size_t alignment, uint64_t from)
{
	const void *other = NULL;

	if (writer.self == spi_thread_pointer())
		other = other_value(src, len, from);
	kind->real->event_write(ctx, other ? other : src, len, alignment);
}

#define WRITE(n) \
	static void write_##n(struct lttng_ust_ring_buffer_ctx *ctx, const void *src, size_t len, size_t alignment) \
	{ \
		written(&kinds[n], ctx, src, len, alignment, (uint64_t) __builtin_return_address(0)); \
	}
WRITE(0) WRITE(1) WRITE(2) WRITE(3) WRITE(4) WRITE(5) WRITE(6) WRITE(7)

static struct kind *kind_get(struct lttng_ust_channel_buffer_ops *real)
{
	static void (*const writes[KINDS])(struct lttng_ust_ring_buffer_ctx *, const void *, size_t, size_t) = {
		write_0, write_1, write_2, write_3, write_4, write_5, write_6, write_7,
	};
	unsigned int i = 0;

	while (i < KINDS && kinds[i].real && kinds[i].real != real)
		i++;
	if (i == KINDS || real->struct_size > TABLE_BYTES)
		return NULL;
	if (!kinds[i].real) {
		memcpy(&kinds[i].ours, real, real->struct_size);
		kinds[i].ours.ops.event_write = writes[i];
		spi_barrier();
		kinds[i].real = real;
	}
	return &kinds[i];
}

static int record_with(const struct tp_as *as, const struct tp_event *event, const uint8_t *record, uint32_t length,
	struct lttng_ust_event_recorder *recorder, struct lttng_ust_channel_buffer *channel)
{
	struct lttng_ust_channel_buffer_ops *real = channel->ops;
	struct lttng_ust_ring_buffer_ctx ctx;
	struct kind *kind = kind_get(real);
	int error;

	if (!kind)
		return as ? -EAGAIN : tp_record(event, record, length, recorder, channel);
	writer.as = as;
	writer.tid = (int32_t) spi_raw3(SYS_gettid, 0, 0, 0);
	writer.matches = 0;
	if (as)
		spi_raw3(SYS_prctl, PR_GET_NAME, (uint64_t) writer.name, 0);
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

int tp_as_record(const struct tp_as *as, const struct tp_event *event, const uint8_t *record, uint32_t length,
	struct lttng_ust_event_recorder *recorder, struct lttng_ust_channel_buffer *channel)
{
	int error = -EAGAIN;

	if ((!vtid_from && is_first_thread()) || __atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		return error;
	error = record_with(as, event, record, length, recorder, channel);
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	return error;
}

__attribute__((noinline)) int tp_as_learn(const struct tp_event *event, const uint8_t *record, uint32_t length,
	struct lttng_ust_event_recorder *recorder, struct lttng_ust_channel_buffer *channel)
{
	int error;

	if (vtid_from || is_first_thread() || __atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		return tp_record(event, record, length, recorder, channel);
	error = record_with(NULL, event, record, length, recorder, channel);
	if (!error && writer.matches == 1)
		__atomic_store_n(&vtid_from, writer.from, __ATOMIC_RELEASE);
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	return error;
}

void tp_as_fork_child(void)
{
	lock = 0;
	if (writer.self)
		writer.self = 0;
}
