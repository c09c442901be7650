/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A trace's messages and the compact records in it, in one order of time; and what the trace says of functions.
 *
 * What comes in is in order of time, but a batch is older than it looks: it was written when its thread's buffer was
 * full. So messages are held back for `hold` nanoseconds of the trace's time, longer than any thread keeps a record to
 * itself, and are given out merged with the records of all threads. Batches are held packed, and unpacked record by
 * record. A record that comes later still gets the time of what was given out last, and is counted.
 *
 * One thread uses a merge. All objects belong to it, and are freed with it.
 */
#ifndef SPI_READER_TRACE_H
#define SPI_READER_TRACE_H

#include <stdint.h>
#include <babeltrace2/babeltrace.h>
#include "liblttng-spi/base/hash.h"
#include "tp/base/format.h"

#define MERGE_HOLD_MS	500u
#define BUILD_ID_MOST	64u		/* bytes; of a longer one the first eight alone count */

/* A function of an object: known by its place in it, wherever the object is loaded. */
struct object {
	struct object *next;
	uint64_t build_id;		/* the first eight bytes; 0: it has none, and is known by its path */
	uint8_t id[BUILD_ID_MOST];	/* all of it, where the trace says it */
	uint32_t id_size;		/* bytes; 0: it does not */
	char *path;
	struct symbols *symbols;	/* NULL: nobody has asked for them yet */
	struct spi_hash functions;
	struct spi_hash_link *function_buckets[1024];
	struct spi_hash places;		/* of struct source_place, by offset */
	struct spi_hash_link *place_buckets[256];
};
struct function {
	struct spi_hash_link link;	/* by offset */
	const struct object *object;
	uint64_t offset;
	void *own;			/* the user's */
	char name[];
};

struct source_line {
	const char *file;
	uint32_t line;
	const char *inlined;		/* the function that is inlined there; NULL: the function itself */
};
/* Lines of a place in an object, the innermost first. Texts have no control characters. */
struct source_place {
	struct spi_hash_link link;	/* by offset, twice that for a function's beginning, one more for a call site */
	uint64_t key;
	int count;			/* 0: not known */
	struct source_line lines[];
};

struct site {
	uint64_t address, call_site;	/* address 0: not described */
	uint64_t batches;		/* of its process, when it was described */
	struct function *function;	/* NULL: not known */
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
	struct space *space;
	int64_t vpid;
	uint64_t name;			/* `process` of its records; 0: the trace is older than that */
	struct image *image;
	uint64_t batches;		/* seen so far */
	uint64_t begun;			/* of these, those of programs before: all their threads had come to their end then */
	uint64_t threads;		/* whose last batch does not say that nothing follows */
};

struct batch {
	struct batch *next;
	void *own;			/* the user's */
	struct image *image;
	uint64_t begin_tick, end_tick;
	int64_t begin_ns, end_ns;	/* from origin */
	int64_t slope;			/* ns a tick, times 2^40: no division for each record */
	uint32_t seq, depth, low, flags;
	uint64_t size;			/* bytes of data */
	uint8_t data[];
};

struct frame {
	uint64_t address, call_site;
	struct function *function;
	uint32_t number;		/* 0: the entry was not seen */
	uint32_t shown;
};

/* What a thread does next. */
struct record {
	int64_t ns;
	uint64_t address, call_site;
	struct function *function;	/* NULL: not named */
	int is_entry;
	int left;			/* of an exit: enum spi_left, or RECORD_CLOSED */
};
#define RECORD_CLOSED	(-1)		/* how the call ended was not recorded */

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
	int left, left_inner;		/* how the call that close_to ends last was left, and those above it */
	int is_live;			/* counted in process->threads */
	uint64_t ended;			/* frames that were closed as the thread, or its process, was said to end */
	int64_t last_ns;
	struct record record;
	int has_record;
	uint64_t heap_index;
	void *own;			/* the user's */
};

/* What events of a class are. */
enum event_kind {
	EVENT_OTHER,
	EVENT_FUNC_ENTRY, EVENT_FUNC_EXIT,	/* lttng_ust_cyg_profile: a plain call of a tree */
	EVENT_CALLS, EVENT_SITE,		/* compact records; these never come out */
	EVENT_NAMES,				/* of objects and functions */
};
struct event_class {
	struct spi_hash_link link;
	const bt_event_class *in;
	enum event_kind kind;
	void *own;			/* the user's */
};

