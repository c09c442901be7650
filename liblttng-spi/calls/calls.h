/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room calls: from a thunk to a payload and back. May this call be recorded, which return slot does it get, and what has
 * become of the slots of calls that did not return.
 *
 * Nothing here allocates, locks or makes a system call on the usual path of a call. All of it may run in a signal
 * handler, before main() and after fork(). A thread's slots are changed by that thread alone, with its signals blocked or
 * in an order that a handler in between can live with; others read them when the process ends (ledger/).
 */
#ifndef SPI_CALLS_H
#define SPI_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include "liblttng-spi/arch/offsets.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"

struct spi_map;
struct spi_map_func;

/* Then: its payload knows SPI_ANSWER_FULL and struct spi_words. What it is in words.S, where that has something for it: */
enum spi_words_thunk {
	SPI_WORDS_NO,
	SPI_WORDS_ONE,		/* a site whose callee is always the same */
	SPI_WORDS_ANY,		/* a site with changing callees, none of it mixed (tree/tree.h) */
};

/*
 * Recording takes some 3 KB of stack, with contexts and wide vector registers 5. A program that comes to its stack's end
 * must not do so in the middle of a record: LTTng would never get at what else is in that sub-buffer. So a call at stack
 * position p is not recorded near there, and counts as lost. (The lowest 4 KB may be a guard.)
 */
#define SPI_STACK_LEAST		8192u	/* bytes above stack_end */
#define CHUNK_SLOTS	256u
#define CHUNK_BYTES	(CHUNK_SLOTS * SPI_SLOT_SIZE)
#define CHUNK_COUNT	(SPI_SLOT_COUNT / CHUNK_SLOTS)
#define SLOT_HALF	((uint64_t) SPI_SLOT_HALF)

struct spi_chunk {
	uint32_t prev;		/* the chunk below in the owner's stack, or the next one on the free list */
	uint32_t mapped;
};

/* ---- threads.c ---- */
int spi_threads_init(void);
/* May a forked child that waits be begun by the call at stack position p? Signals are held. Set by process/child.c; NULL: there are no such children. */
extern int (*spi_child_first_call)(struct spi_thread *t, uint64_t p);
/* On a thread that libc made for us, with its start routine: what libc's descriptor of a thread says and where. */
void spi_threads_learn(void *(*start)(void *));
void spi_threads_fork_child(void);
void spi_thread_thunks(struct spi_point *point, int uses_ymm, int uses_zmm);	/* after spi_threads_init() */
void spi_thread_thunks_words(struct spi_point *point, enum spi_words_thunk which);
/* The thread's mark is not as usual: 1 when its call at p, in a thunk's frame, may be recorded all the same; 0 for p: it gets a slot alone. */
int spi_thread_may(uint64_t p);
int spi_thread_has_own(struct spi_thread *t);	/* the thread counts, and gets slots; what the event module needs for it is another matter */

/* ---- slots.c ---- */
/* For unwind/unwind.c: the call whose frame is left, by the stack (0: that does not tell), or the one that the unwinder names. calls/slots.c */
int spi_thread_unwound(uint64_t sp);
void spi_slot_unwound(struct spi_slot *slot);
/*
 * Set up the calling thread, reclaim slots that longjmp or a switched stack left
 * behind, or grow the range; NULL when the call must not get a slot. Slow path;
 * async-signal-safe.
 */
struct spi_slot *spi_thread_slow(uint64_t p);	/* as spi_slot_ready() */
enum spi_lost spi_slots_lack(void);	/* why that is NULL: SPI_LOST_OPEN or SPI_LOST_MEMORY */
/* It was moved: another slot for a call at p, for good; NULL: none. */
struct spi_slot *spi_slot_claim(uint64_t p);
/* NULL: it is popped, and free ones lie below it. */
void spi_slot_pop_slow(struct spi_slot *slot, uint64_t p);
/* Before the exit of a call whose slot is not the top one is recorded. */
void spi_slot_leave_above(struct spi_slot *slot);
struct spi_slot *spi_thread_top(struct spi_thread *t);
struct spi_slot *spi_slot_below(struct spi_slot *slot);	/* NULL: it is the outermost */
void spi_slots_leave_handler(struct spi_thread *t, uint64_t at, enum spi_left how);
void spi_thread_leave_all(struct spi_thread *t, enum spi_left how);
/* The ledger looks at calls when recording is over: threads keep their chunks, also those that they have left. */
extern uint32_t spi_slots_kept SPI_HIDDEN;

