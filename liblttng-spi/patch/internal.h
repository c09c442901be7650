/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the files of the patcher share. From the bottom up: near-places.c and near.c (memory near an object), trampoline.c
 * (jumps at exact addresses), frames.c (what unwinders are told), text.c (bytes of running code), trap.c (int3), worker.c
 * (ways from an entry to a stub), patch.c (the contract). Under the patch lock, unless a function says otherwise.
 */
#ifndef SPI_PATCH_INTERNAL_H
#define SPI_PATCH_INTERNAL_H

#include "liblttng-spi/patch/patch.h"

struct spi_map_func;
struct spi_map_insn;

/* A worker being chosen for a point. */
struct spi_choice {
	struct spi_point *point;
	struct spi_patch *patch;
	const struct spi_map_func *func;
	const struct spi_map_insn *insns;
	struct spi_emit stub;
	unsigned int index;	/* the instruction that becomes the jump: 0, or later (LATE) */
	uint64_t address;	/* its own */
	const uint8_t *bytes;	/* what the file has there */
	uint32_t known;		/* how many of them */
	uint32_t first;		/* bytes of the instruction */
	uint32_t to_word_end;	/* bytes from the address to the end of its aligned word */
	int into_heap_room;	/* a pun may go there */
	int trap_asked;		/* spi_trap_ready() was; it may not be asked under the patch lock */
	int trap_wanted;	/* it would have to be: begin again when it was */
	const char *trap_reason;	/* what it answered; NULL: int3 may be */
	const char *reason;	/* why the latest worker declined */
};

#define LOWEST_JUMP	(UINT64_C(1) << 20)	/* below is where NULL + offset may land */
#define HIGHEST_JUMP	(UINT64_C(0x7fffffff0000))
#define SPI_TRAMPOLINE_RECENT	64u	/* pages looked at first for room */

struct spi_place {
	uint64_t low, high;
};

/* ---- near.c ---- */
void spi_near_fork_child(void);
/* Any thread, without a lock: is it a stub there; is it a jump to one, outside of the program's objects? */
int spi_near_code_has(uint64_t address);
int spi_near_leads_to(uint64_t address);

/* ---- trampoline-pages.c ---- */
void spi_trampoline_fork_child(void);
/*
 * Write the trampoline at exactly this place, within 2 GB of `to`. 0, or -1 when the place is taken, or, which *reason
 * then says, none can be had anywhere.
 */
int spi_trampoline_place(uint64_t place, uint64_t to, const char **reason);
int spi_trampoline_page_may_be(uint64_t page);	/* is nothing known to be there? */
int spi_trampoline_page_is_ours(uint64_t page);
/* 0: no page of ours speaks against one there, all in one page; else how far on it might be otherwise. */
uint32_t spi_trampoline_busy(uint64_t address);
uint64_t spi_trampoline_recent(uint32_t i);	/* the page that was made i-th last; 0: none */

/* ---- frames.c ---- */
/*
 * Under the patch lock: size bytes of code, whose frames are described in `frames`; libgcc's unwinder is told of them
 * by spi_frames_tell(), which is the control side's, without the lock.
 */
void spi_frames_register(uint64_t code, uint64_t size, uint64_t frames);

/* ---- worker.c ---- */
/*
 * spi_worker_choose() - fill c->patch by the first worker that fits, with its
 * stub and trampoline. 0, or -1 and c->reason. point, patch (with point and stub
 * set), func, insns, and stub (rx, rw, size) are the caller's.
 */
int spi_worker_choose(struct spi_choice *c);
/* The same, by the jump of another point of this function: c->patch leads to that one's stub. */
int spi_worker_take_over(struct spi_choice *c, const struct spi_patch *from);
extern uint32_t spi_patch_workers SPI_HIDDEN;	/* bit per enum spi_entry_worker that may be used; tests narrow it */

/* ---- trap.c ---- */
void spi_trap_forget(uint64_t low, uint64_t high);	/* the object there was unloaded */
/* A step (TRAP_TRACE) of a program that sets the trap flag: 1, it is one in the tracer's code. Set by patch/steps.c. */
extern int (*spi_trap_step)(void *context) SPI_HIDDEN;

/* ---- trap-ready.c: NULL, or what speaks against int3 ---- */
const char *spi_trap_threads_look(void);	/* a thread that blocks SIGTRAP, a debugger */
const char *spi_trap_debugger_look(void);	/* a debugger */
const char *spi_trap_handlers_look(void);	/* a handler of the program's that does */

/* ---- near-places.c ---- */
/* Look where heap and stack are; what follows keeps out of the room that they may want, or of less of the heap's. */
void spi_near_look(int into_heap_room);
/* Look at what is mapped. How many mappings the process has. */
uint32_t spi_places_look(void);
/* What stands in the way of a mapping of [low, high), as far as it is known; NULL: nothing. */
const struct spi_place *spi_place_obstacle(uint64_t low, uint64_t high);
/*
 * Make a mapping without access rights at exactly this address: 0, -EEXIST when anything is there, -ENOMEM where none
 * can be had anywhere.
 */
int spi_map_reserve(uint64_t address, uint64_t size);

#endif /* SPI_PATCH_INTERNAL_H */
