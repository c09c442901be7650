/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files share that make messages of operations: match.c, order.c, segments.c, ends.c, in this order. */
#ifndef SPI_READER_FLOW_MATCH_H
#define SPI_READER_FLOW_MATCH_H

#include "reader/flow/flow.h"

/* A stretch of bytes that one side has: of one operation, or of several whose order nobody knows. */
struct flow_segment {
	uint64_t begin, end;
	uint64_t missing;		/* bytes that the other side does not have yet; 0: done with */
	struct flow_op *op;		/* NULL: of a group */
	struct flow_op **group;
	uint32_t group_count;
	uint32_t other_count, other_room;
	struct flow_op **others;	/* of the other side, where it is not sure who has what */
};

#define FLOW_GAPS	8u
#define FLOW_GAP_NS	INT64_C(1000000000)

struct flow_side {
	struct flow_segment *segments;	/* in order, from `first` to `count` */
	uint32_t first, count, room;
	uint32_t waiting;		/* of them: not done with */
	uint64_t top;			/* where the bytes end that were seen */
	struct flow_gap {		/* bytes below `top` whose operation has not come; its thread may have had to wait before the event */
		uint64_t begin, end;
		int64_t since;		/* ns */
	} gaps[FLOW_GAPS];
	uint32_t gap_next;		/* which is used again first */
	int64_t top_end, settled_end;	/* ns: ends of all operations, and of those that were put in order */
	struct flow_op **open;		/* operations that overlapped, and are still to be put in order */
	uint32_t open_count, open_room;
	int64_t open_end;		/* ns: the latest end of these */
	uint64_t next;			/* of datagrams: the next position */
};

struct flow_stream {
	struct spi_hash_link link;	/* of datagrams: by channel, hash, length */
	struct flow_stream *before, *next;	/* of all */
	struct flow_stream *open_next;	/* with something to be put in order, the oldest first */
	struct flow_channel *channel;
	uint64_t hash, length;		/* of datagrams */
	uint8_t is_datagrams, is_open;
	struct flow_side sides[2];	/* by enum flow_way */
};

#define FLOW_SLACK_NS	INT64_C(100000000)

struct flow_matching {
	struct flow_stream *streams, *open_first, **open_end;
	uint64_t stream_count, waiting;	/* waiting: segments */
	struct spi_hash datagrams;
	struct spi_hash_link *buckets[65536];
};

/* ---- segments.c: 0 or a negative errno ---- */
/* A segment comes; where it overlaps the other side's, bytes pass, and what needs no more of them ends. */
int stream_add(struct flow *flow, struct flow_stream *stream, enum flow_way way, const struct flow_segment *segment);
/* Receives that are older than the send belonged to a connection before: nobody traced sent what they have. */
int stream_older_end(struct flow *flow, struct flow_stream *stream, const struct flow_op *send);
/* The oldest segments end without a counterpart until no more than `keep` of each side wait. */
int stream_cut(struct flow *flow, struct flow_stream *stream, uint32_t keep);

/* ---- order.c: 0 or a negative errno ---- */
/* All open operations of a side have come: they are put in order, and become segments. */
int stream_settle(struct flow *flow, struct flow_stream *stream, enum flow_way way);

/* ---- ends.c: 0 or a negative errno ---- */
/* The other side's operations of `other` may have had bytes of the segment. */
int segment_other(struct flow *flow, struct flow_segment *segment, const struct flow_segment *other);
/* The segment waits for nothing more, be it that nothing more comes; its operations are released. */
int segment_end(struct flow *flow, struct flow_stream *stream, enum flow_way way, struct flow_segment *segment);
/* Its operations are released, and nothing is said of them. */
void segment_drop(struct flow *flow, struct flow_segment *segment);

#endif /* SPI_READER_FLOW_MATCH_H */