/* ---- first-call.c ---- */
/* calls/first-call.c: is what has called an agent's function, whose frame __builtin_frame_address(0) is, malloc(), or a handler within it? */
int spi_is_in_malloc(const uint64_t *frame);
int spi_first_close_is_in_malloc(const uint64_t *frame);	/* the same, where that matters */
void spi_first_call_loaded(void);	/* lttng-ust is there; who may call the dynamic linker */
/*
 * Critical code: malloc() and its like, stdio, and the dynamic linker. Their data may be half changed, and their locks
 * held, where they call something. spi_critical_find(): where the dynamic linker may be called.
 */
void spi_critical_find(void);
int spi_object_is_critical(const struct spi_object *object);	/* is some of it in the object? */
int spi_call_is_critical(uint64_t p);	/* the call whose return address is at p, in a thunk's frame: was it made within critical code? */
int spi_caller_is_critical(uint64_t from);	/* is such a call one that may be? */
/*
 * All calls that may be return to between these two, or into the return slots' code, which is there, too. And how often
 * there came to be more of that, in the topmost byte. They only grow.
 */
extern uint64_t spi_critical_low SPI_HIDDEN, spi_critical_high SPI_HIDDEN, spi_critical_mark SPI_HIDDEN;
int spi_first_call_has_room(int has_memory);	/* base/payload.h */
int spi_first_call_is_in_malloc(uint64_t p);	/* the call whose return address is at p, in a thunk's frame: is it malloc()'s or a handler's within it? */

/* ---- nesting.c ---- */
/* A call arrived while the thread was busy: 1 when a signal handler made it (record it), 0 when the tracer itself did. */
int spi_thread_nested(uint64_t p);
/* The return address that is meant, where it is a slot's. Of a tail call's that is another slot's. */
uint64_t spi_behind_slots(uint64_t address);
uint64_t spi_restorer_of(uint64_t word);	/* the restorer that the word, a return address, is or stands for; 0: none */
int spi_has_signal_frame(uint64_t low, uint64_t high);	/* has the kernel put one between the two? 1 also where they are on different stacks */
uint64_t spi_thread_busy_at(const struct spi_thread *t);

/* ---- slot-arena.c ---- */
extern struct spi_chunk spi_chunks[CHUNK_COUNT] SPI_HIDDEN;

/* ---- points.c ---- */
struct spi_point *spi_point_find(uint64_t address);	/* the one that is called, or was last */
/* The one that records as a rule with these flags asks for, from before or new. NULL: no memory. */
struct spi_point *spi_point_for(struct spi_object *object, const struct spi_map *map, const struct spi_map_func *func,
	uint32_t flags, const char *event);
struct spi_point *spi_point_generic(const struct spi_point *point);	/* its function's with SPI_POINT_GENERIC, from before; NULL: none */
#define SPI_POINT_FOR_CLIENTS	(1u << 31)	/* among these flags: the point that the function has for payloads of a user's own */
/* The event module's point that such a point calls, and that rules use; NULL: none. Set by payload/. */
extern struct spi_point *(*spi_point_behind)(const struct spi_point *clients) SPI_HIDDEN;
/* From now on this one is called and no other of its function; the jump is passed on. */
void spi_point_to_front(struct spi_point *point);
/* Its object was unloaded: a function that comes to its address gets a point of its own. */
void spi_points_forget(struct spi_object *object);
/* All points of an object, one after the other: NULL first, NULL at the end. */
struct spi_point *spi_points_next(const struct spi_object *object, struct spi_point *after);
/*
 * spi_patch_install() or spi_patch_remove(), whatever is unloaded meanwhile. Returns how many points are left: what
 * went is in no rule's list any more, nor in points[].
 */
uint32_t spi_points_write(struct spi_point **points, uint32_t n, const char **errors, int install);

