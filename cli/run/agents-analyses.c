/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Analyses of whole objects, for which a program waits: the user is told of those that take long. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/say.h"
#include "cli/run/agents-internal.h"

#define AGENTS_PATIENCE_MS 500	/* a user's */

static int64_t agents_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void agents_on_analysis(struct spi_agent *agent, const char *object, int begins, void *data)
{
	struct agents *a = data;
	unsigned int i;

	if (begins) {
		if (a->analysis_count == sizeof(a->analyses) / sizeof(a->analyses[0]))
			return;
		i = a->analysis_count++;
		snprintf(a->analyses[i].object, sizeof(a->analyses[i].object), "%s", object);
		a->analyses[i].since = agents_now();
		a->analyses[i].told = 0;
		return;
	}
	for (i = 0; i < a->analysis_count && strncmp(a->analyses[i].object, object, sizeof(a->analyses[i].object) - 1); i++)
		;
	if (i == a->analysis_count)
		return;
	if (a->analyses[i].told && isatty(STDERR_FILENO))
		say("%s: analysed in %.1f s", object, (double) (agents_now() - a->analyses[i].since) / 1000);
	a->analyses[i] = a->analyses[--a->analysis_count];
}

int agents_tell_progress(struct agents *a)
{
	int64_t now = agents_now(), age;
	unsigned int i;
	int left = -1;

	for (i = 0; i < a->analysis_count; i++) {
		age = now - a->analyses[i].since;
		if (a->analyses[i].told)
			continue;
		if (age < AGENTS_PATIENCE_MS) {
			left = left < 0 || AGENTS_PATIENCE_MS - age < left ? (int) (AGENTS_PATIENCE_MS - age) : left;
			continue;
		}
		a->analyses[i].told = 1;
		if (isatty(STDERR_FILENO))
			say("Analysing %s; this is kept for the next time", a->analyses[i].object);
		else
			say_detail("Analysing %s; this is kept for the next time", a->analyses[i].object);
	}
	return left;
}
