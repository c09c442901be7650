/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Which functions' events does a pattern match? A function f has the event
 * f_entry; so what is wanted is the pattern divided by "_entry" on the right:
 * all f such that f_entry matches.
 *
 * Dividing reads both from the end. A character must be the same in both; a star
 * takes as many characters of the suffix as it likes, and stays, or is done with.
 * Whatever way is taken, what remains of the pattern is one of its prefixes, so
 * the answer is a set of prefix lengths, found by walking the table of (pattern
 * left, suffix left) pairs that can be reached.
 */
#include <errno.h>
#include <string.h>

#include "rules/name-glob.h"

#define SUFFIX_MAX 16u

/* liblttng-ust takes a name without an unescaped star literally, backslashes included. */
static bool has_star(const char *pattern)
{
	for (const char *c = pattern; *c; c++) {
		if (*c == '*')
			return true;
		if (*c == '\\' && !*++c)
			break;
	}
	return false;
}

int spi_name_glob_read(struct spi_name_glob *glob, const char *pattern)
{
	bool stars = has_star(pattern);

	glob->n = 0;
	if (strlen(pattern) > SPI_EVENT_NAME_MAX)
		return -ENAMETOOLONG;
	for (const char *c = pattern; *c; c++) {
		uint16_t token = (unsigned char) *c;

		if (stars && *c == '*')
			token = SPI_TOKEN_STAR;
		else if (stars && *c == '\\' && c[1])
			token = (unsigned char) *++c;
		if (token == SPI_TOKEN_STAR && glob->n && glob->token[glob->n - 1] == SPI_TOKEN_STAR)
			continue;
		glob->token[glob->n++] = token;
	}
	return 0;
}

void spi_name_glob_quotient(const struct spi_name_glob *glob, const char *suffix, bool *ends)
{
	bool reached[SPI_EVENT_NAME_MAX + 2][SUFFIX_MAX] = { 0 };
	unsigned int s = strlen(suffix);

	memset(ends, 0, (glob->n + 1) * sizeof(*ends));
	reached[glob->n][s] = true;
	for (unsigned int i = glob->n + 1; i-- > 0;) {
		for (unsigned int j = s; j > 0; j--) {
			if (!reached[i][j] || !i)
				continue;
			if (glob->token[i - 1] == SPI_TOKEN_STAR) {
				reached[i][j - 1] = true;
				reached[i - 1][j] = true;
			} else if (glob->token[i - 1] == (unsigned char) suffix[j - 1]) {
				reached[i - 1][j - 1] = true;
			}
		}
		ends[i] = reached[i][0];
	}
}

void spi_name_glob_write(const struct spi_name_glob *glob, unsigned int n, char *text, size_t size)
{
	size_t at = 0;

	for (unsigned int i = 0; i < n && at + 2 < size; i++) {
		uint16_t token = glob->token[i];

		if (token == SPI_TOKEN_STAR) {
			text[at++] = '*';
			continue;
		}
		if (strchr("*?[]\\", token))
			text[at++] = '\\';
		text[at++] = (char) token;
	}
	text[at] = 0;
}
