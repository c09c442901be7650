/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* All files, read when the first question comes. */
#include "codemap/prototypes/internal.h"
#include "rules/glob.h"

static struct reader reader;
static struct dw_unit *unit;

static void files_read(void)
{
	if (unit)
		return;
	unit_begin(&reader.unit);
	for (unsigned int i = 0; i < prototypes_file_count(); i++) {
		struct prototype_file *file = prototypes_file(i);

		if (file->error)
			continue;
		reader.file = i;
		reader.error = NULL;
		reader.next = file->text;
		reader.end = file->text + file->size;
		declarations_read(&reader);
		file->error = reader.error;
	}
	unit = unit_finish(&reader.unit);
	if (!unit || !unit_open(unit))
		fail("the unit of prototypes cannot be read: please report this");
}

/* "libz.so.1" is libz.so.1, and libz.so.1.2.13, as the file is called that it is a link to. */
static int pattern_is_of(const char *pattern, const char *name)
{
	size_t size = strlen(pattern);

	return spi_glob_match(pattern, name) || (!strncmp(pattern, name, size) && name[size] == '.');
}

static int section_is_of(const char *section, const char *object)
{
	const char *slash = strrchr(object, '/'), *name = slash ? slash + 1 : object;
	char *copy, *save, *word;

	if (!*section)
		return 1;
	copy = mem_string(section, strlen(section));
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		if (pattern_is_of(word, name))
			return 1;
	return 0;
}

int prototypes_find(const char *name, const char *object, struct dw_die *die)
{
	struct name *found;

	if (!prototypes_file_count())
		return 0;
	files_read();
	reader.file = UINT32_MAX;	/* no file is being read: none is excused */
	for (found = name_find(&reader, NAME_FUNCTION, name); found; found = name_again(&reader, found))
		if (section_is_of(reader.sections.at[found->section], object))
			return die_at(unit, found->entry, die);
	return 0;
}

const char *prototypes_error(unsigned int file)
{
	files_read();
	return prototypes_file(file)->error;
}

void prototypes_list(unsigned int file, void (*tell)(void *context, const char *libraries, const struct dw_die *die),
		     void *context)
{
	struct dw_die die;

	for (size_t i = 0; !prototypes_error(file) && i < reader.functions.count; i++) {
		const struct name *f = reader.functions.at[i];

		if (f->file == file && die_at(unit, f->entry, &die))
			tell(context, reader.sections.at[f->section], &die);
	}
}