/* One thing that comes out: a message, or the next record of a thread. */
struct merged {
	const bt_message *message;	/* the taker's reference; NULL: a record */
	struct event_class *class;	/* of an event's message, else NULL */
	struct function *function;	/* of a plain call; NULL: not known */
	struct thread *thread;		/* of a record: thread->record, in thread->first. merge_done() when it was used */
};

struct merge {
	int64_t hold;			/* ns */
	/* For the user: what it keeps of a batch's event (0, or -1: no memory), and gives back. NULL: nothing. */
	int (*batch_keep)(struct merge *m, const bt_event *event, struct batch *batch);
	void (*batch_drop)(struct batch *batch);
	const char *teller;		/* who tells what was missing, on stderr */

	struct space *spaces;		/* what is where; the one that was asked for last comes first */
	struct object *objects;
	struct process *processes;
	struct image *images;
	struct spi_hash threads;
	struct spi_hash_link *thread_buckets[4096];
	struct spi_hash classes;
	struct spi_hash_link *class_buckets[1024];
	struct thread **heap;		/* with a record, by its time */
	uint64_t heap_size, heap_room;
	struct held *first, *last;
	int64_t first_ns, now_ns, out_ns;
	int any, ended;
	int compact;			/* there are compact records */
	int is_files;			/* the user's: whether there are any is known from the beginning */
	int is_plain;			/* there are none, and enough was held back */
	uint64_t taken;			/* messages */
	uint64_t late, orphans, unknown, gaps;	/* told at the end */
};

/* ---- fields.c ---- */
uint64_t field_integer(const bt_field *field);	/* signed ones as they are in 64 bits; 0: NULL, or no integer */
const char *field_string(const bt_field *field);	/* "": NULL, or no string */
uint64_t member_find(const bt_field_class *structure, const char *name);	/* its number, or UINT64_MAX */
const bt_field *payload_field(const bt_event *event, uint64_t number);	/* NULL: UINT64_MAX */
uint64_t payload_unsigned(const bt_event *event, const char *name);	/* 0: it has none of this name */
const char *payload_string(const bt_event *event, const char *name);	/* "": likewise */
/* An array of bytes: how many, `most` of them copied; 0: there is none. */
uint64_t payload_bytes(const bt_event *event, const char *name, uint8_t *bytes, uint64_t most);
const char *context_string(const bt_event *event, const char *name);
/* 0, or -1: there is no such context. Signed ones are given as they are in 64 bits. */
int context_unsigned(const bt_event *event, const char *name, uint64_t *value);

/* ---- merge.c ---- */
void merge_init(struct merge *m, int64_t hold_ns, const char *teller);
void merge_free(struct merge *m);
/* One message, whose reference is taken: 0, or -1: no memory. */
int merge_take(struct merge *m, const bt_message *message);
/* What comes next, when nothing older can come: 1, or 0: more is to be taken first, or all is out; -1: no memory. */
int merge_next(struct merge *m, struct merged *out);
/* The record that came last was used: 0 or -1. Its time is at least that of what came before it. */
int merge_done(struct merge *m, struct thread *thread);
/* Nothing more is taken: what is held may go. */
void merge_end(struct merge *m);
/* What is missing, a line each. */
void merge_tell(const struct merge *m);
/* The class's entry in the table: NULL without memory. */
struct event_class *merge_class(struct merge *m, const bt_event_class *in);
/* The time of a message, in ns from origin: 1, or 0: it has none. */
int message_time(const bt_message *message, int64_t *ns);

/* ---- processes.c ---- */
struct process *process_get(struct merge *m, const bt_event *event);
int site_set(struct merge *m, struct process *process, uint64_t number, const struct site *as);

/* ---- threads.c ---- */
/* A batch came: 0 or -1. It belongs to the thread then. */
int thread_batch(struct merge *m, struct process *process, uint32_t tid, struct batch *batch);
struct thread *thread_top(const struct merge *m);	/* with the earliest record */
int thread_advance(struct merge *m, struct thread *thread);	/* its record is done with */
void threads_free(struct merge *m);

