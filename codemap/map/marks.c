/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The file of marks: see marks.h. The file is read with pread(), not mapped: its owner may truncate
 * it at any time, and a short read can be noticed.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "codemap/inflate/inflate.h"
#include "codemap/map/marks.h"

struct noted {
	struct mark mark;
	const uint8_t *window;	/* NULL: in the file, at place `old` */
	uint32_t old;
};

static struct {
	int is_on, fd;
	uint64_t key;
	struct mark *old;
	uint32_t old_count;
	pthread_mutex_t lock;
	struct vec_of(struct noted) made;
} marks = { .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t windows_begin(uint32_t count)
{
	return (sizeof(struct marks_head) + count * sizeof(struct mark) + 4095) & ~UINT64_C(4095);
}

static uint64_t marks_hash(const struct mark *list, uint32_t count, uint64_t key)
{
	return hash_bytes(key, list, count * sizeof(*list));
}

int marks_check(const struct marks_head *head, const struct mark *list, uint64_t size, uint64_t key)
{
	uint32_t i;

	if (head->magic != MARKS_MAGIC || head->key != key || !head->count || head->count > MARKS_MAX ||
	    head->reserved || size != windows_begin(head->count) + (uint64_t) head->count * INFLATE_WINDOW ||
	    head->check != marks_hash(list, head->count, key))
		return 0;
	for (i = 0; i < head->count; i++) {
		uint64_t before = i && list[i - 1].section == list[i].section ? list[i - 1].done : 0;

		if (list[i].done < before || list[i].done - before < INFLATE_WINDOW ||
		    (i && list[i].section < list[i - 1].section) ||
		    (before && list[i].position <= list[i - 1].position))
			return 0;
	}
	return 1;
}

static int read_at(int fd, void *to, uint64_t size, uint64_t offset)
{
	char *p = to;

	while (size) {
		ssize_t n = pread(fd, p, size, (off_t) offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		p += n;
		offset += (uint64_t) n;
		size -= (uint64_t) n;
	}
	return 1;
}

void marks_begin(int fd, uint64_t key)
{
	struct marks_head head;
	struct mark *list;
	off_t size;

	marks.is_on = 1;
	marks.key = key;
	size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);	/* the sandbox knows no stat */
	if (size < (off_t) sizeof(head) || !read_at(fd, &head, sizeof(head), 0) || head.count > MARKS_MAX)
		return;
	list = mem_alloc(head.count * sizeof(*list) + 1);
	if (!read_at(fd, list, head.count * sizeof(*list), sizeof(head)) ||
	    !marks_check(&head, list, (uint64_t) size, key))
		return;
	marks.fd = fd;
	marks.old = list;
	marks.old_count = head.count;
}

const struct mark *marks_of(uint64_t section, uint32_t *count)
{
	uint32_t first = 0, end;

	while (first < marks.old_count && marks.old[first].section != section)
		first++;
	for (end = first; end < marks.old_count && marks.old[end].section == section;)
		end++;
	*count = end - first;
	return *count ? marks.old + first : NULL;
}

void marks_give_up(void)
{
	_exit(EXIT_STALE);
}

static void window_read(uint32_t index, uint8_t *window)
{
	if (!read_at(marks.fd, window, INFLATE_WINDOW,
		windows_begin(marks.old_count) + (uint64_t) index * INFLATE_WINDOW))
		marks_give_up();
	if (hash_bytes(marks.old[index].done, window, INFLATE_WINDOW) != marks.old[index].check)
		marks_give_up();
}

void marks_window(const struct mark *mark, uint8_t *window)
{
	window_read((uint32_t) (mark - marks.old), window);
}

int marks_wanted(void)
{
	return marks.is_on;
}

void marks_note(const struct mark *mark, const uint8_t *window)
{
	struct noted *noted;
	uint8_t *copy;

	pthread_mutex_lock(&marks.lock);
	if (marks.made.count + marks.old_count >= MARKS_MAX) {
		pthread_mutex_unlock(&marks.lock);
		return;
	}
	copy = heap_grow(NULL, INFLATE_WINDOW);
	memcpy(copy, window, INFLATE_WINDOW);
	noted = vec_push(&marks.made);
	noted->mark = *mark;
	noted->mark.check = hash_bytes(mark->done, copy, INFLATE_WINDOW);
	noted->window = copy;
	noted->old = 0;
	pthread_mutex_unlock(&marks.lock);
}

static int noted_compare(const void *x, const void *y)
{
	const struct mark *a = &((const struct noted *) x)->mark, *b = &((const struct noted *) y)->mark;

	if (a->section != b->section)
		return a->section < b->section ? -1 : 1;
	return a->done < b->done ? -1 : a->done > b->done;
}

void marks_write(int fd)
{
	struct marks_head head = { .magic = MARKS_MAGIC, .key = marks.key };
	static const uint8_t zeros[4096];
	static uint8_t window[INFLATE_WINDOW];
	struct mark *list;
	uint32_t i;

	/* A thread that reads ahead may still be at it: it waits until the process ends. */
	pthread_mutex_lock(&marks.lock);
	if (fd < 0 || !marks.made.count)
		return;
	for (i = 0; i < marks.old_count; i++) {
		struct noted *noted = vec_push(&marks.made);

		*noted = (struct noted) { marks.old[i], NULL, i };
	}
	qsort(marks.made.at, marks.made.count, sizeof(*marks.made.at), noted_compare);
	head.count = (uint32_t) marks.made.count;
	list = mem_alloc(head.count * sizeof(*list));
	for (i = 0; i < head.count; i++)
		list[i] = marks.made.at[i].mark;
	head.check = marks_hash(list, head.count, head.key);
	if (write_whole(fd, &head, sizeof(head)) || write_whole(fd, list, head.count * sizeof(*list)) ||
	    write_whole(fd, zeros, windows_begin(head.count) - sizeof(head) - head.count * sizeof(*list)))
		return;
	for (i = 0; i < head.count; i++) {
		const struct noted *noted = &marks.made.at[i];

		if (!noted->window)
			window_read(noted->old, window);
		if (write_whole(fd, noted->window ? noted->window : window, INFLATE_WINDOW))
			return;
	}
}
