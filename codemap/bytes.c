/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Compressed sections, inflated piece by piece.
 *
 * The whole section has its address range from the start (reserved, not backed),
 * so that offsets stay offsets; inflating fills it from the front, and only as
 * far as somebody asks. Debug info that is read once from front to back is
 * inflated by a second thread, a bounded distance ahead, and what was read is
 * given back to the kernel: 400 MB pass through some 16 MB of memory.
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include "codemap/image.h"
#include "codemap/inflate.h"

#define PIECE		(UINT64_C(1) << 18)	/* inflated at a time, bytes */
#define AHEAD		(UINT64_C(16) << 20)	/* how far the thread runs ahead of the reader */
#define INFLATED_MAX	(UINT64_C(8) << 30)	/* more is a mistake or an attack */
#define PAGE_MASK	UINT64_C(4095)

struct inflater {
	struct inflate stream;
	uintptr_t dropped;	/* input before this page was given back */
	int is_over;		/* nothing more will come */
	/* read ahead only */
	int threaded;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	uint64_t wanted;	/* the reader has come this far */
	uint64_t published;	/* what is done, as the reader may see it */
};

/* Inflate up to one piece more. */
static void inflater_step(struct inflater *in)
{
	struct inflate *s = &in->stream;

	inflate_some(s, s->done + PIECE);
	if (s->state == INFLATE_END || s->state == INFLATE_BAD || s->done == s->size)
		in->is_over = 1;
	/* The compressed bytes before this point are not needed again: keep the file's pages out of our memory. */
	if ((intptr_t) ((uintptr_t) s->in - in->dropped) > (intptr_t) (8 * PIECE)) {
		uintptr_t high = ((uintptr_t) s->in - 2 * PIECE) & ~PAGE_MASK;

		madvise((void *) in->dropped, high - in->dropped, MADV_DONTNEED);
		in->dropped = high;
	}
}

static void *inflater_thread(void *arg)
{
	struct inflater *in = arg;

	while (!in->is_over) {
		inflater_step(in);
		pthread_mutex_lock(&in->lock);
		in->published = in->stream.done;
		pthread_cond_broadcast(&in->moved);
		while (in->stream.done > in->wanted + AHEAD && !in->is_over)
			pthread_cond_wait(&in->moved, &in->lock);
		pthread_mutex_unlock(&in->lock);
	}
	pthread_mutex_lock(&in->lock);
	in->threaded = 2;	/* over */
	pthread_cond_broadcast(&in->moved);
	pthread_mutex_unlock(&in->lock);
	return NULL;
}

uint64_t bytes_more(struct bytes *bytes, uint64_t end)
{
	struct inflater *in = bytes->inflater;

	if (!in)
		return bytes->ready;
	if (end > bytes->size)
		end = bytes->size;
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
	} else {
		while (in->stream.done < end && !in->is_over)
			inflater_step(in);
		bytes->ready = in->stream.done;
	}
	return bytes->ready;
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

void bytes_read_ahead(struct bytes *bytes)
{
	struct inflater *in = bytes->inflater;

	if (!in || in->threaded || in->is_over)
		return;
	pthread_mutex_init(&in->lock, NULL);
	pthread_cond_init(&in->moved, NULL);
	in->published = in->stream.done;
	in->threaded = 1;
	if (pthread_create(&in->thread, NULL, inflater_thread, in))
		in->threaded = 0;	/* then as it is asked for */
	else
		pthread_detach(in->thread);
}

uint64_t bytes_drop(struct bytes *bytes, uint64_t from, uint64_t to)
{
	struct inflater *in = bytes->inflater;
	uint64_t done = bytes->ready;
	uintptr_t low, high;

	if (to > bytes->size)
		to = bytes->size;
	if (in) {	/* what is still to come may be copied from what was inflated last */
		if (!in->threaded)
			done = in->stream.done;
		if (to + INFLATE_WINDOW > done)
			to = done > INFLATE_WINDOW ? done - INFLATE_WINDOW : 0;
	}
	if (to <= from)
		return from;
	low = ((uintptr_t) bytes->data + from + PAGE_MASK) & ~PAGE_MASK;
	high = ((uintptr_t) bytes->data + to) & ~PAGE_MASK;
	if (low >= high)
		return from;
	madvise((void *) low, high - low, MADV_DONTNEED);
	return high - (uintptr_t) bytes->data;
}

void bytes_forget(struct bytes *bytes, uint64_t offset)
{
	if (!bytes->inflater || offset < bytes->gone + (UINT64_C(1) << 20))
		return;
	bytes_drop(bytes, bytes->gone, offset);
	bytes->gone = offset;
}

const char *bytes_string(struct bytes *bytes, uint64_t offset)
{
	uint64_t end = offset;

	if (offset >= bytes->size)
		return NULL;
	for (;;) {
		const uint8_t *nul;

		if (end < bytes->ready) {
			nul = memchr(bytes->data + end, 0, bytes->ready - end);
			if (nul)
				return (const char *) bytes->data + offset;
			end = bytes->ready;
		}
		if (end >= bytes->size || bytes_more(bytes, end + 1) <= end)
			return NULL;
	}
}

/* Reserve room for `size` bytes to be inflated from [input, input + left). */
static struct bytes bytes_inflate(const uint8_t *input, uint64_t left, uint64_t size)
{
	struct bytes bytes = { NULL, 0, 0, 0, NULL };
	struct inflater *in;
	void *room;

	if (!size || size > INFLATED_MAX || size / 1100 > left)	/* deflate packs 1032:1 at best */
		return bytes;
	/* Raw deflate behind zlib's two bytes: whoever can break the data can make its checksum right too. */
	if (left < 2 || (input[0] & 15) != 8 || (input[1] & 0x20))
		return bytes;
	input += 2;
	left -= 2;
	room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED)
		fail("out of memory: raise the memory limit");
	in = mem_alloc(sizeof(*in));
	inflate_begin(&in->stream, input, left, room, size);
	in->dropped = ((uintptr_t) input + PAGE_MASK) & ~PAGE_MASK;
	bytes.data = room;
	bytes.size = size;
	bytes.inflater = in;
	return bytes;
}

struct bytes image_bytes(const struct image *image, const char *name)
{
	const struct section *section = image_section(image, name);
	struct bytes raw = image_raw(image, section), none = { NULL, 0, 0, 0, NULL };

	if (section && (section->flags & SHF_COMPRESSED)) {
		Elf64_Chdr head;

		if (raw.size < sizeof(head))
			return none;
		memcpy(&head, raw.data, sizeof(head));
		if (head.ch_type != ELFCOMPRESS_ZLIB)
			return none;
		return bytes_inflate(raw.data + sizeof(head), raw.size - sizeof(head), head.ch_size);
	}
	if (!section && !strncmp(name, ".debug_", 7)) {		/* the GNU way before there was SHF_COMPRESSED */
		char old[64] = ".z";
		uint64_t size = 0;
		int i;

		strncat(old, name + 1, sizeof(old) - 3);
		raw = image_raw(image, image_section(image, old));
		if (raw.size < 12 || memcmp(raw.data, "ZLIB", 4))
			return none;
		for (i = 4; i < 12; i++)
			size = size << 8 | raw.data[i];
		return bytes_inflate(raw.data + 12, raw.size - 12, size);
	}
	return raw;
}
