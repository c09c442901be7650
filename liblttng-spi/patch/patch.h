/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room patch: text of the running program in, jumps to stubs out, and back, while any number of threads run those bytes
 * and none is stopped.
 *
 * Threads: preparing, installing and removing points is the control side's. What a thread of the program may do says so
 * (_locked), and holds the patch lock, which blocks all signals. Under that lock nothing is called that may be
 * instrumented: system calls are made directly, and nothing uses malloc(). Errors are negative errno; *reason is a static
 * text, always set on failure.
 */
#ifndef SPI_PATCH_H
#define SPI_PATCH_H

#include <stddef.h>
#include <stdint.h>
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"

struct spi_emit;
struct spi_stub;

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

struct spi_patch {
	struct spi_point *point;
	struct spi_point *stub_point;	/* which the stub names; another one is lent it: spi_patch_pass() */
	uint64_t stub_thunk;		/* that point's own */
	struct spi_patch *next;		/* same bucket of the byte index */
	uint64_t address;		/* of the jump: the function's, or behind it (LATE) */
	uint64_t stub;
	uint64_t trampoline;		/* 0: the jump goes straight to the stub */
	uint64_t moved[SPI_MAP_ENTRY_INSNS];
	uint8_t worker;			/* enum spi_entry_worker */
	uint8_t how;			/* enum spi_text_how */
	uint8_t changed;		/* bytes that the worker writes */
	uint8_t fixed;			/* bytes that must stay as they are while it is installed */
	uint8_t bounds;			/* as in struct spi_text_op */
	uint8_t forgotten;		/* the object was unloaded */
	uint8_t yields;			/* another point may take it over: spi_patch_yield() */
	uint8_t reserved;
	uint8_t old[8], new[8];
	uint32_t stub_size;		/* bytes */
};

enum spi_entry_worker {
	SPI_WORKER_NONE = 0,
	SPI_WORKER_JUMP,	/* the first instruction has 5 bytes or more: an ordinary jump */
	SPI_WORKER_PUN,		/* only bytes of the first instruction change; the rest is its displacement */
	SPI_WORKER_CC,		/* displacement chosen so that interior instruction boundaries hold int3 */
	SPI_WORKER_TRAP,	/* int3 and SIGTRAP */
	SPI_WORKER_LATE,	/* a jump or pun behind the first instructions, whose effect the stub takes back */
	SPI_WORKER_COUNT_
};

/* ---- near.c ---- */
/* Under the patch lock, as spi_near_code(); spi_near_alloc() takes it itself. */
void *spi_near_data(struct spi_object *object, size_t size, size_t align);
/* Control side: room for that many bytes of stubs and data, for when threads of the program make them. 0 or -ENOSPC. */
int spi_near_reserve(struct spi_object *object, uint32_t code, uint32_t data);
int spi_near_code(struct spi_object *object, struct spi_emit *emit, uint32_t size);
void spi_near_code_trim(struct spi_object *object, uint64_t end);
/* Memory near an object for data (read-write) that its stubs address; zeroed, never freed. NULL: none. */
void *spi_near_alloc(struct spi_object *object, size_t size, size_t align);
/* Under the patch lock: it goes on in the room that another object has, if that is in reach. */
void spi_near_join(struct spi_object *object, const struct spi_object *with);
/* It was unloaded: what comes into reach next goes on with the room that is left. Control side. */
void spi_near_leave(struct spi_object *object);
int spi_near_has(const struct spi_object *object, const void *p);	/* within reach of all that is the object's */

/* ---- trampoline.c ---- */
/*
 * spi_trampoline_make() - find a place at from + d, where d is a signed 32-bit
 * displacement that has the bits `bits` where `mask` is set, and write there a
 * jump to `to`. into_heap_room: also where a heap of more than 128 MB would like
 * to grow. Returns the place, or 0 and *reason.
 */
uint64_t spi_trampoline_make(struct spi_object *object, uint64_t from, uint32_t mask, uint32_t bits, uint64_t to,
	int into_heap_room, const char **reason);

/* ---- frames.c ---- */
/* Load libgcc, before the first range is registered: where only the calling thread can load anything. */
void spi_frames_find_unwinder(void);
void spi_frames_tell(void);
/*
 * Near code is at `pc`: how far the frame's end is above the stack pointer, in words, the return address below it; and
 * how far below that end the frame pointer was saved, 0: it is what it was. 0, or -1: it is other code. Any thread, any
 * state.
 */
