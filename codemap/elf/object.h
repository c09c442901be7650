/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * One object, a program or a library, with its debug files.
 *
 * The supervising process opens and maps the files, and reads nothing of them: object_open().
 * The analysing process, in its sandbox, reads them: object_read(), and what comes after it.
 */
#ifndef CODEMAP_ELF_OBJECT_H
#define CODEMAP_ELF_OBJECT_H

#include "codemap/elf/image.h"
#include "codemap/map/cache.h"

/* An object and the files that may hold its debug info, open and mapped. */
struct object {
	const char *name;		/* FILE as the user wrote it */
	struct image *image;
	struct image *debug;		/* separate debug file, NULL: none */
	const char *debug_name;
	int debug_by_link;		/* found by .gnu_debuglink: its checksum must be compared */
	uint32_t debug_crc;
	struct image *alt;		/* dwz's supplementary file, NULL: none */
	struct cache_key key;		/* what the cache knows this object by */
	struct text debug_lost;		/* what of the debug info cannot be read, and why; empty: nothing is known of */
	const struct spi_map_header *types;	/* cached prototypes of all functions, NULL: none */
	int wants_marks;		/* write new marks to marks_out (map/marks.h) */
	int marks_in, marks_out;	/* -1: none */
	uint64_t marks_key;
	int walk_only;			/* read debug info from the front */
};

/* Open FILE, or take it from fd (-1: none), and its debug files, below `root` (NULL: the system's). Ends the process on bad input. */
struct object *object_open(const char *name, int fd, const char *root);

/* ---- object-read.c: in the sandbox ---- */

/* Read the headers of all files of the object. */
void object_read(struct object *object);
/* Drop a debug file that was found by .gnu_debuglink and belongs to another build. */
void object_debug_verify(struct object *object);
/* .gnu_debugdata: a small ELF file with the symbols that stripping took, xz-compressed. NULL: there is none. */
struct image *minidebuginfo_read(const struct image *image);
/* Add "WHAT: WHY" to what is said of debug info that cannot be read; once each. Both processes. */
void debug_lose(struct object *object, const char *what, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif /* CODEMAP_ELF_OBJECT_H */
