/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A trace as one stream of calls: entries and exits of all threads in order of time, whatever they were recorded as.
 * Each exit belongs to an entry that came before it, unless that was not recorded. Every view consumes this stream.
 *
 * What is made into calls: typed events (spi:FUNCTION_entry, _exit), trees' events (lttng_ust_cyg_profile), compact
 * records, and events of a whole call (--one-event), which come when the call ends.
 */
#ifndef SPI_READER_CALLS_H
#define SPI_READER_CALLS_H

#include <signal.h>
#include <stdio.h>
#include "reader/trace/trace.h"

struct call_function {
	struct spi_hash_link link;	/* by object and name, and place */
	const char *object;		/* the last part of its path; "": not known */
	const char *path;		/* of the object; "": not known */
	const char *key;		/* name and path as recorded; elsewhere a terminal obeys none of it */
	uint64_t offset;		/* in the object */
	const char *file;		/* where it begins, with has_lines; NULL: not known */
	uint32_t line;
	uint32_t number;		/* from 0, in order of appearance */
	uint8_t chosen;			/* filter.c: by --function, --object; what is not is left out */
	uint8_t is_caller;		/* by --caller */
	uint8_t is_typed;
	char name[];
};

struct call_process {
	struct spi_hash_link link;	/* by trace and pid */
	const bt_trace *trace;
	int64_t pid;			/* as the process sees itself; -1: not known */
	uint64_t image;			/* of compact records; 0: none yet */
	uint32_t number;
	uint8_t chosen;
	char name[24];			/* of its main thread when it was recorded; "": not known */
};

struct open_call {
	struct call_function *function;
	int64_t begin;			/* ns from origin */
	int64_t inner;			/* ns in calls that it made */
	const void *source;		/* what recorded it: its exit comes from there, too */
	uint64_t number;		/* of the call, from 1, in order of entry; 0: it is not shown */
	void *own;			/* a view's */
};

struct call_thread {
	struct spi_hash_link link;	/* by process and id */
	struct call_process *process;
	int64_t tid;			/* -1: not known */
	uint32_t number;
	uint32_t depth;			/* open calls: stack[0 .. depth) */
	uint32_t room;
	uint32_t shown;			/* of these */
	uint32_t within;		/* of these, by --caller */
	int left;			/* enum spi_left of the next exit */
	uint64_t left_address;
	int64_t last;			/* ns, of what came last */
	struct open_call *stack;
	struct whole *wholes;		/* --one-event: what may lie in a call that ends later */
	size_t whole_count, whole_room;
	uint8_t chosen;
	void *own;			/* a view's */
};

enum call_kind {
	CALL_ENTRY,
	CALL_EXIT,
	CALL_WHOLE,			/* entry and exit: an event of a whole call, at its end */
	CALL_LOST,			/* events are missing here */
	CALL_EVENT,			/* no call: what else was recorded, with has_events. `function` has the event's name */
};

/* How a call ended: enum spi_left, or one of these. */
#define CALL_NO_EXIT	(-1)		/* its exit is missing: it ended before what comes next */
#define CALL_OPEN	(-2)		/* it is open where the trace ends */

struct call {
	enum call_kind kind;
	struct call_thread *thread;	/* NULL: CALL_LOST */
	struct call_function *function;
	int64_t ns;			/* from origin: now */
	uint32_t depth;			/* calls around it that are shown; the same at its entry and at its exit */
	uint64_t number;		/* as in open_call; 0: its entry was not recorded */
	/* of an exit, and of a whole call */
	int64_t begin;			/* ns from origin; INT64_MIN: not known */
	int64_t self;			/* ns that it did not spend in calls that were recorded */
	int left;
	/* values, where an event has them: valid as long as the callee does not return */
	const bt_event *event;
	const struct value_class *values;
	/* of an entry, with has_lines: where it was called from; 0: not recorded */
	uint64_t call_site;
	struct space *space;
	/* of CALL_LOST */
	uint64_t lost;			/* events; 0: it is not known how many */
	const char *stream;		/* which channel's; NULL: compact records */
};

/* What is chosen: reader/calls/filter.c. Patterns are globs. */
struct call_filter {
	const char *const *functions, *const *callers, *const *objects, *const *threads, *const *processes;
	int64_t from, to;		/* ns from origin; INT64_MIN, INT64_MAX: all */
	int64_t longer;			/* ns; 0: all */
	uint32_t depth;			/* 0: all */
	int only_errors;
};

struct calls {
	struct merge merge;
	/* For the view: 0, or a negative number, which ends the reading. */
	int (*take)(void *data, const struct call *call);
	void *data;
	struct call_filter filter;

	struct spi_hash functions, processes, threads;
	struct spi_hash_link *function_buckets[16384], *process_buckets[1024], *thread_buckets[4096];
	struct value_class *value_classes;
	struct call_function **function_list;	/* by number */
	struct call_process **process_list;
	struct call_thread **thread_list;
	uint32_t function_count, function_room, process_count, process_room, thread_count, thread_room;
	uint64_t number;		/* of the latest call */
	uint64_t events, calls, lost;	/* calls: entries and whole calls; lost: events */
	uint64_t others;		/* CALL_EVENT that were given */
	int64_t first, last;		/* ns: of calls */
	int has_no_vtid, has_whole;
	int has_lines;			/* the user's: source lines are looked for */
	int has_events;			/* the user's: CALL_EVENT are given. Others are not slowed by them */
	struct spi_hash channels;	/* events.c: of messages */
	struct spi_hash_link *channel_buckets[4096];
	struct event_channel *channel_first, *channel_last;
	const volatile sig_atomic_t *stop;	/* the user's: when it is set nothing more is given but ends. NULL: never */
	/* two passes: which calls are longer, or errors */
	uint8_t *wanted;		/* a bit a number */
	uint64_t wanted_size;		/* bytes */
	int is_choosing;
};