/*
 * From here on the thread records the call at p. A handler that comes between the two sets busy_p to its own calls',
 * and one that comes then would take it for ours, and its own calls for the tracer's: so it is set again.
 */
SPI_INLINE void spi_busy_begin(struct spi_thread *t, uint64_t p)
{
	const uint32_t level = t->busy;
	uint64_t *at = &t->busy_p;

	if (spi_unlikely(level))
		at = t->own ? &t->own->busy_p[level % SPI_BUSY_LEVELS] : NULL;
	if (spi_likely(at != NULL))
		*at = p;
	spi_barrier();
	t->busy = level + 1;
	spi_barrier();
	if (spi_likely(at != NULL))
		*at = p;
	spi_barrier();
}

/* The same of a thread that is not busy. */
SPI_INLINE void spi_busy_first(struct spi_thread *t, uint64_t p)
{
	t->busy_p = p;
	spi_barrier();
	t->busy = 1;
	spi_barrier();
	t->busy_p = p;
	spi_barrier();
}

SPI_INLINE int spi_on_own_stack(const struct spi_thread *t, uint64_t p)
{
	return p >= t->stack_low && p < t->stack_high;
}

SPI_INLINE int spi_stack_is_short(const struct spi_thread *t, uint64_t p)
{
	return spi_unlikely(p - t->stack_end < SPI_STACK_LEAST);
}

/*
 * spi_call_begin() - may this call be recorded, and is the slot stack in order?
 * Returns 0 when it must run unrecorded (the tracer itself made it). On 1,
 * spi_call_end() follows. Two loads and two compares in the usual case. is_recorded 0: it gets a slot alone.
 */
SPI_INLINE int spi_call_begin(struct spi_thread *t, uint64_t p, const int is_recorded)
{
	if (spi_unlikely((t->owed & ~SPI_THREAD_OWES) != SPI_THREAD_MARK) && !spi_thread_may(is_recorded ? p : 0))
		return 0;
	if (spi_unlikely(t->busy) && !spi_thread_nested(p))
		return 0;
	if (spi_stack_is_short(t, p)) {
		spi_call_missed(SPI_LOST_STACK);
		return 0;
	}
	spi_busy_begin(t, p);
	return 1;
}

SPI_INLINE void spi_call_end(struct spi_thread *t)
{
	spi_barrier();
	t->busy--;
}

/*
 * A tail call: what it is made from has its slot at the same place of the stack, and that holds the slot's own address
 * still. (An endless chain is folded where a chunk of slots ends: slots.c.)
 */
SPI_INLINE int spi_slot_is_chained(const struct spi_slot *top, uint64_t p)
{
	return top->p == p && top->state == SPI_SLOT_LIVE && *(const uint64_t *) p == spi_slot_code(top) + SPI_SLOT_RETURN;
}

/*
 * spi_slot_ready() - make sure that a slot can be pushed for a call whose return
 * address is at stack address p, after those below it (addresses < p) were
 * reclaimed. Returns the slot to fill, or NULL: record without exit.
 */
SPI_INLINE struct spi_slot *spi_slot_ready(struct spi_thread *t, uint64_t p)
{
	struct spi_slot *cur = t->cur;

	if (spi_unlikely(!cur || cur == t->end || (cur > t->base && cur[-1].p <= p && !spi_slot_is_chained(cur - 1, p))))
		return spi_thread_slow(p);
	return cur;
}

/*
 * The top of the thread's slots moves, if nobody has moved it since it was read: a signal's handler may leave slots there
 * when it returns, of calls that it left by longjmp(), or of a coroutine that goes on later. One instruction, as the handler
 * is the same thread's.
 */
SPI_INLINE int spi_slot_top_move(struct spi_thread *t, struct spi_slot *from, struct spi_slot *to)
{
	return spi_local_move((void **) &t->cur, from, to);
}

/*
 * spi_slot_push() - publish the slot that spi_slot_ready() gave, or, when a handler has left others there since, another one:
 * what belongs into it besides is to be written afterwards. The top moves
 * first, so a signal handler in between does not use this slot; p (DEAD until then) says next whose it is, should the
 * handler leave the call; and the target (0 until then) comes last. 0: there is none (*place is a slot that nobody looks at).
 */
