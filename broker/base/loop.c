/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The loop: one epoll instance and a list of timers.
 *
 * Events are taken one at a time. That costs a system call each, and saves every handler the question whether an
 * earlier handler in the same batch has freed what the next event points to. A turn ends after each event, and after
 * the timers that are due: what the handlers have marked is looked at then.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "broker/base/base.h"

static int epoll = -1;
static struct loop_timer *timers;	/* the earliest first */

int loop_init(void)
{
	epoll = epoll_create1(EPOLL_CLOEXEC);
	return epoll < 0 ? -errno : 0;
}

uint64_t loop_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int loop_add(struct loop_source *source, int fd, uint32_t events, void (*ready)(struct loop_source *, uint32_t))
{
	struct epoll_event event = { .events = events, .data.ptr = source };

	source->fd = -1;
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		return -errno;
	source->fd = fd;
	source->ready = ready;
	return 0;
}

void loop_change(struct loop_source *source, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = source };

	if (source->fd >= 0)
		epoll_ctl(epoll, EPOLL_CTL_MOD, source->fd, &event);
}

int loop_take(struct loop_source *source)
{
	int fd = source->fd;

	if (fd >= 0)
		epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
	source->fd = -1;
	return fd;
}

void loop_remove(struct loop_source *source)
{
	int fd = loop_take(source);

	if (fd >= 0)
		close(fd);
}

void loop_timer_cancel(struct loop_timer *timer)
{
	for (struct loop_timer **at = &timers; timer->armed && *at; at = &(*at)->next) {
		if (*at != timer)
			continue;
		*at = timer->next;
		break;
	}
	timer->armed = false;
}

void loop_timer_set(struct loop_timer *timer, unsigned int ms, void (*fire)(struct loop_timer *))
{
	struct loop_timer **at = &timers;

	loop_timer_cancel(timer);
	timer->at = loop_now() + ms;
	timer->fire = fire;
	timer->armed = true;
	while (*at && (*at)->at <= timer->at)
		at = &(*at)->next;
	timer->next = *at;
	*at = timer;
}

static void run_timers(void)
{
	while (timers && timers->at <= loop_now()) {
		struct loop_timer *timer = timers;

		timers = timer->next;
		timer->armed = false;
		timer->fire(timer);
	}
}

/* In ms, until the next timer is due. -1: there is none. */
static int time_left(void)
{
	uint64_t now = loop_now();

	if (!timers)
		return -1;
	if (timers->at <= now)
		return 0;
	return timers->at - now > 60000 ? 60000 : (int) (timers->at - now);
}

int loop_run(bool (*turn)(void), bool (*done)(void))
{
	bool has_more = false;

	while (!done()) {
		struct epoll_event event;
		int n;

		run_timers();
		has_more |= turn();
		if (done())
			break;
		n = epoll_wait(epoll, &event, 1, has_more ? 0 : time_left());
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 1) {
			struct loop_source *source = event.data.ptr;

			source->ready(source, event.events);
		}
		has_more = turn();
	}
	return 0;
}
