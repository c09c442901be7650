/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the controller commands. One link at a time. It is first served by the thread that runs
 * the constructor, until GO, then by the control thread (thread.c).
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/ledger/ledger.h"
#include "liblttng-spi/process/process.h"
#include "liblttng-spi/module/module.h"
#include "liblttng-spi/rules/rules.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/tree.h"
#include "liblttng-spi/ipc/ipc.h"
#include "liblttng-spi/payload/payload.h"
#include "liblttng-spi/control/internal.h"

#define GO_MS		120000

static void answer_rule(struct spi_link *link, uint32_t id, uint32_t rule, const struct spi_rule_result *result)
{
	struct spi_msg_rule_done done = {
		rule, result->status, result->matched, result->instrumented, result->declined, result->flags,
	};

	spi_link_declined_flush(link);
	spi_link_send(link, SPI_MSG_RULE_DONE, id, &done, sizeof(done), result->text, strlen(result->text) + 1, -1);
}

static int has_packet(const struct spi_link *link)
{
	struct pollfd poll = { link->fd, POLLIN, 0 };

	return spi_sys(SYS_poll, &poll, 1L, 0L) > 0 && (poll.revents & POLLIN);
}

/* RULE_CLOSE */
static void rule_off(struct spi_link *link, uint32_t id, const struct spi_msg_rule *rule)
{
	const int is_every = (rule->flags & SPI_CLOSE_EVERY) != 0;
	struct spi_rule_off off = {
		.id = id, .flags = rule->flags, .stop = spi_entries_forget,
	};

	spi_control_lock();
	for (const struct spi_tree *tree = spi_trees; tree; tree = tree->next)
		if (!tree->enabled && (is_every ? tree->asked->tag[0] != 0 : tree->rule->id == rule->rule)) {
			off.trees |= tree->bit;
			/* the events that record a tree without a tag stay as they are */
			off.is_closed = tree->asked->tag[0] && (rule->flags & SPI_CLOSE_ALL);
		}
	spi_control_unlock();
	spi_rule_off_begin(link, &off);
}

static void channel_told(struct spi_link *link, const struct spi_msg *head, const char *body)
{
	struct spi_msg_channel_done done = { .status = -EPROTO };
	struct spi_msg_channel_told told;

	if (head->size >= sizeof(told)) {
		memcpy(&told, body, sizeof(told));
		done.status = spi_ipc_told(&told);
	}
	spi_link_send(link, SPI_MSG_CHANNEL_DONE, head->id, &done, sizeof(done), NULL, 0, -1);
}

