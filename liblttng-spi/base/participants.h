/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the parts of the agent do when something happens to the whole process. The list of all parts, in
 * the order in which they are called, is control/participants.c. A room that makes a thing happen (fork, the end, ...) runs
 * one operation of all participants, and needs to know none of them.
 */
#ifndef SPI_BASE_PARTICIPANTS_H
#define SPI_BASE_PARTICIPANTS_H

#include <stddef.h>
#include <stdint.h>
#include "liblttng-spi/arch/compiler.h"

struct dl_phdr_info;

/* Each operation may be NULL. */
struct spi_participant {
	/* In the child, within fork(): its only thread; signals are blocked; control lock, patch lock and the lock of objects/phdr.c are held. */
	void (*fork_child)(void);
	/* Instead of fork_child, in a child that is left alone: nothing is recorded there. */
	void (*fork_left)(void);
	/* A forked child begins: the thread that begins it, under the control lock. Then the event module begins, then: */
	void (*child_begins)(void);
	void (*child_has_begun)(void);
	/* All instrumentation is taken out, for good or until the next controller: under the control lock. */
	void (*removal)(void);
	/* The process ends, in a thread of the program that may talk: what was missed is told. */
	void (*process_end)(void);
	/* An object that was not known has been found in the process, for the first time. Control lock, or before main(). */
	void (*object_found)(const struct dl_phdr_info *info);
	/* Objects may have been unloaded: nothing refers to them afterwards. Control lock. */
	void (*objects_gone)(void);
	/* The latest scan has found that objects were unloaded: before memory near them is given back. Control lock. */
	void (*objects_unloaded)(void);
	/* The call side is set up: control lock, before the first point is. */
	void (*calls_begin)(void);
	/* The calling thread, one of the program's, records its first call. */
	void (*thread_found)(void);
	/* The calling thread, which was found, ends. Signals are blocked. */
	void (*thread_over)(void);
	/* libc's code at `address` runs what a thread leaves for its end. That thread. */
	void (*thread_ends)(uint64_t address);
	/* The program hands out the address of a function that will be called from elsewhere: a handler, a thread's start. Any thread. */
	void (*callback)(uint64_t address);
	/* A call tree has begun, waits to begin, or has ended. Control lock. */
	void (*trees_changed)(void);
	/* The calling thread executes another program: what was missed is told. */
	void (*exec_tells)(void);

	/* What a payload's observer may want to know (payload/observer.c). */
	/* In the parent the new child's id, -1: not known; 0 in the child. SPI_WATCH_CHILDREN. */
	void (*child_made)(int32_t child);
	/* The calling thread is about to execute the program. And it could not. */
	void (*program_begins)(const char *path);
	void (*program_fails)(void);
	/* The program gets this signal, or is ended by it. Signal handler, all signals blocked; SPI_WATCH_SIGNALS. */
	void (*signal_comes)(int number, int is_fatal, const void *info);
	/* The list of objects was looked at. Under the control lock, maybe the dynamic linker's; SPI_WATCH_OBJECTS. */
	void (*objects_looked_at)(void);
};

/* What somebody watches for a payload: each moment that is not watched costs a look at this word. Control side. */
enum spi_watch {
	SPI_WATCH_CHILDREN = 1,
	SPI_WATCH_SIGNALS = 2,
	SPI_WATCH_OBJECTS = 4,
	SPI_WATCH_PROGRAMS = 8,
	/* faults of the program are a payload's: libc's functions for signals stay watched */
	SPI_WATCH_FAULTS = 16,
};
extern uint32_t spi_watched SPI_HIDDEN;
/* What the program has given to exit() or _exit(), as far as it was seen; -1: nothing. */
extern int spi_exit_status SPI_HIDDEN;

/* The process ends now, with the calling thread: control/init.c's, set as the agent begins. */
extern void (*spi_process_ends)(void);

/* NULL until the agent begins. */
extern const struct spi_participant *spi_participants;
extern size_t spi_participant_count;

/* Run an operation of all that have it: spi_participants_run(fork_child), spi_participants_run(object_found, info). */
#define spi_participants_run(operation, ...) \
	do { \
		for (size_t each = 0; each < spi_participant_count; each++) \
			if (spi_participants[each].operation) \
				spi_participants[each].operation(__VA_ARGS__); \
	} while (0)

#endif /* SPI_BASE_PARTICIPANTS_H */
