/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the agent's core asks of a payload module, and what it offers one. The
 * module that makes LTTng-UST events (tp/, liblttng-spi-tp.so) is loaded by the
 * core when a first rule needs it and is reached through this table alone.
 */
#ifndef SPI_PAYLOAD_H
#define SPI_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>
#include "codemap/map/format.h"
#include "liblttng-spi/arch/compiler.h"
#include "liblttng-spi/base/agent-proto.h"
#include "liblttng-spi/base/point.h"

struct spi_object;

#define SPI_BACKTRACE_MOST	128u	/* frames of one backtrace; rules/options.c says so, too */

#define SPI_PAYLOAD_ABI 9u

/* A code map, mapped and checked (objects/map-read.c), or its functions to be checked before each is used (objects/map-cache.c). */
struct spi_map {
	const struct spi_map_header *head;
	uint64_t size;
	uint32_t in_parts;
};

SPI_INLINE const char *spi_map_string(const struct spi_map *map, uint32_t offset)
{
	return (const char *) map->head + map->head->strings.offset + (offset < map->head->strings.count ? offset : 0);
}
#define SPI_MAP_AT(map, table, type, index) \
	((const type *) ((const uint8_t *) (map)->head + (map)->head->table.offset) + (index))

/* A function whose calls are recorded as addresses, as the trace is told of it. */
struct spi_function_told {
	uint64_t address, size, base;	/* base: of its object */
	uint64_t build_id;		/* its object's: the first eight bytes, as they are read; 0: it has none */
	const char *path;		/* its object's */
	const char *name;		/* demangled, with its scope, without its parameters: name_size bytes of a text that lives for ever */
	uint32_t name_size, is_tree;	/* of a tree's map, or of a rule's by name */
	uint8_t *said;			/* the module's own; 0: no call of it was recorded yet */
};

/* A rule, as the trace is told of it. */
struct spi_rule_told {
	uint64_t sum;			/* spi_rule_sum() */
	const char *text;		/* in the agent's form, without its tag */
	uint32_t is_tree, is_on;	/* is_on: in force */
	uint32_t instrumented, declined;	/* functions; of a tree: those that it begins with */
};

/* Why a walk has ended. The labels of the field backtrace_end are in this order (tp/describe/backtrace.c). */
enum spi_stack_end {
	SPI_STACK_COMPLETE = 0,	/* at the outermost function */
	SPI_STACK_LIMIT,	/* there are more frames than were asked for */
	SPI_STACK_LOST,		/* nothing says how the stack goes on, or it cannot be read */
};

/* Core services for payload modules. */
struct spi_core_ops {
	uint32_t abi, size;
	/*
	 * Memory within +-2 GB of the point's object and stub, zeroed, never freed:
	 * for what a stub addresses rip-relative (gates). NULL when there is none.
	 */
	void *(*near_alloc)(struct spi_object *object, size_t size, size_t align);
	/* Zeroed private memory from mmap, never freed; not malloc, which may be traced or locked. */
	void *(*alloc)(size_t size);
	/* One line for the user, through the controller, or LTTNG_SPI_DEBUG's file when alone. */
	void (*note)(const char *format, ...) __attribute__((format(printf, 1, 2)));
	/*
	 * Copy a NUL-terminated string of at most max bytes (NUL included) from a
	 * pointer of the program's that may be wild. Returns its length without NUL
	 * and always terminates dst; -EFAULT when not even the first byte can be
	 * read. *truncated is set when the string went on, or became unreadable,
	 * behind what was copied. Async-signal-safe; at most one system call a page
	 * that this thread has not seen lately.
	 */
	long (*string_copy)(char *dst, uint64_t src, size_t max, int *truncated);
	/* Copy exactly n bytes likewise: 0 or -EFAULT. */
	int (*memory_copy)(void *dst, uint64_t src, size_t n);
	/*
	 * To be called by the module's destructor: exit() runs that before lttng-ust's
	 * own, while the core's may come later. Records what is still open, then calls
	 * fini(). Idempotent.
	 */
	void (*process_end)(void);
	/* Tags of these call trees (bits as in spi_thread.tree), "|TAG|TAG|": a text that lives for ever. Any thread. */
	const char *(*tree_tags)(uint32_t trees);
	const uint32_t *tree_tagged;	/* those that have a tag */
	/* A thread of the program has written a batch of compact records, which took so long. It is marked busy. */
	void (*compact_flushed)(uint64_t ns);
	uint32_t is_early;	/* the module was loaded before main(): sessions' rules were there */
	/* Has lttng-ust made the call whose return address is at p, or one in which that was made? By what lies there. */
	int (*within_lttng)(uint64_t p);
	/* Is there memory for what lttng-ust needs for the calling thread, or, has_memory, for its list of threads? thread_ready() */
	int (*has_room)(int has_memory);
	/* The function that a point leads to; -1: it is not known. Any thread, any state. */
	int (*function_of)(const struct spi_point *point, struct spi_function_told *function);
	void (*functions_ask)(void);	/* function_say() of all that have `said`, soon, by the control thread. Any thread of the program's */
	/* The return addresses above a call whose entry a thunk has saved: unwind/stack.h. Any thread, any state. */
	unsigned int (*stack_callers)(const struct spi_frame *frame, uint64_t *to, unsigned int most,
		enum spi_stack_end *end);
	/* An object's file as lttng-ust calls it, until the next is asked for. Agent thread only, under the control lock. */
	const char *(*object_path)(const struct spi_object *object);
	uint32_t no_tsc, reserved;	/* for tests: the TSC is no clock here */
};

