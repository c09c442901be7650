/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Do the counts of a channel's two ends agree with what the kernel knows? They are compared when a process meets the
 * channel: TCP counts itself; of pipes and UNIX streams the two ends' counts differ by what is queued (positions
 * never fall for that).
 *
 * Where calls are under way nothing can be compared, and the count is trusted if all that the channel ever carried
 * was counted (SPI_IPC_BORN), or this end's count has agreed before. Else positions are not known until it can be.
 */
#include <errno.h>
#include <netinet/in.h>
#include <linux/tcp.h>
#include <string.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "liblttng-spi/module/module.h"
#include "liblttng-spi/ipc/internal.h"

#define LOOKS		8u
#define WAITED_US	1000u
#define SETTLED_NS	UINT64_C(100000000)
#define RECHECK		64u		/* calls of one end */

/* ---- what the kernel knows ---- */

static long queued_by(int fd, unsigned long what)
{
	int n = 0;
	long r = spi_raw3(SYS_ioctl, (uint64_t) fd, what, (uint64_t) &n);

	return r < 0 ? r : n;
}

/* Bytes of this end of a TCP connection so far; -1: not to be had. The queue moves while it is asked for. */
static int64_t tcp_position(int fd, enum spi_ipc_end end)
{
	const unsigned long what = end == SPI_IPC_RECV ? SIOCINQ : SIOCOUTQ;
	long before = queued_by(fd, what);

	for (uint32_t i = 0; i < LOOKS && before >= 0; i++) {
		struct tcp_info info;
		socklen_t size = sizeof(info);
		uint64_t written;
		long after;

		memset(&info, 0, sizeof(info));
		if (spi_raw6(SYS_getsockopt, (uint64_t) fd, IPPROTO_TCP, TCP_INFO, (uint64_t) &info, (uint64_t) &size,
			    0) < 0 ||
			size < offsetof(struct tcp_info, tcpi_bytes_retrans) + 8)
			return -1;
		after = queued_by(fd, what);
		if (after != before) {
			before = after;
			continue;
		}
		if (end == SPI_IPC_RECV)	/* the other end's FIN counts */
			return (int64_t) (info.tcpi_bytes_received - (uint64_t) after -
					  (info.tcpi_state == 6 || info.tcpi_state >= 7));
		/* the end that has connected has had its SYN acknowledged */
		written = info.tcpi_bytes_acked + (uint64_t) after;
		return (int64_t) (info.tcpi_bytes_sent - info.tcpi_bytes_retrans + info.tcpi_notsent_bytes == written
					  ? written
				  : written ? written - 1
					    : 0);
	}
	return -1;
}

/*
 * Bytes that are between the two ends; *is_exact: no more and no fewer. What a UNIX sender can ask for is memory, and
 * at least as much as that.
 */
static int64_t queue_of(const struct spi_ipc_channel *channel, int fd, int *is_exact)
{
	const int is_out = channel->kind == SPI_CHANNEL_UNIX_STREAM && !channel->is_receiver;
	long n = queued_by(fd, is_out ? SIOCOUTQ : FIONREAD);

	*is_exact = !is_out || !n;
	return n;
}

/* ---- agreement ---- */

/* This process's end of TCP; both ends of all else. */
struct words {
	uint64_t word[2];
};

static struct words words_of(const struct spi_ipc_channel *channel)
{
	struct words now = { { 0, 0 } };

	for (uint32_t end = 0; end < 2; end++)
		if (channel->kind != SPI_CHANNEL_TCP || end == channel->is_receiver)
			now.word[end] = __atomic_load_n(&channel->place->end[end].word, __ATOMIC_SEQ_CST);
	return now;
}

