/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * marks-forge FILE HOW: spoil a file of marks (codemap/map/marks.h) and make its hashes
 * right again, so that only what they protect can be noticed.
 *
 *	position	each mark is a bit further on
 *	done		each mark claims 100 bytes more of output before it
 *	beyond		the last mark lies behind all sections
 *	window		all windows are zeros
 *	shuffle		marks have each other's windows and positions
 *	sections	marks belong to other sections
 *	print		nothing; print how many there are
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "codemap/inflate/inflate.h"
#include "codemap/map/marks.h"

static void spoil(struct mark *m, uint32_t count, uint8_t *windows, const char *how)
{
	static uint8_t window[INFLATE_WINDOW];
	uint32_t i;

	for (i = 0; i < count; i++) {
		uint8_t *w = windows + (size_t) i * INFLATE_WINDOW;

		if (!strcmp(how, "position"))
			m[i].position++;
		if (!strcmp(how, "done"))
			m[i].done += 100;
		if (!strcmp(how, "beyond") && i == count - 1)
			m[i].done = m[i].position = UINT64_C(1) << 50;
		if (!strcmp(how, "window"))
			memset(w, 0, INFLATE_WINDOW);
		if (!strcmp(how, "sections"))
			m[i].section += UINT64_C(1) << 56;
		if (!strcmp(how, "shuffle") && i % 2 && m[i].section == m[i - 1].section) {
			memcpy(window, w, sizeof(window));
			memcpy(w, w - INFLATE_WINDOW, sizeof(window));
			memcpy(w - INFLATE_WINDOW, window, sizeof(window));
			m[i - 1].position = m[i].position - 1;
		}
	}
	for (i = 0; i < count; i++)
		m[i].check = hash_bytes(m[i].done, windows + (size_t) i * INFLATE_WINDOW, INFLATE_WINDOW);
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR) : -1;
	struct marks_head *head;
	struct mark *marks;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return 2;
	head = mmap(NULL, (size_t) st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (head == MAP_FAILED)
		return 2;
	marks = (struct mark *) (head + 1);
	if (!marks_check(head, marks, (uint64_t) st.st_size, head->key))
		return 1;
	if (strcmp(argv[2], "print"))
		spoil(marks, head->count, (uint8_t *) head + st.st_size - (size_t) head->count * INFLATE_WINDOW,
		      argv[2]);
	head->check = hash_bytes(head->key, marks, head->count * sizeof(*marks));
	printf("%u\n", head->count);
	return 0;
}