/* A function, or one call site, that a tree with a budget leaves out, or records again. */
struct spi_left_out {
	uint64_t address;		/* the function; of a site, the one that it is in */
	uint64_t call_site;		/* 0: all calls of the function */
	uint64_t calls;			/* recorded before */
	const char *name;
	uint32_t share;			/* of what the tree's records took then, 1/1000 */
	uint32_t budget;		/* the same of the program's CPU time */
	uint32_t is_out;
	uint32_t trees;			/* as in spi_thread.tree */
};

#define SPI_RECORD_FIELDS	8u
#define SPI_RECORD_TEXT_MOST	256u	/* bytes of a text, NUL included */

/* An event of a user's payload (include/lttng/spi-extend.h). It is written once: by who adds it, and then by record_prepare(). */
struct spi_record {
	struct spi_record *next;		/* of the same client */
	const char *provider, *name;
	const char *field[SPI_RECORD_FIELDS];
	uint8_t kind[SPI_RECORD_FIELDS];	/* enum spi_record_kind */
	uint32_t count;
	uint32_t is_apart;			/* it does not count among a thread's calls, which have an end each */
	void *event;				/* the module's */
	const volatile int *gate;		/* comes last: not 0 while a session records it; NULL: not ready */
};

/* Why calls under way are closed, in the order in which one goes before another. */
enum spi_close_for {
	SPI_CLOSE_FOR_RULES,	/* rules or trees end, or the controller detaches: everybody goes on recording */
	SPI_CLOSE_FOR_EXEC,	/* the process is about to execute another program: nobody records, unless that fails */
	SPI_CLOSE_FOR_END,	/* the process ends: nobody records any more */
};

/* The channels in which a call is closed: of those that are owed its exit, */
enum spi_close_in {
	SPI_CLOSE_IN_NONE,
	SPI_CLOSE_IN_TAGGED,	/* the ones that ask for these trees' tags; others have the exit when the call returns */
	SPI_CLOSE_IN_ALL,
	SPI_CLOSE_IN_LEFT,	/* the ones in which the function's entries are off, and its exits not yet */
	SPI_CLOSE_IN_PROCESS,	/* all; then the call is over */
	SPI_CLOSE_WAIT,		/* the agent's: in none, as the call has its exit when it returns, and by nothing else */
};

