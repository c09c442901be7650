/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Which functions the patterns choose, and the names of functions. Demangling is most of the work
 * of a small request to a large C++ program, so names of other functions are demangled only where
 * nothing else can tell.
 */
#include <stdlib.h>
#include <string.h>
#include "codemap/elf/functions.h"
#include "rules/glob.h"

static int alias_match_demangled(const char *name, const struct pattern *pattern)
{
	const char *full, *open;
	char *base;

	if (!name_is_mangled(name))
		return 0;
	if (pattern->hint && !memmem(name, strlen(name), pattern->hint, pattern->hint_size))
		return 0;
	full = name_demangle(name);
	if (!full)
		return 0;
	if (pattern->has_parameters && spi_glob_match(pattern->text, full))
		return 1;
	if (pattern->has_parameters) {		/* with its return type, which users don't write */
		base = name_base(full);
		open = strstr(full, base);
		if (open && open != full && spi_glob_match(pattern->text, open))
			return 1;
		return spi_glob_match(pattern->text, base);
	}
	base = name_base(full);
	return spi_glob_match(pattern->text, base) || spi_glob_match(pattern->text, name_unclone(base));
}

static int function_match(const struct functions *functions, struct function *f, const struct pattern *pattern)
{
	const struct alias *alias = functions->aliases.at + f->alias_first;
	uint32_t i;

	if (pattern->is_address && f->vaddr == pattern->address) {
		f->known_as = pattern->known_as;
		return 1;
	}
	if (pattern->is_address)
		return 0;
	if (!f->alias_count)
		return spi_glob_match(pattern->text, f->name);
	for (i = 0; i < f->alias_count; i++)
		if (spi_glob_match(pattern->text, alias[i].name) ||
		    (strchr(alias[i].name, '.') && spi_glob_match(pattern->text, name_unclone(alias[i].name)))) {
			if (pattern->is_literal && !f->wanted)
				f->name = alias[i].name;
			return 1;
		}
	for (i = 0; i < f->alias_count; i++)
		if (alias_match_demangled(alias[i].name, pattern))
			return 1;
	return 0;
}

uint64_t functions_match(struct functions *functions, const struct pattern *patterns, unsigned int count)
{
	uint64_t wanted = 0;
	unsigned int k;
	size_t i;

	for (i = 0; i < functions->list.count; i++) {
		struct function *f = &functions->list.at[i];

		f->wanted = !count;
		for (k = 0; k < count && !f->wanted; k++)
			f->wanted = (uint8_t) function_match(functions, f, &patterns[k]);
		wanted += f->wanted;
	}
	return wanted;
}

void function_name(struct function *function)
{
	const char *full;

	if (function->base)
		return;
	full = name_demangle(function->name);
	function->base = name_unclone(full ? name_base(full) : function->name);
	function->event = name_event(function->base);
}

static int event_compare(const void *x, const void *y)
{
	const struct function *a = *(struct function *const *) x, *b = *(struct function *const *) y;
	int order = strcmp(a->event, b->event);

	return order ? order : a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

/*
 * Numbers must not depend on what else was asked for: a function keeps its event
 * name. So all functions that may share a wanted one's base are named; when only
 * few are wanted, those whose linkage name contains none of the wanted ones' last
 * identifiers are left out unread.
 */
static int may_share_base(const struct function *f, const struct function *const *few, size_t few_count)
{
	size_t i;

	if (!few)
		return 1;
	for (i = 0; i < few_count; i++) {
		const char *base = few[i]->base, *end = base + strcspn(base, "<(["), *word;

		while (end > base && end[-1] == ' ')
			end--;
		for (word = end; word > base && word[-1] != ':' && word[-1] != ' ' && word[-1] != '~'; word--)
			;
		if (!name_is_mangled(f->name)) {
			if (!strcmp(f->name, base) || (strchr(f->name, '.') && !strcmp(name_unclone(f->name), base)))
				return 1;
		} else if (name_is_mangled(few[i]->name) &&
			   (word == end || !strncmp(word, "operator", 8) || *word == '.' || strchr(word, '{') ||
			    memmem(f->name, strlen(f->name), word, strcspn(word, "<(.~")))) {
			return 1;
		}
	}
	return 0;
}

void functions_number(struct functions *functions)
{
	const struct function *few[8];
	struct function **sorted = heap_grow(NULL, (functions->list.count + 1) * sizeof(*sorted));
	size_t i, count = 0, few_count = 0;

	for (i = 0; i < functions->list.count; i++) {
		struct function *f = &functions->list.at[i];

		if (!f->wanted)
			continue;
		function_name(f);
		if (few_count < 8)
			few[few_count] = f;
		few_count++;
	}
	for (i = 0; i < functions->list.count; i++) {
		struct function *f = &functions->list.at[i];

		f->ordinal = 1;
		if (!f->wanted && !may_share_base(f, few_count <= 8 ? few : NULL, few_count))
			continue;
		function_name(f);
		sorted[count++] = f;
	}
	qsort(sorted, count, sizeof(*sorted), event_compare);
	for (i = 1; i < count; i++)
		if (!strcmp(sorted[i]->event, sorted[i - 1]->event))
			sorted[i]->ordinal = sorted[i - 1]->ordinal + 1;
	free(sorted);
}
