/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Inflating a deflate stream (RFC 1951) into one contiguous output, some at a time.
 *
 * zlib's inflate() keeps a window of its own, because its output may move; ours
 * never does, and a stream can be entered at any block whose window is known.
 * That, and looking at eight input bytes at once, makes this three times as fast,
 * and inflating is most of what listing a large program costs. (libdeflate is as
 * fast, but inflates a stream as a whole only.)
 */
#ifndef CODEMAP_INFLATE_H
#define CODEMAP_INFLATE_H

#include <stdint.h>

#define INFLATE_WINDOW	32768u	/* bytes before the output's end that may be copied from again */

#define INFLATE_LITERALS	(2048u + 288u * 16u)	/* entries: direct ones and all subtables */
#define INFLATE_DISTANCES	(256u + 32u * 128u)

enum inflate_state { INFLATE_HEAD, INFLATE_STORED, INFLATE_CODES, INFLATE_END, INFLATE_BAD };

struct inflate {
	const uint8_t *in_begin, *in, *in_end;
	uint8_t *out;			/* all output, from the first byte on */
	uint64_t done, size;		/* bytes of it */
	uint64_t pause_at;		/* stop in state HEAD when this much is done */
	uint64_t bits;			/* input bits not used yet, lowest first */
	unsigned int bit_count;
	enum inflate_state state;
	int is_last;			/* block */
	uint32_t stored_left;
	uint32_t literals[INFLATE_LITERALS], distances[INFLATE_DISTANCES];
};

void inflate_begin(struct inflate *s, const uint8_t *in, uint64_t in_size, uint8_t *out, uint64_t out_size);
/* Go on until at least `target` bytes are done, or the stream pauses, ends or breaks (state HEAD, END, BAD). */
void inflate_some(struct inflate *s, uint64_t target);

/*
 * Where in the input a stream in state HEAD stands, in bits; and going on there, with
 * `done` bytes of output before it, of which the last INFLATE_WINDOW must be in place.
 * 0: there is no such place.
 */
uint64_t inflate_position(const struct inflate *s);
int inflate_resume(struct inflate *s, uint64_t position, uint64_t done);
/* Inflate up to `target`, where a block ends, which is not the last one. 0: none does. */
int inflate_block_end(struct inflate *s, uint64_t target);

#endif /* CODEMAP_INFLATE_H */