struct spi_payload_ops {
	uint32_t abi, size;
	/*
	 * Make descriptors for n points that carry no payload yet and register them
	 * as one provider; sets entry, exit, left, payload and gate[] of each. Slow;
	 * agent thread only. Points that are refused get payload == NULL
	 * and errors[i] = a static text. Those with events_of get that point's events, and only records of their own. Returns
	 * how many have new events, or -errno.
	 */
	int (*bind)(struct spi_point **points, unsigned int n, const char **errors);
	/* The same for functions beyond the typed limit: generic address events. */
	int (*bind_generic)(struct spi_point **points, unsigned int n, const char **errors);
	/* A thread ends: flush what is owed, forget what was cached for it (RCU reader). */
	void (*thread_end)(struct spi_thread *t);
	/*
	 * fork: before, in the parent after, in the child after, which records nothing until child_begins(), on a thread of the agent's;
	 * whether they do all of it, and nobody else a part.
	 */
	int (*can_fork)(void);
	void (*fork_before)(void);
	void (*fork_parent)(void);
	void (*fork_child)(void);
	void (*child_begins)(void);
	/* The process ends: no event may be fired afterwards. */
	void (*fini)(void);
	/* Memory that other processes' clocks look at, too; 8-byte aligned, for ever. */
	void (*set_clock_floor)(uint64_t *place);
	/* Longest string recorded, bytes, NUL included, 0: the default; of points that are bound from now on. */
	void (*set_string_max)(uint32_t bytes);
	/* close() for the program: -1 and EBADF for a descriptor that the tracer needs, else what real_close(fd) returns. */
	int (*close_fd)(int fd, int (*real_close)(int fd));
	/*
	 * What the context $app.spi:rules says of a point's events: "|TAG|TAG|", or "",
	 * a text that lives for ever. Agent thread only. 0 or -ENOMEM.
	 */
	int (*set_tags)(struct spi_point *point, const char *tags);
	/*
	 * Backtraces: make and register, as one provider, the entry events with a backtrace of those of n points that
	 * have none yet. From then on the module records by what spi_point.backtraces says. Agent thread only. 0 or
	 * -errno.
	 */
	int (*backtraces)(struct spi_point **points, unsigned int n);
	/*
	 * Call trees. tree_prepare(): agent thread only; makes ready what the points of an object will need, and
	 * gives the gate that they have: not 0 while somebody records. 0, or -errno and *why. tree_bind(): any
	 * thread of the program, in any state, before the first call of a point is recorded, and no lock and no
	 * malloc(): sets payload, exit, left and record of one point (with SPI_POINT_COMPACT, compact ones).
	 * 0 or -ENOMEM. The point's address, call_site and object are final.
	 */
	int (*tree_prepare)(struct spi_object *object, int compact, const volatile int **gate, const char **why);
	int (*tree_bind)(struct spi_point *point);
	/* bind() for compact records (doc/architecture.md); the points' thunks may be those that save no vector registers. */
	int (*bind_compact)(struct spi_point **points, unsigned int n, const char **errors);
	/* Write what threads have kept back: compact records. Any thread of the agent's, or before an exec. */
	void (*flush)(void);
	/* Other trees than before record this point (tree_live). Any thread, in any state, under the patch lock. */
	void (*tree_changed)(struct spi_point *point);
	/*
	 * Closing calls under way; ledger/close.c calls these. close_begin(): from now on threads do what spi_close_for
	 * says, once they are not busy; 0: not now, or it has been done before. Then for each thread close_thread()
	 * (`copy`: what the thread sees of itself, or zeroes), and close_call() for its slots whose aux is not 0, innermost
	 * first: with FOR_RULES under the thread's own lock (spi_thread_own.closing). close_call(): in how many channels
	 * the call is closed. own NULL: is there a channel to close it in? Nothing is written. close_end(): closing is
	 * over, or the exec failed.
	 */
	int (*close_begin)(enum spi_close_for what);
	void (*close_thread)(const struct spi_thread_own *own, const struct spi_thread *copy);
	int (*close_call)(const struct spi_thread_own *own, struct spi_slot *slot, uint32_t trees,
		enum spi_close_in in);
	void (*close_end)(enum spi_close_for what);
	/* Which run of the front end's this process belongs to; 0: none. Agent thread only. */
	void (*set_run)(uint32_t run);
	/* Budgets. Agent thread only: make the event ready. 0, or -1 and *why. */
	int (*budget_prepare)(const char **why);
	/* Write it. Any thread, in any state, as a call's; it is marked busy. */
	int (*budget_event)(const struct spi_left_out *left_out);	/* < 0: no room for it now */
	/*
	 * The calling thread gets the memory that lttng-ust needs for it: one of the agent's own when it begins, as there may be none later, and
	 * one of the program's before its first record. It is marked busy, signals are blocked, and malloc() must not be locked by it.
	 * has_memory: of what the dynamic linker makes it has all. 1: it is ready; 0: the process ends; -1: there is no memory.
	 */
	int (*thread_ready)(int has_memory);
	/*
	 * The controller goes, and what records will: compact calls that are under way end here. is_all: no rule is left, and
	 * what comes until attached(), which is called before the next rule, is nobody's.
	 */
	void (*detached)(int is_all);
	void (*attached)(int is_first);		/* is_first: there is no rule; functions_ask() may come from within */
	/* Functions' points are about to be put in, for the first time or again. Agent thread only. */
	void (*installed)(struct spi_point **points, unsigned int n);
	void (*libraries_update)(void);	/* library_event() of all that lttng-ust, which was there before, has not noticed; slow */
	/*
	 * lttng_ust_lib:load, with build_id, or unload, of an object; path: its file, as it is called in this process. from: what of
	 * the dynamic linker's told us. Any thread of the agent's, or one that loads a library; it is marked busy.
	 */
	void (*library_event)(const struct spi_object *object, const char *path, uint64_t from, int is_load);
	void (*function_say)(const struct spi_function_told *function);	/* agent thread only, under the control lock */
	/*
	 * lttng-ust's state dump of this process for its run's session, where that has not taken lttng-ust's own: of the objects that
	 * are seen and have a path(). name: the process's. Under the control lock.
	 */
	void (*state_dump)(const struct spi_object *objects, const char *(*path)(const struct spi_object *object), const char *name);
	void (*rule_tell)(const struct spi_rule_told *rule);	/* it has taken force, its numbers are others, or it goes. Agent thread only */
	/* Register the event of a payload, once. Agent thread only. 0, or -1 and *why. */
	int (*record_prepare)(struct spi_record *record, const char **why);
	/* Write it: spi_record_write(). The thread is marked busy. */
	int (*record_write)(const struct spi_record *record, uint64_t ip, const uint64_t *values, const uint64_t *addresses,
		uint32_t count);
};

/* The module's only exported symbol: "spi_payload_init". NULL on failure, *error says why. */
typedef const struct spi_payload_ops *(*spi_payload_init_fn)(const struct spi_core_ops *core, const char **error);

#endif /* SPI_PAYLOAD_H */
