/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * filter.lttng-spi.expand: compact records become the events that they stand for.
 *
 * What comes in is in order of time, but a batch is older than it looks: it was
 * written when its thread's buffer was full. So messages are held back for `hold`
 * nanoseconds of the trace's time, longer than any thread keeps a record to itself,
 * and are put out merged with the records of all threads; batches are held packed,
 * and unpacked record by record. A record that comes later still gets the time of
 * what was put out last, and is counted.
 *
 * Objects are made and used by one message iterator, and live as long as it does.
 */
#ifndef SPI_BT2_EXPAND_H
#define SPI_BT2_EXPAND_H

#include <stdint.h>
#include <babeltrace2/babeltrace.h>
#include "liblttng-spi/base/hash.h"
#include "tp/base/format.h"

#define EXPAND_HOLD_MS		500u
#define EXPAND_CONTEXT_MAX	32u

/* Where an input stream class's expanded events go: a stream class beside it, in the same trace. */
struct out_class {
	struct out_class *next;
	const bt_stream_class *in;
	bt_stream_class *out;
	bt_event_class *entry, *exit, *named_entry, *named_exit;	/* named: with the function's name */
	int64_t offset;			/* ns from origin = clock value + offset */
	unsigned int context_count;
	struct out_member {
		uint64_t index;		/* in the input's context */
		enum out_member_kind { MEMBER_UNSIGNED, MEMBER_SIGNED, MEMBER_REAL, MEMBER_STRING, MEMBER_VTID, MEMBER_IP } kind;
	} members[EXPAND_CONTEXT_MAX];
};

/* And one stream for each of its streams. */
struct out_stream {
	struct out_stream *next;
	struct out_class *class;
	const bt_stream *in;
	bt_stream *out;
	bt_packet *packet;		/* open; NULL: none */
	uint64_t cpu;
	uint32_t in_packet;		/* events */
	int begun;
};

/* A context's values, kept from a batch's event. */
union value {
	uint64_t u;
	int64_t i;
	double d;
	char *s;
};

struct site {
	uint64_t address, call_site;	/* address 0: not described */
	uint64_t batches;		/* of its process, when it was described */
	const char *name;		/* of the function; NULL: not known */
};
/* Numbers of one program image; a process that executes another program gets another one. */
struct image {
	struct image *next;
	struct site *sites;
	uint32_t room;
};
struct process {
	struct process *next;
	const bt_trace *trace;
	const bt_stream_class *channel;
	int64_t vpid;
	uint64_t name;			/* `process` of its records; 0: the trace is older than that */
	struct image *image;
	uint64_t batches;		/* seen so far */
	uint64_t begun;			/* of these, those of programs before: all their threads had come to their end then */
	uint64_t threads;		/* whose last batch does not say that nothing follows */
};

struct batch {
	struct batch *next;
	struct out_stream *stream;
	struct image *image;
	uint64_t begin_tick, end_tick;
	int64_t begin_ns, end_ns;	/* from origin */
	uint32_t seq, depth, low, flags;
	union value *context;
	uint64_t size;			/* bytes of data */
	uint8_t data[];
};

struct frame {
	uint64_t address, call_site;
	const char *name;
	uint32_t number;		/* 0: the entry was not seen */
	uint32_t shown;
};

/* What a thread does next. */
struct record {
	int64_t ns;
	uint64_t address, call_site;
	const char *name;
	int is_entry;
};

struct thread {
	struct spi_hash_link link;	/* by process and tid */
	struct process *process;
	uint32_t tid;
	uint32_t seen, expected;	/* seq */
	struct batch *first, *last;
	struct frame *stack;
	uint64_t size, room;
	/* the batch that is being unpacked, `first` */
	uint64_t at;
	uint64_t tick;
	int begun;			/* 1: the stack is being brought to where it begins; 2: done */
	uint64_t close_to;		/* frames above are to be closed before the next record */
	uint64_t open_to;		/* frames below are to be entered again before it */
	int is_live;			/* counted in process->threads */
	uint64_t ended;			/* frames that were closed as the thread, or its process, was said to end */
	int64_t last_ns;
	struct record record;
	int has_record;
	uint64_t heap_index;
};

struct held {
	struct held *next;
	const bt_message *message;
	int64_t ns;
	int has_backtrace;
	int is_call;			/* a plain one, */
	const char *name;		/* of this function; NULL: not known yet */
	uint64_t dumps;			/* of its process, by then: names.c */
};

struct expand {
	bt_self_message_iterator *self;
	bt_self_component *component;
	bt_message_iterator *upstream;
	int64_t hold;
	struct names *names;
	struct named_class *named;
	struct callers_class *callers;
	struct out_class *classes;
	struct out_stream *streams;
	struct process *processes;
	struct image *images;
	struct spi_hash threads;
	struct spi_hash_link *thread_buckets[4096];
	struct thread **heap;		/* with a record, by its time */
	uint64_t heap_size, heap_room;
	struct held *first, *last;
	int64_t first_ns, now_ns, out_ns;
	int any, compact, ended;
	uint64_t late, orphans, unknown, gaps;	/* told at the end */
};

