/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room tree/sites: call sites, and how their text is changed. A site is a struct spi_point whose call leads to its stub.
 * The ways to redirect its call there stand in the order in which they are tried: enum spi_site_worker.
 *
 * Threads: under the patch lock, in any thread in any state, unless a function says otherwise. A site's payload is there
 * before its bit in tree_live. Nothing is ever freed.
 */
#ifndef SPI_TREE_SITES_H
#define SPI_TREE_SITES_H

#include <stddef.h>
#include <stdint.h>
#include "codemap/map/format.h"
#include "liblttng-spi/arch/offsets.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/payload/payload.h"

struct spi_client;
struct spi_custom;
struct spi_entry;
struct spi_frame;
struct spi_site;
struct spi_tree_object;

/* What is recorded of an entry's calls, one way or the other. */
struct spi_pair {
	struct spi_point outer;		/* first; begins trees */
	struct spi_point inner;		/* the same call inside */
	spi_exit_fn exit;		/* the payload's, of `outer` */
	spi_left_fn left;
	struct spi_entry *entry;
};

struct spi_entry {
	struct spi_point point;		/* first; the stub's */
	struct spi_pair *pairs[2];	/* [1]: compact records; NULL: no tree has wanted these */
	struct spi_tree_object *to;
	uint64_t func;
	uint32_t opens;			/* trees that it is the root of */
	uint32_t begins;		/* trees of a whole program: they begin with it, too, before main() and after */
	uint32_t rests;			/* those that begin no more for the moment: tree/budget/out.c */
	uint32_t is_spare;		/* goes when a site's call leads here: outside.c */
	uint64_t returns_to;		/* the latest return address that is one: root.c */
	uint32_t is_late;		/* its bytes are still to be written for that */
	struct spi_entry *next;
	struct spi_point *named;	/* of a rule by name that traces this function, in force; NULL: none */
	struct spi_point *before;	/* whose bytes it is about to take. entry-named.c */
};

/* An entry point that somebody wants: spi_entry_want(). */
struct spi_entry_want {
	struct spi_tree_object *to;
	uint64_t func;
	uint32_t trees;
	uint32_t trap_asked;		/* may int3 be? No, for the reason no_trap; NULL: it may. 0: not known */
	uint32_t asks_trap;		/* out: it depends on that */
	const char *no_trap;
	const char *reason;		/* out: why it is not to be had */
	struct spi_entry *made;		/* before int3 was asked for */
	void (*work)(struct spi_entry_want *w);
};

#define SPI_TREE_TEXTS_MAX	4u	/* executable pieces of an object */

enum spi_site_worker {
	SPI_SITE_NONE = 0,
	SPI_SITE_WORKER_CALL,	/* the instruction alone has room */
	SPI_SITE_WORKER_BLOCK,	/* one of those before it, which are moved along */
	SPI_SITE_WORKER_TRAP,	/* int3 */
	SPI_SITE_WORKER_CUSTOM,	/* a user's own, which is asked before all others: custom.c */
	SPI_SITE_WORKERS
};

/* A callee that a site with changing callees has met: a point of its own. Immutable but for its point. */
struct spi_child {
	struct spi_point point;		/* first */
	struct spi_site *site;
	struct spi_child *next;		/* of the site */
	uint64_t target;		/* what the site jumps to */
};

_Static_assert(offsetof(struct spi_child, site) == SPI_AT_CHILD_SITE, "arch/offsets.h");

