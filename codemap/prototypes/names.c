/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What was declared so far, by name. What a file with an error declared is not found. */
#include "codemap/prototypes/internal.h"

static struct name *name_good(const struct reader *r, struct name *name, enum name_kind kind, const char *text)
{
	for (; name; name = spi_hash_again(&name->link))
		if (name->kind == kind && !strcmp(name->text, text) &&
		    (name->file == r->file || !prototypes_file(name->file)->error))
			return name;
	return NULL;
}

struct name *name_find(const struct reader *r, enum name_kind kind, const char *text)
{
	return name_good(r, spi_hash_find(&r->names, hash_bytes(0, text, strlen(text))), kind, text);
}

struct name *name_again(const struct reader *r, const struct name *name)
{
	return name_good(r, spi_hash_again(&name->link), name->kind, name->text);
}

struct name *name_add(struct reader *r, enum name_kind kind, const char *text, struct place at)
{
	struct name *name = mem_alloc(sizeof(*name));
	size_t size = r->names.size ? r->names.size * 2 : 1024;

	if (r->names.count >= r->names.size)
		spi_hash_move(&r->names, mem_alloc(size * sizeof(r->names.bucket[0])), size);
	name->kind = kind;
	name->text = text;
	name->file = r->file;
	name->at = at;
	spi_hash_add(&r->names, &name->link, hash_bytes(0, text, strlen(text)));
	return name;
}