/* ---- process.c ---- */
struct process *process_get(struct expand *e, const bt_event *event);
int site_set(struct expand *e, struct process *process, uint64_t number, const struct site *as);
int context_unsigned(const bt_event *event, const char *name, uint64_t *value);

/* ---- thread.c ---- */
/* A batch came: 0 or -1. It belongs to the thread then. */
int thread_batch(struct expand *e, struct process *process, uint32_t tid, struct batch *batch);
struct thread *thread_top(const struct expand *e);	/* with the earliest record */
int thread_advance(struct expand *e, struct thread *thread);	/* its record is done with */
void threads_free(struct expand *e);

/* ---- names.c ---- */
/* An event of any name came, before what it may say of names is asked for: 0 or -1. */
int names_take(struct expand *e, const bt_event *event, const char *name);
/*
 * The name of the function at an address, in the event's process; it lives as long as `e`. NULL: not known. *dumps: 0, or as
 * it was set when the same event's was asked for before; when the process may be another program by now nothing is known.
 */
const char *names_find(struct expand *e, const bt_event *event, uint64_t address, uint64_t *dumps);
/*
 * FUNCTION+OFFSET [OBJECT] of an address in the event's process, as far as that is known. is_call: it is a return
 * address, else an interrupted instruction.
 */
void names_caller(struct expand *e, const bt_event *event, uint64_t address, int is_call, char *text, size_t size);
void names_free(struct expand *e);

/* ---- symbols.c ---- */
/* Of the file there, if it is the one with these first bytes of its build-id (0: any). NULL: no memory. */
struct symbols *symbols_open(const char *path, uint64_t build_id);
void symbols_close(struct symbols *symbols);
/*
 * FUNCTION+OFFSET of a place, counted from where the object begins; without a function there the place alone. is_call: the
 * function is the one that has the byte before. Where none has, the place may be a function's beginning: a restorer is
 * where a signal's handler returns to.
 */
void symbols_name(const struct symbols *symbols, uint64_t offset, int is_call, char *text, size_t size);

/* ---- callers.c ---- */
int callers_has(struct expand *e, const bt_event *event);	/* a backtrace: 1 or 0, or -1 */
/* The event with its callers' names, or as it is. The reference to `message` is taken. NULL: no memory. */
const bt_message *callers_message(struct expand *e, const bt_message *message);
void callers_free(struct expand *e);

/* ---- named.c ---- */
int named_is_call(struct expand *e, const bt_event *event);	/* a plain one: 1 or 0, or -1 */
/* The event with its function's name, or as it is. The reference to `message` is taken. NULL: no memory. */
const bt_message *named_message(struct expand *e, const bt_message *message, const char *name);
void named_free(struct expand *e);
/* ---- copy.c: an event of a call as one of another class, which has a further field ---- */
/* May events of this class be copied into others of their stream? */
int event_class_fits(const bt_event_class *in);
/* A class of these payload fields, which it puts, beside `in` in their stream. NULL: no memory, or no fields. */
bt_event_class *event_class_beside(const bt_event_class *in, bt_field_class *fields);
/*
 * Copies context and payload: *added is the further field, which is still to be set. 0; 1: it has a field of a kind
 * that is left alone; or -1: no memory, and no *copy.
 */
int event_copy(struct expand *e, const bt_message *message, const bt_event_class *out, bt_message **copy,
	bt_field **added);
/* The message that goes on, of the two; the other one is put. has_failed: the copy is not whole. */
const bt_message *event_copied(const bt_message *message, const bt_message *copy, int has_failed);

/* ---- output.c ---- */
int out_append_unsigned(bt_trace_class *trace_class, bt_field_class *structure, const char *name, unsigned int bits, int hex);
int out_append_name(bt_trace_class *trace_class, bt_field_class *structure);	/* the field for a function's name */
struct out_stream *out_stream_get(struct expand *e, const bt_event *event);
union value *out_context_keep(const struct out_class *class, const bt_event *event);
void out_context_free(const struct out_class *class, union value *context);
/* Messages for the thread's record, at most 4 of them: how many, or -1. */
int out_record(struct expand *e, struct thread *thread, bt_message_array_const messages);
/* The same at the end, for one more stream: 0 when all are ended. */
int out_end(struct expand *e, bt_message_array_const messages);
void out_free(struct expand *e);

/* ---- iterator.c ---- */
uint64_t payload_unsigned(const bt_event *event, const char *name);	/* 0: it has none of this name */
bt_message_iterator_class_initialize_method_status expand_iterator_init(bt_self_message_iterator *self,
	bt_self_message_iterator_configuration *configuration, bt_self_component_port_output *port);
void expand_iterator_finalize(bt_self_message_iterator *self);
bt_message_iterator_class_next_method_status expand_iterator_next(bt_self_message_iterator *self,
	bt_message_array_const messages, uint64_t capacity, uint64_t *count);

#endif /* SPI_BT2_EXPAND_H */
