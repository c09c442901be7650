/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a program has got and not given back: memory from lttng_ust_libc:*, which the payload `memory` or lttng-ust's
 * libc wrapper records, and descriptors, threads and address space from spi_resource:*.
 *
 * Each process is a program of its own; one that executes another program is two. What was got is grouped by the stack
 * of callers that got it: as many as were recorded, the innermost first.
 */
#ifndef SPI_READER_LEAKS_H
#define SPI_READER_LEAKS_H

#include "reader/calls/calls.h"
#include "reader/views/views.h"

/* A return address, as a place in an object. */
struct leak_frame {
	struct spi_hash_link link;
	struct object *object;		/* NULL: the trace tells of none there */
	uint64_t offset;
	uint32_t number;
	char *text;			/* FUNCTION+OFFSET [OBJECT]; NULL: not asked for yet */
};

struct leak_stack {
	struct spi_hash_link link;
	uint32_t count;
	struct leak_frame *frames[];	/* the innermost first */
};

#define LIFETIMES	252u		/* classes: four a power of two */

/* What one stack has got, in one process. */
struct leak_group {
	struct spi_hash_link link;
	const struct leak_stack *stack;	/* NULL: of all stacks of a key: leaks_by() */
	const char *key;		/* then; else NULL */
	int64_t thread;			/* with BY_THREAD */
	uint64_t bytes, blocks;		/* live */
	uint64_t peak_bytes, peak_blocks;	/* as the process had most */
	uint64_t peak;			/* which time that was, of those that the process had more than ever */
	uint64_t calls, got;		/* allocations, and their bytes */
	uint64_t freed;			/* blocks */
	int64_t longest;		/* ns, of a block that was given back */
	uint32_t *lifetimes;		/* how many blocks lived so long; NULL: none was given back */
};

/* An address that was ever got. */
struct leak_block {
	uint64_t address;		/* 0: free entry of the table */
	uint64_t size;
	struct leak_group *group;
	int64_t ns;			/* when it was got, or given back */
	uint32_t is_live;
	uint32_t is_taken_over;		/* by another thread, before the realloc() that gave it back was recorded */
};

enum leak_wrong { WRONG_DOUBLE, WRONG_FOREIGN, WRONGS };

struct leak_incident {
	enum leak_wrong what;
	uint64_t address;
	int64_t ns;
	const struct leak_stack *at;	/* who gave back */
	const struct leak_stack *got;	/* of WRONG_DOUBLE: who had got it */
};

enum leak_kind { LEAK_DESCRIPTOR, LEAK_THREAD, LEAK_MAPPING, LEAK_KINDS };

/* A descriptor, a thread, a mapping that is there. */
struct leak_resource {
	enum leak_kind kind;
	uint64_t from, size;		/* number, pthread_t, address; size: of mappings */
	const struct leak_stack *stack;
	int64_t ns;
	char *text;			/* how it was made */
};

struct leak_point {
	int64_t ns;
	uint64_t bytes, blocks;		/* the most in this time */
	int is_there;
};
#define LEAK_POINTS	1024u

enum leak_begun { BEGUN_FROM_START, BEGUN_ATTACHED, BEGUN_FORKED, BEGUN_UNKNOWN };

struct leak_process {
	struct leak_process *next;
	const struct space *space;
	int64_t pid, parent;
	char name[24];
	enum leak_begun begun;
	uint64_t heap_low, heap_mark;	/* what malloc() had before lies between the two */
	uint64_t in_use;		/* bytes that it had then; 0: not known */
	int is_over;			/* it has executed another program, which is the next one */
	struct spi_hash groups;
	struct spi_hash_link *group_buckets[4096];
	struct leak_group **list;	/* of groups */
	uint32_t group_count, group_room;
	struct leak_block *blocks;
	uint64_t block_count, block_room;
	uint64_t bytes, live;		/* now */
	uint64_t peak_bytes, peak_blocks, peak;
	int64_t peak_ns, first, last;
	uint64_t calls, got, freed, failed;
	uint64_t older;			/* given back: got before the trace, or by the parent, */
	uint64_t internal;		/* or by libc or the dynamic linker, and never seen */
	uint64_t unseen;		/* addresses that were got again, and whose end is not in the trace */
	uint64_t wrong[WRONGS];
	struct leak_incident *incidents;
	uint32_t incident_count, incident_room;
	struct leak_resource *resources;
	uint32_t resource_count, resource_room;
	uint64_t opened[LEAK_KINDS], closed[LEAK_KINDS], unknown[LEAK_KINDS];	/* unknown: given back, and not got here */
	uint64_t break_low, break_now, break_most;
	struct leak_point *points;
	int64_t points_from, point_ns;	/* of the first; the time of each */
};

enum leak_by { LEAK_BY_STACK, LEAK_BY_FUNCTION, LEAK_BY_OBJECT, LEAK_BY_THREAD };
enum leak_sort { LEAK_SORT_BYTES, LEAK_SORT_BLOCKS, LEAK_SORT_PEAK, LEAK_SORT_CALLS, LEAK_SORT_GOT,
	LEAK_SORT_LIFETIME };

