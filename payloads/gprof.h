/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The payload `gprof`: what gprof.c counts, and gmon-file.c writes. */
#ifndef PAYLOADS_GPROF_H
#define PAYLOADS_GPROF_H

#include <stdint.h>
#include <lttng/spi.h>

#define GPROF_OBJECTS	64u
#define GPROF_BIN	4u		/* bytes of code that one bin is for, as gcc's -pg has it */
#define GPROF_US	10000u		/* between two samples */

/*
 * From: of the call's return address, from the object's lowest address on, plus 1; 0: in another object. To: of the
 * callee.
 */
struct arc {
	uint64_t key;			/* from << 32 | to; 0: free */
	uint64_t calls;
};

/*
 * One object's profile. The two tables are anonymous memory that a forked child has empty (MADV_WIPEONFORK). Any thread
 * counts in them without a lock.
 */
struct profile {
	struct spi_object *object;
	uint64_t low, size, base;	/* of the code, in the process; base: what is added to addresses in the file */
	uint32_t is_over;		/* something else has been loaded there since */
	uint32_t twin;			/* so many profiles before it have the same name */
	uint64_t lost;			/* calls for which the table had no room */
	struct arc *arcs;
	uint64_t room;			/* arcs; a power of two */
	uint32_t *bins;
	uint64_t bin_count;
};

extern struct profile gprof_profiles[GPROF_OBJECTS];
extern uint32_t gprof_count;
extern uint64_t gprof_missed;		/* calls that no profile has */

/* ---- imports.c ---- */
int gprof_program_profiles_itself(void);	/* is it built with -pg? Where libraries may be loaded */

/* ---- gmon-file.c ---- */
/* Where a thread may allocate memory, and the process began: what the names of files depend on. */
void gprof_files_begin(struct spi_agent *agent);
/* All profiles to their files; may run in a signal handler. is_last: waits for who writes at the moment. */
void gprof_files_write(struct spi_agent *agent, int is_last);

#endif /* PAYLOADS_GPROF_H */
