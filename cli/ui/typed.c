/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ui/typed.h"

const char *name_written(const char *text)
{
	size_t n = 0, extra = 0;
	char *copy;

	for (const unsigned char *c = (const unsigned char *) text; *c; c++)
		extra += *c < ' ' || *c == 0x7f ? 3 : 0;
	copy = extra ? malloc(strlen(text) + extra + 1) : NULL;
	if (!copy)
		return text;
	for (const unsigned char *c = (const unsigned char *) text; *c; c++)
		n += (size_t) sprintf(copy + n, *c < ' ' || *c == 0x7f ? "\\x%02x" : "%c", *c);
	return copy;
}

int typed_add(const char ***list, unsigned int *count, const char *text)
{
	const char **more = realloc(*list, (*count + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	*list = more;
	more[(*count)++] = text;
	return 0;
}
