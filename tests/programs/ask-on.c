/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* ask-on FILE - a client that gives one command after the other, until FILE exists; prints how many. */
#include <lttng/lttng.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct lttng_session *sessions;
	unsigned int n = 0;

	while (argc == 2 && access(argv[1], F_OK)) {
		sessions = NULL;
		if (lttng_list_sessions(&sessions) < 0)
			return 1;
		free(sessions);
		if (!n++) {
			puts("begun");
			fflush(stdout);
		}
		nanosleep(&(struct timespec) { .tv_nsec = 2000000 }, NULL);
	}
	printf("%u\n", n);
	return 0;
}
