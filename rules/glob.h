/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The one matcher of patterns for functions, objects and executables (doc/rules.md): agent, code map, controllers and
 * front end agree about a pattern because they all include this.
 *
 *	*  any text		?  any byte
 *	[a-z]  one of these	[!a-z], [^a-z]  none of these; a ']' in the first place is a member
 *	\c  c itself, also in brackets; \xHH a byte by its number, \n a line feed
 *
 * A '[' without its ']' is itself. A pattern also matches the text that it is, byte for byte (`operator[]`).
 */
#ifndef SPI_RULES_GLOB_H
#define SPI_RULES_GLOB_H

#include <string.h>

#define SPI_GLOB_INLINE static inline __attribute__((unused))

SPI_GLOB_INLINE int spi_glob_digit(unsigned char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

/* The byte that p stands for when it is no wildcard; returns what is behind it. */
SPI_GLOB_INLINE const char *spi_glob_byte(const char *p, unsigned char *byte)
{
	if (*p != '\\' || !p[1]) {
		*byte = (unsigned char) *p;
		return p + 1;
	}
	if (p[1] == 'x' && spi_glob_digit((unsigned char) p[2]) >= 0 && spi_glob_digit((unsigned char) p[3]) >= 0) {
		*byte = (unsigned char) (spi_glob_digit((unsigned char) p[2]) << 4 | spi_glob_digit((unsigned char) p[3]));
		return p + 4;
	}
	*byte = p[1] == 'n' ? '\n' : (unsigned char) p[1];
	return p + 2;
}

/* The brackets that begin at p: is c among what they mean? Returns what is behind them; NULL where they do not end. */
SPI_GLOB_INLINE const char *spi_glob_brackets(const char *p, unsigned char c, int *matches)
{
	const char *first = p + 1 + (p[1] == '!' || p[1] == '^');
	int found = 0;

	for (p = first; *p && (p == first || *p != ']');) {
		unsigned char low, high;

		p = spi_glob_byte(p, &low);
		high = low;
		if (*p == '-' && p[1] && p[1] != ']')
			p = spi_glob_byte(p + 1, &high);
		found |= c >= low && c <= high;
	}
	*matches = found != (first[-1] != '[');
	return *p ? p + 1 : NULL;
}

/* On a mismatch, back to the last star, which takes one byte more. */
SPI_GLOB_INLINE int spi_glob_match(const char *pattern, const char *text)
{
	const char *p = pattern, *t = text, *star = NULL, *star_text = NULL;

	while (*t) {
		const char *next = NULL;
		unsigned char byte;
		int matches;

		if (*p == '*') {
			star = ++p;
			star_text = t;
			continue;
		}
		if (*p == '?') {
			next = p + 1;
			matches = 1;
		} else if (*p == '[') {
			next = spi_glob_brackets(p, (unsigned char) *t, &matches);
		}
		if (!next) {
			next = spi_glob_byte(p, &byte);
			matches = *p && byte == (unsigned char) *t;
		}
		if (matches) {
			p = next;
			t++;
		} else if (star) {
			p = star;
			t = ++star_text;
		} else {
			return !strcmp(pattern, text);
		}
	}
	while (*p == '*')
		p++;
	return !*p || !strcmp(pattern, text);
}

/*
 * Does the pattern mean a program whose first argument is that: the text as a whole ("nginx: master process"), the file name
 * in it, or the file name in its first word ("nginx" of "/opt/nginx: worker", "bash" of "-bash")?
 */
SPI_GLOB_INLINE int spi_glob_match_title(const char *pattern, const char *title)
{
	const char *slash = strrchr(title, '/'), *first;
	char word[64];
	size_t n = strcspn(title, " ");

	if (!*title)
		return 0;
	if (spi_glob_match(pattern, title) || (slash && slash[1] && spi_glob_match(pattern, slash + 1)))
		return 1;
	first = memrchr(title, '/', n);
	first = first ? first + 1 : title + (*title == '-');
	n -= (size_t) (first - title);
	n -= n && first[n - 1] == ':';
	if (!n || n >= sizeof(word))
		return 0;
	memcpy(word, first, n);
	word[n] = 0;
	return spi_glob_match(pattern, word);
}

#endif /* SPI_RULES_GLOB_H */