/* One call site. In near memory: its stub addresses point and masks. */
struct spi_site {
	struct spi_point point;		/* first */
	struct spi_tree_object *owner;
	const struct spi_map_site *map;
	struct spi_child *children;	/* INDIRECT: all callees; point.latest is the latest */
	struct spi_point *twin;		/* for the other kind of records; NULL: never wanted. tree/sites/both.c */
	uint64_t stub;
	uint64_t way;			/* where the changed bytes lead, if not to the stub */
	uint32_t trees;			/* that have it in place; 0: the program's own bytes stand there */
	uint32_t ready;			/* of these, those that have asked for it by its address: propel.c */
	uint8_t worker;			/* enum spi_site_worker; NONE: nothing can be done here */
	uint8_t form;			/* tree/sites/internal.h */
	uint8_t before;			/* bytes before its instruction where what is changed begins */
	uint8_t changed;		/* JUMP: bytes of the jump that are written */
	uint8_t pushes;			/* the stub begins with pushing the return address */
	uint8_t prefixes;		/* JUMP: before the jump */
	uint8_t was[8];			/* the program's bytes there */
	uint8_t is_both;		/* trees of the other kind than its point's have it. tree/sites/both.c */
	uint8_t is_told;		/* the site was named, for callees that got no point. callee.c */
	uint16_t stub_size;		/* bytes */
	const struct spi_custom *custom;	/* CUSTOM: whose it is */
	uint8_t not_custom;		/* a user's own worker has failed here: the agent's have it */
	const char *reason;		/* why not */
	uint32_t out;			/* 1 + the number of its record in tree/budget/out.c; 0: none */
	uint64_t skipped;		/* what calls took that were not recorded, ns; for budgets. calls.c */
};

#define SPI_FIT_TOLD	2u	/* they may not, and that was told; 0: to be found out, or not told */

struct spi_tree_func {
	uint32_t done;			/* trees whose sites in it are in place */
	uint32_t excluded;		/* trees that leave it out */
	uint32_t budget;		/* of these, those whose budget does */
	uint8_t look;			/* 1: its record is good; 2: it is not */
	uint8_t said;			/* spi_function_told.said */
	uint16_t is_fit;		/* SPI_FIT_*: spi_tree_func_unfit() */
};

struct spi_tree_text {
	uint64_t low, high;
	int prot;
};

struct spi_tree_object {
	struct spi_tree_object *next;
	struct spi_object *object;
	struct spi_map map;
	uint64_t low, high;
	uint32_t gone;			/* unloaded */
	uint32_t text_count;
	struct spi_tree_text text[SPI_TREE_TEXTS_MAX];
	struct spi_tree_func *funcs;	/* as the map's */
	struct spi_site **sites;	/* as the map's; NULL: not met yet */
	const volatile int *gate[2];	/* while somebody records; [1]: compact records */
	uint8_t is_recorded[2];		/* the event module has prepared it for these */
	uint32_t covered;		/* trees that go into it */
	uint32_t outside;		/* trees whose calls from other objects are recorded at the functions' entries */
	uint32_t ends_taken;		/* its constructors and destructors have entry points: load-watch.c */
	uint64_t dynamic;		/* PT_DYNAMIC; 0: none */
	uint32_t is_libc;
	uint32_t is_runtime;		/* int3 only where it is known to be safe: tree/sites/trap.c */
	const char *no_trap;		/* why there may be no int3; NULL: it may be */
	uint32_t is_met;		/* sites of it were met */
	uint32_t is_late;		/* sites have left their trees, but their bytes are still to be put back: spi_sites_settle() */
	uint64_t *calls, *recent;	/* by function; NULL: nobody has counted yet. tree/budget/calls.c */
	uint32_t *outs;			/* by function, as spi_site.out; NULL: none was ever left out. tree/budget/out.c */
};

/* ---- site.c ---- */
/* The operation that puts the site in place. 0, or -1: it cannot be done. */
int spi_site_change(const struct spi_site *s, struct spi_text_op *op);
void spi_site_workers_read(void);	/* LTTNG_SPI_TEST_WORKER */

/* ---- both.c ---- */
/*
 * A further point of a site, for calls of `address` in one kind of records, on a cache line of its own. NULL: no
 * memory. What was taken is never given back.
 */
struct spi_point *spi_site_point(const struct spi_site *s, uint32_t size, uint64_t address, uint64_t body,
	uint32_t compact);

/* ---- trap.c ---- */
int spi_site_wants_trap(const struct spi_map_site *map);	/* a worker that needs int3 may be asked, as far as the map tells */

