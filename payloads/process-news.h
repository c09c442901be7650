/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the payload `process` tells `lttng trace --process-events`, beside its events: news of all processes come by one
 * pipe, each by one write() of less than PIPE_BUF bytes, so whole, and in the order in which they happened.
 */
#ifndef PAYLOADS_PROCESS_NEWS_H
#define PAYLOADS_PROCESS_NEWS_H

#include <stdint.h>

#define PROCESS_NEWS_MAGIC	UINT32_C(0x7c507301)
#define PROCESS_NEWS_TEXT	2048u	/* bytes, NUL included */

/* Functions that wait for a child: all others of libc's end in these. */
#define PROCESS_NAMES(X)	X(wait4) X(waitid)
#define PROCESS_NAMES_COUNT	2u

enum process_news_kind {
	PROCESS_BEGUN = 1,	/* other: the parent; code: not 0: it ran already; text: its program */
	PROCESS_LIBRARIES,	/* text: what it has loaded then, names with commas between */
	PROCESS_CREATED,	/* other: the child */
	PROCESS_IS_CHILD,	/* other: the parent. It was made by fork() */
	PROCESS_EXECUTES,	/* text: the program */
	PROCESS_ENDED,		/* code, or signal and, where that is known, the sender in `other` */
	PROCESS_WAITED,		/* other: the child that has ended; code, or signal */
	PROCESS_SIGNAL,		/* signal; other: the sender; code: siginfo_t's; is_fatal */
	PROCESS_LOADED,		/* text: the library's path */
	PROCESS_UNLOADED,
	PROCESS_NEWS_KINDS
};

struct process_news {
	uint32_t magic;
	uint16_t size;		/* with the text and its NUL */
	uint8_t kind;
	uint8_t is_recorded;	/* it is an event of the trace as well */
	int32_t pid, other, code, signal;	/* code and signal: -1: not known, or none */
	uint32_t is_fatal;
	uint32_t lost;		/* so many before, of this process, for which there was no room in the pipe */
	uint64_t at;		/* ns since 1970 */
};
_Static_assert(sizeof(struct process_news) == 40, "as the reader has it");

#endif /* PAYLOADS_PROCESS_NEWS_H */
