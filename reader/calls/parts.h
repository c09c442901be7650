/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The traces below directories. Directories that are parts of one trace (chunks of a rotated session) are one part. */
#ifndef SPI_READER_PARTS_H
#define SPI_READER_PARTS_H

#include <stddef.h>
#include <babeltrace2/babeltrace.h>

struct part {
	struct part *next;
	char *group;			/* the same for parts of one trace; "": it is one by itself */
	bt_value *inputs;		/* directories */
	char *salvaged;			/* what is read in place of a directory with a cut stream; NULL: none */
};

/*
 * The traces below a directory, added to the list: 0, or -1: `why` says in one line what is wrong with the directory.
 */
int parts_find(struct part **parts, const bt_component_class_source *class, const char *directory, char *why,
	size_t size);
/* What is cut off of streams is left out, `cut` says of which: 1; 0: no stream is cut off. */
int parts_salvage(struct part *parts, char *cut, size_t size);
const char *part_directory(const struct part *part);
/* Its metadata is of CTF 2. */
int part_is_newer(const struct part *part);
void parts_free(struct part *parts);

#endif /* SPI_READER_PARTS_H */
