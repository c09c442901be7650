/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What all rooms of the event module share: points, events, memory.
 *
 * A point's payload is a struct tp_point: its two events (or one), and for each
 * a compiled "capture program" (describe/describe.h) that turns registers and memory
 * into the packed record that the ring takes in one write. Descriptors are made
 * on the agent's thread (describe/descriptor.c), registered and then never changed or freed: lttng-ust keeps pointers
 * into them for ever.
 */
#ifndef SPI_TP_BASE_H
#define SPI_TP_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <sys/syscall.h>
#include <lttng/ust-events.h>
#include <lttng/tracepoint-types.h>
#include "liblttng-spi/arch/offsets.h"
#include "liblttng-spi/base/base.h"

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
#define TP_BACKTRACE_MOST	(5u + 8u * SPI_BACKTRACE_MOST)	/* bytes: how it ends, how many, the addresses */
#define TP_PROVIDER		"spi"
#define TP_LABELS_MAX		1024u

struct tp_program;

/* How the filter and capture interpreter is to be given a field (ust/fire.c). */
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

/* The entry event with a backtrace, of a function that a rule with backtraces ever asked for. It never changes. */
struct tp_backtrace {
	struct tp_event event;
	const struct tp_program *program;	/* what the record begins with */
};

/* spi_point.payload */
struct tp_point {
	struct tp_event entry;		/* one-event mode: the only event */
	struct tp_event exit;
	const struct tp_program *entry_program;
	const struct tp_program *exit_program;
	struct spi_point *point;
	uint32_t area_size;		/* one-event mode: TP_AREA_SMALL or TP_AREA_LARGE */
	/* The latest channels that had exits with their entries, and since when exits are missing; 0: they are not. */
	struct {
		const void *channel;
		uint64_t missing;
	} paired[2];			/* from here on not there in a tree's point */
	struct {			/* channels that have exits only, and since when */
		const void *channel;
		uint64_t since;
	} alone[2];
	const struct tp_backtrace *backtrace;	/* NULL: none */
};

/* Uses of spi_thread.payload[]; [1] belongs to the core. */
enum tp_thread_word {
	TP_WORD_READER = 0,	/* address of lttng-ust's thread-local RCU reader pointer */
	TP_WORD_ERRNO = 2,	/* address of errno */
};

extern SPI_HIDDEN const struct spi_core_ops *tp_core;

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

/* ---- system calls of the module's own: libc's may be traced ---- */

SPI_INLINE int32_t tp_tid(void)
{
	return (int32_t) spi_raw3(SYS_gettid, 0, 0, 0);
}

/* What spi_signals_hold() is given: all but those that a fault or a breakpoint raises in code that is run meanwhile. */
#define TP_SIGNALS	(~(SPI_SIGNAL_BIT(SIGILL) | SPI_SIGNAL_BIT(SIGTRAP) | SPI_SIGNAL_BIT(SIGBUS) | \
	SPI_SIGNAL_BIT(SIGFPE) | SPI_SIGNAL_BIT(SIGSEGV)))

/* Counters of the calling thread. */
SPI_INLINE struct spi_thread_count *tp_count(struct spi_thread *t)
{
	extern SPI_HIDDEN struct spi_thread_record tp_no_record;

	return spi_likely(t->record != NULL) ? &t->record->count : &tp_no_record.count;
}

#endif /* SPI_TP_BASE_H */
