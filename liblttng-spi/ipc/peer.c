/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Asking the controller which process is at the other end of a channel, before a message goes out.
 *
 * The thread that sends has a place in asks[], wakes the control thread, and waits. The control thread sends the
 * question, and takes the answer. The thread waits spi_ipc_wait_ms at most, and its message goes out in any case:
 * then the messages until the answer comes are early, which is counted and told. A controller that has not answered
 * in time is waited for no more until it does. A place whose thread is gone (cancelled, left by longjmp()) is used
 * again after a while.
 *
 * No lock: a place belongs to the thread that has made it ASK_MAKING, from ASK_WAITS on to the control thread, and
 * from ASK_ANSWERED on to the thread again.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/payload/payload.h"
#include "liblttng-spi/rules/rules.h"
#include "liblttng-spi/tree/tree.h"
#include "liblttng-spi/ipc/internal.h"

#define ASKS		64u
#define INODE_MS	200u		/* for the other end's inode alone */
#define QUIET_NS	UINT64_C(200000000)
#define KEPT_NS		UINT64_C(30000000000)	/* an answer does not come later than that */
#define TEXT		1024u
#define NAMED_MOST	32u		/* channels */

enum ask_state { ASK_FREE, ASK_MAKING, ASK_WAITS, ASK_SENT, ASK_ANSWERED };

struct ask {
	uint32_t state;			/* a futex */
	uint32_t number;		/* which question this is: the answer repeats it */
	uint32_t is_over;		/* the answer is there, or the thread has gone on: whichever came first */
	uint64_t since;
	uint64_t key;			/* the channel's */
	uint32_t trees;			/* that it is asked for */
	struct spi_msg_peer_request request;
	struct spi_msg_peers answer;
	char text[TEXT];		/* of the answer */
};

static struct ask asks[ASKS];
static uint32_t numbers;
static uint32_t refused;		/* questions for which there was no place */
static uint32_t is_mute;		/* the controller has not answered one in time, and none since */
static uint64_t quiet_until;		/* it takes no more at present: spi_now_ns() */

/* ---- the thread that sends ---- */

static struct ask *ask_claim(void)
{
	const uint64_t now = spi_now_ns();

