/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Compressed sections, inflated piece by piece.
 *
 * A section has its whole address range from the start, so an offset in the section stays an
 * offset in memory. The range has no pages and is not writable at first, because the sandbox
 * counts writable memory. A mark (map/marks.h) is a place where inflating can begin. Between two
 * marks lies a chunk, which is inflated by itself when it is asked for. Behind the last known mark
 * lies the tail, which is filled from its front, and only as far as somebody asks.
 *
 * Debug info that is read once from front to back is inflated by a second thread, a bounded
 * distance ahead of the reader, and what was read is given back to the kernel: 400 MB pass through
 * some 20 MB of memory.
 *
 * Bytes that were handed out never change while they are in use: a chunk's end is the end of what
 * inflating the chunk may write, and the window before a chunk is put in place only where there is
 * nothing yet.
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <zstd.h>
#include "codemap/elf/image.h"
#include "codemap/inflate/inflate.h"
#include "codemap/map/marks.h"

#define PIECE		(UINT64_C(1) << 18)	/* inflated at a time, bytes */
#define SKIP		(UINT64_C(4) << 20)	/* passed over at a time */
#define INFLATED_MAX	(UINT64_C(8) << 30)	/* more is a mistake or an attack */
#define PAGE_MASK	UINT64_C(4095)
#define MARK_EVERY	(UINT64_C(4) << 20)	/* bytes of output, and at most 128 marks a section */

enum chunk_state { CHUNK_NONE, CHUNK_DONE, CHUNK_DROPPED };

struct inflater {
	struct inflate tail;
	ZSTD_DCtx *zstd;	/* the stream is zstd's, and has neither marks nor chunks; NULL: it is deflate's */
	int entered;		/* the tail's stream stands where it begins, or further on */
	int is_over;		/* nothing more will come */
	uintptr_t dropped;	/* input before this page was given back */
	uint64_t section;	/* as marks call it */
	/* chunks: [0, marks[0].done), [marks[0].done, marks[1].done), ... */
	const struct mark *marks;
	uint32_t mark_count;
	uint8_t *chunk_state;
	struct inflate *chunk;
	/* read ahead only */
	int threaded;		/* 1: the thread runs, 2: it has ended */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	uint64_t wanted;	/* the reader has come this far */
	uint64_t ahead;		/* how far the thread may run ahead of it */
	uint64_t published;	/* what is done, as the reader may see it */
};

/* ---- room ---- */

#define SLACK	UINT64_C(4096)	/* of the mapping, behind the last byte */
#define BLOCK	UINT64_C(65536)	/* a stored block is copied whole, and a match may reach beyond what was asked for */

static void room_protect(uint8_t *room, uint64_t from, uint64_t to, int protection)
{
	uintptr_t low = ((uintptr_t) room + from) & ~PAGE_MASK, high = ((uintptr_t) room + to + PAGE_MASK) & ~PAGE_MASK;

	if (mprotect((void *) low, high - low, protection))
		fail_memory();
}

/* These bytes of the output are about to be written. */
static void room_open(const struct inflate *s, uint64_t from, uint64_t to)
{
	room_protect(s->out, from, to < s->size + SLACK ? to : s->size + SLACK, PROT_READ | PROT_WRITE);
}

/* ---- chunks ---- */

/* Where the tail begins. */
static uint64_t tail_start(const struct inflater *in)
{
	return in->mark_count ? in->marks[in->mark_count - 1].done : 0;
}

