/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Call trees: what their files share. From the bottom up:
 *
 *	object.c	what is known of an object: its tree map, the state of each function
 *	objects/symbols.c	what the dynamic linker would bind a name to
 *	tree/sites/site.c		a call site: its stub, and the ways to redirect its call there (tree/sites/jump.c, tree/sites/ways.c)
 *	tree/sites/place.c	the sites of a function, into place and out of it
 *	tree/sites/both.c	sites of trees with plain and with compact records at once
 *	propel.c	calls of sites: in the tree? callee's own sites patched? then the payload
 *	callee.c	sites whose callee is known only when they are reached
 *	root.c		entry points: roots, handlers of signals, start routines of threads; entry.c, outside.c
 *	options.c	a rule's options
 *	rule.c	trees begin and end
 *	told.c	what could not be done; tags
 *	calls.c	how often which function was called
 *	tree/budget/budget.h	trees that leave out what is called too often
 *
 * A site is a struct spi_point whose call leads to its stub. When it is reached
 * for the first time, its callee's sites are patched, before the callee runs, by
 * the thread that is about to run it: so tracing moves ahead of the control flow,
 * nothing is missed, and what never runs is never touched.
 *
 * Several trees may be in force. Each has a bit; a thread has a mask of the trees
 * that it is in (spi_thread.tree), a site those that record it (tree_live) and
 * those that have not looked at its callee yet (tree_todo), a function those whose
 * sites in it are in place and those that leave it out.
 *
 * Who may race whom: everything is changed under the patch lock, by any thread,
 * in the program's state whatever it is; the path of a call reads masks, payload
 * and children without it. A site's payload is there before its bit in tree_live.
 * Nothing is ever freed.
 */
#ifndef SPI_TREE_H
#define SPI_TREE_H

#include "liblttng-spi/rules/instrument.h"
#include "liblttng-spi/patch/internal.h"

#define SPI_TREE_OPEN		(1u << 31)	/* in tree_todo: the stub always enters */
#define SPI_TREE_TEXTS_MAX	4u	/* executable pieces of an object */

struct spi_tree_object;

enum spi_site_worker {
	SPI_SITE_NONE = 0,
	SPI_SITE_WORKER_CALL,	/* the instruction alone has room */
	SPI_SITE_WORKER_BLOCK,	/* one of those before it, which are moved along */
	SPI_SITE_WORKER_SPRING,	/* a short jump to spare bytes, from there on */
	SPI_SITE_WORKER_WINDOW,	/* several of them, with int3 where one begins */
	SPI_SITE_WORKER_TRAP,	/* int3 */
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
	uint8_t worker;			/* enum spi_site_worker; NONE: nothing can be done here */
	uint8_t form;			/* tree/sites/site.h */
	uint8_t before;			/* bytes before its instruction where what is changed begins */
	uint8_t changed;		/* JUMP, PUN, WINDOW: bytes of the jump that are written */
	uint8_t bounds;			/* WINDOW, as in struct spi_text_op */
	uint8_t pushes;			/* the stub begins with pushing the return address */
	uint8_t prefixes;		/* JUMP, PUN, WINDOW: before the jump */
	uint8_t was[8];			/* the program's bytes there */
	uint8_t is_both;		/* trees of the other kind than its point's have it. tree/sites/both.c */
	uint8_t is_told;		/* the site was named, for callees that got no point. callee.c */
	const char *reason;		/* why not */
	uint64_t skipped;		/* what calls took that were not recorded, ns; for budgets. calls.c */
};

#define SPI_FIT_YES	1u	/* calls of it may be recorded */
#define SPI_FIT_TOLD	2u	/* they may not, and that was told; 0: to be found out, or not told */

