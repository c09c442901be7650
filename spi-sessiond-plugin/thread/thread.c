/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The plugin's thread: one loop around poll(), which waits for the hooks (an
 * eventfd and a timer), the broker, and our own connections to the daemon, until the next
 * deadline. Nothing in it blocks but the start of the broker, for as long as
 * execve() takes. The set is made anew each time: descriptors that a forked
 * child keeps open can't leave anything behind in it, as they would in epoll.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "spi-sessiond-plugin/base/base.h"
#include "spi-sessiond-plugin/broker/broker.h"
#include "spi-sessiond-plugin/registrations/registrations.h"
#include "spi-sessiond-plugin/thread/thread.h"

#define STACK_SIZE	(256 * 1024)	/* no more of it is used than touched */
#define SET_MAX		64

static int sooner(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

static void *plugin_main(void *unused)
{
	struct pollfd set[SET_MAX];

	for (;;) {
		int64_t now = plugin_clock();
		int timeout = broker_advance(now);
		unsigned int n = 0;

		/* Afterwards: a broker that has just ended lets everybody go. */
		timeout = sooner(timeout, held_advance(now));
		timeout = sooner(timeout, ahead_advance(now));
		n += queue_poll(set);
		n += broker_poll(set + n);
		n += held_poll(set + n, SET_MAX - n);
		if (poll(set, n, timeout) <= 0)
			continue;
		queue_drain(set);
		broker_dispatch();
	}
	return NULL;
}

static int thread_start(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;
	int ret;

	if (pthread_attr_init(&attr))
		return -1;
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&thread, &attr, plugin_main, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (!ret)
		pthread_setname_np(thread, PLUGIN_THREAD);
	return ret;
}

void plugin_start(void)
{
	static bool started;

	if (!plugin_armed_is_created() || __atomic_exchange_n(&started, true, __ATOMIC_ACQ_REL))
		return;
	plugin_pid = getpid();
	broker_set_events(&thread_broker_events);
	if (queue_create() || thread_start()) {
		plugin_note("cannot start: out of descriptors or memory; nothing will be held");
		return;
	}
	plugin_arm();
	queue_wake();
}
