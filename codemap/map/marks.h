/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Marks: places in compressed sections where inflating can begin.
 *
 * A request for one function needs debug info from anywhere in a large section. A deflate stream
 * can be read from its front only, unless one knows where a block begins and the 32 KB of output
 * before it. So an inflating process notes that every few megabytes. The cache keeps these marks
 * (cache.c), and later requests begin near what they need.
 *
 * A file of marks is a struct marks_head, the marks, ascending, and at the next multiple of a page
 * as many windows. An analysing process writes the file, after it has read foreign bytes, and only
 * other analysing processes read it: a mark must be where a stream of that section can be entered,
 * or all marks are given up.
 */
#ifndef CODEMAP_MAP_MARKS_H
#define CODEMAP_MAP_MARKS_H

#include "codemap/base/base.h"

#define MARKS_MAGIC	UINT64_C(0x316b72616d697073)	/* "spimark1" */
#define MARKS_MAX	2048u

struct marks_head {
	uint64_t magic;
	uint64_t key;		/* of whom these are: see cache.c */
	uint32_t count, reserved;
	uint64_t check;		/* hash of the marks */
};

struct mark {
	uint64_t section;	/* which: image role and file offset, see elf/compressed.c */
	uint64_t done;		/* how many bytes of output lie before it */
	uint64_t position;	/* where it is in the input, in bits */
	uint64_t check;		/* hash of its window */
};

_Static_assert(sizeof(struct marks_head) == 32 && sizeof(struct mark) == 32, "on disk");

/* Is this a whole file of marks for `key`, of which only the windows were not looked at? */
int marks_check(const struct marks_head *head, const struct mark *marks, uint64_t size, uint64_t key);

/* Take the marks in file fd, -1: there are none. From now on new ones are noted. A bad file is as none. */
void marks_begin(int fd, uint64_t key);
/* The marks of a section that were in the file. */
const struct mark *marks_of(uint64_t section, uint32_t *count);
/* Read a mark's window. Marks that turn out to be wrong end the process with EXIT_STALE: marks_give_up(). */
void marks_window(const struct mark *mark, uint8_t *window);
void marks_give_up(void) __attribute__((noreturn));

/* Are new marks wanted? Note one; its window is copied. Any thread. */
int marks_wanted(void);
void marks_note(const struct mark *mark, const uint8_t *window);
/* Write all marks, old and new, to fd, when there are new ones. */
void marks_write(int fd);

#endif /* CODEMAP_MAP_MARKS_H */
