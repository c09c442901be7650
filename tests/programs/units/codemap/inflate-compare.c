/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * inflate-compare FILE: pieces of FILE, and made-up data, deflated by zlib in all
 * its ways and inflated by inflate.c in odd steps; then the same streams broken:
 * zlib and inflate.c must agree on every byte before the break. Prints how many
 * streams were tried; 1 and a line when one differs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "codemap/inflate/inflate.h"

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static uint64_t zlib_inflate(const uint8_t *in, size_t in_size, uint8_t *out, size_t size, int *ended)
{
	z_stream z = { 0 };
	int rc;

	inflateInit2(&z, -MAX_WBITS);
	z.next_in = (Bytef *) in;
	z.avail_in = (uInt) in_size;
	z.next_out = out;
	z.avail_out = (uInt) size;
	rc = inflate(&z, Z_SYNC_FLUSH);
	inflateEnd(&z);
	*ended = rc == Z_STREAM_END || (rc == Z_OK && !z.avail_out);
	return size - z.avail_out;
}

static int compare(const uint8_t *packed, size_t packed_size, size_t size)
{
	static struct inflate s;
	/* Exactly as large as they are, so that a sanitizer sees every byte too many. */
	uint8_t *in = malloc(packed_size ? packed_size : 1), *own = calloc(1, size + 1), *theirs = calloc(1, size + 1);
	uint64_t done;
	int ended, same;

	memcpy(in, packed, packed_size);
	inflate_begin(&s, in, packed_size, own, size);
	while (s.state != INFLATE_END && s.state != INFLATE_BAD && s.done < size)
		inflate_some(&s, s.done + 1 + next() % 5000);
	done = zlib_inflate(in, packed_size, theirs, size, &ended);
	if (ended)
		same = s.done == done && !memcmp(own, theirs, done);
	else	/* one may notice a break a few symbols before the other writes them */
		same = !memcmp(own, theirs, s.done < done ? s.done : done) && s.done + 300 >= done;
	if (!same)
		printf("own %llu state %d, zlib %llu ended %d of %zu\n", (unsigned long long) s.done, s.state,
		       (unsigned long long) done, ended, size);
	free(in);
	free(own);
	free(theirs);
	return same;
}

/* Stop at some block and go on there in another place, where only the window is; and go up to there and no further. */
static int resume_try(const uint8_t *packed, size_t packed_size, const uint8_t *data, size_t size)
{
	static struct inflate s, t;
	uint8_t *out = calloc(1, size + 1), *other;
	uint64_t done, window;
	int same = 1;

	inflate_begin(&s, packed, packed_size, out, size);
	s.pause_at = next() % size;
	inflate_some(&s, size);
	done = s.done;
	if (s.state == INFLATE_HEAD && done) {
		window = done < INFLATE_WINDOW ? done : INFLATE_WINDOW;
		other = calloc(1, size + 1);
		memcpy(other + done - window, out + done - window, window);
		inflate_begin(&t, packed, packed_size, other, size);
		same = inflate_resume(&t, inflate_position(&s), done);
		inflate_some(&t, size);
		same = same && t.done == size && !memcmp(other + done, data + done, size - done);
		/* and up to there: nothing behind it may be written */
		memset(other, 0xee, size);
		inflate_begin(&t, packed, packed_size, other, done);
		same = same && inflate_block_end(&t, done) && inflate_position(&t) == inflate_position(&s) &&
		       !memcmp(other, data, done) && (done == size || other[done] == 0xee);
		free(other);
	}
	free(out);
	if (!same)
		printf("resumed at %llu of %zu: different\n", (unsigned long long) done, size);
	return same;
}

static int stream_try(const uint8_t *data, size_t size, int level, int strategy, unsigned int *tried)
{
	size_t bound = size + size / 100 + 1000, packed_size;
	uint8_t *packed = malloc(bound);
	z_stream z = { 0 };
	unsigned int i;
	int ok;

	deflateInit2(&z, level, Z_DEFLATED, -MAX_WBITS, 8, strategy);
	z.next_in = (Bytef *) data;
	z.avail_in = (uInt) size;
	z.next_out = packed;
	z.avail_out = (uInt) bound;
	deflate(&z, Z_FINISH);
	packed_size = bound - z.avail_out;
	deflateEnd(&z);
	ok = compare(packed, packed_size, size) && resume_try(packed, packed_size, data, size);
	++*tried;
	for (i = 0; ok && i < 6 && packed_size; i++) {
		size_t at = next() % packed_size;
		uint8_t old = packed[at];

		packed[at] ^= (uint8_t) (1u << (next() % 8));
		ok = compare(packed, i == 5 ? next() % packed_size : packed_size, size);
		packed[at] = old;
		++*tried;
	}
	free(packed);
	return ok;
}

int main(int argc, char **argv)
{
	static const int strategies[] = { Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE, Z_FILTERED };
	static uint8_t data[1 << 20];
	unsigned int tried = 0, round;
	size_t have, i;
	FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;

	if (!file)
		return 2;
	have = fread(data, 1, sizeof(data), file);
	for (round = 0; round < 60; round++) {
		size_t size = 1 + next() % (round % 3 ? 3000 : 200000), at;

		if (size > have)
			size = have;
		at = next() % (have - size + 1);
		if (round % 5 == 4)
			for (i = 0; i < size; i++)
				data[at + i] = (uint8_t) (round % 2 ? next() : "aab"[next() % 3]);
		for (i = 0; i < 5; i++)
			if (!stream_try(data + at, size, (int) (next() % 10), strategies[i], &tried))
				return 1;
	}
	printf("%u streams\n", tried);
	return 0;
}
