/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * spi-broker: what turns event rules into instrumented processes.
 *
 * The session daemon's plugin starts it, with a socket as descriptor 3, and it
 * lives as long as that. One thread, one loop; all that may block, or reads what
 * others wrote, is done by children: asking the daemon (querier.c), reading its
 * answers (xml-rules.c), injecting (inject-pool.c), analysing programs
 * (spi-codemap). What a process should do follows from the rules each time anew
 * (apply.c), so a crash loses nothing but time.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "broker/broker.h"

struct broker broker;
struct note *broker_notes;

bool broker_is_root(void)
{
	return !geteuid();
}

/* ---- notes ------------------------------------------------------------------------------ */

void broker_note_clear(const char *key)
{
	for (struct note **at = &broker_notes, *note; (note = *at);) {
		if (strcmp(note->key, key)) {
			at = &note->next;
			continue;
		}
		*at = note->next;
		free(note);
	}
}

void broker_note(const char *key, const char *format, ...)
{
	struct note *note = calloc(1, sizeof(*note));
	va_list args;

	broker_note_clear(key);
	if (!note)
		return;
	snprintf(note->key, sizeof(note->key), "%s", key);
	va_start(args, format);
	vsnprintf(note->text, sizeof(note->text), format, args);
	va_end(args);
	note->next = broker_notes;
	broker_notes = note;
}

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
	umask(077);
}

static bool is_over(void)
{
	return broker.ending && !spi_control_count(broker.control);
}

static void finish(void)
{
	query_stop();
	version_stop();
	scope_close();
	while (processes)
		process_forget(processes);
	injections_stop();
	spi_control_destroy(broker.control);
	rundir_close();
	ruleset_free(broker.rules);
}

int main(int argc, char **argv)
{
	int ret;

	if (!started_by_plugin()) {
		fprintf(stderr, "spi-broker: is started by the session daemon's plugin, not by hand: use spi-sessiond\n");
		return 2;
	}
	settle();
	broker.rules = ruleset_create();
	ret = broker.rules ? loop_init() : -ENOMEM;
	if (!ret)
		ret = agents_open(-1);
	if (!ret)
		ret = link_open();
	if (!ret)
		ret = loop_run(is_over);
	finish();
	return ret != 0;
}