/* ---- calls.c ---- */
int calls_init(struct calls *c, int (*take)(void *data, const struct call *call), void *data);
void calls_free(struct calls *c);
/* A message, whose reference is taken: 0, or a negative number: the view's, or -ENOMEM. */
int calls_take(struct calls *c, const bt_message *message);
/* Nothing more comes: calls that are open end as CALL_OPEN. */
int calls_end(struct calls *c);

/* ---- tables.c: NULL: no memory ---- */
/* is_typed: of events of its own. A tree that has it, too, records each call once more, and is a function of its own. */
struct call_function *call_function_get(struct calls *c, const char *path, uint64_t offset, const char *name, int is_typed);
/* Where it begins, with has_lines. */
void call_function_line(struct calls *c, struct call_function *function, const struct object *object);
/* function: NULL: the trace names none for the address. */
struct call_function *call_function_of(struct calls *c, struct space *space, struct function *function,
	uint64_t address);
/* " at FILE:LINE", with the last part of its path; "": not known. */
const char *call_function_place(const struct call_function *function, char *text, size_t size);
/* The same as members of a JSON object, behind others; nothing: not known. */
void function_place_json(const struct call_function *function, FILE *out);
/* " from FILE:LINE", with the innermost function that is inlined there. */
const char *call_site_place(const struct call *call, char *text, size_t size);
/* " at FILE:LINE" of a caller's return address, or " in INLINED inlined at FILE:LINE". */
const char *call_caller_place(struct space *space, uint64_t address, char *text, size_t size);
struct call_thread *call_thread_of_event(struct calls *c, const bt_event *event);
struct call_thread *call_thread_of_record(struct calls *c, struct thread *thread);

/* ---- values.c ---- */
/* What an event's fields mean, found once for each class. NULL: it is no call of a type of its own. */
struct value_class {
	struct value_class *next;
	const bt_event_class *in;
	enum value_kind {
		VALUE_ENTRY, VALUE_EXIT, VALUE_WHOLE, VALUE_LEFT, VALUE_PROCNAME,
		VALUE_SEND, VALUE_RECEIVE, VALUE_PEER, VALUE_CHANNEL,	/* has_events: spi_ipc:* */
		VALUE_EVENT,					/* and others that are no calls */
		VALUE_OTHER,
	} kind;
	struct call_function *function;
	struct calls *calls;
	uint64_t result, duration, left, backtrace;	/* members; UINT64_MAX: none */
};
struct value_class *value_class_get(struct calls *c, struct event_class *class);
/*
 * A field as people read it: numbers, names of enumerations, "text". As much as there is room for: how much that was.
 */
size_t value_text(const bt_field *field, char *text, size_t size);
/* NAME = VALUE, ... of an entry; VALUE of an exit, "" where there is none. */
size_t call_arguments(const struct call *call, char *text, size_t size);
size_t call_result(const struct call *call, char *text, size_t size);
/*
 * A frame of an entry's backtrace, 0 the innermost: FUNCTION+OFFSET [OBJECT], how much that was; 0: there is no such
 * frame. The text of the frame before, or "", stands in `text`: behind a signal's handler an address means something
 * else.
 */
size_t call_caller(const struct call *call, uint64_t frame, char *text, size_t size);
/* The same as JSON: an object, a value. Integers that a double cannot hold exactly are strings. */
void call_arguments_json(const struct call *call, FILE *out);
void call_result_json(const struct call *call, FILE *out);
/* Does the result tell of a failure: it is negative, or a null pointer? */
int call_result_is_error(const struct call *call);
/* exception, longjmp, ...; NULL: it returned. */
const char *call_left_text(int left);

/* ---- events.c: of CALL_EVENT ---- */
enum flow_flags {			/* spi_ipc:send and recv */
	FLOW_DATAGRAM = 1, FLOW_UNSURE = 2, FLOW_UNKNOWN = 4, FLOW_CUT = 8, FLOW_FIRST = 16, FLOW_LATE = 32,
};
/* The kind of a class that is of no call: 0, or -1: no memory. */
int event_kind_find(struct calls *c, struct value_class *v, const char *name);
int event_channel_take(struct calls *c, const struct call_process *process, const bt_event *event);	/* 0 or -ENOMEM */
void event_channels_free(struct calls *c);
/* Its fields; of spi_ipc:* a short form: BYTES at POSITION, KIND OTHER-END. */
void call_event_text(const struct call *call, char *text, size_t size);
/* ,"event":NAME,"fields":{...}, of spi_ipc:* also ,"channel":{...} */
void call_event_json(const struct call *call, FILE *out);

/* ---- filter.c ---- */
/* 0, or a line that says what is wrong with a filter. */
void filter_function(const struct call_filter *filter, struct call_function *function);
void filter_process(const struct call_filter *filter, struct call_process *process);
void filter_thread(const struct call_filter *filter, struct call_thread *thread);

#endif /* SPI_READER_CALLS_H */
