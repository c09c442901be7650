/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A client that runs already: asks the session daemon what `lttng list SESSION`
 * asks, every 5 ms, until SIGTERM. Prints how many answers there were, their
 * median and the longest, in milliseconds. The pause between two questions is what
 * is measured with, nothing is waited for in it. A refusal is no answer: status 1.
 */
#include <lttng/lttng-error.h>
#include <lttng/lttng.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MOST	100000

static volatile sig_atomic_t over;
static double waits[MOST];
static size_t n;
static double begun;

static void end(int signal)
{
	(void) signal;
	over = 1;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void ask(void)
{
	begun = now();
}

static void answered(int result, void *what)
{
	if (result < 0 && result != -LTTNG_ERR_NO_SESSION) {
		fprintf(stderr, "asks: the session daemon refused: %s\n", lttng_strerror(result));
		exit(1);
	}
	if (n < MOST)
		waits[n++] = now() - begun;
	free(what);
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *) a, y = *(const double *) b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	struct lttng_domain domain = { .type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID };
	struct lttng_handle *handle = argc > 1 ? lttng_create_handle(argv[1], &domain) : NULL;

	signal(SIGTERM, end);
	while (!over) {
		struct lttng_session *sessions = NULL;
		struct lttng_channel *channels = NULL;
		struct lttng_event *events = NULL;
		int result;

		ask();
		result = lttng_list_sessions(&sessions);
		answered(result, sessions);
		if (handle) {
			ask();
			result = lttng_list_channels(handle, &channels);
			answered(result, channels);
			ask();
			result = lttng_list_events(handle, "channel0", &events);
			answered(result, events);
		}
		usleep(5000);
	}
	if (!n)
		return 1;
	qsort(waits, n, sizeof(waits[0]), compare);
	printf("%zu %.1f %.1f\n", n, waits[n / 2], waits[n - 1]);
	return 0;
}