struct spi_tree_func {
	uint32_t done;			/* trees whose sites in it are in place */
	uint32_t excluded;		/* trees that leave it out */
	uint32_t budget;		/* of these, those whose budget does */
	uint8_t look;			/* 1: its record is good; 2: it is not */
	uint8_t said;			/* spi_function.said */
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
	uint32_t covered;		/* trees that go into it */
	uint32_t outside;		/* trees whose calls from other objects are recorded at the functions' entries */
	uint32_t ends_taken;		/* its constructors and destructors have entry points: load-watch.c */
	uint64_t dynamic;		/* PT_DYNAMIC; 0: none */
	uint32_t is_libc;
	uint32_t is_runtime;		/* int3 only where it is known to be safe: tree/sites/ways.c */
	const char *no_trap;		/* why there may be no int3; NULL: it may be */
	struct spi_pad *pads;		/* spare bytes that sites have taken */
	uint32_t is_met;		/* sites of it were met */
	uint32_t is_late;		/* sites have left their trees, but their bytes are still to be put back: spi_sites_settle() */
	uint64_t *calls, *recent;	/* by function; NULL: nobody has counted yet. calls.c */
};

/* ---- object.c ---- */
extern struct spi_tree_object *spi_tree_objects;
struct spi_tree_object *spi_tree_object_at(uint64_t address);
/* The function that begins there; -1: none does. */
int64_t spi_tree_func_at(const struct spi_tree_object *to, uint64_t address);
/* The one whose bytes these are; -1: none's. */
int64_t spi_tree_func_around(const struct spi_tree_object *to, uint64_t address);
SPI_INLINE const struct spi_map_func *spi_tree_map_func(const struct spi_tree_object *to, uint64_t index)
{
	return SPI_MAP_AT(&to->map, funcs, struct spi_map_func, index);
}
/* The executable piece of the object that the address is in; NULL: none. */
const struct spi_tree_text *spi_tree_text_at(const struct spi_tree_object *to, uint64_t address);
const char *spi_tree_func_name(const struct spi_tree_object *to, uint64_t index);
const char *spi_tree_func_shown(const struct spi_tree_object *to, uint64_t index);	/* demangled, with its scope */
/* May what the function's record leads to be followed? Of a map that was checked as a whole always. */
int spi_tree_func_is_good(struct spi_tree_object *to, uint64_t index);
/* NULL, or why calls of the function are never recorded. */
const char *spi_tree_func_unfit(const struct spi_tree_object *to, uint64_t index);
/* Control side: the object with its map and gates. NULL and `error`. */
struct spi_tree_object *spi_tree_object_get(struct spi_link *link, struct spi_object *object, int compact, char *error,
	size_t error_size);
/* It was unloaded: its addresses may become another's. Control side. */
void spi_tree_object_forget(struct spi_tree_object *to);
void spi_tree_objects_look(void);	/* after a scan, when something was unloaded */

/* ---- objects/symbols.c ---- */
/*
 * What a slot of `from` with this import will be bound to, as the dynamic linker searches: 0 when that is not known.
 * after_agent: not the agent's own definition, but the next. Any thread, any state: reads the objects' tables only.
 */
uint64_t spi_symbol_find(const char *name, const char *version, const struct spi_object *from, int after_agent);
/* Likewise, of a call by address: what the agent's function there stands before; 0: nothing. */
uint64_t spi_symbol_behind(uint64_t address, const struct spi_object *from);
int spi_symbols_know(uint64_t address, int is_code);
void spi_symbols_scan(void);	/* control side: look which objects there are */

/* ---- tree/sites/place.c, tree/sites/site.c, tree/sites/ways.c: under the patch lock ---- */
/*
 * Put the sites of a function, and of its pieces, in place for these trees. What cannot be is left as it is, and told
 * by spi_tree_decline().
 */