/* Which chunk has this byte? It lies before the tail. */
static uint32_t chunk_around(const struct inflater *in, uint64_t offset)
{
	uint32_t low = 0, high = in->mark_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (in->marks[middle].done <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Let a stream begin at a mark. The chunk before it, when it is there, has the window already. */
static void stream_enter(struct inflater *in, struct inflate *s, uint32_t mark)
{
	const struct mark *m = &in->marks[mark];

	if (in->chunk_state[mark] != CHUNK_DONE) {
		room_open(s, m->done - INFLATE_WINDOW, m->done);
		marks_window(m, s->out + m->done - INFLATE_WINDOW);
	}
	if (!inflate_resume(s, m->position, m->done))
		marks_give_up();
}

static void chunk_inflate(struct inflater *in, uint32_t index)
{
	uint64_t begin = index ? in->marks[index - 1].done : 0;
	const struct mark *next = &in->marks[index];
	const struct inflate *tail = &in->tail;
	struct inflate *s = in->chunk;

	if (!s) {
		s = in->chunk = mem_alloc(sizeof(*s));
		inflate_begin(s, tail->in_begin, (uint64_t) (tail->in_end - tail->in_begin), tail->out, 0);
	}
	s->size = next->done;
	room_open(s, begin, next->done);
	if (s->done != begin || s->state != INFLATE_HEAD || (index && in->chunk_state[index - 1] != CHUNK_DONE)) {
		if (index)
			stream_enter(in, s, index - 1);
		else if (!inflate_resume(s, 0, 0))
			marks_give_up();
	}
	if (!inflate_block_end(s, next->done) || inflate_position(s) != next->position)
		marks_give_up();
	in->chunk_state[index] = CHUNK_DONE;
}

/* ---- the tail ---- */

static void tail_enter(struct inflater *in)
{
	struct inflate *s = &in->tail;
	uint64_t every = s->size / 128 > MARK_EVERY ? s->size / 128 : MARK_EVERY;

	if (in->entered)
		return;
	in->entered = 1;
	if (in->mark_count)
		stream_enter(in, s, in->mark_count - 1);
	if (in->section && marks_wanted())
		s->pause_at = s->done + every;
	in->dropped = ((uintptr_t) s->in + PAGE_MASK) & ~PAGE_MASK;
}

static void mark_note(struct inflater *in)
{
	struct inflate *s = &in->tail;
	struct mark mark = { in->section, s->done, inflate_position(s), 0 };

	marks_note(&mark, s->out + s->done - INFLATE_WINDOW);
	s->pause_at = s->done + (s->size / 128 > MARK_EVERY ? s->size / 128 : MARK_EVERY);
}

/* zstd keeps its own window: what is written may be given back at once. */
static void zstd_some(struct inflater *in, uint64_t target)
{
	struct inflate *s = &in->tail;
	ZSTD_inBuffer input = { s->in, (size_t) (s->in_end - s->in), 0 };
	ZSTD_outBuffer output = { s->out, target < s->size ? target : s->size, s->done };

	while (output.pos < output.size) {
		size_t before = output.pos + input.pos, left = ZSTD_decompressStream(in->zstd, &output, &input);

		if (ZSTD_isError(left) || output.pos + input.pos == before) {
			s->state = INFLATE_BAD;
			break;
		}
	}
	s->in += input.pos;
	s->done = output.pos;
}

/* Inflate up to one piece more. */
static void tail_step(struct inflater *in)
{
	struct inflate *s = &in->tail;

	room_open(s, s->done, s->done + PIECE + BLOCK);
	if (in->zstd)
		zstd_some(in, s->done + PIECE);
	else
		inflate_some(s, s->done + PIECE);
	if (!in->zstd && s->state == INFLATE_HEAD && s->done >= s->pause_at)
		mark_note(in);
	if (s->state == INFLATE_END || s->state == INFLATE_BAD || s->done == s->size)
		in->is_over = 1;
	/* The compressed bytes before this point are not needed again: keep the file's pages out of our memory. */
	if ((intptr_t) ((uintptr_t) s->in - in->dropped) > (intptr_t) (8 * PIECE)) {
		uintptr_t high = ((uintptr_t) s->in - 2 * PIECE) & ~PAGE_MASK;

		madvise((void *) in->dropped, high - in->dropped, MADV_DONTNEED);
		in->dropped = high;
	}
}

static void *tail_thread(void *arg)
{
	struct inflater *in = arg;

	while (!in->is_over) {
		tail_step(in);
		pthread_mutex_lock(&in->lock);
		in->published = in->tail.done;
		pthread_cond_broadcast(&in->moved);
		while (in->tail.done > in->wanted + in->ahead && !in->is_over)
			pthread_cond_wait(&in->moved, &in->lock);
		pthread_mutex_unlock(&in->lock);
	}
	pthread_mutex_lock(&in->lock);
	in->threaded = 2;
	pthread_cond_broadcast(&in->moved);
	pthread_mutex_unlock(&in->lock);
	return NULL;
}

/* Have the tail up to `end`, or as far as it goes. */
static void tail_reach(struct bytes *bytes, uint64_t end)
{
	struct inflater *in = bytes->inflater;

	if (in->threaded) {
		pthread_mutex_lock(&in->lock);
		if (end > in->wanted) {
			in->wanted = end;
			pthread_cond_broadcast(&in->moved);
		}
		while (in->published < end && in->threaded == 1)
			pthread_cond_wait(&in->moved, &in->lock);
		bytes->ready = in->published;
		pthread_mutex_unlock(&in->lock);
		return;
	}
	tail_enter(in);
	while (in->tail.done < end && !in->is_over)
		tail_step(in);
	bytes->ready = in->tail.done;
}

/* ---- what readers call ---- */

uint64_t bytes_run(struct bytes *bytes, uint64_t offset, uint64_t size)
{
	struct inflater *in = bytes->inflater;
	uint64_t at = offset, end;

	if (offset >= bytes->size)
		return 0;
	end = size < bytes->size - offset ? offset + size : bytes->size;
	if (!in)
		return end - offset;
	while (at < end && at < bytes->start) {
		uint32_t chunk = chunk_around(in, at);

		if (in->chunk_state[chunk] != CHUNK_DONE)
			chunk_inflate(in, chunk);
		at = in->marks[chunk].done;
	}
	if (at < end) {
		if (end > bytes->ready)
			tail_reach(bytes, end);
		at = bytes->ready > at ? bytes->ready : at;
	}
	return (at < end ? at : end) - offset;
}

void bytes_reached(struct bytes *bytes, uint64_t offset)
{
	struct inflater *in = bytes->inflater;

	if (!in || !in->threaded)
		return;
	pthread_mutex_lock(&in->lock);
	if (offset > in->wanted) {
		in->wanted = offset;
		pthread_cond_broadcast(&in->moved);
	}
	bytes->ready = in->published;
	pthread_mutex_unlock(&in->lock);
}

void bytes_read_ahead(struct bytes *bytes, uint64_t enough, uint64_t ahead)
{
	struct inflater *in = bytes->inflater;

	if (!in || in->threaded || in->is_over)
		return;
	tail_enter(in);
	pthread_mutex_init(&in->lock, NULL);
	pthread_cond_init(&in->moved, NULL);
	in->published = in->tail.done;
	in->wanted = enough > ahead ? enough - ahead : 0;
	in->ahead = ahead;
	in->threaded = 1;
	if (pthread_create(&in->thread, NULL, tail_thread, in))
		in->threaded = 0;	/* then as it is asked for */
	else
		pthread_detach(in->thread);
}

uint64_t bytes_drop(struct bytes *bytes, uint64_t from, uint64_t to)
{
	struct inflater *in = bytes->inflater;
	uint64_t done = bytes->ready;
	uintptr_t low, high;
	uint32_t i;

	if (to > bytes->size)
		to = bytes->size;
	if (in) {	/* what is still to come may be copied from what was inflated last */
		uint64_t keep = bytes->start > INFLATE_WINDOW ? bytes->start - INFLATE_WINDOW : 0;

		if (!in->threaded)
			done = in->tail.done;
		if (to > bytes->start)
			keep = done > bytes->start + INFLATE_WINDOW ? done - INFLATE_WINDOW : keep;
		if (to > keep)
			to = keep;
	}
	if (to <= from)
		return from;
	low = ((uintptr_t) bytes->data + from + PAGE_MASK) & ~PAGE_MASK;
	high = ((uintptr_t) bytes->data + to) & ~PAGE_MASK;
	if (low >= high)
		return from;
	madvise((void *) low, high - low, MADV_DONTNEED);
	if (in)
		room_protect((uint8_t *) low, 0, high - low, PROT_READ);
	for (i = 0; in && i < in->mark_count && (i ? in->marks[i - 1].done : 0) < to; i++)
		if (in->marks[i].done > from && in->chunk_state[i] == CHUNK_DONE)
			in->chunk_state[i] = CHUNK_DROPPED;
	return high - (uintptr_t) bytes->data;
}

int bytes_is_far(const struct bytes *bytes, uint64_t offset)
{
	return bytes->inflater && offset > bytes->start && offset > bytes->ready;
}

uint64_t bytes_skip(struct bytes *bytes, uint64_t from, uint64_t to)
{
	uint64_t at;

	if (!bytes->inflater)
		return from;
	if (from < bytes->start)
		from = bytes->start;
	for (at = from; at < to; at += SKIP) {
		if (bytes_is_far(bytes, at) && !bytes_run(bytes, at, 1))
			return from;
		from = bytes_drop(bytes, from, at);
	}
	return from;
}

void bytes_forget(struct bytes *bytes, uint64_t offset)
{
	if (!bytes->inflater || offset < bytes->gone + (UINT64_C(1) << 20))
		return;
	bytes->dropped = bytes_drop(bytes, bytes->dropped, offset);
	bytes->gone = offset;
}

const char *bytes_string(struct bytes *bytes, uint64_t offset)
{
	uint64_t end = offset;

	if (offset >= bytes->size)
		return NULL;
	for (;;) {
		uint64_t have = bytes_run(bytes, end, 1);
		const uint8_t *nul;

		if (!have)
			return NULL;
		if (end >= bytes->start)
			have = bytes->ready - end;
		else
			have = bytes->inflater->marks[chunk_around(bytes->inflater, end)].done - end;
		nul = memchr(bytes->data + end, 0, have);
		if (nul)
			return (const char *) bytes->data + offset;
		end += have;
	}
}

int bytes_are_cut(struct bytes *bytes)
{
	struct inflater *in = bytes->inflater;
	int is_cut;

	if (!in)
		return 0;
	if (!in->threaded)
		return in->is_over && in->tail.done < bytes->size;
	pthread_mutex_lock(&in->lock);
	is_cut = in->threaded == 2 && in->published < bytes->size;
	pthread_mutex_unlock(&in->lock);
	return is_cut;
}

struct bytes bytes_inflate(
	const struct image *image, const uint8_t *input, uint64_t left, uint64_t size, enum compression how)
{
	struct bytes bytes = { .size = 0 };
	struct inflater *in;
	uint8_t *room;

	/* deflate packs 1032:1 at best, zstd 128 KB in 4 bytes */
	if (!size || size > INFLATED_MAX || size / (how == COMPRESSION_ZSTD ? 40000 : 1100) > left)
		return bytes;
	/* Raw deflate behind zlib's two bytes: whoever can break the data can make its checksum right too. */
	if (how == COMPRESSION_ZLIB) {
		if (left < 2 || (input[0] & 15) != 8 || (input[1] & 0x20))
			return bytes;
		input += 2;
		left -= 2;
	}
	/* One page more stays zero: a string that was one ends, whatever happens to its bytes. */
	room = mmap(NULL, size + PAGE_MASK + 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		    -1, 0);
	if (room == MAP_FAILED)
		fail_memory();
	in = mem_alloc(sizeof(*in));
	inflate_begin(&in->tail, input, left, room, size);
	if (how == COMPRESSION_ZSTD) {
		in->zstd = ZSTD_createDCtx();
		if (!in->zstd)
			fail_memory();
	} else if (image->role) {
		in->section = (uint64_t) image->role << 56 | (uint64_t) (input - image->data);
		in->marks = marks_of(in->section, &in->mark_count);
		in->chunk_state = mem_alloc(in->mark_count + 1);
		if (in->mark_count && in->marks[in->mark_count - 1].done >= size)
			marks_give_up();
	}
	bytes.data = room;
	bytes.size = size;
	bytes.start = bytes.ready = tail_start(in);
	bytes.inflater = in;
	return bytes;
}
