/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Rust's older names, which look like C++'s: _ZN4prog4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE
 * is prog::main::{{closure}}. The hash at their end tells them from C++'s.
 */
#include <stdlib.h>
#include <string.h>
#include "codemap/names/names.h"

#define HASH_SIZE	17	/* "h" and 16 digits */

/* `$LT$` and its like at s, `left` bytes. Returns how many were read; 0: none. */
static size_t escape_read(const char *s, size_t left, struct text *out)
{
	static const char *const escape[][2] = {
		{ "$SP$", "@" }, { "$BP$", "*" }, { "$RF$", "&" }, { "$LT$", "<" }, { "$GT$", ">" }, { "$LP$", "(" },
		{ "$RP$", ")" }, { "$C$", "," },
	};
	size_t i;

	for (i = 0; i < sizeof(escape) / sizeof(*escape); i++)
		if (strlen(escape[i][0]) <= left && !strncmp(s, escape[i][0], strlen(escape[i][0]))) {
			text_add(out, escape[i][1]);
			return strlen(escape[i][0]);
		}
	if (left >= 5 && s[1] == 'u') {
		char *end;
		unsigned long c = strtoul(s + 2, &end, 16);

		if (*end == '$' && (size_t) (end - s) < left && c >= ' ' && c < 0x7f) {
			text_add_char(out, (char) c);
			return (size_t) (end - s) + 1;
		}
	}
	return 0;
}

static void component_add(struct text *out, const char *s, size_t size)
{
	size_t i = size > 1 && s[0] == '_' && s[1] == '$', read;	/* an identifier begins with no `$` */

	while (i < size) {
		if (s[i] == '.' && i + 1 < size && s[i + 1] == '.') {
			text_add(out, "::");
			i += 2;
		} else if (s[i] == '$' && (read = escape_read(s + i, size - i, out)) != 0) {
			i += read;
		} else {
			text_add_char(out, s[i++]);
		}
	}
}

static int is_hash(const char *s, size_t size)
{
	return size == HASH_SIZE && s[0] == 'h' && strspn(s + 1, "0123456789abcdef") >= HASH_SIZE - 1;
}

int rust_demangle_legacy(const char *linkage, struct text *out)
{
	const char *s = linkage + 3;

	if (strncmp(linkage, "_ZN", 3))
		return 0;
	while (*s >= '1' && *s <= '9') {
		char *text;
		unsigned long size = strtoul(s, &text, 10);

		if (size > strlen(text))
			return 0;
		s = text + size;
		if (*s == 'E' && is_hash(text, size)) {
			if (strncmp(s + 1, ".llvm.", 6))
				text_add(out, s + 1);
			return out->count != 0;
		}
		if (out->count)
			text_add(out, "::");
		component_add(out, text, size);
	}
	return 0;
}
