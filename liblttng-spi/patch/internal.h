/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the files of the patcher share. From the bottom up:
 *
 *	near.c		memory near an object, and anywhere
 *	trampoline.c	jumps at exact addresses
 *	arch/		instructions that run elsewhere, stubs and trampolines
 *	trap.c		SIGTRAP, and handing signals on to the program
 *	text.c		bytes of running code
 *	worker.c	ways from an entry to a stub
 *	patch.c		the contract of patch.h
 *	signals/fault.c		SIGSEGV, reading wild pointers (with read-safe.c)
 *
 * System calls are made directly: libc's wrappers may be instrumented, and while
 * text is being changed nothing outside these files may run on this thread.
 */
#ifndef SPI_PATCH_INTERNAL_H
#define SPI_PATCH_INTERNAL_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/signals/signals.h"

#define SPI_PAGE		4096u
#define SPI_PAGE_OF(address)	((address) & ~(uint64_t) (SPI_PAGE - 1))

SPI_INLINE int spi_raw_failed(long ret)
{
	return ret < 0 && ret > -4096;
}

/* May this process have a file of that size? If not (RLIMIT_FSIZE), to make a memfd so large has the kernel send SIGXFSZ, which ends it. */
SPI_INLINE int spi_file_fits(uint64_t bytes)
{
	uint64_t limit[2];

	return spi_raw4(SYS_prlimit64, 0, 1 /* RLIMIT_FSIZE */, 0, (uint64_t) limit) < 0 || bytes <= limit[0];
}

#ifndef MADV_POPULATE_READ	/* Linux 5.14, glibc 2.35 */
#define MADV_POPULATE_READ	22
#define MADV_POPULATE_WRITE	23
#endif

/* mmap(); 0 on failure. */
uint64_t spi_mmap(uint64_t address, uint64_t size, int prot, int flags, int fd);
void spi_munmap(uint64_t address, uint64_t size);

/* Is there memory that can be read at this address? One system call without side effects. signals/fault.c */
int spi_page_readable(uint64_t address);
extern int (*spi_read_net)(void);	/* would a fault of the reading loops, here and now, be caught? NULL: no. base/read-safe.c */
/* This thread's signal mask has changed: what it remembers of readable pages was for another one. signals/fault.c */
void spi_pages_forget(void);

/* ---- near.c, near-places.c, memory.c ---- */

/*
 * Room for size bytes of code near an object: sets rx, rw, frames and size.
 * spi_near_code_trim() gives back what was not used of the latest one. 0 or
 * -ENOSPC.
 */
#define SPI_FORK_MS	50	/* a fork that takes longer waits for somebody, most likely: a large program's takes 10 on a busy machine */
uint64_t spi_patch_lock(void);			/* blocks all signals; returns the mask to give back */
void spi_patch_unlock(uint64_t before);
int spi_patch_lock_soon(uint64_t *before);	/* where the program may hold locks of its own; -1: a fork waits, maybe for this thread */
uint64_t spi_patch_lock_fork(void);
void spi_patch_unlock_fork(uint64_t before);
/* Under the patch lock, as spi_near_code(); spi_near_alloc() takes it itself. */
void *spi_near_data(struct spi_object *object, size_t size, size_t align);
/* Control side: room for that many bytes of stubs and data, for when threads of the program make them. 0 or -ENOSPC. */
int spi_near_reserve(struct spi_object *object, uint32_t code, uint32_t data);
int spi_near_code(struct spi_object *object, struct spi_emit *emit, uint32_t size);
void spi_near_code_trim(struct spi_object *object, uint64_t end);

/*
 * Code to run at `rx`, which is reserved (0: anywhere), and to write at *rw.
 * Returns rx, 0 on failure.
 */
uint64_t spi_code_map(uint64_t rx, uint64_t size, uint8_t **rw);
void spi_near_fork_child(void);
/* Any thread, without a lock: is it a stub there; is it a jump to one, outside of the program's objects? */
int spi_near_code_has(uint64_t address);
int spi_near_leads_to(uint64_t address);

