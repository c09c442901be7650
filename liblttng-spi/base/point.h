/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Points, return slots and the thread's words: the data that thunks, patcher, trees and payloads share. What is done with
 * them is calls/calls.h.
 *
 * A point is one instrumented function entry or call site. Its first instruction is replaced by a jump to a stub, which
 * tests the point's two gates (nothing records: run the function at once) and otherwise enters the point's thunk. The
 * thunk saves the registers and calls point->entry; a payload that wants the exit too gives back the code address of a
 * return slot, in whose code the function is then called, so that its return comes by the slot: point->exit.
 *
 * Who may race whom: a spi_point's hot fields are written before its jump is installed and then only under the patch
 * lock; a spi_slot belongs to one thread; struct spi_thread is that thread's own, except `count`, which others read.
 * Offsets that assembly knows stand in arch/offsets.h and are checked here.
 */
#ifndef SPI_BASE_POINT_H
#define SPI_BASE_POINT_H

#include <stddef.h>
#include <stdint.h>
#include "liblttng-spi/arch/compiler.h"
#include "liblttng-spi/arch/offsets.h"
#include "liblttng-spi/base/trees.h"

struct spi_child;
struct spi_client;
struct spi_clients;
struct spi_frame;
struct spi_guard;
struct spi_map;
struct spi_map_func;
struct spi_object;
struct spi_patch;
struct spi_point;
struct spi_slot;
struct spi_thread;

/*
 * Entry payload: returns 0 (no exit wanted) or spi_slot_code() of a slot it
 * pushed. vec and stride: arch.h, the vector registers.
 */
