/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Prototypes from text files, in C syntax, for functions without debug info (lttng-spi(1), PROTOTYPES).
 *
 * The supervising process reads the files into memory: prototypes_add(). It looks at no byte of them but for their
 * digest, which is part of the cache's keys. The analysing process, in its sandbox, parses what was read when a
 * function needs it. The declarations become a unit of debug info, so that the readers of types and calling conventions
 * that there are for debug info do the rest.
 *
 * A file with an error counts for nothing as a whole. A later file's declaration of a function takes the place of an
 * earlier one's.
 */
#ifndef CODEMAP_PROTOTYPES_H
#define CODEMAP_PROTOTYPES_H

#include "codemap/dwarf/dwarf.h"

/* ---- files.c: before the sandbox ---- */

/* Read a file. One that cannot be read is remembered with the reason. */
void prototypes_add(const char *path);
/* Read the files *.txt of a directory, by name; none where there is no such directory. */
void prototypes_add_directory(const char *path);
/* Those that come with the program, */
void prototypes_add_installed(void);
/* and those of the user whose process this is. */
void prototypes_add_users(void);
/* Files in one descriptor, as a controller writes them (collect.h, injector/serve/prototypes.c). */
void prototypes_add_bundle(int fd);
/* Of all that was added; 0: nothing. */
uint64_t prototypes_digest(void);

/* ---- find.c: in the sandbox ---- */

/*
 * The declaration of the function `name` of an object, by the object's path. 0: there is none. It is an entry as debug
 * info has it, without an address.
 */
int prototypes_find(const char *name, const char *object, struct dw_die *die);

/* Files are numbered from 0, as they were added. */
unsigned int prototypes_file_count(void);
/* What is wrong with a file, "FILE:LINE:COLUMN: TEXT" or "FILE: TEXT"; NULL: nothing. */
const char *prototypes_error(unsigned int file);
/*
 * What a file declares, in its order: call `tell` for each function with its libraries ("libc.so.6 libpthread.so.0"; "":
 * every object) and its entry.
 */
void prototypes_list(unsigned int file, void (*tell)(void *context, const char *libraries, const struct dw_die *die),
		     void *context);

#endif /* CODEMAP_PROTOTYPES_H */
