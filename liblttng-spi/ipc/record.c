/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The events of provider spi_ipc. They go the way of payloads' own events (tp/record/own-record.c); trees' tags pick
 * those of a session as they pick a tree's calls.
 */
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include "include/lttng/spi.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/ipc/internal.h"

enum { SENT, RECEIVED, CHANNEL, PEER, RECORDS };

#define FIELDS(...)	.field = { __VA_ARGS__ }
#define U	SPI_RECORD_UNSIGNED
#define X	SPI_RECORD_HEX
#define S	SPI_RECORD_SIGNED
#define I	SPI_RECORD_INT
#define T	SPI_RECORD_TEXT
#define MESSAGE(what) { \
	.provider = "spi_ipc", .name = what, .count = 7, .is_apart = 1, .kind = { X, U, U, S, U, I, X }, \
	FIELDS("channel", "position", "length", "result", "took", "fd", "flags") }
static struct spi_record records[RECORDS] = {
	[SENT] = MESSAGE("send"),
	[RECEIVED] = MESSAGE("recv"),
	[CHANNEL] = {.provider = "spi_ipc",
		.name = "channel",
		.count = 7,
		.is_apart = 1,
		.kind = {X, I, T, T, T, T, U},
		FIELDS("channel", "fd", "kind", "direction", "from", "to", "inode")},
	[PEER] = {.provider = "spi_ipc",
		.name = "peer",
		.count = 6,
		.is_apart = 1,
		.kind = {X, I, T, I, T, U},
		FIELDS("channel", "pid", "name", "status", "reason", "took")},
};

/* ---- the clock ---- */

static int (*kernels_clock)(clockid_t clock, struct timespec *ts);	/* in the vDSO: libc's function may be traced */

uint64_t spi_ipc_clock(void)
{
	struct timespec ts = { 0, 0 };

	if (!kernels_clock || kernels_clock(CLOCK_MONOTONIC, &ts) < 0)
		return spi_now_ns();
	return (uint64_t) ts.tv_sec * 1000000000u + (uint64_t) ts.tv_nsec;
}

void spi_ipc_records_prepare(void)
{
	const uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
	const char *why = NULL;

	if (vdso && !kernels_clock)
		kernels_clock = spi_symbol_beside("__vdso_clock_gettime", vdso);
	for (int i = 0; spi_payload && i < RECORDS; i++)
		if (!records[i].event && spi_payload->record_prepare(&records[i], &why) < 0)
			spi_note("messages are not recorded: the event spi_ipc:%s cannot be made: %s", records[i].name,
				why);
}

/* ---- texts ---- */

static const char *const kinds[SPI_CHANNEL_KINDS] = {
	[SPI_CHANNEL_NONE] = "",
	[SPI_CHANNEL_PIPE] = "pipe",
	[SPI_CHANNEL_UNIX_STREAM] = "unix",
	[SPI_CHANNEL_UNIX_DATAGRAM] = "unix-datagram",
	[SPI_CHANNEL_TCP] = "tcp",
	[SPI_CHANNEL_UDP] = "udp",
	[SPI_CHANNEL_OTHER] = "",	/* the worker's name */
};

const char *spi_ipc_kind_name(const struct spi_ipc_channel *c)
{
	return c->worker ? spi_ipc_worker_name(c->worker) : kinds[c->kind];
}

/* As RFC 5952 has it but for the longest run of zeros: the first one is left out. */
static int six_write(char *to, size_t size, const uint8_t *bytes)
{
	int n = 0, is_in_run = 0, had_run = 0;

	for (int i = 0; i < 8; i++) {
		const unsigned int word = (unsigned int) bytes[i * 2] << 8 | bytes[i * 2 + 1];
		const int is_next_zero = i < 7 && !bytes[i * 2 + 2] && !bytes[i * 2 + 3];

		if (!word && (is_in_run || (!had_run && is_next_zero))) {
			if (!is_in_run)
				n += spi_format(to + n, size - (size_t) n, i ? ":" : "::");
			is_in_run = had_run = 1;
			continue;
		}
		is_in_run = 0;
		n += spi_format(to + n, size - (size_t) n, i < 7 ? "%lx:" : "%lx", (unsigned long) word);
	}
	return n;
}

static const char *address_write(char *to, size_t size, const struct spi_msg_address *a)
{
	int n = 0;

	to[0] = 0;
	if (a->family == AF_INET6) {
		n = spi_format(to, size, "[");
		n += six_write(to + n, size - (size_t) n, a->bytes);
		spi_format(to + n, size - (size_t) n, "]:%u", (unsigned int) a->port);
	} else if (a->family) {
		spi_format(to, size, "%u.%u.%u.%u:%u", (unsigned int) a->bytes[0], (unsigned int) a->bytes[1],
			(unsigned int) a->bytes[2], (unsigned int) a->bytes[3], (unsigned int) a->port);
	}
	return to;
}

