/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The patcher's contract: text of the running program in, jumps to stubs out,
 * and back, while any number of threads run those bytes and none is stopped.
 *
 * All functions run on the agent's control thread (or the loader's, before
 * main), serialised by the caller; none is async-signal-safe. None uses malloc. Errors are negative errno; *reason is a
 * static text, always set on failure.
 */
#ifndef SPI_PATCH_H
#define SPI_PATCH_H

#include "liblttng-spi/base/payload.h"

/* One loaded ELF object. */
struct spi_object {
	uint64_t low, high;	/* address range of its PT_LOADs in this process */
	uint64_t bias;		/* address = vaddr + bias */
	char name[256];		/* file name without directories */
	char path[1024];
	uint8_t build_id[32];
	uint32_t build_id_size;
	uint16_t is_exe;		/* the program */
	uint16_t is_executed;		/* and the file that the kernel executed, which is the dynamic linker in `ld.so PROGRAM` */
	struct spi_arena *arena;	/* near memory; patcher's */
	struct spi_object *next;
	uint64_t seen;			/* found by the latest scan: it is loaded; objects/objects.c */
	uint64_t since;			/* the scan that found it, which others before had not */
	uint64_t told;			/* the trace has its lttng_ust_lib:load, or need not; module/load-tell.c */
	uint64_t looks;			/* how often it was looked at after it was loaded; hooks/got.c */
	uint64_t points;		/* it has so many; calls/points.c */
	uint64_t refused;		/* trees that cannot have it for as long as it is loaded; tree/rule.c */
	uint64_t debug_told;		/* what of its debug info cannot be read was said; rules/instrument-find.c */
	uint64_t lacks_turn;		/* `lacks` holds for the rules of this turn; objects/map-read.c */
	uint64_t lacks[100];		/* spi_pattern_hash() of what it has no functions of */
	uint32_t lacks_count;
};

/* Loaded twice, or one after the other. Any thread, also under the patch lock: nothing of libc's is called. */
static inline int spi_object_is_same_file(const struct spi_object *a, const struct spi_object *b)
{
	if (!a->build_id_size || a->build_id_size != b->build_id_size)
		return a == b;
	for (uint32_t i = 0; i < a->build_id_size; i++)
		if (a->build_id[i] != b->build_id[i])
			return 0;
	for (uint32_t i = 0; i < sizeof(a->path) && (a->path[i] || b->path[i]); i++)
		if (a->path[i] != b->path[i])
			return 0;
	return 1;
}

enum spi_worker {
	SPI_WORKER_NONE = 0,
	SPI_WORKER_JUMP,	/* the first instruction has 5 bytes or more: an ordinary jump */
	SPI_WORKER_PUN,		/* only bytes of the first instruction change; the rest is its displacement */
	SPI_WORKER_CC,		/* displacement chosen so that interior instruction boundaries hold int3 */
	SPI_WORKER_TRAP,	/* int3 and SIGTRAP */
	SPI_WORKER_LATE,	/* a jump or pun behind the first instructions, whose effect the stub takes back */
	SPI_WORKER_COUNT_
};

int spi_patch_init(void);	/* register membarrier, remember page size; idempotent */

/*
 * spi_patch_prepare() - choose a worker and write the point's stub, moved
 * instructions and trampoline into near memory. Changes no text. Sets
 * point->body and point->patch. point->gate[] must be set (near memory).
 * -EBUSY: the code in memory differs from the code map. -ENOSPC: no near memory.
 */
int spi_patch_prepare(struct spi_point *point, const char **reason);

/*
 * spi_patch_install() / spi_patch_remove() - write the jumps of n prepared
 * points, or put the original bytes back; live, each atomically as seen by
 * running threads. errors[i] is NULL or why point i was left as it was. Points
 * may be installed and removed any number of times. Returns how many changed.
 */
int spi_patch_install(struct spi_point **points, unsigned int n, const char **errors);
int spi_patch_remove(struct spi_point **points, unsigned int n, const char **errors);
/*
 * When it is set, text is written from within: it calls work(data), while no
 * object can be unloaded, and returns 0; or returns -EAGAIN, and so do the two
 * above, as something was unloaded that the caller does not know of.
 */
extern int (*spi_patch_frozen)(void (*work)(void *data), void *data) SPI_HIDDEN;

/*
 * spi_patch_forget() - the object was unloaded, with whatever was installed in
 * it: its points are never written again, and its addresses may become others'.
 */
void spi_patch_forget(const struct spi_object *object);

/* Does the text hold what spi_patch_install() wrote? Not when the object was loaded anew. */
int spi_patch_is_in_text(const struct spi_point *point);

enum spi_worker spi_patch_worker(const struct spi_point *point);

/* Memory near an object for data (read-write) that its stubs address; zeroed, never freed. NULL: none. */
void *spi_near_alloc(struct spi_object *object, size_t size, size_t align);
/* It was unloaded: what comes into reach next goes on with the room that is left. Control side. */
void spi_near_leave(struct spi_object *object);
int spi_near_has(const struct spi_object *object, const void *p);	/* within reach of all that is the object's */

/* In the child of a fork: near memory that is shared with the parent must not be written any more. */
void spi_patch_fork_child(void);

/*
 * spi_fault_install() - take SIGSEGV and SIGBUS so that reads of wild pointers
 * by spi_string_copy() and spi_memory_copy() can fail; every other fault goes to
 * the program exactly as if the agent were not there. Idempotent.
 */
int spi_fault_install(void);
extern int (*spi_fault_elsewhere)(uint64_t address) SPI_HIDDEN;	/* SIGBUS there: 1 if it can be read now. Signal handler */
void spi_fault_last_install(void (*last)(void));	/* called when a fault, of whatever kind, ends the program. Signal handler */
/*
 * Both copy functions look at the TSC. A payload that has just read it for the
 * call's time stamp puts it into spi_thread.tsc and clears that before the
 * call is over: 10 of 16 ns for a string of 30 characters. 0: they read it.
 */
long spi_string_copy(char *dst, uint64_t src, size_t max, int *truncated);
int spi_memory_copy(void *dst, uint64_t src, size_t n);

/* Zeroed anonymous memory, never freed. */
void *spi_alloc(size_t size);

#endif /* SPI_PATCH_H */
