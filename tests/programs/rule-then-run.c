/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * rule-then-run SESSION N PROGRAM ARGUMENT... - N times: switches the rule
 * `spi:app_first_entry` of a session on, runs the program as soon as the daemon
 * has answered, and switches the rule off when the program has ended.
 */
#include <lttng/lttng.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv)
{
	struct lttng_domain domain = { .type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID };
	struct lttng_event event = { .type = LTTNG_EVENT_TRACEPOINT, .loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL,
				     .loglevel = -1 };
	struct lttng_handle *handle = argc > 3 ? lttng_create_handle(argv[1], &domain) : NULL;
	int n = argc > 3 ? atoi(argv[2]) : 0, ret, status;
	pid_t pid;

	if (!handle)
		return 2;
	strcpy(event.name, "spi:app_first_entry");
	while (n--) {
		ret = lttng_enable_event(handle, &event, NULL);
		if (ret || posix_spawn(&pid, argv[3], NULL, NULL, argv + 3, environ) || waitpid(pid, &status, 0) < 0) {
			fprintf(stderr, "%s: %s\n", argv[3], ret ? lttng_strerror(ret) : "does not run");
			return 1;
		}
		ret = lttng_disable_event(handle, event.name, NULL);
		if (ret || status) {
			fprintf(stderr, "%s: status %x, %s\n", argv[3], status, lttng_strerror(ret));
			return 1;
		}
	}
	lttng_destroy_handle(handle);
	return 0;
}