SPI_INLINE uint64_t spi_slot_push(struct spi_thread *t, struct spi_slot **place, struct spi_point *point, struct spi_frame *frame)
{
	struct spi_slot *slot = *place;

	if (spi_unlikely(!spi_slot_top_move(t, slot, slot + 1))) {
		static struct spi_slot nobodys;

		slot = spi_slot_claim((uint64_t) &frame->ra);
		if (!slot) {
			*place = &nobodys;
			return 0;
		}
		*place = slot;
	}
	slot->p = (uint64_t) &frame->ra;
	spi_barrier();
	slot->ra = frame->ra;
	slot->exit = point->exit_thunk;
	slot->point = point;
	spi_barrier();
	slot->target = point->body;
	return spi_slot_code(slot);
}

/*
 * Two slots for one call: `code` is what the first point's entry has answered, `second` what the other one answers between
 * the two. The first slot's code stands where the return address does meanwhile, and the second slot returns there.
 * Returns what the thunk is to be answered. Where a second slot is not to be had, the return address is put back.
 */
SPI_INLINE void spi_slot_chain_begin(struct spi_frame *frame, uint64_t code)
{
	if (code)
		*(volatile uint64_t *) &frame->ra = code + SPI_SLOT_RETURN;
}

SPI_INLINE uint64_t spi_slot_chain_end(struct spi_frame *frame, uint64_t code, uint64_t second)
{
	const struct spi_slot *first = (const struct spi_slot *) ((uint64_t) spi_slot_data_base + (code - (uint64_t) spi_slot_code_base));

	if (second || !code)
		return second;
	if (*(volatile uint64_t *) &frame->ra != code + SPI_SLOT_RETURN)
		return 0;		/* folded away: slots.c */
	*(volatile uint64_t *) &frame->ra = first->ra;
	return code;
}

/* The top slot is no more in use: p first, as handlers may come. What the ledger looks at stays, the point among it. */
SPI_INLINE void spi_slot_put_away(struct spi_slot *slot)
{
	slot->p = SPI_SLOT_DEAD;
	spi_barrier();
	slot->target = 0;
	slot->state = SPI_SLOT_LIVE;
	spi_barrier();
}

/* spi_slot_pop() - the call of `slot` is over and accounted for. */
SPI_INLINE void spi_slot_pop(struct spi_thread *t, struct spi_slot *slot)
{
	uint64_t p = slot->p;

	if (spi_likely(slot + 1 == t->cur)) {
		spi_slot_put_away(slot);
		if (spi_unlikely(!spi_slot_top_move(t, slot + 1, slot))) {
			slot->state = SPI_SLOT_FREE;
			spi_barrier();
			slot->p = p;
			spi_slot_pop_slow(slot, p);
		} else if (spi_unlikely(slot > t->base && slot[-1].state != SPI_SLOT_LIVE)) {
			spi_slot_pop_slow(NULL, p);
		}
	} else {
		spi_slot_pop_slow(slot, p);
	}
}

SPI_INLINE uint32_t spi_chunk_of(const struct spi_slot *slot)
{
	return (uint32_t) ((slot - spi_slot_data_base) / CHUNK_SLOTS);
}

SPI_INLINE struct spi_slot *spi_chunk_slots(uint32_t chunk)
{
	return spi_slot_data_base + (size_t) chunk * CHUNK_SLOTS;
}

/* The slot whose code a word that may be anything points into; NULL: none's that was ever in use, whose data is not to be read. */
SPI_INLINE const struct spi_slot *spi_slot_of_word(uint64_t word)
{
	uint64_t at = word - (uint64_t) spi_slot_code_base;

	return at < SLOT_HALF && spi_chunks[at / CHUNK_BYTES].mapped ? &spi_slot_data_base[at / SPI_SLOT_SIZE] : NULL;
}

/* May words.S record this thread's calls? To be asked after its trees have changed. */
SPI_INLINE void spi_tree_words_look(struct spi_thread *t)
{
	t->words_epoch = t->words && !(t->tree & spi_tree_limited) ? t->tree_epoch : 0;
}

#endif /* SPI_CALLS_H */
