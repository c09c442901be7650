/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What is done before and after a call that sends or receives, whichever function it is. Nothing is held in between:
 * the thread may be cancelled there, or leave by a handler's longjmp().
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/module/module.h"
#include "liblttng-spi/process/process.h"
#include "liblttng-spi/ipc/internal.h"

#define PIECE	512u	/* bytes looked at at a time, on the program's stack */

/* ---- data ---- */

static int part_of(const struct spi_ipc_data *data, uint64_t i, struct iovec *part)
{
	if (!data->parts) {
		*part = (struct iovec) { (void *) data->bytes, data->length };
		return i == 0;
	}
	return i < data->count && spi_memory_copy(part, (uint64_t) (data->parts + i), sizeof(*part)) == 0;
}

uint64_t spi_ipc_data_length(const struct spi_ipc_data *data)
{
	uint64_t length = 0;
	struct iovec part;

	if (!data || !data->parts)
		return data ? data->length : 0;
	for (uint64_t i = 0; i < data->count && i < 1024 /* UIO_MAXIOV */ && part_of(data, i, &part); i++)
		length += part.iov_len;
	return length;
}

/* The same for the same bytes, however they lie. 8 at a time; the last ones are filled up with zeros. */
static uint64_t data_hash(const struct spi_ipc_data *data, uint64_t most)
{
	_Alignas(8) uint8_t bytes[PIECE + 8];
	uint64_t hash = SPI_HASH_SEED, done = 0, have = 0;
	struct iovec part;

	for (uint64_t i = 0; data && done < most && part_of(data, i, &part); i++)
		for (uint64_t at = 0; at < part.iov_len && done < most; ) {
			uint64_t n = part.iov_len - at, word, k;

			n = n < PIECE - have ? n : PIECE - have;
			n = n < most - done ? n : most - done;
			if (spi_memory_copy(bytes + have, (uint64_t) part.iov_base + at, n) < 0)
				return 0;
			have += n;
			at += n;
			done += n;
			for (k = 0; k + 8 <= have; k += 8) {
				memcpy(&word, bytes + k, 8);
				hash = spi_hash_number(hash ^ word);
			}
			have -= k;
			memmove(bytes, bytes + k, have);
		}
	if (have) {
		memset(bytes + have, 0, 8);
		hash = spi_hash_number(hash ^ *(const uint64_t *) bytes);
	}
	return spi_hash_number(hash ^ done);
}

/* ---- the call ---- */

/* Is it the program's, in a process that may still look at its descriptors? */
static int is_programs(struct spi_thread *t, uint64_t p)
{
	uint64_t caller;

	if (spi_unlikely(__atomic_load_n(&spi_mode, __ATOMIC_RELAXED) > SPI_MODE_CHILD_LEFT) ||
		spi_thread_is_foreign(t))
		return 0;
	if (spi_unlikely(t->busy) && !spi_thread_nested(p))
		return 0;
	if (spi_unlikely(t->owed & SPI_THREAD_LENT) && spi_is_lent() > 0)
		return 0;		/* a vforked child */
	if (spi_unlikely(!t->own) && spi_thread_is_tracer()) {
		t->busy |= SPI_BUSY_ALWAYS;
		return 0;
	}
	caller = spi_behind_slots(*(const uint64_t *) p);
	return !spi_tracer_code_has(caller) && !spi_module_loads_code(caller);	/* lttng-ust wakes its consumer up by pipes */
}

/* Which process is at the other end has to be in before the message is out. */
static void peer_ask(struct spi_ipc_op *op)
{
	const uint32_t epoch = (uint32_t) spi_tree_epoch;

	if (spi_likely(__atomic_load_n(&op->channel->is_asked, __ATOMIC_ACQUIRE) == epoch))
		return;
	/* a forked child of which nothing was recorded yet has nobody to ask */
	if (spi_unlikely(spi_mode_is_child()) && !spi_is_in_malloc(__builtin_frame_address(0)))
		spi_child_begin_now();
	if (spi_ipc_before_send(op->channel, op->fd,
		    spi_ipc_is_datagram(op->channel->kind) ? op->position : spi_ipc_position(op), op->length))
		op->flags |= SPI_IPC_ASKED;
}