void spi_sites_place(struct spi_tree_object *to, uint64_t func, uint32_t trees);
/* The trees have left all sites: put the program's bytes back where none is left. */
void spi_sites_leave(struct spi_tree_object *to, uint32_t trees);
void spi_site_restore(struct spi_site *site);
/* One site comes back, or comes, to those of these trees that want it. Written by spi_sites_flush(). */
void spi_site_come(struct spi_tree_object *to, uint32_t index, uint32_t trees);
void spi_sites_flush(struct spi_tree_object *to);
/* One site leaves; its bytes stay as they are until the control thread, while no object can be unloaded, settles that. */
void spi_site_leave(struct spi_site *site, uint32_t trees);
void spi_sites_settle(struct spi_tree_object *to);
void spi_sites_at_entry(struct spi_tree_object *to, uint64_t func, uint32_t trees);
uint64_t spi_site_stub_at(uint64_t address);
/* Spare bytes that sites have taken: is this one of them? And the program's own back there, not under the patch lock. */
int spi_site_in_pad(uint64_t address);
void spi_site_pads_clear(struct spi_tree_object *to);
int spi_site_byte_was(uint64_t address, uint8_t *byte);
void spi_sites_taken(struct spi_tree_object *to, uint64_t func, const struct spi_patch *entry);
extern uint32_t spi_sites_placed;	/* now */
void spi_site_workers_read(void);	/* LTTNG_SPI_TEST_WORKER */
/* What a call of a site runs: propel.c, callee.c. */
uint64_t spi_site_call(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
uint64_t spi_site_call_any(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);

/* ---- callee.c: the child of that kind for this callee; and all that is new of the call done, with `point` or NULL. NULL: not recorded ---- */
struct spi_point *spi_site_child(struct spi_site *s, uint64_t target, uint32_t compact);
struct spi_point *spi_site_first_call_any(struct spi_site *s, struct spi_point *point, uint32_t trees, struct spi_frame *frame,
	uint32_t compact);
/* Likewise: is there nothing to be done for the call, which has no point and never gets one? It is counted then. */
int spi_site_call_is_beyond(const struct spi_site *s, uint32_t trees, const struct spi_frame *frame);
/* ---- propel.c: the same of a site whose callee is always the same ---- */
void spi_site_first_call(struct spi_point *point, uint32_t trees, uint64_t p);

/* ---- tree/sites/both.c ---- */
/* Its trees have changed, `fresh` of the other kind than its point's have come. Under the patch lock. -1: no memory for these. */
int spi_site_both_look(struct spi_site *s, uint32_t fresh);
uint64_t spi_site_call_both(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
/*
 * A call for two points: `code` is what the first one's payload answered, `second` what the other did between the two.
 * Returns what the thunk is to be answered.
 */
void spi_both_begin(struct spi_frame *frame, uint64_t code);
uint64_t spi_both_end(struct spi_frame *frame, uint64_t code, uint64_t second);
uint32_t spi_slots_used_by(struct spi_thread *t, uint32_t compact);	/* SPI_POINT_COMPACT, or 0 */

/* ---- propel.c ---- */
/* spi_tree_of(), when there is something to look at. */
uint32_t spi_tree_thread_look(struct spi_thread *t);
/* May words.S record this thread's calls? To be asked after its trees have changed. */
SPI_INLINE void spi_tree_words_look(struct spi_thread *t)
{
	t->words_epoch = t->words && !(t->tree & spi_tree_limited) ? t->tree_epoch : 0;
}
/* The trees of the calling thread. */
SPI_INLINE uint32_t spi_tree_of(struct spi_thread *t)
{
	if (spi_unlikely(t->tree_epoch != spi_tree_epoch))
		return spi_tree_thread_look(t);
	return t->tree;
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
/* A callee is about to run: its sites into place. Returns the trees of `trees` that record it. Under the patch lock. */
uint32_t spi_tree_enter(uint64_t callee, uint32_t trees, int *is_known);
uint32_t spi_tree_limit(struct spi_thread *t, uint32_t trees);
int spi_tree_bind(struct spi_point *point);	/* payload, if it has none, under the patch lock. 0 or -errno */

/* The call at stack position p may begin a forked child, and a tree end meanwhile: does one that has it at this point go on? */
SPI_INLINE int spi_child_still_records(const struct spi_point *point, uint64_t p)
{
	return !(spi_thread.owed & SPI_THREAD_NEW) || (spi_thread_may(p) && __atomic_load_n(&point->tree_live, __ATOMIC_ACQUIRE));
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
	code = point->record(point, frame, vec, stride);
	point->hits += vec || code != SPI_ANSWER_FULL;
	return code;
}
void spi_tree_base_set(struct spi_thread *t, uint32_t tree);	/* depth counts from here */
/* The callee is the agent's own function before libc's: the one that it stands for. */
/* An address that is in no object of a tree: if nobody has looked at that object yet, the control side is asked to. */
void spi_tree_ask_for(uint64_t address);
uint64_t spi_tree_real(uint64_t callee, const char *import, const char *version, const struct spi_object *from);

/* ---- root.c, entry.c, outside.c ---- */
struct spi_entry;
/* The entry point there is to be in place, for sites that its jump has moved. Under the patch lock. */
void spi_tree_entry_hold(uint64_t address);
/* entry-named.c: rules by name where trees have, or need, an entry point. Before a tree's sites are placed: */
void spi_entry_named_look(struct spi_tree_object *to, uint64_t func, uint32_t trees);	/* under the patch lock */
/* Control side: 1: the point has the entry's moved instructions, and no jump of its own; 0: it needs one. */
int spi_entry_lend(struct spi_point *named);
int spi_entry_name(struct spi_point *named, int install);	/* such a point is in force, or no longer. 0 or a negative errno */
/* Control side: an entry point that begins `tree` in the thread which enters it. */
int spi_tree_root_add(struct spi_tree_object *to, uint64_t func, uint32_t tree, const char **reason);
void spi_tree_roots_leave(uint32_t tree);
/* A function that somebody outside of the tree will call: a handler, a thread's start. Any thread. */
void spi_tree_callback(uint64_t address);
void spi_tree_callback_make(uint64_t address);	/* the same, control side: where something may be asked, and int3 may be */
/* callbacks that had to be put off (outside.c); control side */
void spi_tree_callbacks_take(void);
/* thread-made.c: a thread that is about to be made is to be in these trees from its start on. 0: start and arg are replaced for that; any thread */
int spi_thread_make(uint64_t *start, uint64_t *arg, uint32_t trees);
void spi_thread_made_fork_child(void);
/*
 * A site calls code that is in no object of a tree's. 1: it leads to a function, whose calls are recorded at its entry from now on;
 * the same memory may lead to another function at the site's next call. 0: nothing is known of the code, and the site is named
 * unless the code is another object's. Under the patch lock.
 */
int spi_tree_made_enter(const struct spi_site *s, uint64_t code, uint32_t trees);
void spi_tree_caller_back(uint64_t address);
void spi_tree_handlers_look(void);
/* Where main() is, by the program's first instructions; 0: not to be seen. */
uint64_t spi_tree_find_main(void);

/* ---- rule.c ---- */
struct spi_rule_ops;
extern const struct spi_rule_ops spi_tree_ops SPI_HIDDEN;	/* what is done for rules of this kind */

/* ---- told.c ---- */
/* Something could not be done; kept until the control side reports it, once for each place. Under the patch lock. */
void spi_tree_decline(const struct spi_tree_object *to, uint64_t address, const char *reason);
/* Control side. _some: if the list has become long; _forget: no tree is left, and what comes is told anew. */
void spi_tree_report(struct spi_link *link);
void spi_tree_report_some(struct spi_link *link);
void spi_tree_report_forget(void);
void spi_tree_process_end(void);
void spi_tree_tag_set(uint32_t index, const char *tag);

#endif /* SPI_TREE_H */