/* One end. Of a UNIX stream one of them has a path. */
static const char *end_write(char *to, size_t size, const struct spi_ipc_channel *c, int is_to)
{
	const int is_own = is_to == (int) c->is_receiver;
	const uint64_t inode = is_own ? c->inode : c->peer;

	to[0] = 0;
	if (c->kind == SPI_CHANNEL_TCP || c->kind == SPI_CHANNEL_UDP)
		return address_write(to, size, is_to ? &c->to : &c->from);
	if (c->kind == SPI_CHANNEL_PIPE)
		spi_format(to, size, "pipe:[%lu]", (unsigned long) inode);
	else if (c->worker)
		spi_format(to, size, "%s", c->path + strlen(spi_ipc_worker_name(c->worker)) + 1);
	else if (c->path[0] && is_own == (int) c->is_path_own)
		spi_format(to, size, "%s", c->path);
	else if (inode)
		spi_format(to, size, "socket:[%lu]", (unsigned long) inode);
	return to;
}

void spi_ipc_channel_text(const struct spi_ipc_channel *c, char *text, size_t size)
{
	char end[160];

	end_write(end, sizeof(end), c, !c->is_receiver);
	spi_format(text, size, "%s%s%s", spi_ipc_kind_name(c), end[0] ? " " : "", end);
}

/* ---- writing ---- */

static int is_wanted(const struct spi_record *record)
{
	const volatile int *gate = __atomic_load_n(&record->gate, __ATOMIC_ACQUIRE);

	return gate && *gate;
}

/* The thread is marked busy, and what it records is these trees'. */
static void write_as(uint32_t trees, const struct spi_record *record, uint64_t ip, const uint64_t *values)
{
	struct spi_thread *t = &spi_thread;
	const uint32_t now = t->tree_now;

	t->tree_now = trees;
	if (spi_payload->record_write(record, ip, values, NULL, 0) == -ENOBUFS)
		spi_ipc_not_followed(SPI_IPC_NOT_ROOM);
	t->tree_now = now;
}

static uint64_t id_of(const struct spi_ipc_channel *c)
{
	return c->id ? c->id : spi_ipc_id("end", c->inode, c->is_receiver);
}

static void channel_write(struct spi_ipc_channel *c, int fd, uint32_t trees)
{
	char from[160], to[160];
	uint64_t values[7];

	spi_ipc_channel_name(c, fd);
	values[0] = id_of(c);
	values[1] = (uint64_t) (int64_t) fd;
	values[2] = (uint64_t) spi_ipc_kind_name(c);
	values[3] = (uint64_t) (c->is_receiver ? "recv" : "send");
	values[4] = (uint64_t) end_write(from, sizeof(from), c, 0);
	values[5] = (uint64_t) end_write(to, sizeof(to), c, 1);
	values[6] = c->inode;
	write_as(trees, &records[CHANNEL], 0, values);
}

/*
 * May this thread record a message now? A thread's first record needs memory, and begins a forked child: a message in
 * malloc() is lost. p is no thunk's frame, so that malloc() is looked for here.
 */
static int record_begin(uint64_t p, const uint64_t *frame)
{
	struct spi_thread *t = &spi_thread;

	if (spi_unlikely(t->owed & SPI_THREAD_NEW) && !t->busy && spi_is_in_malloc(frame)) {
		spi_call_missed(SPI_LOST_MALLOC);
		return 0;
	}
	return spi_call_begin(t, p, 1);
}

void spi_ipc_record(const struct spi_ipc_op *op, int64_t result)
{
	struct spi_ipc_channel *c = op->channel;
	const struct spi_record *record = &records[op->end == SPI_IPC_SEND ? SENT : RECEIVED];
	const uint32_t late =
		op->end == SPI_IPC_SEND && __atomic_load_n(&c->is_early, __ATOMIC_RELAXED) ? SPI_IPC_LATE : 0;
	const uint32_t flags = op->flags | __atomic_exchange_n(&c->once, 0, __ATOMIC_RELAXED) | late;
	const uint64_t now = spi_ipc_clock(), took = now > op->begin ? now - op->begin : 0;
	const uint64_t values[] = {
		id_of(c), op->position, op->length, (uint64_t) result, took, (uint64_t) (int64_t) op->fd, flags};

	if (!spi_payload || !is_wanted(record) || !record_begin(op->p, __builtin_frame_address(0)))
		return;
	if (spi_unlikely(c->told != spi_ipc_era()) && is_wanted(&records[CHANNEL])) {
		c->told = spi_ipc_era();
		channel_write(c, op->fd, op->trees);
	}
	write_as(op->trees, record, spi_behind_slots(*(const uint64_t *) op->p), values);
	spi_call_end(&spi_thread);
}

void spi_ipc_record_peer(const struct spi_ipc_channel *c, int32_t pid, const char *name, int32_t status,
	const char *reason, uint64_t took)
{
	const uint64_t values[] = {id_of(c), (uint64_t) (int64_t) pid, (uint64_t) name, (uint64_t) (int64_t) status,
		(uint64_t) reason, took};
	const uint32_t trees = spi_ipc_trees_of(c->kind);
	const int error = errno;

	if (!spi_payload || !is_wanted(&records[PEER]) ||
		!record_begin((uint64_t) __builtin_frame_address(0) + 8, __builtin_frame_address(0)))
		return;
	write_as(trees, &records[PEER], 0, values);
	spi_call_end(&spi_thread);
	errno = error;
}
