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
#include <zlib.h>
#include "codemap/image.h"

#define PIECE		(UINT64_C(1) << 18)	/* inflated at a time, bytes */
#define AHEAD		(UINT64_C(16) << 20)	/* how far the thread runs ahead of the reader */
#define INFLATED_MAX	(UINT64_C(8) << 30)	/* more is a mistake or an attack */
#define PAGE_MASK	UINT64_C(4095)

struct inflater {
	z_stream z;
	const uint8_t *input;
	uint64_t input_left;
	uintptr_t dropped;	/* input before this page was given back */
	uint8_t *output;
	uint64_t size, done;
	int broken;		/* nothing more will come */
	/* read ahead only */
	int threaded;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	uint64_t wanted;	/* the reader has come this far */
	uint64_t published;	/* done, as the reader may see it */
};

/* Inflate up to one piece more. */
static void inflater_step(struct inflater *in)
{
	uint64_t room = in->size - in->done < PIECE ? in->size - in->done : PIECE;
	int rc;

	if (!in->z.avail_in && in->input_left) {
		in->z.avail_in = in->input_left > PIECE ? (uInt) PIECE : (uInt) in->input_left;
		in->z.next_in = (Bytef *) in->input;
		in->input += in->z.avail_in;
		in->input_left -= in->z.avail_in;
	}
	in->z.next_out = in->output + in->done;
	in->z.avail_out = (uInt) room;
	rc = inflate(&in->z, Z_NO_FLUSH);
	in->done += room - in->z.avail_out;
	if ((rc != Z_OK && rc != Z_BUF_ERROR) || (rc == Z_BUF_ERROR && !in->input_left) || in->done == in->size)
		in->broken = 1;
	/* The compressed bytes before this point are not needed again: keep the file's pages out of our memory. */
	if ((intptr_t) ((uintptr_t) in->input - in->dropped) > (intptr_t) (8 * PIECE)) {
		uintptr_t high = ((uintptr_t) in->input - 2 * PIECE) & ~PAGE_MASK;

		madvise((void *) in->dropped, high - in->dropped, MADV_DONTNEED);
		in->dropped = high;
	}
}

static void *inflater_thread(void *arg)
{
	struct inflater *in = arg;

	while (!in->broken) {
		inflater_step(in);
		pthread_mutex_lock(&in->lock);
		in->published = in->done;
		pthread_cond_broadcast(&in->moved);
		while (in->done > in->wanted + AHEAD && !in->broken)
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
		while (in->done < end && !in->broken)
			inflater_step(in);
		bytes->ready = in->done;
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

	if (!in || in->threaded || in->broken)
		return;
	pthread_mutex_init(&in->lock, NULL);
	pthread_cond_init(&in->moved, NULL);
	in->published = in->done;
	in->threaded = 1;
	if (pthread_create(&in->thread, NULL, inflater_thread, in))
		in->threaded = 0;	/* then as it is asked for */
	else
		pthread_detach(in->thread);
}

void bytes_drop(struct bytes *bytes, uint64_t from, uint64_t to)
{
	uintptr_t low = ((uintptr_t) bytes->data + from + PAGE_MASK) & ~PAGE_MASK;
	uintptr_t high = ((uintptr_t) bytes->data + (to < bytes->size ? to : bytes->size)) & ~PAGE_MASK;

	if (low < high)
		madvise((void *) low, high - low, MADV_DONTNEED);
}

void bytes_forget(struct bytes *bytes, uint64_t offset)
{
	if (!bytes->inflater || offset < bytes->gone + (UINT64_C(1) << 20))
		return;
	offset &= ~PAGE_MASK;
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
	if (left < 2 || (input[0] & 15) != Z_DEFLATED || (input[1] & 0x20))
		return bytes;
	input += 2;
	left -= 2;
	room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED)
		fail("out of memory: raise the memory limit");
	in = mem_alloc(sizeof(*in));
	if (inflateInit2(&in->z, -MAX_WBITS) != Z_OK)
		fail("out of memory: raise the memory limit");
	in->input = input;
	in->input_left = left;
	in->dropped = ((uintptr_t) input + PAGE_MASK) & ~PAGE_MASK;
	in->output = room;
	in->size = size;
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
