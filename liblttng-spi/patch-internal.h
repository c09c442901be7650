/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the files of the patcher share. From the bottom up:
 *
 *	near.c		memory near an object, and anywhere
 *	trampoline.c	jumps at exact addresses
 *	relocate.c	instructions that run elsewhere	(arch/x86-64)
 *	stub.c		stubs and trampolines		(arch/x86-64)
 *	trap.c		SIGTRAP, and handing signals on to the program
 *	text.c		bytes of running code
 *	worker.c	ways from an entry to a stub
 *	patch.c		the contract of patch.h
 *	fault.c		SIGSEGV, reading wild pointers (with read-safe.c)
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
#include "liblttng-spi/patch.h"
#include "liblttng-spi/signals.h"

#define SPI_PAGE		4096u
#define SPI_PAGE_OF(address)	((address) & ~(uint64_t) (SPI_PAGE - 1))

/* ---- system calls: negative errno, errno itself untouched ---- */

SPI_INLINE long spi_raw6(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	register uint64_t r10 __asm__("r10") = d;
	register uint64_t r8 __asm__("r8") = e;
	register uint64_t r9 __asm__("r9") = f;
	long ret;

	__asm__ __volatile__("syscall"
		: "=a"(ret)
		: "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
		: "rcx", "r11", "memory");
	return ret;
}

SPI_INLINE long spi_raw4(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	register uint64_t r10 __asm__("r10") = d;
	long ret;

	__asm__ __volatile__("syscall"
		: "=a"(ret)
		: "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
		: "rcx", "r11", "memory");
	return ret;
}

SPI_INLINE long spi_raw3(long nr, uint64_t a, uint64_t b, uint64_t c)
{
	return spi_raw4(nr, a, b, c, 0);
}

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

