/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * spi-broker: what turns event rules into instrumented processes.
 *
 * The session daemon's plugin starts the broker with a socket as descriptor 3. The broker lives as long as that
 * socket's other end. `lttng trace --payload` starts one for itself, for programs by name and for messages, which
 * only finds processes and brings the agent in (SPI_BROKER_FIND). The broker has one thread and one loop. What may
 * block, or reads what others wrote, is done by children: asking the daemon (rules/querier.c), reading its answers
 * (rules/xml-rules.c), injecting (inject/injector.c), analysing programs (spi-codemap). What a process should do
 * follows from the rules each time anew (process/look.c), so a crash loses nothing but time.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "broker/base/base.h"
#include "broker/inject/inject.h"
#include "broker/io/io.h"
#include "broker/peers/peers.h"
#include "broker/process/process.h"
#include "broker/rules/rules.h"
#include "broker/scope/scope.h"

/* ---- start and end ------------------------------------------------------------------------ */

static bool started_by_plugin(void)
{
	int type = 0;
	socklen_t size = sizeof(type);

	return !getsockopt(SPI_BROKER_FD, SOL_SOCKET, SO_TYPE, &type, &size) && type == SOCK_SEQPACKET;
}

/*
 * Programs wait for us before their main(), and all we do is short: on a busy
 * machine we go before others. Children are not to: RESET_ON_FORK.
 */
static void go_first(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t unused[3];
	} attributes = { .size = sizeof(attributes), .flags = 1 /* SCHED_FLAG_RESET_ON_FORK */, .nice = -10 };

	syscall(SYS_sched_setattr, 0, &attributes, 0);
}

/* Descriptors 0 to 2 are open, whatever we were given. */
static void settle(void)
{
	struct rlimit files;
	int fd = open("/dev/null", O_RDWR);

	while (fd >= 0 && fd < 3)
		fd = dup(fd);
	if (fd >= 3)
		close(fd);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	go_first();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);	/* memory that is shared with agents counts as a file */
	umask(077);
}

static bool is_over(void)
{
	/* A plugin's end is the daemon's. A front end ends while programs start as ever, and no target is let down. */
	return daemon_is_gone() && !spi_control_count(agents_control()) &&
	       (!the_daemon()->is_front_end || injections_are_over());
}

/* A front end waits for those that ran as it began. */
static void tell_looked(void)
{
	static bool told;

	if (told || !the_daemon()->is_front_end || !injections_are_over())
		return;
	told = true;
	plugin_looked();
}

/* What the handlers of this turn have left to do. */
static bool turn(void)
{
	processes_look();
	peers_settle();
	injections_advance();
	if (!processes_are_marked())
		tell_looked();
	return processes_are_marked();
}

static void rules_taken(bool is_other)
{
	if (is_other) {
		scope_update();
		peers_rules_changed();
	}
	processes_mark();
}

/* What a lower room wants of a higher one. */
static int rooms_open(void)
{
	static const struct rules_hooks rules = { .answered = disabling_recall, .taken = rules_taken };
	static const struct process_hooks hooks = {
		.inject = injection_want, .drop = injection_drop, .begun = injection_begun, .slipped = scope_look_soon,
		.looked = peers_looked, .ends = peers_end, .asked = peers_asked, .told = peers_told, .agent_over = peers_agent_over,
	};
	int ret = loop_init();

	processes_set_hooks(&hooks);
	if (!ret)
		ret = rules_open(&rules);
	if (!ret)
		ret = agents_open();
	if (!ret)
		ret = link_open();
	return ret;
}

static void finish(void)
{
	query_stop();
	version_stop();
	scope_close();
	peers_stop();
	processes_forget();
	injections_stop();
	agents_close();
	rundir_close();
	rules_close();
}

int main(int argc, char **argv)
{
	int ret;

	if (!started_by_plugin()) {
		fprintf(stderr, "spi-broker: is started by the session daemon's plugin, not by hand: "
			"use spi-sessiond\n");
		return 2;
	}
	settle();
	ret = rooms_open();
	if (!ret)
		ret = loop_run(turn, is_over);
	finish();
	return ret != 0;
}
