/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a worker process does: one injection after the other.
 *
 * The worker takes the target's user and group ids before it touches the target, and keeps no capability: whatever
 * the target has prepared for it, it meets somebody with the target's own rights. Who the target is was learnt while
 * a pidfd held the target. The worker is told to refuse anything else that it finds under that number.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "broker/inject/internal.h"
#include "injector/inject/inject.h"

#define FIRST_NICE	-20

/* One injection, from the order to the answer. */
struct turn {
	int refused;		/* the worker could not take its user's id */
	uid_t uid;
	bool answered, over;	/* over: the broker is gone, or wants no more */
};

static void answer(struct turn *turn, struct outcome *outcome, int fd)
{
	turn->answered = true;
	if (packet_send(CHILD_FD, outcome, sizeof(*outcome), &fd, !outcome->ret && fd >= 0))
		turn->over = true;
	if (fd >= 0)
		close(fd);
}

/*
 * At once: the agent waits for us by now, and what the injector has to put away takes as long as a tenth of an
 * injection.
 */
static void take_result(int ret, const struct spi_inject_result *result, void *data)
{
	struct outcome outcome = { .ret = ret, .already = result->already, .begun = result->begun };

	snprintf(outcome.text, sizeof(outcome.text), "%s", result->text);
	answer(data, &outcome, result->fd);
}

static void work_once(struct turn *turn, const struct order *order)
{
	struct spi_inject_options options = {
		.size = sizeof(options),
		.flags = SPI_INJECT_ATTACH | SPI_INJECT_EXPECT_UID | SPI_INJECT_ON_CALLER |
			 (order->at_start == AT_START ? SPI_INJECT_AT_START : 0),
		.deadline_ms = order->deadline_ms, .again_ms = order->again_ms,
		.expect_uid = order->facts.uids[1], .expect_start_time = order->facts.start_time,
		.finished = take_result, .data = turn,
	};
	struct spi_inject_result result = { .size = sizeof(result), .fd = -1 };
	struct outcome outcome = { .ret = turn->refused };

	for (int i = 1; i < 4; i++)
		if (order->facts.uids[i] != order->facts.uids[0] || order->facts.gids[i] != order->facts.gids[0])
			outcome.ret = -EPERM;
	if (turn->refused)
		snprintf(outcome.text, sizeof(outcome.text), "cannot take its user id %u: %s", turn->uid,
			 strerror(-turn->refused));
	else if (outcome.ret)
		snprintf(outcome.text, sizeof(outcome.text), "runs with user or group ids of several users");
	else
		outcome.ret = spi_inject(order->facts.pid, &options, &result);
	if (!turn->answered)
		answer(turn, &outcome, -1);
}

/* A thread for each order, which is there before it comes. With its end the kernel lets go what it traces. */
static void *work_turn(void *data)
{
	struct turn *turn = data;
	struct order order;
	unsigned int nr_fds;

	turn->answered = false;
	do {
		if (packet_receive(CHILD_FD, &order, sizeof(order), NULL, 0, &nr_fds) != sizeof(order))
			turn->over = true;
		else if (order.at_start == AT_START_STOP && order.facts.pid)
			spi_inject_stop(order.facts.pid);
		else if (order.at_start != AT_START_STOP)
			work_once(turn, &order);
	} while (!turn->over && order.at_start == AT_START_STOP && order.facts.pid);
	return NULL;
}

int injector_work(void *data)
{
	const struct identity *identity = data;
	struct turn turn = { .uid = identity->uid };
	pthread_t thread;
	sigset_t all;

	/* A program is not to be over its first calls before it is stopped. Later this is not permitted. */
	setpriority(PRIO_PROCESS, 0, FIRST_NICE);
	turn.refused = identity->become ? become(identity->uid, identity->gid) : 0;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	while (!turn.over && !pthread_create(&thread, NULL, work_turn, &turn))
		pthread_join(thread, NULL);
	return !turn.over;
}
