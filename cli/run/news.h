/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What becomes of the processes of a run (`lttng trace --process-events`): the payload `process` tells of it in each of
 * them, and here it is printed, a line each. With a trace what the trace does not have is named at the end, so that
 * nothing is missing in both.
 */
#ifndef SPI_CLI_RUN_NEWS_H
#define SPI_CLI_RUN_NEWS_H

#include <stddef.h>
#include <sys/types.h>

#define NEWS_PROCESSES	256u	/* chains */

struct news_process;

struct news {
	int is_wanted;
	int is_recording;		/* the trace has the events; else they are printed as they come */
	int from, to;			/* the pipe's ends */
	char bytes[8192];		/* read, and not looked at */
	size_t size;
	struct news_process *processes[NEWS_PROCESSES];
	unsigned int count, known;	/* all that there were; that are in the chains */
	pid_t gone[256];		/* the latest that were waited for: their names are still of use */
	unsigned int gone_next;
	unsigned long lost;		/* by processes: there was no room in the pipe */
	char *missing[64];		/* lines about what the trace does not have */
	unsigned int missing_count;	/* also of those that have no place there */
};

/* news_begin() - the pipe. Returns the end that payloads write to, or a negative errno. */
int news_begin(struct news *news, int is_recording);

/* news_read() - all that has come. */
void news_read(struct news *news);

/* news_waited() - the process, our child, has ended with this status of waitpid(). */
void news_waited(struct news *news, pid_t pid, int status);

/* news_end() - the last that has come, and what is not known, or not in the trace. */
void news_end(struct news *news);

#endif /* SPI_CLI_RUN_NEWS_H */