static int op_start(struct spi_ipc_op *op, uint64_t p, int fd, enum spi_ipc_end end, const struct spi_ipc_address *to,
	int64_t offset, const struct spi_ipc_data *data)
{
	struct spi_ipc_said said;

	said.offset = offset;
	op->channel = spi_ipc_channel_of_call(fd, end, to, &said);
	if (!op->channel)
		return 0;
	op->is_given = op->channel->kind == SPI_CHANNEL_OTHER && said.channel.position != SPI_CHANNEL_COUNTED;
	op->fd = fd;
	op->end = end;
	op->p = p;
	op->position = op->is_given ? said.channel.position : 0;
	op->length = spi_ipc_data_length(data);
	op->trees = spi_ipc_trees_of(op->channel->kind);
	spi_ipc_op_place(op);
	if (end == SPI_IPC_SEND && op->trees) {
		if (spi_ipc_is_datagram(op->channel->kind))
			op->position = data_hash(data, op->length);
		peer_ask(op);
	}
	spi_ipc_op_begin(op);
	return 1;
}

int spi_ipc_begin(struct spi_ipc_op *op, uint64_t p, int fd, enum spi_ipc_end end, const struct spi_ipc_address *to,
	const struct spi_ipc_data *data)
{
	op->channel = NULL;
	if (spi_unlikely(!__atomic_load_n(&spi_ipc_is_on, __ATOMIC_ACQUIRE)) || !is_programs(&spi_thread, p))
		return 0;
	return op_start(op, p, fd, end, to, -1, data);
}

int spi_ipc_begin_at(struct spi_ipc_op *op, uint64_t p, int fd, enum spi_ipc_end end, int64_t offset,
	const struct spi_ipc_data *data)
{
	op->channel = NULL;
	if (spi_unlikely(!__atomic_load_n(&spi_ipc_is_on, __ATOMIC_ACQUIRE)) || !is_programs(&spi_thread, p))
		return 0;
	return op_start(op, p, fd, end, NULL, offset, data);
}

/* A message of the call, which is counted. */
static void message_take(struct spi_ipc_op *op, int64_t result, const struct spi_ipc_data *data, uint32_t flags)
{
	struct spi_ipc_channel *channel = op->channel;
	const int is_receive = op->end == SPI_IPC_RECV, error = errno;

	op->flags |= flags;
	if (spi_ipc_is_datagram(channel->kind) && (is_receive || !op->position))
		op->position = data_hash(data, (uint64_t) result);
	if (channel->is_packets && is_receive && (uint64_t) result >= op->length)
		channel->is_aligned = 0;	/* the rest of the message, if there was one, is gone */
	if (spi_unlikely(is_receive && __atomic_load_n(&spi_tree_awaiting, __ATOMIC_ACQUIRE))) {
		spi_ipc_received(op, (uint64_t) result);
		op->trees = spi_ipc_trees_of(channel->kind);
	}
	if (op->trees)
		spi_ipc_record(op, result);
	errno = error;
}

void spi_ipc_end(struct spi_ipc_op *op, int64_t result, const struct spi_ipc_data *data, uint32_t flags)
{
	if (!op->channel)
		return;
	if (result > 0 || (result == 0 && spi_ipc_is_datagram(op->channel->kind))) {
		spi_ipc_op_end(op, (uint64_t) result);
		message_take(op, result, data, flags);
	} else if (spi_unlikely(op->flags & SPI_IPC_ASKED)) {
		__atomic_fetch_or(&op->channel->once, SPI_IPC_ASKED, __ATOMIC_RELAXED);	/* the next message says so */
	}
	spi_ipc_op_over(op);
}

/* ---- several messages with one call ---- */

int spi_ipc_message(const struct msghdr *from, struct spi_ipc_data *data, struct spi_ipc_address *to)
{
	struct msghdr message;

	if (spi_memory_copy(&message, (uint64_t) from, sizeof(message)) < 0)
		return 0;
	*data = (struct spi_ipc_data) { .parts = message.msg_iov, .count = message.msg_iovlen };
	if (!message.msg_iovlen)
		*data = (struct spi_ipc_data) { .bytes = NULL };
	*to = (struct spi_ipc_address) { message.msg_name, message.msg_namelen };
	return 1;
}

uint32_t spi_ipc_message_flags(const struct msghdr *from)
{
	int flags = 0;

	spi_memory_copy(&flags, (uint64_t) &from->msg_flags, sizeof(flags));
	return flags & MSG_TRUNC ? SPI_IPC_CUT : 0;
}

static int64_t moved_by(const struct mmsghdr *message)
{
	unsigned int moved = 0;

	spi_memory_copy(&moved, (uint64_t) &message->msg_len, sizeof(moved));
	return moved;
}