/* ---- trampoline.c, trampoline-pages.c ---- */

/*
 * spi_trampoline_make() - find a place at from + d, where d is a signed 32-bit
 * displacement that has the bits `bits` where `mask` is set, and write there a
 * jump to `to`. into_heap_room: also where a heap of more than 128 MB would like
 * to grow. Returns the place, or 0 and *reason.
 */
uint64_t spi_trampoline_make(struct spi_object *object, uint64_t from, uint32_t mask, uint32_t bits, uint64_t to,
	int into_heap_room, const char **reason);
void spi_trampoline_fork_child(void);

/* ---- frames.c ---- */

/* Load libgcc, before the first range is registered: where only the calling thread can load anything. */
void spi_frames_find_unwinder(void);
/*
 * Under the patch lock: size bytes of code, whose frames are described in `frames`; libgcc's unwinder is told of them
 * by spi_frames_tell(), which is the control side's, without the lock.
 */
void spi_frames_register(uint64_t code, uint64_t size, uint64_t frames);
void spi_frames_tell(void);

/* What a stub of the point's is made for. Its third gate: call trees that take the stub over (tree/sites/entry-named.c). */
SPI_INLINE struct spi_stub spi_point_stub(struct spi_point *point)
{
	const int is_apart = point->flags & (SPI_POINT_TREE | SPI_POINT_APART);
	const volatile int *todo = is_apart ? NULL : (const volatile int *) &point->tree_todo;

	return (struct spi_stub) {
		.point = point, .gate = { point->gate[0], point->gate[1], todo },
		.address = point->address, .bias = point->object->bias,
	};
}

/* ---- text.c ---- */

enum spi_text_how {
	SPI_TEXT_STORE = 1,	/* all bytes in one aligned 8-byte word of one instruction: one store */
	SPI_TEXT_SPIN,		/* one instruction; a jump to itself stands there meanwhile */
	SPI_TEXT_WIDE,		/* in one aligned block of 16 bytes of one instruction */
	SPI_TEXT_LINE,		/* in one cache line, of one instruction */
	SPI_TEXT_CC,		/* int3 stands there meanwhile; of several instructions their boundaries hold int3, too */
};

struct spi_text_op {
	uint64_t address;
	uint8_t size;		/* bytes written, 1 to 8 */
	uint8_t how;		/* enum spi_text_how */
	uint8_t bounds;		/* CC: bit k set when an original instruction begins at byte k, 1 <= k < size */
	uint8_t reserved;
	uint32_t index;		/* the caller's */
	uint8_t from[8], to[8];
	const char *error;	/* out: NULL or why nothing was written */
};

void spi_text_fork_child(void);
int spi_text_can_sync(void);	/* 1 when membarrier works; else only STORE does, and points that need more are declined */
void spi_text_sync(void);	/* what was written until now is what every core will run */
/* Write them all; sorts the array by address. */
void spi_text_write(struct spi_text_op *ops, unsigned int n);
/*
 * The same within [low, high), code that is mapped with the rights `prot`: looks at nothing else. Under the patch
 * lock, in any thread.
 */
void spi_text_write_in(struct spi_text_op *ops, unsigned int n, uint64_t low, uint64_t high, int prot);

/* ---- proc.c ---- */
/* One line of the memory map. */
struct spi_vma {
	uint64_t start, end;
	int prot;
};
struct spi_maps {
	int fd;
	uint32_t at, have, ended, again, is_thread, in_line;
	uint64_t offset;
	char buffer[2048];
};
int spi_maps_open(struct spi_maps *maps);
int spi_maps_next(struct spi_maps *maps, struct spi_vma *vma);	/* 1, or 0 at the end */
/* After spi_maps_next(): the path of that mapping, "" of anonymous memory. Its length; one that does not fit is cut. */
uint32_t spi_maps_path(struct spi_maps *maps, char *path, uint32_t size);
void spi_maps_close(struct spi_maps *maps);