/* 0: a call has moved it since it was `from`. */
static int position_move(struct spi_ipc_place *place, enum spi_ipc_end end, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(
		&place->end[end].position, &from, to, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* What is queued lies between them. Positions never fall. */
static int positions_meet(struct spi_ipc_place *place, uint64_t sent, uint64_t received, int64_t queued)
{
	if ((int64_t) (sent - received) > queued)
		return position_move(place, SPI_IPC_RECV, received, sent - (uint64_t) queued);
	return position_move(place, SPI_IPC_SEND, sent, received + (uint64_t) queued);
}

static void state_change(struct spi_ipc_place *place, uint32_t off, uint32_t on)
{
	__atomic_fetch_and(&place->state, ~off, __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&place->state, on, __ATOMIC_SEQ_CST);
}

/*
 * While calls are under way it proves nothing that the counts agree with the queue: a message may be out that its sender
 * has not counted yet, and that its receiver, whose call nobody saw begin, never will. The other way round receivers
 * that all count wait for what a sender has sent before it was seen; those that have it are back from the kernel soon,
 * and are given time for that.
 */
static int may_wait(const struct spi_ipc_place *place, enum spi_ipc_end own)
{
	return own == SPI_IPC_SEND && place->state & (SPI_IPC_BORN | SPI_IPC_AGREED(SPI_IPC_RECV));
}

/*
 * A rule has come to a process that uses the channel. A call that was under way as the hooks came moves its bytes
 * uncounted, and nobody sees when. Most are over soon; for others see recheck().
 */
static void join(struct spi_ipc_place *place, enum spi_ipc_end own)
{
	uint64_t seen = __atomic_load_n(&place->joined, __ATOMIC_RELAXED);

	while (seen < spi_ipc_joined)
		if (__atomic_compare_exchange_n(&place->joined, &seen, spi_ipc_joined, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
			state_change(place, SPI_IPC_AGREED(own), 0);	/* what was counted by an earlier trace */
			return;
		}
}

static int is_settled(const struct spi_ipc_place *place)
{
	const uint64_t joined = __atomic_load_n(&place->joined, __ATOMIC_RELAXED);

	return !joined || spi_now_ns() >= joined + SETTLED_NS;
}

/* Positions as they must be, without anybody's call in between. 0: they are not known now. */
static int align(struct spi_ipc_channel *channel, int fd, int is_new)
{
	struct spi_ipc_place *place = channel->place;
	const enum spi_ipc_end own = (enum spi_ipc_end) channel->is_receiver;
	const int is_counted = (place->state & (SPI_IPC_BORN | SPI_IPC_AGREED(own))) != 0;
	int has_waited = 0;

	for (uint32_t i = 0; i < LOOKS && (is_counted || channel->kind == SPI_CHANNEL_TCP || is_settled(place)); i++) {
		const struct words before = words_of(channel);
		const int is_tcp = channel->kind == SPI_CHANNEL_TCP,
			  is_busy = ((before.word[0] | before.word[1]) & SPI_IPC_UNDER_WAY) != 0;
		const uint64_t sent = place->end[SPI_IPC_SEND].position, received = place->end[SPI_IPC_RECV].position;
		struct words after;
		int is_exact = 1;
		int64_t now;

		if (is_tcp && is_busy)
			return is_counted;
		now = is_tcp ? tcp_position(fd, (enum spi_ipc_end) channel->is_receiver)
			     : queue_of(channel, fd, &is_exact);
		if (now < 0)
			return 0;
		after = words_of(channel);
		if (after.word[0] != before.word[0] || after.word[1] != before.word[1])
			continue;
		if (is_tcp) {
			if (!position_move(place, own, own == SPI_IPC_SEND ? sent : received, (uint64_t) now))
				continue;
		} else if (is_busy || (!is_exact && !is_new)) {
			const int agrees = is_exact && (int64_t) (sent - received) == now;

			if (agrees && !is_counted && !has_waited && may_wait(place, own)) {
				has_waited = 1;
				spi_sleep_us(WAITED_US);
				continue;
			}
			if (!agrees || !has_waited)
				break;		/* the other end will say */
		} else if (!positions_meet(place, sent, received, now)) {
			continue;
		}
		state_change(place, SPI_IPC_WANTED(own), SPI_IPC_AGREED(own));
		return 1;
	}
	if (!is_counted)
		state_change(place, 0, SPI_IPC_WANTED(own));
	return is_counted;
}

/* What is queued, with nobody's call in between or under way, and the positions then. -1: that cannot be had now. */
static int64_t quiet_queue(const struct spi_ipc_channel *channel, int fd, uint64_t position[2])
{
	const struct words before = words_of(channel);
	struct words after;
	int64_t queued;
	int is_exact;

	for (uint32_t end = 0; end < 2; end++)
		position[end] = channel->place->end[end].position;
	queued = queue_of(channel, fd, &is_exact);
	after = words_of(channel);
	return is_exact && !((before.word[0] | before.word[1]) & SPI_IPC_UNDER_WAY) && after.word[0] == before.word[0] &&
		after.word[1] == before.word[1] ? queued : -1;
}

/* The other end is never seen idle by those who use it: this one is behind it now, or before it. */
static void other_align(struct spi_ipc_channel *channel, int fd)
{
	const enum spi_ipc_end own = (enum spi_ipc_end) channel->is_receiver, other = (enum spi_ipc_end) !own;
	uint64_t position[2];
	const int64_t queued = quiet_queue(channel, fd, position);

	if (queued >= 0 && position_move(channel->place, other, position[other],
			position[own] + (uint64_t) (own == SPI_IPC_RECV ? queued : -queued)))
		state_change(channel->place, SPI_IPC_WANTED(other), SPI_IPC_AGREED(other));
}

/* Do the counts still agree with the queue? What nobody has counted since is put right. */
static void recheck(struct spi_ipc_channel *channel, int fd)
{
	uint64_t position[2];
	const int64_t queued = quiet_queue(channel, fd, position);

	if (queued >= 0 && (int64_t) (position[SPI_IPC_SEND] - position[SPI_IPC_RECV]) != queued &&
			positions_meet(channel->place, position[SPI_IPC_SEND], position[SPI_IPC_RECV], queued))
		spi_ipc_not_followed(SPI_IPC_NOT_COUNTED);
}

void spi_ipc_compare(struct spi_ipc_channel *channel, int fd, uint64_t word)
{
	const struct spi_ipc_place *place = channel->place;

	if (!channel->is_aligned || channel->kind == SPI_CHANNEL_OTHER || !place)
		return;
	if (place->state & SPI_IPC_WANTED(!channel->is_receiver) && is_settled(place))
		other_align(channel, fd);
	else if (place->joined && word / SPI_IPC_BEGUN % RECHECK == 0 && channel->kind != SPI_CHANNEL_TCP)
		recheck(channel, fd);
}

void spi_ipc_op_doubt(struct spi_ipc_channel *channel)
{
	channel->is_aligned = 0;
	if (channel->place)
		state_change(channel->place, SPI_IPC_BORN | SPI_IPC_AGREED(channel->is_receiver), 0);
}

struct spi_ipc_place *spi_ipc_place_of(struct spi_ipc_channel *channel, int fd)
{
	struct spi_ipc_place *place = __atomic_load_n(&channel->place, __ATOMIC_ACQUIRE);
	int is_new;

	if (spi_likely(place && place->id == channel->id && channel->is_aligned))
		return place;
	if (!channel->id)
		return NULL;
	place = spi_ipc_place_find(channel->id, &is_new);
	if (!place)
		return NULL;
	__atomic_store_n(&channel->place, place, __ATOMIC_RELEASE);
	if (spi_unlikely(spi_ipc_joined))
		join(place, (enum spi_ipc_end) channel->is_receiver);
	/* of a worker's channel the kernel says nothing */
	channel->is_aligned = channel->kind == SPI_CHANNEL_OTHER || align(channel, fd, is_new);
	return place;
}

void spi_ipc_born(int fd)
{
	uint32_t kind;
	const uint64_t id = spi_ipc_born_id(fd, &kind);
	int is_new;
	struct spi_ipc_place *place = id && spi_ipc_follows(kind) ? spi_ipc_place_find(id, &is_new) : NULL;

	if (!place)
		return;
	if (spi_ipc_place_is_idle(place))	/* else the other end is there already, and waits */
		for (uint32_t end = 0; end < 2; end++)
			__atomic_store_n(&place->end[end].position, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&place->state, SPI_IPC_BORN, __ATOMIC_SEQ_CST);
}

/* ---- what the sender's side says of this end ---- */

static int is_end(int fd, const struct spi_msg_channel *said)
{
	struct stat st;

	return spi_raw3(SYS_fstat, (uint64_t) fd, (uint64_t) &st, 0) == 0 && st.st_ino == said->receiver &&
		(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

/*
 * The sender counts in this memory as well, unless it is another user's. It waits now, so the ends can be compared, while the first
 * receive may come before the sender has counted what it brings. That receive looks again all the same, in the thread that makes
 * it: one that nobody has seen begin may be under way now.
 */
static int said_take(struct spi_ipc_channel *channel, int fd, const struct spi_msg_channel *said)
{
	struct spi_ipc_place *place;
	long queued;
	int is_new;

	if (channel->kind == SPI_CHANNEL_TCP)
		return 0;
	place = channel->id ? spi_ipc_place_find(channel->id, &is_new) : NULL;
	if (!place)
		return -ENOENT;
	__atomic_store_n(&channel->place, place, __ATOMIC_RELEASE);
	if (place->end[SPI_IPC_SEND].position >= said->position) {
		if (!channel->is_aligned)
			align(channel, fd, is_new);
		return 0;
	}
	for (uint32_t i = 0; i < LOOKS; i++) {
		const uint64_t before = __atomic_load_n(&place->end[SPI_IPC_RECV].word, __ATOMIC_SEQ_CST);

		queued = queued_by(fd, FIONREAD);
		if (queued < 0)
			return (int) queued;
		if (__atomic_load_n(&place->end[SPI_IPC_RECV].word, __ATOMIC_SEQ_CST) != before)
			continue;
		__atomic_store_n(&place->end[SPI_IPC_SEND].position, said->position, __ATOMIC_SEQ_CST);
		__atomic_store_n(
			&place->end[SPI_IPC_RECV].position, said->position - (uint64_t) queued, __ATOMIC_SEQ_CST);
		channel->is_aligned = 1;
		return 0;
	}
	return -EAGAIN;
}

static int end_align(int fd, const struct spi_msg_channel *said)
{
	struct spi_ipc_channel *channel = spi_ipc_channel_find(fd, SPI_IPC_RECV, NULL);
	int r = 0;

	if (!channel)
		return -ENOENT;
	if (channel->kind == SPI_CHANNEL_UNIX_STREAM && !channel->id && said->sender) {
		channel->peer = said->sender;
		channel->id = spi_ipc_id("unix", said->sender, 0);
	}
	if (!spi_ipc_is_datagram(channel->kind))
		r = said_take(channel, fd, said);
	spi_ipc_channel_leave(channel);
	return r;
}

/* A worker's channel whose bytes the agent counts: they are counted from here, unless somebody here has done so before. */
static int counted_align(const struct spi_msg_channel *said)
{
	char worker[16];
	int is_new;
	struct spi_ipc_place *place;

	spi_format(worker, sizeof(worker), "%.*s", (int) strcspn(said->path, " "), said->path);
	place = spi_ipc_place_find(spi_ipc_id(worker, said->sender, 0), &is_new);
	if (!place)
		return -ENOMEM;
	if (!__atomic_load_n(&place->end[SPI_IPC_RECV].word, __ATOMIC_SEQ_CST))
		__atomic_store_n(&place->end[SPI_IPC_RECV].position, said->position, __ATOMIC_SEQ_CST);
	return 0;
}

int spi_ipc_align(const struct spi_msg_channel *said)
{
	char path[SPI_PROC_PATH];
	struct spi_numbers fds;
	int r = -ENOENT;

	if (said->kind == SPI_CHANNEL_OTHER)
		return counted_align(said);
	if (spi_numbers_open(&fds, spi_proc_path(path, "fd")) < 0)
		return -ENOENT;
	while (r == -ENOENT && spi_numbers_next(&fds))
		if (fds.number != fds.dir && is_end(fds.number, said))
			r = end_align(fds.number, said);
	spi_numbers_close(&fds);
	return r;
}