/* Each may go elsewhere. */
static void datagrams_end(struct spi_ipc_op *op, const struct mmsghdr *messages, int n)
{
	const struct spi_ipc_op first = *op;
	const int is_send = first.end == SPI_IPC_SEND;

	for (int i = 0; i < n; i++) {
		const struct msghdr *message = &messages[i].msg_hdr;
		struct spi_ipc_address to;
		struct spi_ipc_data data;

		if (!spi_ipc_message(message, &data, &to) ||
				(i && !spi_ipc_begin(op, first.p, first.fd, first.end, is_send ? &to : NULL, &data)))
			continue;
		op->begin = first.begin;
		spi_ipc_end(op, moved_by(&messages[i]), &data, is_send ? 0 : spi_ipc_message_flags(message));
	}
	spi_ipc_end(op, -1, NULL, 0);
}

/* The other end may have all of it by now: what was moved is counted at once. */
static void parts_end(struct spi_ipc_op *op, const struct mmsghdr *messages, int n)
{
	uint64_t all = 0;
	uint32_t flags;

	for (int i = 0; i < n; i++)
		all += (uint64_t) moved_by(&messages[i]);
	if (!all) {
		spi_ipc_end(op, -1, NULL, 0);
		return;
	}
	spi_ipc_op_end(op, all);
	flags = op->flags;
	for (int i = 0; i < n; i++) {
		const int64_t moved = moved_by(&messages[i]);
		struct spi_ipc_address to;
		struct spi_ipc_data data;

		if (!moved || !spi_ipc_message(&messages[i].msg_hdr, &data, &to))
			continue;
		op->flags = flags;
		op->length = spi_ipc_data_length(&data);
		message_take(
			op, moved, &data, op->end == SPI_IPC_RECV ? spi_ipc_message_flags(&messages[i].msg_hdr) : 0);
		op->position += (uint64_t) moved;
		flags &= ~SPI_IPC_ASKED;
	}
	spi_ipc_op_over(op);
}

void spi_ipc_end_many(struct spi_ipc_op *op, const struct mmsghdr *messages, int n)
{
	if (op->channel)
		(spi_ipc_is_datagram(op->channel->kind) ? datagrams_end : parts_end)(op, messages, n);
}

/* ---- a receive that was under way when the hooks came ---- */

int spi_ipc_receives(int fd)
{
	struct spi_ipc_channel *channel = spi_ipc_channel_find(fd, SPI_IPC_RECV, NULL);

	if (channel)
		spi_ipc_channel_leave(channel);
	return channel != NULL;
}

void spi_ipc_count_from_here(int fd)
{
	struct spi_ipc_op op = {.channel = spi_ipc_channel_find(fd, SPI_IPC_RECV, NULL), .fd = fd, .end = SPI_IPC_RECV};

	if (!op.channel)
		return;
	spi_ipc_op_place(&op);
	spi_ipc_channel_leave(op.channel);
}

void spi_ipc_receive_over(const struct spi_ipc_receive *r, uint64_t p, int64_t result)
{
	struct spi_ipc_data data = { .bytes = (const void *) r->arguments[0], .length = r->arguments[1] };
	uint64_t asked = r->number == SYS_recvfrom ? r->arguments[2] : 0;
	uint32_t flags = 0;
	struct spi_ipc_channel *channel;
	struct spi_ipc_address from;
	struct spi_ipc_op op;
	int is_known;

	if (r->number == SYS_readv)
		data = (struct spi_ipc_data){.parts = (const struct iovec *) r->arguments[0], .count = r->arguments[1]};
	if (r->number == SYS_recvmsg) {
		if (!spi_ipc_message((const struct msghdr *) r->arguments[0], &data, &from))
			return;
		asked = r->arguments[1];
		flags = spi_ipc_message_flags((const struct msghdr *) r->arguments[0]);
	}
	channel = spi_ipc_channel_find(r->fd, SPI_IPC_RECV, NULL);
	if (!channel)
		return;
	/* whose call it is has been looked at, and the bytes have gone: where they were is known if it was before */
	is_known = spi_ipc_is_datagram(channel->kind) || channel->is_aligned;
	if (!(asked & (MSG_PEEK | MSG_OOB | MSG_ERRQUEUE)) && op_start(&op, p, r->fd, SPI_IPC_RECV, NULL, -1, &data))
		spi_ipc_end(&op, result, &data, flags | (is_known ? 0 : SPI_IPC_NOT_KNOWN));
	if (!is_known)
		spi_ipc_op_doubt(channel);
	spi_ipc_channel_leave(channel);
}
