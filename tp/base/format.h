/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Compact records in a trace: what tp/compact/batch.c writes and the babeltrace2
 * component filter.lttng-spi.expand (bt2/) reads.
 *
 * spi_tree:site describes a number: it stands for calls of the function at `addr`,
 * made from `call_site` (0: that stands in each call's record). A description comes
 * before the first use of a number in a channel, and again now and then, so that a
 * snapshot has it too. `process` is of this one process and program: vpid and tid may be another's too, in
 * another pid namespace. Traces of before have no such field.
 *
 * spi_tree:calls is a batch: what one thread did, in order. Its fields:
 *	begin_tick, begin_ns, end_tick, end_ns	two readings of both clocks. A record's
 *		time is the tick it has, on the line through them; ns as the ring's own
 *	process	as in the descriptions of the numbers that are meant
 *	tid	the thread; the event's contexts are those of whoever wrote the batch
 *	seq	number of the batch in its thread, from 0. A gap: batches were lost
 *	depth	recorded calls that are open in the thread before the first record
 *	low	how many of those that were open at the latest batch before a gap still are
 *	flags	TP_BATCH_*
 *	data	the records, as bytes, in whole words; TP_PACKED_NONE fills the last one
 *
 * A record begins with 16 bits: in the lower two what it is, above them the ticks
 * since the record before, the first one's since begin_tick.
 */
#ifndef SPI_TP_COMPACT_FORMAT_H
#define SPI_TP_COMPACT_FORMAT_H

#include <stdint.h>
#include "liblttng-spi/tree/tree.h"

#define TP_PROVIDER_TREE	"spi_tree"

enum tp_packed {
	TP_PACKED_EXIT = 0,	/* of the latest open call whose entry is in this batch */
	TP_PACKED_ENTRY16,	/* u16: number */
	TP_PACKED_ENTRY32,	/* u32: number */
	TP_PACKED_OTHER,	/* u8: enum tp_packed_other */
};
enum tp_packed_other {
	TP_PACKED_NONE = 0,	/* the rest of the data is padding */
	TP_PACKED_TICKS,	/* u32: that many ticks more; no call */
	TP_PACKED_EXIT32,	/* u32: number */
	TP_PACKED_LEFT32,	/* u8: enum spi_left; u32: number. The call ended otherwise than by returning */
	TP_PACKED_ENTRY_AT,	/* u32: number; u64: call site */
};
#define TP_PACKED_TICK_BITS	14u
#define TP_PACKED_MOST		20u	/* bytes of one record, and of a TICKS before it */

/* The thread, or its process, ends: what is open ends with the batch. Should another follow nevertheless, it did not. */
#define TP_BATCH_END		1u

#endif /* SPI_TP_COMPACT_FORMAT_H */