int spi_frames_of(uint64_t pc, unsigned int *words, unsigned int *fp_words);

/* ---- text.c ---- */
void spi_text_fork_child(void);
int spi_text_can_sync(void);	/* 1 when membarrier works; else only STORE does, and points that need more are declined */
void spi_text_sync(void);	/* what was written until now is what every core will run */
/* Write them all, under the patch lock: sorts the array by address. */
void spi_text_write(struct spi_text_op *ops, unsigned int n);
/* The same within [low, high), code that is mapped with the rights `prot`: looks at nothing else. In any thread. */
void spi_text_write_in(struct spi_text_op *ops, unsigned int n, uint64_t low, uint64_t high, int prot);

/* ---- patch.c ---- */
extern uint64_t (*spi_patch_site_stub)(uint64_t address) SPI_HIDDEN;	/* for spi_emit.site_stub */
/* 1: a call site has changed this byte, which an entry of trees may take over as it is; *byte: what the file has. NULL: no sites. */
extern int (*spi_patch_site_byte)(uint64_t address, uint8_t *byte) SPI_HIDDEN;
/*
 * Under the patch lock, in any thread: spi_patch_prepare(), where int3 may be if trap_reason is NULL; -EAGAIN: the
 * choice depends on that, and trap_asked is 0. And write one jump, or take it out, in code that cannot go meanwhile.
 * 0 or a negative errno.
 */
int spi_patch_prepare_locked(struct spi_point *point, int trap_asked, const char *trap_reason, const char **reason);
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
/* Would a jump there change a byte that a prepared point relies on, or the other way round? patch.c */
int spi_bytes_conflict(uint64_t address, uint32_t changed, uint32_t fixed);
/* Let others know of a jump that is not made from a struct spi_patch. 0 or -ENOMEM. patch.c */
int spi_bytes_claim(struct spi_point *point, uint64_t address, uint32_t changed, uint32_t fixed, const uint8_t *old);
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
enum spi_entry_worker spi_patch_worker(const struct spi_point *point);
/* In the child of a fork: near memory that is shared with the parent must not be written any more. */
void spi_patch_fork_child(void);

/* ---- trap.c ---- */
/* What the program set just before this began: this thread's mask, a signal's action. */
void spi_mask_make_virtual(void);
void spi_action_make_virtual(int number);
/*
 * An injected agent (control/init.c): called before there is int3; 0, or negative and *reason. NULL where symbols are in the
 * agent's favour, and in tests of the patcher alone.
 */
extern int (*spi_trap_watch)(const char **reason) SPI_HIDDEN;
void spi_trap_unwatched(void) SPI_HIDDEN;	/* the program is on its own again: no int3 is left */
/* A signal that was taken from the queue: SIGTRAP when that is what it was, and *info with it. */
int spi_signal_undefer(int number, void *siginfo);
/*
 * An int3 at `address` continues at `to`, from now on and for ever: a thread may
 * have fetched an int3 that is no longer there. 0 or -ENOMEM.
 */
int spi_trap_add(uint64_t address, uint64_t to);
void spi_trap_share(int watched);
/* Control side: may code of this object contain int3? 0, or -EPERM and *reason. Takes SIGTRAP. */
int spi_trap_ready(const struct spi_object *object, const char **reason);
/* The same but for which object it is: for code in the C library of which it is known that signals are let in there. */
int spi_trap_ready_anywhere(const char **reason);
/*
 * A timer of the agent's has sent a SIGTRAP: 1, it was one of ours. In a signal handler with all signals blocked; may
 * change the context. Control side: NULL: such timers may begin; else why not. Takes SIGTRAP.
 */
extern int (*spi_trap_timer)(const void *info, void *context) SPI_HIDDEN;
extern int (*spi_trap_asked)(const void *info, void *context) SPI_HIDDEN;	/* the same of one that the agent has queued (SI_QUEUE) */
const char *spi_trap_timer_ready(void);

/* ---- trap-ready.c: NULL, or what speaks against int3 ---- */
/* Libraries that run with all signals blocked at times, or that the tracer's own threads run. */
int spi_object_is_runtime(const struct spi_object *object);

/* ---- steps.c ---- */
/* From the first instrumentation on; control side. steps.c */
void spi_steps_begin(void) SPI_HIDDEN;
/* A signal has come: was the thread in code that tracing has brought? In the handler. */
int spi_context_is_tracing(void *context) SPI_HIDDEN;

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

#endif /* SPI_PATCH_H */
