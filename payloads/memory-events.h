/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the payload `memory` records. All but the beginning is called from entry and exit payloads, in any thread. */
#ifndef PAYLOADS_MEMORY_EVENTS_H
#define PAYLOADS_MEMORY_EVENTS_H

#include <stdint.h>
#include <lttng/spi.h>

enum what {
	MALLOC = 1, CALLOC, REALLOC, REALLOCARRAY, FREE, MEMALIGN, POSIX_MEMALIGN, PAGES,
	MMAP, MUNMAP, MREMAP, BRK, SBRK,
	OPEN, DESCRIPTOR, SIGNALFD, FCNTL, PAIR, CLOSE, CLOSE_RANGE, CLOSE_FROM,
	THREAD_CREATE, THREAD_JOIN, THREAD_DETACH,
};

/* A function, and which of its arguments count. */
struct known {
	const char *name;
	uint8_t what, first, second;
};

/* The providers' events; frames: how long backtraces may be, 0: there are none. 0 or -ENOMEM. */
int memory_events_add(struct spi_agent *agent, uint32_t frames, int has_memory);
/* From now on. -EBUSY: none, or any, as lttng-ust keeps an event as it was first made. */
int memory_frames_set(uint32_t frames);
/* At a call's entry, what is complete then; and as the call has returned. a: five arguments. */
void memory_given_back(struct spi_call *call, const struct known *k, const uint64_t *a);
void memory_returned(struct spi_call *call, const struct known *k, const uint64_t *a, uint64_t result);

/* ---- the process ---- */
int memory_process_begin(int is_injected);	/* 0 or -ENOMEM */
void memory_process_tell(struct spi_call *call);	/* unless its event is recorded */
void memory_process_over(void);			/* the trace of it */
void memory_process_goes_on(void);		/* another trace, if the one before is over */

#endif /* PAYLOADS_MEMORY_EVENTS_H */