/* ---- names.c ---- */
/* An event of EVENT_NAMES came, before what it may say of names is asked for: 0 or -1. */
int names_take(struct merge *m, const bt_event *event, const char *name);
/* What the event's process is made of, as far as the trace says; it lives as long as `m`. NULL: no memory. */
struct space *names_space(struct merge *m, const bt_event *event);
/*
 * The function that begins at an address; it lives as long as the merge. NULL: not known. *dumps: 0, or as it was set
 * when the same event's was asked for before; when the process may be another program by now nothing is known.
 */
struct function *names_find(struct space *space, uint64_t address, uint64_t *dumps);
/*
 * A function for an address that the trace names none for: by the symbols of the object's file, else the place alone.
 */
struct function *names_make(struct merge *m, struct space *space, uint64_t address);
/*
 * FUNCTION+OFFSET [OBJECT] of an address, as far as that is known. is_call: it is a return address, else an interrupted
 * instruction.
 */
void names_caller(struct space *space, uint64_t address, int is_call, char *text, size_t size);
/*
 * The same in two steps: the object that an address is in now, and its place in that; NULL: the trace tells of none, and
 * the place is the address. The object stays what it is for as long as `m`.
 */
struct object *names_place(struct space *space, uint64_t address, int is_call, uint64_t *offset);
/* The lines of a return address, with what is inlined there; NULL: not known. */
const struct source_place *names_site(struct space *space, uint64_t address);
void names_free(struct merge *m);

/* ---- objects.c ---- */
uint64_t build_id_begin(const uint8_t *id, uint64_t n);	/* struct object's build_id; 0: it has none */
void names_place_text(struct object *object, uint64_t offset, int is_call, char *text, size_t size);
/* The lines of a return address there, with what is inlined; NULL: not known. */
const struct source_place *names_place_lines(struct object *object, uint64_t offset);
/*
 * What an event's description says of its function (tp/describe/place.c): the object, and the function's place in it.
 * NULL: nothing that is understood, or no memory.
 */
struct object *names_place_said(struct merge *m, const char *uri, uint64_t *offset);
/* All objects that the trace tells of: a list. */
struct object *names_objects(const struct merge *m);
struct symbols *names_symbols(struct object *object);	/* NULL: no memory */
/* The source line where a function begins; NULL: not known. */
const struct source_place *names_line(const struct object *object, uint64_t offset);

/* ---- files.c ---- */
/*
 * Where the files of objects are, besides their paths: below another root, and in directories with debug files by
 * build-id. Either may be NULL; both are kept. 0, -EINVAL: a ':' in a path, -ENOMEM.
 */
int symbols_places(const char *root, const char *const *debug_directories);
/* Of the file of an object, if there is one of the object's build-id. NULL: no memory. */
struct symbols *symbols_open(struct object *object);
void symbols_close(struct symbols *symbols);
enum symbols_state {
	SYMBOLS_NO_FILE,
	SYMBOLS_OTHER_FILE,		/* there is one, of another build-id: it is not used */
	SYMBOLS_HERE,
};
enum symbols_state symbols_state(const struct symbols *symbols);

/* ---- symbols.c ---- */
/* The function that has the place: 1, its name and where it begins; or 0. */
int symbols_function(struct symbols *symbols, uint64_t *offset, char *text, size_t size);
/* Without a symbol: where it begins by .eh_frame. 1, or 0: nothing is known. */
int symbols_frame(struct symbols *symbols, uint64_t *offset);
/*
 * FUNCTION+OFFSET of a place, counted from where the object begins; without a function there the place alone. is_call:
 * the function is the one that has the byte before. Where none has, the place may be a function's beginning: a
 * restorer is where a signal's handler returns to.
 */
void symbols_name(struct symbols *symbols, uint64_t offset, int is_call, char *text, size_t size);

/* ---- lines.c ---- */
/*
 * Source lines of a place: how many, 0: not known. The first is of the innermost function that is inlined there, the
 * next one is where that is called, the last is of the function itself. Texts live as long as the symbols.
 */
int symbols_lines(struct symbols *symbols, uint64_t offset, int is_call, struct source_line *lines, int most);

#endif /* SPI_READER_TRACE_H */
