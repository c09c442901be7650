/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the files of the event module share.
 *
 * A point's payload is a struct tp_point: its two events (or one), and for each
 * a compiled "capture program" (record/serialise.h) that turns registers and memory
 * into the packed record that the ring takes in one write. Descriptors are made
 * on the agent's thread (describe/descriptor.c), checked (describe/gatekeeper.c), registered and
 * then never changed or freed: lttng-ust keeps pointers into them for ever.
 */
#ifndef SPI_TP_H
#define SPI_TP_H

#include <stddef.h>
#include <stdint.h>
#include <lttng/ust-events.h>
#include <lttng/tracepoint-types.h>
#include "liblttng-spi/base/payload.h"

#define TP_FIELDS_MAX		64u	/* fields of one event */
#define TP_RECORD_MAX		4000u	/* bytes of one record */
#define TP_STRING_LEAST		16u	/* bytes kept of a string: no less can be asked for */
#define TP_STRING_MOST		2000u	/* nor more; cli/ui/trace-options.c says both */
#define TP_SLOP 16u /* a record's buffer is this much longer: values are over-written 8 bytes at a time */
#define TP_STRING_DEFAULT	256u	/* bytes kept of a string, NUL included */
#define TP_AREA_SMALL		128u	/* bytes kept beside a return slot (area.c) */
#define TP_AREA_LARGE		1024u
#define TP_AREA_CHUNK		64u	/* slots whose areas are made together */
#define TP_ONE_EXTRA		9u	/* bytes of a one-event record's `duration` and `left` */
#define TP_PROVIDER		"spi"
#define TP_LABELS_MAX		1024u
#define TP_ALONE_MAX		2u

struct tp_program;

/* How the filter and capture interpreter is to be given a field (filter.c). */
enum tp_column_kind {
	TP_COLUMN_UNSIGNED,
	TP_COLUMN_SIGNED,
	TP_COLUMN_FLOAT,	/* size 4 or 8 */
	TP_COLUMN_STRING,	/* NUL-terminated in the record */
	TP_COLUMN_CHAR,		/* text array of one */
	TP_COLUMN_ARRAY,	/* `count` integers of `size` bytes */
};
struct tp_column {
	uint8_t kind;		/* enum tp_column_kind */
	uint8_t size;		/* bytes of one element */
	uint16_t count;
};

/* One LTTng event, as firing it needs it. */
struct tp_event {
	struct lttng_ust_tracepoint *tracepoint;	/* in near memory when a stub tests its state */
	const struct tp_column *columns;
	uint32_t column_count;
	uint32_t is_end;		/* of a call: filters see the rules that asked for the function at its beginning, too (describe/context.c) */
	struct lttng_ust_probe_ctx probe;		/* the same for every record; lttng-ust only reads it */
};

/* spi_point.payload */
struct tp_point {
	struct tp_event entry;		/* one-event mode: the only event */
	struct tp_event exit;
	const struct tp_program *entry_program;
	const struct tp_program *exit_program;
	struct spi_point *point;
	uint32_t area_size;		/* one-event mode: TP_AREA_SMALL or TP_AREA_LARGE */
	uint32_t alone_used;		/* ledger/halves.c: TP_ALONE_* */
	uint64_t installed;		/* when; from here on not there in a tree's point */
	struct {			/* channels that take exits only, and since when */
		const void *channel;
		uint64_t since;
	} alone[TP_ALONE_MAX];
};

/* Uses of spi_thread.payload[]; [1] belongs to the core. */
enum tp_thread_word {
	TP_WORD_READER = 0,	/* address of lttng-ust's thread-local RCU reader pointer */
	TP_WORD_ERRNO = 2,	/* address of errno */
};

extern SPI_HIDDEN const struct spi_core_ops *tp_core;
extern SPI_HIDDEN uint32_t tp_string_max;	/* bytes, NUL included; for programs compiled from now on */

/* ---- area.c ---- */

