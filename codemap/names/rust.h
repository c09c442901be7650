/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the three files of the reader of Rust's v0 names share: rust.c, rust-constant.c, rust-text.c. */
#ifndef CODEMAP_NAMES_RUST_H
#define CODEMAP_NAMES_RUST_H

#include "codemap/names/names.h"

struct demangler {
	const char *text;	/* behind "_R" */
	size_t at, size;
	struct text *out;
	int is_bad, is_silent, depth;
	unsigned int steps;
	uint64_t lifetimes;	/* bound by the `for` that are around */
};

struct identifier {
	const char *bytes;
	size_t size;
	uint64_t disambiguator;
	int is_punycode;
};

/* ---- rust-text.c: characters in, characters out; nothing is printed any more once is_bad ---- */
void rust_print_bytes(struct demangler *d, const char *bytes, size_t size);
void rust_print(struct demangler *d, const char *text);
void rust_print_number(struct demangler *d, uint64_t number);
void rust_print_character(struct demangler *d, uint32_t c);
char rust_peek(const struct demangler *d);
char rust_take(struct demangler *d);
int rust_take_if(struct demangler *d, char c);
/* "_" is 0, "0_" is 1. */
uint64_t rust_base62(struct demangler *d);
/* With the tag that announces it, counted from 1; 0 where there is none. */
uint64_t rust_base62_tagged(struct demangler *d, char tag);
struct identifier rust_identifier_read(struct demangler *d);
void rust_identifier_print(struct demangler *d, const struct identifier *id);

/* ---- rust.c ---- */
/* Every production that can hold another begins with this, and takes d->depth back at its end. */
int rust_step_in(struct demangler *d);
/* Go on at what the back reference means, then come back. */
void rust_back_print(struct demangler *d, void (*what)(struct demangler *d));
/* What follows up to 'E', with commas. Returns how many there were. */
unsigned int rust_list_print(struct demangler *d, void (*what)(struct demangler *d));
void rust_path_print(struct demangler *d, int in_value);

/* ---- rust-constant.c ---- */
void rust_constant_print(struct demangler *d);

#endif /* CODEMAP_NAMES_RUST_H */