/* ---- custom.c: workers of a user's own ---- */
/* control side. 0, -ENOSPC or -ENOMEM */
int spi_site_custom_add(struct spi_client *client, const struct spi_worker *worker);
/* the stub of a site that one has, or has had, there; 0: none. Any thread, no lock */
uint64_t spi_site_custom_at(uint64_t address);
/* Bytes of the site's instruction, in one step as threads see it. Under the patch lock. 0, -EINVAL, -ERANGE or -EIO. */
int spi_site_custom_write(struct spi_site *s, uint64_t address, const uint8_t *bytes, size_t n);
/* site.c: of all others than a user's own. For the whole process */
void spi_site_workers_only(enum spi_site_worker worker);

/* ---- entry.c ---- */
extern struct spi_entry *spi_entries;
struct spi_entry *spi_entry_find(uint64_t address);
int spi_entry_use(struct spi_entry *e, uint32_t trees);	/* what trees of their kinds need is there. 0 or -ENOMEM */
/* Its bytes, under the patch lock: the jump, or the program's. 0, or a negative errno: they were changed by somebody else. */
int spi_entry_write(struct spi_entry *e, int install);
/* The one of the function, or a new one, published; under the patch lock. NULL: w->reason, or w->asks_trap. */
struct spi_entry *spi_entry_get(struct spi_entry_want *w);
struct spi_entry *spi_entry_told(struct spi_entry_want *w);	/* likewise, and the reason is told */
/*
 * Control side: work(w) under the patch lock, while no object can be unloaded; once more where that depends on
 * whether int3 may be. w->reason stays as it is where the object is gone.
 */
void spi_entry_held(struct spi_entry_want *w, void (*work)(struct spi_entry_want *w));
void spi_entry_spare_over(struct spi_entry *e);	/* a site's call leads to it: it goes */
/* One whose function is left out for a tree's budget, or comes back: under the patch lock, any thread. Its bytes are written by spi_entry_settle(). */
void spi_entry_rest(struct spi_entry *e, uint32_t tree, int rests);
void spi_entry_settle(struct spi_entry *e);
void spi_entries_forget(uint32_t trees);
/* Control side: an entry point that begins `tree` in the thread which enters it. NULL, or why there is none. */
const char *spi_tree_root_add(struct spi_tree_object *to, uint64_t func, uint32_t tree);
void spi_tree_roots_leave(uint32_t tree);