/* Zeroed memory that is never freed, cut from larger pieces; agent thread only. NULL: none left. */
SPI_HIDDEN void *tp_alloc(size_t size);
SPI_HIDDEN char *tp_strndup(const char *s, size_t n);
/* The area beside a slot: `size` is TP_AREA_SMALL or TP_AREA_LARGE. Any thread, any state. NULL: no memory. */
SPI_HIDDEN uint8_t *tp_area_make(const struct spi_slot *slot, unsigned int size);
extern SPI_HIDDEN uint8_t *tp_area_small[SPI_SLOT_COUNT / TP_AREA_CHUNK],
	*tp_area_large[SPI_SLOT_COUNT / TP_AREA_CHUNK];

SPI_INLINE uint8_t *tp_area(const struct spi_slot *slot, unsigned int size)
{
	uint64_t number = ((uint64_t) slot - (uint64_t) spi_slot_data_base) / SPI_SLOT_SIZE;
	uint8_t *chunk = (size == TP_AREA_SMALL ? tp_area_small : tp_area_large)[number / TP_AREA_CHUNK];

	return spi_likely(chunk != NULL) ? chunk + number % TP_AREA_CHUNK * size : tp_area_make(slot, size);
}

/* ---- describe/descriptor.c: spi_payload_ops.bind ---- */
SPI_HIDDEN int tp_bind(struct spi_point **points, unsigned int n, const char **errors);

/* ---- record/generic.c: spi_payload_ops.bind_generic ---- */
SPI_HIDDEN int tp_bind_generic(struct spi_point **points, unsigned int n, const char **errors);
SPI_HIDDEN int tp_generic_ready(struct spi_object *object, const volatile int **gate, const char **why);
SPI_HIDDEN int tp_generic_events(const struct spi_point *point, struct tp_point *tp);

/* ---- record/tree.c: spi_payload_ops.tree_prepare, tree_bind ---- */
SPI_HIDDEN int tp_tree_prepare(struct spi_object *object, int compact, const volatile int **gate, const char **why);
SPI_HIDDEN int tp_tree_bind(struct spi_point *point);

/* ---- describe/context.c: $app.spi:rules ---- */
SPI_HIDDEN void tp_context_register(void);
extern SPI_HIDDEN __thread int tp_context_is_end __attribute__((tls_model("initial-exec")));	/* it is the end of a call that is looked at */
extern SPI_HIDDEN __thread const char *tp_context_text __attribute__((tls_model("initial-exec")));	/* NULL, or what it says */
SPI_HIDDEN int tp_context_set(struct spi_point *point, const char *tags);

/* ---- module/runs.c: sessions that want one run's processes only ---- */
SPI_HIDDEN int tp_runs_register(void);
SPI_HIDDEN void tp_runs_set(uint32_t run);
SPI_HIDDEN const char *tp_runs_name(void);	/* "rNUMBER", of the run that this process belongs to; "": of none */
SPI_HIDDEN void tp_runs_fork_child(void);

/* ---- record/call.c: what points call ---- */
SPI_HIDDEN void tp_call_attach(struct spi_point *point, struct tp_point *tp);
SPI_HIDDEN void tp_call_attach_generic(struct spi_point *point, struct tp_point *tp);
SPI_HIDDEN void tp_call_forget(void);

/* ---- record/one-event.c: the same for one event a call ---- */
SPI_HIDDEN void tp_one_attach(struct spi_point *point, struct tp_point *tp);

SPI_HIDDEN int tp_thread_ready(int has_memory);	/* module/init.c: spi_payload_ops.thread_ready() */

/* Counters of the calling thread. */
SPI_INLINE struct spi_thread_count *tp_count(struct spi_thread *t)
{
	extern SPI_HIDDEN struct spi_thread_record tp_no_record;

	return spi_likely(t->record != NULL) ? &t->record->count : &tp_no_record.count;
}

#endif /* SPI_TP_H */