/* ---- patch.c ---- */

extern uint64_t (*spi_patch_site_stub)(uint64_t address) SPI_HIDDEN;	/* for spi_emit.site_stub */
/* 1: a call site has changed this byte, which an entry of trees may take over as it is; *byte: what the file has. NULL: no sites. */
extern int (*spi_patch_site_byte)(uint64_t address, uint8_t *byte) SPI_HIDDEN;

struct spi_patch {
	struct spi_point *point;
	struct spi_point *stub_point;	/* which the stub names; another one is lent it: spi_patch_pass() */
	uint64_t stub_thunk;		/* that point's own */
	struct spi_patch *next;		/* same bucket of the byte index */
	uint64_t address;		/* of the jump: the function's, or behind it (LATE) */
	uint64_t stub;
	uint64_t trampoline;		/* 0: the jump goes straight to the stub */
	uint64_t moved[SPI_MAP_ENTRY_INSNS];
	uint8_t worker;			/* enum spi_worker */
	uint8_t how;			/* enum spi_text_how */
	uint8_t changed;		/* bytes that the worker writes */
	uint8_t fixed;			/* bytes that must stay as they are while it is installed */
	uint8_t bounds;			/* as in struct spi_text_op */
	uint8_t forgotten;		/* the object was unloaded */
	uint8_t yields;			/* another point may take it over: spi_patch_yield() */
	uint8_t reserved;
	uint8_t old[8], new[8];
};

/*
 * For a thread of the program, under the patch lock: prepare without int3, and write one jump, or take it out, in code
 * that cannot go meanwhile. 0 or a negative errno.
 */
int spi_patch_prepare_locked(struct spi_point *point, const char **reason);
int spi_patch_write_locked(struct spi_point *point, uint64_t low, uint64_t high, int prot, int install);

/*
 * Under the patch lock: while it yields, another point of the same function that is prepared takes its jump over. Once that may
 * be called the old point hands over, and has no patch any more.
 */
void spi_patch_yield(struct spi_point *point, int yields);
void spi_patch_hand_over(struct spi_point *old, struct spi_point *new);
/*
 * Under the patch lock: the stub of a point, or one that leads to it, leads to another point's thunk. Only data change, by one
 * store each, so threads may be in the stub: they enter the one or the other.
 */
void spi_stub_lend(struct spi_point *stub_point, struct spi_point *to);
/*
 * Likewise: points of one function that record in different forms share its jump and its stub. `old`, which no rule wants,
 * passes them on to `new`: there and back, however often, takes no memory.
 */
void spi_patch_pass(struct spi_point *old, struct spi_point *new);

/* ---- worker.c ---- */

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

/*
 * spi_worker_choose() - fill c->patch by the first worker that fits, with its
 * stub and trampoline. 0, or -1 and c->reason. point, patch (with point and stub
 * set), func, insns, and stub (rx, rw, size) are the caller's.
 */
int spi_worker_choose(struct spi_choice *c);
/* The same, by the jump of another point of this function: c->patch leads to that one's stub. */
int spi_worker_take_over(struct spi_choice *c, const struct spi_patch *from);
/* Would a jump there change a byte that a prepared point relies on, or the other way round? patch.c */
int spi_bytes_conflict(uint64_t address, uint32_t changed, uint32_t fixed);
/* Let others know of a jump that is not made from a struct spi_patch. 0 or -ENOMEM. patch.c */
int spi_bytes_claim(struct spi_point *point, uint64_t address, uint32_t changed, uint32_t fixed, const uint8_t *old);

extern uint32_t spi_patch_workers SPI_HIDDEN;	/* bit per enum spi_worker that may be used; tests narrow it */

#endif /* SPI_PATCH_INTERNAL_H */