typedef uint64_t (*spi_entry_fn)(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
/*
 * A point with spi_thread_thunks_words() is first called with vec NULL, vector
 * registers not saved: then it must not touch them, nor call what may (libc,
 * lttng-ust), and if it has to, it answers SPI_ANSWER_FULL, having changed
 * nothing, and is called again with all saved. Its exit payload answers likewise, 0
 * when done.
 */
#define SPI_ANSWER_FULL	UINT64_C(1)
/* Exit payload: `slot` is still the thread's; spi_slot_pop() it. */
typedef void (*spi_exit_fn)(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);

/* How a call ended that did not return. */
enum spi_left {
	SPI_LEFT_RETURN = 0,
	SPI_LEFT_UNWOUND,	/* C++ exception, or forced unwinding: pthread_cancel, pthread_exit */
	SPI_LEFT_JUMPED,	/* longjmp, seen at the thread's next call or return */
	SPI_LEFT_THREAD_END,
	SPI_LEFT_PROCESS_END,
	SPI_LEFT_TAIL,		/* folded: endless tail calls */
	SPI_LEFT_DETACHED,	/* under way still when tracing left the process */
};

/* Called once for a slot whose call ended otherwise than by returning; from unwinders, thread and process ends. */
typedef void (*spi_left_fn)(struct spi_slot *slot, enum spi_left how);

#define SPI_BACKTRACE_WANTS	8u	/* numbers of frames that rules of one function ask for at the same time */

/* What rules in force ask for of a point: rules/backtraces.c. Never freed; calls read it in any thread. */
struct spi_backtraces {
	uint32_t frames;		/* the largest number of them all; 0: no rule asks for backtraces */
	struct {
		uint32_t frames;	/* at most; 0: the place is free */
		uint32_t users;		/* rules that ask for so many */
		uint32_t untagged;	/* of these, those without a tag */
		const char *tags;	/* of the others; NULL: there are none */
	} wants[SPI_BACKTRACE_WANTS];
};

/* What a call with compact records touches is the first line, with one event at each end the second, too. */
struct spi_point {
	uint64_t body;		/* 0: the moved first instructions; jump there to run the function. thunks.S */
	uint64_t word;		/* 8: a payload's: what words.S writes into a word beside the time */
	uint64_t thunk;		/* 16: entry thunk; the stub jumps here. thunks.S, stubs */
	uint32_t tree_todo;	/* 24: trees that have not looked at its callee yet; also a gate: the stub enters while it is not 0 (lent_to) */
	uint32_t tree_quick;	/* 28: tree_live while words.S may do what there is to do, else 0. tree/tree.h */
	uint32_t tree_live;	/* 32: trees that record it */
	uint32_t flags;		/* 36: enum spi_point_flags */
	uint64_t hits;		/* 40: calls that were recorded, roughly */
	spi_entry_fn entry;	/* 48: thunks.S */
	union {			/* 56 */
		struct spi_child *latest;	/* of a site with changing callees, the one that was met last. tree/callee.c, words.S */
		struct spi_point *lent_to;	/* of a function's point: whose thunk begins where its own did. patch/patch.c, thunks.S */
		const struct spi_point *events_of;	/* of one that has no payload yet: whose events it is to record; NULL: new ones */
	};

	spi_exit_fn exit;	/* 64: the exit thunk calls it */
	void *payload;		/* 72: the payload's own record of this point */
	uint64_t address;	/* 80: the function's first byte in this process */
	spi_entry_fn record;	/* 88: of a tree or of library calls: the payload's entry, behind the agent's own; NULL: not bound yet */
	uint64_t call_site;	/* 96: what is recorded as such; 0: where the call returns to */
	uint64_t exit_thunk;	/* 104: goes into the slot of each call */
	uint32_t vectors;	/* 112: vector state that makes its thunks save more: spi_thunks_full(). thunks.S */
	uint32_t users;		/* rules that want it */
	spi_left_fn left;

	/* behind the thunks that save no vector registers (SPI_ANSWER_FULL): those that save all. 128: thunks.S */
	uint64_t full_thunk, full_exit_thunk;
	/* cold from here on */
	const volatile int *gate[2];	/* in near memory; the stub records nothing while both are 0 */
	struct spi_patch *patch;	/* the patcher's record */
	struct spi_object *object;
	const struct spi_map_func *func;	/* in the mapped code map; stays mapped */
	const struct spi_map *map;
	struct spi_point *next_hash;
	uint32_t installed;		/* the jump is in the text */
	uint8_t said;			/* spi_function_told.said, of a rule by name */
	uint16_t string_max;		/* bytes kept of a string; 0: the module's default */
	const char *event_name;		/* base, unique in the process */
	struct spi_clients *clients;	/* payload/payload.h; NULL: no client ever wanted it */
	const char *tags;		/* of the rules in force that asked for it; NULL: none yet. rules/tags.c */
	struct spi_backtraces *backtraces;	/* NULL: no rule ever asked for backtraces */
};

#define AT(type, field, place) _Static_assert(offsetof(struct type, field) == place, "arch/offsets.h")
AT(spi_point, body, SPI_AT_POINT_BODY);
AT(spi_point, word, SPI_AT_POINT_WORD);
AT(spi_point, thunk, SPI_AT_POINT_THUNK);
AT(spi_point, tree_quick, SPI_AT_POINT_QUICK);
AT(spi_point, flags, SPI_AT_POINT_FLAGS);
AT(spi_point, hits, SPI_AT_POINT_HITS);
AT(spi_point, entry, SPI_AT_POINT_ENTRY);
AT(spi_point, latest, SPI_AT_POINT_LATEST);
AT(spi_point, lent_to, SPI_AT_POINT_LENT);
AT(spi_point, exit, SPI_AT_POINT_EXIT);
AT(spi_point, payload, SPI_AT_POINT_PAYLOAD);
AT(spi_point, address, SPI_AT_POINT_ADDRESS);
AT(spi_point, exit_thunk, SPI_AT_POINT_EXIT_THUNK);
AT(spi_point, vectors, SPI_AT_POINT_VECTORS);
AT(spi_point, full_thunk, SPI_AT_POINT_FULL);
AT(spi_point, full_exit_thunk, SPI_AT_POINT_FULL_EXIT);
AT(spi_point, clients, SPI_AT_POINT_CLIENTS);

enum spi_point_flags {
	SPI_POINT_LOOPS		= 1u << 0,	/* SPI_FUNC_LOOPS_TO_ENTRY */
	SPI_POINT_ONE_EVENT	= 1u << 1,
	SPI_POINT_NO_EXIT	= 1u << 2,	/* never give it a slot */
	SPI_POINT_APART		= 1u << 3,	/* the agent's own, in libc: in no rule and no table. hooks/entries.c */
	SPI_POINT_TREE		= 1u << 4,	/* a call tree's: a call site, or the entry of a root or handler. tree/tree.h */
	SPI_POINT_COMPACT	= 1u << 5,	/* its calls go into compact records */
	SPI_POINT_WORDS		= 1u << 7,	/* all that its payload does at an entry is what words.S does */
	SPI_POINT_GENERIC	= 1u << 9,	/* of a rule by name, recorded by address: there were too many for events of their own */
	SPI_POINT_CLIENTS	= 1u << 10,	/* payloads of a user's own may want its calls: `clients` is there */
	SPI_POINT_LIBCALLS	= 1u << 11,	/* of a rule by name: calls from other objects alone are recorded. rules/library-calls.c */
	SPI_POINT_UNNAMED	= 1u << 8,	/* the trace may not have been told of its function; tp/describe/function.c */
};
_Static_assert(SPI_POINT_LOOPS == SPI_POINT_FLAG_LOOPS && SPI_POINT_NO_EXIT == SPI_POINT_FLAG_NO_EXIT,
	"arch/offsets.h");

/* Where the event module's entry of a function's point belongs: behind the agent's own, where the agent looks at each call first. */
SPI_INLINE spi_entry_fn *spi_point_record(struct spi_point *point)
{
	return point->flags & SPI_POINT_LIBCALLS ? &point->record : &point->entry;
}

/*
 * Slot code and slot data are two arrays with the same 64-byte stride, a fixed
 * distance apart, both inside this library's own image, so that every unwinder
 * and debugger finds the one FDE that describes all of them (slots.S).
 */
#define SPI_SLOT_COUNT		(1u << 21)
#define SPI_SLOT_DEAD		(~UINT64_C(0))

/*
 * spi_slot.aux: the event module has recorded nothing of the call, and is to record nothing. `start` 0: nobody has; else
 * a client's (payload/payload.h), and `cookie` is its user data.
 */
#define SPI_SLOT_APART	UINT32_MAX

enum spi_slot_state {
	SPI_SLOT_FREE = 0,	/* the call is over; the slot waits for those above it */
	SPI_SLOT_LIVE,
	SPI_SLOT_UNWOUND,	/* an unwinder left it, and may still read it: free once the stack shows that it is done */
};

/* Above the top p is SPI_SLOT_DEAD, target 0, and state SPI_SLOT_LIVE already: whoever pushes a slot leaves that so. */
struct spi_slot {
	uint64_t ra;		/* 0: original return address. slots.S */
	uint64_t target;	/* 8: body. slots.S; 0: the slot is not filled yet */
	uint64_t exit;		/* 16: exit thunk. slots.S */
	uint64_t p;		/* 24: where on the stack the return address stood; SPI_SLOT_DEAD above the top */
	struct spi_point *point;	/* 32 */
	uint64_t start;		/* 40: payload's: time of the entry */
	const void *cookie;	/* 48: payload's: the channel that recorded the entry */
	uint32_t state;		/* 56: enum spi_slot_state */
	uint32_t aux;		/* 60: payload's */
};

_Static_assert(sizeof(struct spi_slot) == SPI_SLOT_SIZE, "arch/offsets.h");
_Static_assert(SPI_SLOT_FREE == SPI_SLOT_STATE_FREE && SPI_SLOT_LIVE == SPI_SLOT_STATE_LIVE, "arch/offsets.h");
AT(spi_slot, ra, SPI_AT_SLOT_RA);
AT(spi_slot, target, SPI_AT_SLOT_TARGET);
AT(spi_slot, exit, SPI_AT_SLOT_EXIT);
AT(spi_slot, p, SPI_AT_SLOT_P);
AT(spi_slot, point, SPI_AT_SLOT_POINT);
AT(spi_slot, start, SPI_AT_SLOT_START);
AT(spi_slot, cookie, SPI_AT_SLOT_COOKIE);
AT(spi_slot, state, SPI_AT_SLOT_STATE);
AT(spi_slot, aux, SPI_AT_SLOT_AUX);
_Static_assert(SPI_AT_SLOT_AUX == SPI_AT_SLOT_STATE + 4, "payload/call.S writes both at once");
#define SPI_BUSY_ALWAYS		0x10000u	/* spi_thread.busy of the tracer's own threads: never recorded */
#define SPI_BUSY_APART_SHIFT	20
#define SPI_BUSY_APART(why)	(SPI_BUSY_ALWAYS | ((why) + 1u) << SPI_BUSY_APART_SHIFT)	/* of one of the program's: counted so, enum spi_lost */

/* Counters that one thread adds to and anyone may read: the status page's struct spi_status_block. */
struct spi_thread_count {
	uint64_t entries, exits, lost_entries, lost_exits, owed_exits, nested_skipped, slots_exhausted, strings_unreadable;
};

/*
 * A thread that was made by a system call may have thread-local memory of its own, which libc has not filled: then the
 * mark is not there, and nothing of this is anything. Looked at together with `busy` and with what is owed where it is
 * not looked at otherwise; an epoch of trees (tree/tree.h) is as good a mark.
 */
#define SPI_THREAD_MARK		UINT32_C(0x5b1d0000)
#define SPI_THREAD_IDLE		((uint64_t) SPI_THREAD_MARK << 32)	/* `busy` and `owed` as one word */
#define SPI_THREAD_OWES		1u
#define SPI_THREAD_LENT		2u	/* somebody else may run on these words: each call asks whose it is. process/clones.c */
#define SPI_THREAD_NEW		4u	/* it has recorded nothing yet: may it? threads.c */

/*
 * Where the quickest thunks (words.S) record: they claim a word by one addition to
 * `used`, and write the TSC's lower half into it, together with point->word;
 * for an exit, those that slot->start has, with SPI_WORD_EXIT set. That is all they can do: when `used` has come to `limit`, or
 * the TSC's upper half is not `high`, the payload is called.
 */
struct spi_words {
	uint32_t used, limit, high, reserved;
	uint8_t payload[112];		/* the payload's */
	uint64_t words[];
};

#define SPI_WORD_EXIT	(UINT64_C(1) << SPI_WORD_EXIT_BIT)
AT(spi_words, used, SPI_AT_WORDS_USED);
AT(spi_words, limit, SPI_AT_WORDS_LIMIT);
AT(spi_words, high, SPI_AT_WORDS_HIGH);
AT(spi_words, words, SPI_AT_WORDS_WORDS);
/* Who ends a thread's calls: the thread itself, or the thread that closes them. */
enum spi_closing { SPI_CLOSING_FREE = 0, SPI_CLOSING_OWN, SPI_CLOSING_OTHER };

struct spi_thread_record {
	struct spi_thread_count count;	/* only ever grows; a later thread that takes the record over goes on from there */
};

#define SPI_BUSY_LEVELS	8u

/* By what a signal's handler leaves a call that is being recorded, once its record is complete: unwind/leave.c. */
struct spi_leave {
	uint64_t arguments[2];
	void *const *by;		/* the function that gets them */
	uint64_t back, ra, mask;	/* where the record's own return address stands, and what it is; the handler's mask */
	uint8_t jump[200];		/* what arguments[0] points to, of longjmp() */
};

/* What the core keeps beside it, in private memory. */
struct spi_thread_own {
	struct spi_thread_own *next;
	struct spi_thread_record *record;	/* NULL: none yet in this process */
	uint64_t in_use;
	int32_t tid;
	uint32_t chunk;			/* top of the thread's slot chunks; others read it when the process ends */
	uint64_t tree_opener[16];	/* the stack position of the call that a tree began with in this thread. tree/root.c */
	void *pages;			/* signals/fault.c: pages known to be readable */
	uint32_t tree_base[16];		/* where the depth of a tree is counted from. tree/tree.h */
	const struct spi_thread *thread;	/* may be gone: ledger/close.c */
	uint64_t busy_p[SPI_BUSY_LEVELS];	/* [n]: of the call that is recorded on top of n others, in a signal handler */
	void *debts;			/* a payload's: exits that found no room */
	uint32_t awaited;		/* ledger/close.c */
	uint32_t closing;		/* enum spi_closing: a lock, while calls of rules are being closed. ledger/close.c */
	struct spi_leave leave;		/* unwind/leave.c */
	uint64_t critical_below;	/* stack position below which it may be within critical code. payload/call.c */
	struct spi_guard *guard;	/* the payload that the thread is in. payload/guard.c */
	struct spi_watched_call {
		uint64_t since;		/* ns of spi_now_ns(); 0: no payload with a time limit runs */
		struct spi_client *client;
	} watched;			/* payload/limit.c */
	uint32_t slot_unsure;		/* an unwinder has left a thunk: the next slot's frame may be one that is nobody's. unwind/unwind.c */
};

#define CHUNK_NONE	UINT32_MAX
#define SPI_TREE_OPEN		(1u << 31)	/* in tree_todo: the stub always enters */

/* ---- arch/x86-64/slots.S ---- */
extern uint8_t spi_slot_code_base[];			/* slots.S */
extern struct spi_slot spi_slot_data_base[];		/* slots.S: SPI_SLOT_COUNT * SPI_SLOT_SIZE above the code */

/* ---- thread.c ---- */
/*
 * Initial-exec TLS: reached without a call. Zero but for `owed` at a thread's start; `cur` is
 * NULL until spi_thread_begin() has set it up, so the first call of a thread
 * takes the slow path below by itself.
 */
struct spi_thread {
	struct spi_slot *cur;	/* next free slot */
	struct spi_slot *base;	/* first slot of the thread's range */
	struct spi_slot *end;	/* end of the range */
	struct spi_words *words;	/* NULL: none yet; the payload's */
	uint32_t tree;		/* call trees that the thread is in; good while tree_epoch is spi_tree_epoch. tree/tree.h */
	uint32_t words_epoch;	/* tree_epoch, if words.S may record this thread's calls; else 0 */
	uint32_t busy;		/* nesting: 1 while recording, 2 in a signal handler that interrupted that...; SPI_BUSY_ALWAYS */
	uint32_t owed;		/* SPI_THREAD_MARK, and SPI_THREAD_OWES while exits are owed, SPI_THREAD_LENT, SPI_THREAD_NEW */
	uint64_t busy_p;	/* stack position of the outermost call being recorded; of others: spi_thread_own */
	uint64_t stack_low, stack_high;	/* the thread's own stack, in addresses */
	struct spi_thread_record *record;	/* outlives thread and process: counters in the status memory */
	void *payload[4];	/* a payload's per-thread words; [1] is the core's: pages known to be readable */
	uint64_t tsc;		/* a payload that has just read the TSC for this call may leave it here for signals/fault.c; else 0 */
	struct spi_thread_own *own;	/* the core's; set and cleared with `record` */
	uint32_t tree_epoch;
	uint32_t tree_now;	/* a payload's: trees of the call that is being recorded, for filters */
	uint64_t tree_ends;	/* how often its end has come: threads.c */
	uint32_t tree_over;	/* trees whose depth the call is beyond that is being recorded: they do not record it */
	uint32_t budget_calls, budget_skips;	/* since the account was looked at, of trees with a budget. tree/budget/budget.h */
	uint32_t tree_apart;	/* likewise, of a root's own point, trees that have the call from its site. tree/root.c */
	uint64_t stack_end;	/* how far its stack can grow; 0: not known. spi_stack_is_short() */
};

extern __thread struct spi_thread spi_thread __attribute__((tls_model("initial-exec")));

SPI_INLINE uint64_t spi_slot_code(const struct spi_slot *slot)
{
	return (uint64_t) spi_slot_code_base + ((uint64_t) slot - (uint64_t) spi_slot_data_base);
}

SPI_INLINE uint32_t spi_thread_owes(const struct spi_thread *t)
{
	return t->owed & SPI_THREAD_OWES;
}

/* The trees that record a call of this point in this thread. */
SPI_INLINE uint32_t spi_trees_recording(const struct spi_thread *t, const struct spi_point *point)
{
	uint32_t trees = t->tree & point->tree_live & ~t->tree_over;

	if (spi_likely(!(point->flags & (SPI_POINT_APART | SPI_POINT_CLIENTS))))
		return trees;
	trees &= ~spi_client_trees;
	return point->flags & SPI_POINT_APART ? trees & ~t->tree_apart : trees;
}

SPI_INLINE int spi_thread_is_foreign(const struct spi_thread *t)
{
	return (t->owed & 0xffff0000) != SPI_THREAD_MARK;
}

AT(spi_thread, cur, SPI_AT_THREAD_CUR);
AT(spi_thread, words, SPI_AT_THREAD_WORDS);
AT(spi_thread, tree, SPI_AT_THREAD_TREE);
AT(spi_thread, words_epoch, SPI_AT_THREAD_EPOCH_BUSY);
AT(spi_thread, busy, SPI_AT_THREAD_BUSY);
AT(spi_thread, owed, SPI_AT_THREAD_OWED);
AT(spi_thread, busy_p, SPI_AT_THREAD_BUSY_P);
AT(spi_thread, own, SPI_AT_THREAD_OWN);
AT(spi_thread, stack_end, SPI_AT_THREAD_STACK_END);
AT(spi_thread_own, critical_below, SPI_AT_OWN_CRITICAL);
AT(spi_thread_own, guard, SPI_AT_OWN_GUARD);
_Static_assert(SPI_THREAD_MARK == SPI_THREAD_MARKED && (SPI_THREAD_OWES | SPI_THREAD_NEW) == SPI_THREAD_USUAL,
	"arch/offsets.h");
#undef AT

#endif /* SPI_BASE_POINT_H */