	for (uint32_t i = 0; i < ASKS; i++) {
		uint32_t seen = __atomic_load_n(&asks[i].state, __ATOMIC_ACQUIRE);

		if (seen != ASK_FREE && (seen == ASK_WAITS || now < asks[i].since + KEPT_NS))
			continue;
		if (__atomic_compare_exchange_n(&asks[i].state, &seen, ASK_MAKING, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
			asks[i].since = now;
			asks[i].number = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
			asks[i].is_over = 0;
			return &asks[i];
		}
	}
	__atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
	return NULL;
}

/*
 * The ids of these trees' rules. Trees may come and go meanwhile: the control thread alone may read their list. A
 * payload's own rules are none of the controller's.
 */
static void rules_fill(struct ask *ask, uint32_t trees)
{
	ask->request.nr_rules = 0;
	for (const struct spi_tree *tree = spi_trees; tree && ask->request.nr_rules < SPI_PEER_RULES_MAX; tree = tree->next)
		if (tree->bit & trees && !tree->rule->is_agents)
			ask->request.rules[ask->request.nr_rules++] = tree->rule->id;
}

/* 0: the answer is in the place. Else it is the control thread's, which frees it. */
static int ask_wait(struct ask *ask, uint32_t ms)
{
	const uint64_t until = spi_now_ns() + (__atomic_load_n(&is_mute, __ATOMIC_RELAXED) ? 0 : ms * UINT64_C(1000000));
	uint32_t seen;

	__atomic_store_n(&ask->state, ASK_WAITS, __ATOMIC_RELEASE);
	spi_control_ring();
	while ((seen = __atomic_load_n(&ask->state, __ATOMIC_ACQUIRE)) != ASK_ANSWERED) {
		const uint64_t now = spi_now_ns();

		if (now >= until) {
			if (__atomic_exchange_n(&ask->is_over, 1, __ATOMIC_ACQ_REL)) {
				spi_word_wait(&ask->state, ASK_SENT, INODE_MS);	/* the answer is being handed over */
				return 0;
			}
			if (ms >= spi_ipc_wait_ms)
				__atomic_store_n(&is_mute, 1, __ATOMIC_RELAXED);
			return -ETIMEDOUT;
		}
		spi_word_wait(&ask->state, seen, (uint32_t) ((until - now) / 1000000) + 1);
	}
	return 0;
}

static void ask_free(struct ask *ask)
{
	__atomic_store_n(&ask->state, ASK_FREE, __ATOMIC_RELEASE);
}

static int32_t number_of(const char *text)
{
	return *text == '-' ? -(int32_t) spi_parse_number(text + 1, NULL) : (int32_t) spi_parse_number(text, NULL);
}

/* "PID\tNAME\tSTATUS\tREASON\n", one a process at the other end. */
static void peers_tell(const struct spi_ipc_channel *channel, char *text, uint64_t took)
{
	for (char *line = text, *next; *line; line = next) {
		char *field[4] = { line };
		unsigned int n = 1;

		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = 0;
		for (char *at = line; n < 4 && *at; at++)
			if (*at == '\t') {
				*at = 0;
				field[n++] = at + 1;
			}
		if (n == 4)
			spi_ipc_record_peer(channel, number_of(field[0]), field[1], number_of(field[2]), field[3], took);
	}
}

/* The processes that the text names. */
static void peers_keep(struct spi_ipc_channel *channel, const char *text)
{
	uint32_t n = 0;

	for (const char *line = text; *line && n < SPI_PEER_PIDS_MAX;) {
		const int32_t pid = number_of(line);

		if (pid > 0 && line[strspn(line, "0123456789")] == '\t')
			__atomic_store_n(&channel->pids[n++], pid, __ATOMIC_RELAXED);
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
}

static struct ask *ask_make(const struct spi_ipc_channel *channel, int fd, uint32_t flags, uint32_t trees)
{
	struct ask *ask = __atomic_load_n(&spi_control_event, __ATOMIC_ACQUIRE) < 0 ? NULL : ask_claim();

	if (!ask)
		return NULL;
	ask->key = channel->key;
	memset(&ask->request, 0, sizeof(ask->request));
	ask->request.flags = flags;
	ask->request.deadline_ms = spi_ipc_wait_ms;
	ask->request.descriptor = (uint32_t) fd + 1;
	ask->trees = trees;
	spi_ipc_channel_fill(channel, &ask->request.channel);
	return ask;
}

/* ---- nobody is there to be asked ---- */

/*
 * There is no controller, or none of the payloads' trees is the controller's. The user is told of each such channel,
 * where payloads write.
 */
static uint32_t nobodys, nobodys_told;	/* such channels */

static void nobody_looks(struct spi_ipc_channel *channel, uint32_t trees)
{
	char name[200], line[400];
	uint32_t n;

	if (!channel || !(trees & spi_client_trees) || __atomic_exchange_n(&channel->is_named, 1, __ATOMIC_ACQ_REL))
		return;
	n = __atomic_fetch_add(&nobodys, 1, __ATOMIC_RELAXED);
	if (n >= NAMED_MOST)
		return;
	spi_ipc_channel_text(channel, name, sizeof(name));
	spi_format(line, sizeof(line), "messages to %s: nobody looks for the process at the other end, and brings the "
		"payload in: lttng trace --payload FILE --tree --ipc COMMAND does", name);
	spi_client_say(line);
}

void spi_ipc_alone_tell(void)
{
	const uint32_t n = __atomic_load_n(&nobodys, __ATOMIC_RELAXED);
	char line[100];

	if (n <= NAMED_MOST || __atomic_exchange_n(&nobodys_told, 1, __ATOMIC_ACQ_REL))
		return;
	spi_format(line, sizeof(line), "messages to %u more channels: nobody looks for the processes at the other ends",
		n - NAMED_MOST);
	spi_client_say(line);
}

/* ---- the question before a first message ---- */

static int is_quiet(void)
{
	const uint64_t until = __atomic_load_n(&quiet_until, __ATOMIC_RELAXED);

	return until && spi_now_ns() < until;
}

/* 1: the controller was asked; -EBUSY: and takes no more at present. */
static int others_bring(struct spi_ipc_channel *channel, int fd, uint64_t position, uint64_t length)
{
	const uint64_t begin = spi_now_ns();
	const uint32_t trees = spi_ipc_trees_of(channel->kind);
	struct ask *ask = ask_make(channel, fd, 0, trees);
	int r = 1;

	if (!ask && !spi_link_current)
		nobody_looks(channel, trees);
	if (!ask)
		return 0;
	ask->request.channel.position = position;
	ask->request.channel.length = length;
	__atomic_store_n(&channel->is_early, 1, __ATOMIC_RELEASE);
	if (ask_wait(ask, spi_ipc_wait_ms) == 0) {
		if (ask->answer.inode)
			__atomic_store_n(&channel->peer, ask->answer.inode, __ATOMIC_RELEASE);
		__atomic_store_n(&channel->is_early, ask->answer.ready ? 0 : 1, __ATOMIC_RELEASE);
		peers_keep(channel, ask->text);
		peers_tell(channel, ask->text, spi_now_ns() - begin);
		r = ask->answer.status == -EBUSY ? -EBUSY : 1;
		ask_free(ask);
	}
	if (r < 0)
		__atomic_store_n(&quiet_until, spi_now_ns() + QUIET_NS, __ATOMIC_RELAXED);
	return r;
}

/*
 * Others that send on the channel meanwhile wait as well: theirs are messages that the peer is to have, too. A thread that is gone
 * has them wait no longer than it would have waited itself.
 */
static int is_first(struct spi_ipc_channel *channel, uint32_t epoch)
{
	const uint64_t now = spi_now_ns(), until = __atomic_load_n(&channel->asking, __ATOMIC_ACQUIRE);
	uint64_t seen = until;

	if (until <= now)
		return __atomic_compare_exchange_n(&channel->asking, &seen, now + spi_ipc_wait_ms * UINT64_C(1000000), 0, __ATOMIC_ACQ_REL,
			__ATOMIC_RELAXED);
	while (spi_now_ns() < until && __atomic_load_n(&channel->is_asked, __ATOMIC_ACQUIRE) != epoch &&
			__atomic_load_n(&channel->asking, __ATOMIC_ACQUIRE) == until)
		spi_sleep_us(200);
	return 0;
}

int spi_ipc_before_send(struct spi_ipc_channel *channel, int fd, uint64_t position, uint64_t length)
{
	const uint32_t epoch = (uint32_t) __atomic_load_n(&spi_tree_epoch, __ATOMIC_ACQUIRE);
	int asked;

	if (spi_unlikely(is_quiet())) {
		__atomic_store_n(&channel->is_early, 1, __ATOMIC_RELEASE);
		__atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
		return 0;		/* the next message there asks */
	}
	if (!is_first(channel, epoch))
		return 0;
	asked = spi_ipc_worker_injects(channel, position) ? 1 : others_bring(channel, fd, position, length);
	spi_ipc_worker_remote(channel, position, 1);
	if (asked != -EBUSY)		/* else the next message there asks */
		__atomic_store_n(&channel->is_asked, epoch, __ATOMIC_RELEASE);
	__atomic_store_n(&channel->asking, 0, __ATOMIC_RELEASE);
	return asked > 0;
}

void spi_ipc_know_peer(struct spi_ipc_channel *channel, int fd)
{
	struct ask *ask = ask_make(channel, fd, SPI_PEER_ASKED_BY_RECEIVER, 0);

	if (!ask || ask_wait(ask, INODE_MS) < 0)
		return;
	if (ask->answer.inode)
		__atomic_store_n(&channel->peer, ask->answer.inode, __ATOMIC_RELEASE);
	ask_free(ask);
}

/* ---- the control thread ---- */

/* 0: the thread takes the answer; 1: it has gone on. */
static int ask_answer(struct ask *ask)
{
	if (__atomic_exchange_n(&ask->is_over, 1, __ATOMIC_ACQ_REL))
		return 1;
	spi_word_set(&ask->state, ASK_ANSWERED);
	return 0;
}

/* None of its trees is the controller's. */
static void ask_is_nobodys(const struct ask *ask)
{
	struct spi_ipc_channel *channel = spi_ipc_channel_by_key(ask->key);

	nobody_looks(channel, ask->trees);
	if (channel)
		spi_ipc_channel_leave(channel);
}

void spi_ipc_asks_send(struct spi_link *link)
{
	static uint32_t told;
	const uint32_t now = __atomic_load_n(&refused, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < ASKS; i++) {
		struct ask *ask = &asks[i];
		int r;

		if (__atomic_load_n(&ask->state, __ATOMIC_ACQUIRE) != ASK_WAITS)
			continue;
		rules_fill(ask, ask->trees);
		ask->state = ASK_SENT;
		if (ask->trees && !ask->request.nr_rules)
			ask_is_nobodys(ask);
		r = link && (ask->request.nr_rules || !ask->trees) ? spi_link_send(link, SPI_MSG_PEER_REQUEST, ask->number,
			&ask->request, sizeof(ask->request), NULL, 0, -1) : -ENOTCONN;
		if (r < 0) {
			memset(&ask->answer, 0, sizeof(ask->answer));
			ask->answer.status = r;
			ask->text[0] = 0;
			if (ask_answer(ask))
				ask_free(ask);
		}
	}
	if (now != told)
		spi_note("%u messages went out before the processes at the other ends were looked for: too many at a time", now - told);
	told = now;
}

/* The thread's message has gone out, and so have others perhaps. */
static void late_tell(struct ask *ask)
{
	struct spi_ipc_channel *channel = spi_ipc_channel_by_key(ask->key);

	if (channel) {
		if (ask->answer.inode)
			__atomic_store_n(&channel->peer, ask->answer.inode, __ATOMIC_RELEASE);
		__atomic_store_n(&channel->is_early, ask->answer.ready ? 0 : 1, __ATOMIC_RELEASE);
		peers_keep(channel, ask->text);
		spi_ipc_channel_leave(channel);
	}
	spi_note("messages went out before the process at the other end was under the rule, %u ms after the first of them: %.*s",
		(uint32_t) ((spi_now_ns() - ask->since) / 1000000), (int) strcspn(ask->text, "\n"), ask->text);
}

void spi_ipc_peers_take(uint32_t number, const char *body, size_t size)
{
	for (uint32_t i = 0; i < ASKS; i++) {
		struct ask *ask = &asks[i];
		size_t n = size - sizeof(ask->answer);

		if (size < sizeof(ask->answer) || ask->number != number || __atomic_load_n(&ask->state, __ATOMIC_ACQUIRE) != ASK_SENT)
			continue;
		n = n < TEXT - 1 ? n : TEXT - 1;
		memcpy(&ask->answer, body, sizeof(ask->answer));
		memcpy(ask->text, body + sizeof(ask->answer), n);
		ask->text[n] = 0;
		__atomic_store_n(&is_mute, 0, __ATOMIC_RELAXED);
		if (ask_answer(ask)) {
			if (!(ask->request.flags & SPI_PEER_ASKED_BY_RECEIVER))
				late_tell(ask);
			ask_free(ask);
		}
		return;
	}
}

/* In the child: the parent's threads wait there. */
void spi_ipc_asks_fork_child(void)
{
	memset(asks, 0, sizeof(asks));
	is_mute = nobodys = nobodys_told = 0;
}