/* memcpy and memset may be instrumented, and gcc turns loops into calls of them. */
SPI_INLINE void spi_bytes_copy(void *to, const void *from, size_t n)
{
	__asm__ __volatile__("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

SPI_INLINE void spi_bytes_set(void *to, int value, size_t n)
{
	__asm__ __volatile__("rep stosb" : "+D"(to), "+c"(n) : "a"(value) : "memory");
}

SPI_INLINE int spi_bytes_equal(const volatile uint8_t *a, const volatile uint8_t *b, size_t n)
{
	while (n--)
		if (*a++ != *b++)
			return 0;
	return 1;
}

/* Is there memory that can be read at this address? One system call without side effects. fault.c */
int spi_page_readable(uint64_t address);
/* This thread's signal mask has changed: what it remembers of readable pages was for another one. fault.c */
void spi_pages_forget(void);

/* ---- near.c, near-places.c, memory.c ---- */

/*
 * Room for size bytes of code near an object: sets rx, rw, frames and size.
 * spi_near_code_trim() gives back what was not used of the latest one. 0 or
 * -ENOSPC.
 */
struct spi_emit;
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
void spi_near_is_taken(uint64_t low, uint64_t high);	/* no place to look for memory; one range, the first time */
int spi_near_code(struct spi_object *object, struct spi_emit *emit, uint32_t size);
void spi_near_code_trim(struct spi_object *object, uint64_t end);

/* Look where heap and stack are; what follows keeps out of the room that they may want, or of less of the heap's. */
void spi_near_look(int into_heap_room);
/* Would a mapping of [low, high) take room that the heap or the main stack may want, or lie below `lowest`? */
int spi_near_is_reserved(uint64_t low, uint64_t high, uint64_t lowest);
/* Make a mapping without access rights at exactly this address: 0, -EEXIST when anything is there, -ENOMEM where none can be had anywhere. */
int spi_map_reserve(uint64_t address, uint64_t size);
/*
 * Code to run at `rx`, which is reserved (0: anywhere), and to write at *rw; the
 * two are the same where the system has no memfd. Returns rx, 0 on failure.
 */
uint64_t spi_code_map(uint64_t rx, uint64_t size, uint8_t **rw);
void spi_near_fork_child(void);
/* Any thread, without a lock: is it a stub there; is it a jump to one, outside of the program's objects? */
int spi_near_code_has(uint64_t address);
/* Likewise: how the stack looks where an instruction of a stub's is about to run. 0; -1: it is none, or cannot be read. */
int spi_near_frame(uint64_t address, uint16_t *frame);
int spi_near_leads_to(uint64_t address);

/* ---- trampoline.c, trampoline-pages.c ---- */

/*
 * spi_trampoline_make() - find a place at from + d, where d is a signed 32-bit
 * displacement that has the bits `bits` where `mask` is set, and write there a
 * jump to `to`. frame: at that jump, as unwinders see it. into_heap_room: also
 * where a heap of more than 128 MB would like to grow. Returns the place, or 0
 * and *reason.
 */
uint64_t spi_trampoline_make(struct spi_object *object, uint64_t from, uint32_t mask, uint32_t bits, uint64_t to,
	uint16_t frame, int into_heap_room, const char **reason);
/* Describe the frames of the pages that have come since the last time. Control side, without the patch lock. */
void spi_trampoline_register(void);
void spi_trampoline_fork_child(void);

/* ---- frames.c ---- */

/*
 * What an unwinder has to know where the PC is in near code: how far the frame's
 * end is from rsp, in words (12 bits), and how far below that end rbp was saved,
 * in words (4 bits; 0: rbp is what it was).
 */
#define SPI_REG_RBP		5u
#define SPI_FRAME_WORDS		0x0fffu
#define SPI_FRAME_RBP(words)	((uint16_t) ((words) << 12))

/* Load libgcc, before the first range is registered: where only the calling thread can load anything. */
void spi_frames_find_unwinder(void);
void spi_cancel_linked(void) SPI_HIDDEN;	/* cancel.c: who has just loaded libgcc_s, a thread that may call the dynamic linker */
/*
 * Under the patch lock: size bytes of code, whose frames are described in `frames`; libgcc's unwinder is told of them
 * by spi_frames_tell(), which is the control side's, without the lock.
 */
void spi_frames_register(uint64_t code, uint64_t size, uint64_t frames);
void spi_frames_tell(void);

/* A piece of trampoline pages: each jump's frame stands in the two bytes before it. */
struct spi_range {
	uint64_t address, size;
};
/* Tell it about trampoline pages: ascending, not touching each other. */
void spi_frames_register_pages(const struct spi_range *ranges, uint32_t n);

/* ---- arch/x86-64/relocate.c, stub.c ---- */

/* What an instruction at a function's entry does to registers, as far as it is one of the usual ones. */
enum spi_effect_kind {
	SPI_EFFECT_NONE,
	SPI_EFFECT_PUSH,	/* reg */
	SPI_EFFECT_POP,		/* reg */
	SPI_EFFECT_STACK,	/* rsp goes down by amount */
	SPI_EFFECT_WRITE,	/* reg */
	SPI_EFFECT_OTHER,
};
struct spi_effect {
	enum spi_effect_kind kind;
	uint32_t reg;
	int32_t amount;
	int reads_itself;	/* WRITE: may depend on what reg was before */
};
struct spi_effect spi_effect_of(const uint8_t *bytes, uint32_t size);
/* The instruction has been run: what is emitted next has the frame that it leaves. */
void spi_emit_frame_step(struct spi_emit *e, struct spi_effect effect);

#define SPI_LITERALS 8u

/* Code under construction: bytes go to rw, and will run at rx. `failed` sticks. */
struct spi_emit {
	uint8_t *rw;
	uint64_t rx;
	uint16_t *frames;		/* what unwinders need to know of each byte: frames.c */
	uint16_t frame;			/* of the next byte */
	uint16_t arrival;		/* of a stub: where it is jumped to from */
	uint16_t rbp_slot;		/* where the moved instructions have pushed rbp: SPI_FRAME_RBP() of it, or 0 */
	uint32_t used, size;
	uint64_t (*site_stub)(uint64_t address);	/* of the call site there; 0: none. NULL: there are no call trees */
	const char *failed;		/* first thing that did not work: a reason */
	uint32_t literals;
	struct {
		uint32_t at;		/* disp32 that wants the literal's address, at the instruction's end */
		uint64_t value;
	} literal[SPI_LITERALS];
};

void spi_emit_bytes(struct spi_emit *e, const void *bytes, uint32_t n);
void spi_emit_u8(struct spi_emit *e, uint8_t value);
void spi_emit_u32(struct spi_emit *e, uint32_t value);
/* A disp32 that leads to target from `after` bytes behind it. */
void spi_emit_rel32(struct spi_emit *e, uint64_t target, uint32_t after);
/* A disp32 to an 8-byte constant that spi_emit_finish() puts behind the code. */
void spi_emit_literal(struct spi_emit *e, uint64_t value);
/* jmp to any address */
void spi_emit_jump(struct spi_emit *e, uint64_t target);
void spi_emit_finish(struct spi_emit *e);

/*
 * spi_relocate() - emit the function's first `count` instructions so that they
 * do here what they did there, and a jump to the instruction behind them where
 * they fall through. moved[i] becomes the address of instruction i's copy.
 * `bytes` are the original ones. Sets e->failed when one cannot be moved.
 */
void spi_relocate(struct spi_emit *e, uint64_t address, uint64_t bias, const uint8_t *bytes,
	const struct spi_map_insn *insns, unsigned int count, uint64_t moved[SPI_MAP_ENTRY_INSNS]);

#define SPI_STUB_MAX	448u	/* bytes: undoing, gates, record part, SPI_MAP_ENTRY_INSNS instructions, literals */

/*
 * The stub of a point: gates, way into the thunk, body with the first `count`
 * instructions. See stub.c. Sets point->body. The first `undo` of them were run
 * in the original place before the stub was reached; the stub takes their effect
 * back first, and fails if it cannot.
 */
void spi_stub_emit(struct spi_emit *e, struct spi_point *point, const uint8_t *bytes, const struct spi_map_insn *insns,
	unsigned int count, unsigned int undo, uint64_t moved[SPI_MAP_ENTRY_INSNS]);

#define SPI_SITE_STUB_MAX	192u
enum spi_site_way {
	SPI_SITE_TO,		/* to the callee `to` */
	SPI_SITE_TO_SLOT,	/* to what stands in the word at `to` */
	SPI_SITE_TO_R11,	/* to what the site's code has put into r11 */
};
/*
 * The stub of a call site, with its latest `moved` instructions moved along. push: 0, or the return address, where the
 * site was replaced by a jump. Sets point->body. entries: NULL, or `moved` places: entries[n] is where a thread goes on
 * that has done all of them but n.
 */
void spi_site_emit(struct spi_emit *e, struct spi_point *point, const struct spi_map_site *site, uint32_t moved, uint64_t push,
	enum spi_site_way way, uint64_t to, uint64_t *entries);
/* The frame where its jump leads, as far as that can be told: of a call it cannot. */
uint16_t spi_site_frame(const struct spi_map_site *site, uint32_t moved);

/* A trampoline is SPI_TRAMPOLINE_HEAD bytes, its frame as unwinders see it, and the jump behind them. */
#define SPI_TRAMPOLINE_HEAD 2u
#define SPI_TRAMPOLINE_MAX 16u
uint32_t spi_trampoline_size(uint64_t place, uint64_t to);
void spi_trampoline_bytes(uint64_t place, uint64_t to, uint16_t frame, uint8_t bytes[SPI_TRAMPOLINE_MAX]);

#define SPI_JUMP_SIZE	5u
void spi_jump_bytes(uint64_t place, uint64_t to, uint8_t bytes[SPI_JUMP_SIZE]);	/* it reaches 2 GB */
/* A function that only returns, and has room behind that for a jump which one store puts there? */
int spi_code_is_empty_function(const uint8_t *code);

/* ---- text.c ---- */

enum spi_text_how {
	SPI_TEXT_STORE = 1,	/* all bytes in one aligned 8-byte word of one instruction: one store */
	SPI_TEXT_SPIN,		/* one instruction; a jump to itself stands there meanwhile */
	SPI_TEXT_INT3,		/* one instruction; int3 stands there meanwhile */
	SPI_TEXT_WIDE,		/* in one aligned block of 16 bytes of one instruction */
	SPI_TEXT_LINE,		/* in one cache line, of one instruction */
	SPI_TEXT_CC,		/* several instructions, whose boundaries hold int3 before, in between or after */
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
 * For a thread of the program, under the patch lock: prepare without int3, and write one jump into code that cannot go
 * meanwhile. 0 or a negative errno.
 */
int spi_patch_prepare_locked(struct spi_point *point, const char **reason);
int spi_patch_install_locked(struct spi_point *point, uint64_t low, uint64_t high, int prot);
int spi_patch_remove_locked(struct spi_point *point, uint64_t low, uint64_t high, int prot);

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