struct leaks {
	struct calls *calls;		/* whose names they are */
	enum leak_by by;
	const char *const *processes;	/* globs, or NULL: all */
	const char *at_text;		/* as a user gives it; NULL: the end */
	int64_t at;			/* ns: what comes later does not count; INT64_MAX: all */
	struct spi_hash frames, stacks;
	struct spi_hash_link *frame_buckets[16384], *stack_buckets[16384];
	uint32_t frame_count;
	struct leak_class *classes;	/* the one that was asked for last comes first */
	struct leak_process *list;	/* processes, in order of appearance */
	struct leak_process *latest;
	uint64_t lost;			/* events that LTTng discarded; UINT64_MAX: an unknown number */
	uint64_t events;
	int is_bad_time;
};

/* ---- leaks.c ---- */
void leaks_init(struct leaks *leaks, struct calls *calls);
/* A message of the trace, before the calls get it: 0 or a negative errno. The reference stays the caller's. */
int leaks_see(void *leaks, const bt_message *message);
void leaks_free(struct leaks *leaks);

/* ---- events.c ---- */
#define LEAK_VALUES		5u
#define LEAK_FRAMES_MOST	128u

enum leak_event {
	LEAK_MALLOC, LEAK_CALLOC, LEAK_REALLOC, LEAK_FREE, LEAK_MEMALIGN, LEAK_POSIX_MEMALIGN,
	LEAK_PROCESS, LEAK_MMAP, LEAK_MUNMAP, LEAK_MREMAP, LEAK_BRK, LEAK_OPEN, LEAK_CLOSE, LEAK_CLOSE_RANGE,
	LEAK_THREAD_CREATE, LEAK_THREAD_JOIN, LEAK_THREAD_DETACH, LEAK_EVENTS,
};

/* What an event says. */
struct leak_said {
	enum leak_event what;		/* LEAK_EVENTS: nothing of memory or resources, and nothing below is set */
	int64_t ns;
	int64_t thread;			/* with LEAK_BY_THREAD, else -1 */
	uint64_t values[LEAK_VALUES];	/* in the order of the event's fields; 0, "": it has no such field */
	const char *texts[LEAK_VALUES];
	uint64_t callers[LEAK_FRAMES_MOST];
	uint32_t count;
	const struct leak_stack *stack;	/* of the callers; leaks_see() has it made */
};
/* All but ns and stack; 0 or -ENOMEM. */
int leak_event_read(struct leaks *leaks, const bt_event *event, struct leak_said *said);
void leak_events_free(struct leaks *leaks);

/* ---- stacks.c ---- */
const struct leak_stack *leak_stack_get(struct leaks *leaks, struct space *space, const uint64_t *addresses,
	uint32_t count);	/* NULL: no memory */
/* FUNCTION+OFFSET [OBJECT]; it lives as long as the leaks. */
const char *leak_frame_text(struct leak_frame *frame);
void leak_frame_function(struct leak_frame *frame, char *text, size_t size);	/* FUNCTION alone */
const char *leak_frame_object(const struct leak_frame *frame);	/* the last part of its path; "": not known */
void leak_stacks_free(struct leaks *leaks);

/* ---- groups.c ---- */
struct leak_group *leak_group_get(struct leak_process *process, const struct leak_stack *stack, int64_t thread);
void leak_group_gets(struct leak_process *process, struct leak_group *group, uint64_t size, int64_t ns);
/* lived: ns; -1: not known. 0 or -ENOMEM. */
int leak_group_gives(struct leak_process *process, struct leak_group *group, uint64_t size, int64_t lived);
/* All of a process's groups, by leaks->by: *count of them, for leaks_groups_free(). NULL: no memory. */
struct leak_group **leaks_groups(struct leaks *leaks, struct leak_process *process, uint32_t *count);
void leaks_groups_free(struct leak_group **groups, uint32_t count);
/* The time that half of the group's blocks that were given back did not live longer than, in ns; -1: none was. */
int64_t leak_lifetime(const struct leak_group *group);

/* ---- blocks.c, resources.c: an event of either provider; 0 or -ENOMEM ---- */
int leak_memory_take(struct leak_process *process, const struct leak_said *said);
int leak_resource_take(struct leak_process *process, const struct leak_said *said);

/* ---- writing: 0 or a negative errno ---- */
struct leak_form {
	enum format format;
	enum leak_sort sort;
	uint32_t limit;			/* rows of a table; 0: all */
	int has_lines;			/* with source lines */
	FILE *out;
};
typedef int leak_write_fn(struct leaks *leaks, struct leak_process *process, const struct leak_form *form);

/* write.c: live memory */
int leaks_write(struct leaks *leaks, const struct leak_form *form);
/* One process after the other, with what the format has around and between them; columns: the head of the CSV. */
int leaks_each(struct leaks *leaks, const struct leak_form *form, const char *columns, leak_write_fn *write);
void leak_title_write(const struct leak_process *process, FILE *out);
/* resources-write.c */
int leaks_resources_write(struct leaks *leaks, const struct leak_form *form);
/* stacks-write.c: a line each; an array of frames; a field */
void leak_frame_write(struct leak_frame *frame, const struct leak_form *form);
void leak_stack_write(const struct leak_stack *stack, const struct leak_form *form);
void leak_stack_json(const struct leak_stack *stack, const struct leak_form *form);
void leak_stack_csv(const struct leak_stack *stack, const struct leak_form *form);
/* OUTER;INNER;... live bytes, a line each. */
int leaks_folded_write(struct leaks *leaks, FILE *out);

/* ---- times.c: live bytes over time ---- */
void leak_time_take(struct leak_process *process, int64_t ns);
/* A graph, or a line for each time. */
int leaks_times_write(struct leaks *leaks, const struct leak_form *form);

#endif /* SPI_READER_LEAKS_H */
