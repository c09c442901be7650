/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What names.c, which knows where objects are, asks of objects.c. */
#ifndef SPI_READER_OBJECTS_H
#define SPI_READER_OBJECTS_H

#include "reader/trace/trace.h"

/* The object that the trace tells of, known by its build-id, else (0) by its path. NULL: no memory. */
struct object *object_get(struct merge *m, uint64_t build_id, const char *path);
/* The same by the n bytes of its build-id, of which BUILD_ID_MOST at most are there. */
struct object *object_of_id(struct merge *m, const uint8_t *id, uint64_t n, const char *path);
struct function *function_at(const struct object *object, uint64_t offset);	/* that begins there; NULL: not known */
/*
 * The latest name counts, as a file may have been built anew without a build-id; the old text lives on where it is in
 * use. 0 or -1: no memory.
 */
int function_set(struct object *object, uint64_t offset, const char *name);
/*
 * A function that had no name where it was recorded is called by its place, sub_ADDRESS. The file here may know its
 * name: 1, and the name.
 */
int object_name_here(struct object *object, uint64_t offset, const char *name, char *text, size_t size);
void objects_free(struct merge *m);

#endif /* SPI_READER_OBJECTS_H */