/* 1: GO; 2: DETACH was done; 0: go on. */
static int command(struct spi_link *link, const struct spi_msg *head, char *body)
{
	static struct spi_rule_result result;	/* under the control lock */
	const int is_apart = spi_sys(SYS_gettid) != spi_sys(SYS_getpid);	/* before main() nobody else opens files */
	struct spi_msg_rule rule = { 0 };
	int stop = 0, has_answer = 0;

	if (head->type == SPI_MSG_FLUSH) {
		if (spi_payload && spi_payload->flush)
			spi_payload->flush();
		spi_link_send(link, SPI_MSG_FLUSHED, head->id, NULL, 0, NULL, 0, -1);
		return 0;
	}
	if (head->type == SPI_MSG_RENEW) {	/* spi_control_wait() does it next */
		link->refused = UINT32_MAX;
		link->renews = 1;
		return 0;
	}
	if (head->type == SPI_MSG_FIRST_ENDED) {
		spi_last_thread_first_ended();
		return 0;
	}
	body[head->size] = 0;
	if (head->size >= sizeof(rule))
		memcpy(&rule, body, sizeof(rule));
	if (head->type == SPI_MSG_RULE_CLOSE) {
		rule_off(link, head->id, &rule);
		return 0;
	}
	memset(&result, 0, sizeof(result));
	spi_control_lock();
	if (is_apart)
		spi_low_fds_hold();
	switch (head->type) {
	case SPI_MSG_RULE_ADD:
		if (spi_payload && spi_payload->attached)
			spi_payload->attached(!spi_rules);
		spi_functions_say();		/* of those that were met before: before they are called again */
		if (head->size > sizeof(rule))
			spi_rule_add(link, rule.rule, rule.flags, body + sizeof(rule), &result);
		else
			result.status = -EPROTO;
		if (link->welcome_flags & SPI_WELCOME_EXEC && !spi_env.preloaded)	/* GO is for those that wait */
			spi_exec_start_always(link);
		spi_loads_tell();
		has_answer = 1;
		break;
	case SPI_MSG_RULE_REMOVE:
		spi_rule_remove(rule.rule, &result);
		has_answer = 1;
		break;
	case SPI_MSG_RULES_KEEP:
		if (head->size >= sizeof(rule))
			spi_rules_keep((const struct spi_msg_rule_kept *) (body + sizeof(rule)),
				(head->size - sizeof(rule)) / sizeof(struct spi_msg_rule_kept), !(rule.flags & SPI_KEEP_MORE));
		rule.rule = 0;
		has_answer = 1;
		break;
	case SPI_MSG_RULE_DISABLE:
	case SPI_MSG_RULE_ENABLE:
		spi_rule_set(rule.rule, head->type == SPI_MSG_RULE_ENABLE, &result);
		has_answer = 1;
		break;
	case SPI_MSG_PEERS:
		spi_ipc_peers_take(head->id, body, head->size);
		break;
	case SPI_MSG_CHANNEL:
		channel_told(link, head, body);
		break;
	case SPI_MSG_DETACH:
		spi_control_event_end();	/* who loads something now has nothing to wait for, and nobody who would answer later */
		spi_rules_remove_all();
		/* the recording ends, too: what is under way has its exit now */
		spi_ledger_close(SPI_CALLS_OF_ALL, UINT32_MAX, spi_entries_forget);
		if (spi_payload)
			spi_payload->detached(1);
		spi_clients_removal();
		spi_exec_stop_always();
		__atomic_store_n(&spi_link_attached, 0, __ATOMIC_RELEASE);	/* the next controller may come at once */
		stop = 2;
		break;
	case SPI_MSG_GO:
		if (link->welcome_flags & SPI_WELCOME_EXEC)
			spi_exec_start_always(link);
		stop = 1;
		break;
	}
	/* before the answer, or GO, lets the program go on */
	if (is_apart)
		spi_low_fds_release();
	if (!link->pending && !has_packet(link))
		spi_map_turn_ends();
	if (has_answer)
		answer_rule(link, head->id, rule.rule, &result);
	if (stop == 2)
		spi_link_send(link, SPI_MSG_DETACHED, head->id, NULL, 0, NULL, 0, -1);
	spi_control_unlock();
	return stop;
}

/* ---- packets, one after the other ---- */

int spi_control_serve(struct spi_link *link, int timeout_ms, int stop_at_go)
{
	int may_go = 0;

	for (;;) {
		struct spi_pending *p = link->pending;
		int fd = -1, stop;
		long r;

		if (p) {
			link->pending = p->next;
			memcpy(link->packet, p->packet, p->size);
			spi_sys(SYS_munmap, p, p->bytes);
		} else {
			/* a child that began late has more to hear than that it may go: rules that went since */
			if (may_go && !has_packet(link)) {
				spi_link_goes();
				may_go = 0;
			}
			if (!stop_at_go)
				spi_control_wait(link);
			if (link->pending)
				continue;
			r = spi_link_receive(link, timeout_ms, &fd);
			if (fd >= 0)
				spi_sys(SYS_close, fd);
			if (r == -EPROTO)
				continue;
			if (r <= 0)
				return r < 0 ? (int) r : -ECONNRESET;
		}
		/* the packet buffer is used again while a rule is carried out */
		{
			const struct spi_msg *head = (const struct spi_msg *) link->packet;
			size_t bytes = sizeof(*head) + head->size + 1;
			char *copy = spi_map_pages(bytes);

			if (!copy)
				return -ENOMEM;
			memcpy(copy, link->packet, bytes - 1);
			stop = command(link, (const struct spi_msg *) copy, copy + sizeof(*head));
			spi_sys(SYS_munmap, copy, (bytes + 4095) & ~4095ul);
		}
		if (stop == 2 || (stop == 1 && stop_at_go))
			return stop;
		if (stop == 1)
			spi_control_thread_ready();
		may_go |= stop == 1;
	}
}

int spi_link_serve_until_go(struct spi_link *link)
{
	int r = spi_control_serve(link, GO_MS, 1);

	if (r != 1) {
		spi_control_lock();
		spi_rules_remove_all();
		spi_link_close(link);
		spi_control_unlock();
	}
	return r == 1 ? 0 : -ECONNRESET;
}
