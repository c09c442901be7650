/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What every room of spi-codemap uses: the one way to give up, memory, growing arrays,
 * text, a string table, and complete writes. Any thread may call these functions.
 *
 * spi-codemap analyses in a child process that lives for one request (main.c). So giving up
 * is one line on stderr and the end of the process, and memory is freed by that end.
 */
#ifndef CODEMAP_BASE_H
#define CODEMAP_BASE_H

#include <stddef.h>
#include <stdint.h>

enum exit_status {
	EXIT_DONE = 0,
	EXIT_BAD = 1,		/* the input cannot be used */
	EXIT_USAGE = 2,
	EXIT_NO_MATCH = 3,
	EXIT_STALE = 4,		/* analysing process only: what the cache said of the input is wrong */
	EXIT_WALK = 5,		/* likewise: debug info must be read from the front */
};

/* The object that messages speak about; "" before one is known. */
extern const char *fail_object;

/* What a process that fails does last; NULL: nothing. */
extern void (*fail_last)(void);
void fail_memory(void) __attribute__((noreturn));
/* Print "spi-codemap: OBJECT: text" and end with EXIT_BAD. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void fail_status(enum exit_status status, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* Memory from here is never freed one by one; all end the process when there is none. */
void *mem_alloc(size_t size);			/* zeroed, 16-byte aligned, small or large */
char *mem_string(const char *text, size_t length);
char *mem_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *heap_grow(void *old, size_t bytes);	/* realloc that does not fail; free() it */

/* A growing array: struct vec_of(type) v = {0}; *vec_push(&v) = ...; v.at[i]; */
#define vec_of(type) { type *at; size_t count, room; }
void *vec_grow(void *at, size_t count, size_t *room, size_t size);
#define vec_push(v) \
	(((v)->count == (v)->room ? \
	  (void) ((v)->at = vec_grow((v)->at, (v)->count, &(v)->room, sizeof(*(v)->at))) : (void) 0), \
	 &(v)->at[(v)->count++])

/* Text that grows. */
struct text vec_of(char);
void text_add(struct text *text, const char *more);
void text_add_bytes(struct text *text, const char *more, size_t size);
void text_add_char(struct text *text, char c);
const char *text_end(struct text *text);	/* NUL-terminated; valid until the next change */

/* Strings kept once each; offset 0 is "". */
struct strings {
	struct text bytes;
	uint32_t *slot;		/* hash table of offsets + 1 */
	size_t slots, used;
};
uint32_t strings_add(struct strings *strings, const char *text);

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size);

/* Write all bytes. 0, or the error number. */
int write_whole(int fd, const void *data, uint64_t size);
/* The same; ends the process with "cannot write to WHERE" when that fails. */
void write_or_fail(int fd, const void *data, uint64_t size, const char *where);

#endif /* CODEMAP_BASE_H */