/* ---- object.c ---- */
/* What sites and entry points call in the room above. Set before the first tree begins. */
struct spi_tree_calls {
	/* a call of a site: whose callee is always the same, or not; of one in trees of both kinds of records */
	uint64_t (*site)(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
	uint64_t (*site_any)(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
	uint64_t (*site_both)(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
	/* of one in trees for clients, whose callee is always the same, or in a slot */
	uint64_t (*site_clients)(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
	/* a call of an entry point; the end of the one that has begun trees */
	uint64_t (*entry)(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
	spi_exit_fn pair_exit;
	spi_left_fn pair_left;
};

extern const struct spi_tree_calls *spi_tree_calls SPI_HIDDEN;
extern struct spi_tree_object *spi_tree_objects;
struct spi_tree_object *spi_tree_object_at(uint64_t address);
/* The function that begins there; -1: none does. */
int64_t spi_tree_func_at(const struct spi_tree_object *to, uint64_t address);
/* The one whose bytes these are; -1: none's. */
int64_t spi_tree_func_around(const struct spi_tree_object *to, uint64_t address);
const char *spi_tree_func_name(const struct spi_tree_object *to, uint64_t index);
const char *spi_tree_func_shown(const struct spi_tree_object *to, uint64_t index);	/* demangled, with its scope */
/* May what the function's record leads to be followed? Of a map that was checked as a whole always. */
int spi_tree_func_is_good(struct spi_tree_object *to, uint64_t index);
/* There in every object, for start and end; or no function at all (-1). */
int spi_tree_func_is_usual(const struct spi_tree_object *to, int64_t func);
/* NULL, or why calls of the function are never recorded. */
const char *spi_tree_func_unfit(const struct spi_tree_object *to, uint64_t index);
const char *spi_map_func_unfit(const struct spi_map *map, uint64_t index);	/* the same of any object's whole map */

/* ---- place.c: under the patch lock ---- */
/*
 * Put the sites of a function, and of its pieces, in place for these trees. What cannot be is left as it is, and told
 * by spi_tree_decline().
 */
void spi_sites_place(struct spi_tree_object *to, uint64_t func, uint32_t trees);
/* The same, control side, not under the patch lock: while no object can be unloaded. */
void spi_sites_place_held(struct spi_tree_object *to, uint64_t func, uint32_t trees);
/* The trees have left all sites: put the program's bytes back where none is left. */
void spi_sites_leave(struct spi_tree_object *to, uint32_t trees);
void spi_site_restore(struct spi_site *site);
/* One site comes back, or comes, to those of these trees that want it. Written by spi_sites_flush(). */
void spi_site_come(struct spi_tree_object *to, uint32_t index, uint32_t trees);
void spi_sites_flush(struct spi_tree_object *to);
/* One site leaves; its bytes stay as they are until the control thread, while no object can be unloaded, settles that. */
void spi_site_leave(struct spi_site *site, uint32_t trees);
void spi_sites_settle(struct spi_tree_object *to);
uint64_t spi_site_stub_at(uint64_t address);
int spi_site_byte_was(uint64_t address, uint8_t *byte);
extern uint32_t spi_sites_placed;	/* now */

/* ---- entry-named.c ---- */
/* Control side: 1: the point has the entry's moved instructions, and no jump of its own; 0: it needs one. */
int spi_entry_lend(struct spi_point *named);
int spi_entry_name(struct spi_point *named, int install);	/* such a point is in force, or no longer. 0 or a negative errno */

/* ---- declined.c ---- */
/* Something could not be done; kept until the control side reports it, once for each place. Under the patch lock. */
void spi_tree_decline(const struct spi_tree_object *to, uint64_t address, const char *reason);
/* Control side: what is new of that is reported; _forget: no tree is left, and what comes is told anew. */
void spi_tree_report(struct spi_link *link);
void spi_tree_report_forget(void);

/* Its callee is always the same; or what the dynamic linker puts into a slot. Else each call may have another. */
SPI_INLINE int spi_site_is_direct(const struct spi_map_site *map)
{
	return map->kind == SPI_SITE_CALL || map->kind == SPI_SITE_JUMP || map->kind == SPI_SITE_JCC;
}

SPI_INLINE int spi_site_is_slot(const struct spi_map_site *map)
{
	return map->kind == SPI_SITE_CALL_SLOT || map->kind == SPI_SITE_JUMP_SLOT || map->kind == SPI_SITE_JCC_SLOT;
}

SPI_INLINE struct spi_entry_want spi_entry_want(struct spi_tree_object *to, uint64_t func, uint32_t trees)
{
	return (struct spi_entry_want) { .to = to, .func = func, .trees = trees, .trap_asked = 1,
		.no_trap = "only a breakpoint (int3) fits, and no thread of the program sets one" };
}

SPI_INLINE const struct spi_map_func *spi_tree_map_func(const struct spi_tree_object *to, uint64_t index)
{
	return SPI_MAP_AT(&to->map, funcs, struct spi_map_func, index);
}

/* Those of `trees` whose kind of records a point with these flags has. */
SPI_INLINE uint32_t spi_trees_of(uint32_t trees, uint32_t flags)
{
	return trees & (flags & SPI_POINT_COMPACT ? spi_tree_compact : ~spi_tree_compact);
}

/*
 * Which trees record a point, and which have to look at its callee first. Whoever changes that has the patch lock, and
 * so tree_quick follows.
 */
SPI_INLINE void spi_tree_quick_look(struct spi_point *point)
{
	int is_quick = (point->flags & SPI_POINT_WORDS) && !point->tree_todo;

	__atomic_store_n(&point->tree_quick, is_quick ? point->tree_live : 0, __ATOMIC_RELEASE);
}

SPI_INLINE void spi_tree_todo_add(struct spi_point *point, uint32_t trees)
{
	__atomic_fetch_or(&point->tree_todo, spi_trees_of(trees, point->flags), __ATOMIC_RELEASE);
	spi_tree_quick_look(point);
}

SPI_INLINE void spi_tree_todo_done(struct spi_point *point, uint32_t trees)
{
	__atomic_fetch_and(&point->tree_todo, ~trees, __ATOMIC_RELEASE);
	spi_tree_quick_look(point);
}

/* More trees record a point from now on. */
SPI_INLINE void spi_tree_live_add(struct spi_point *point, uint32_t trees)
{
	trees = spi_trees_of(trees, point->flags);
	if (!(trees & ~point->tree_live))
		return;
	__atomic_store_n(&point->tree_quick, 0, __ATOMIC_RELEASE);	/* its number may be about to change */
	__atomic_fetch_or(&point->tree_live, trees, __ATOMIC_RELEASE);
	if (point->record && spi_payload->tree_changed)
		spi_payload->tree_changed(point);
	spi_tree_quick_look(point);
}

/* And fewer. */
SPI_INLINE void spi_tree_live_leave(struct spi_point *point, uint32_t trees)
{
	uint32_t was;

	__atomic_store_n(&point->tree_quick, 0, __ATOMIC_RELEASE);
	was = __atomic_fetch_and(&point->tree_live, ~trees, __ATOMIC_RELEASE);
	__atomic_fetch_and(&point->tree_todo, ~trees, __ATOMIC_RELEASE);
	if ((was & trees) && (was & ~trees) && point->record && spi_payload->tree_changed)
		spi_payload->tree_changed(point);
	spi_tree_quick_look(point);
}

/* Trees that record the callee of a site that always has the same. */
SPI_INLINE uint32_t spi_site_live(const struct spi_site *s)
{
	return s->point.tree_live | (s->twin ? s->twin->tree_live : 0);
}

/* The call at stack position p may begin a forked child, and a tree end meanwhile: does one that has it at this point go on? */
SPI_INLINE int spi_child_still_records(const struct spi_point *point, uint64_t p)
{
	return !(spi_thread.owed & SPI_THREAD_NEW) || (spi_thread_may(p) && __atomic_load_n(&point->tree_live, __ATOMIC_ACQUIRE));
}

#define SPI_PART_RECORDER	1u
#define SPI_PART_CLIENTS	2u
#define SPI_PART_ALL		3u

/* ---- clients.c: trees that are for clients, payload/payload.h ---- */
/* A call of a point in trees, for the event module, for clients, or for both. As point->record. */
uint64_t spi_tree_record_parts(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride, uint32_t parts);
/* What these trees need in the point. Under the patch lock. 0 or -ENOMEM. */
int spi_tree_bind(struct spi_point *point, uint32_t trees);

/*
 * In a thread of the program, which is busy from then on: the patch lock, if it may be taken and can be had soon.
 * 0: not, and where another thread forks that counts as `lost`, an enum spi_lost; -1: nothing is lost.
 */
SPI_INLINE int spi_tree_lock(uint64_t *before, int lost)
{
	if (!spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
		return 0;
	if (spi_patch_lock_soon(before) < 0) {
		if (lost >= 0)
			spi_call_missed((enum spi_lost) lost);
		return 0;
	}
	spi_busy_begin(&spi_thread, (uint64_t) __builtin_frame_address(0));
	return 1;
}

SPI_INLINE void spi_tree_unlock(uint64_t before)
{
	spi_thread.busy--;
	spi_patch_unlock(before);
}

/*
 * Records a call, and counts it then: a forked child that begins with it forgets what it has from its parent. Where the answer is
 * SPI_ANSWER_FULL the same call comes again.
 */
SPI_INLINE uint64_t spi_tree_record(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	uint64_t code;

	if (spi_unlikely(spi_mode) && !spi_child_still_records(point, (uint64_t) &frame->ra))
		return 0;
	code = spi_unlikely(point->flags & SPI_POINT_CLIENTS) ? spi_tree_record_parts(point, frame, vec, stride, SPI_PART_ALL) :
		point->record(point, frame, vec, stride);
	point->hits += vec || code != SPI_ANSWER_FULL;
	return code;
}

#endif /* SPI_TREE_SITES_H */
