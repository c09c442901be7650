/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "reader/calls/parts.h"
#include "reader/calls/salvage.h"

/* nftw() has no argument for its callee */
static struct part **finding;
static const bt_component_class_source *asked;
static char not_read[4096];		/* a directory below; "": none */

/* As the command babeltrace2 asks: is it a trace, and of which group? */
static int part_add(struct part **parts, const char *directory)
{
	bt_value *question = bt_value_map_create();
	const bt_value *answer = NULL, *group;
	const char *name = "";
	struct part *p = NULL;
	bt_query_executor *query;

	if (!question || (int) bt_value_map_insert_string_entry(question, "type", "directory") ||
			(int) bt_value_map_insert_string_entry(question, "input", directory))
		return -1;
	query = bt_query_executor_create(bt_component_class_source_as_component_class_const(asked),
		"babeltrace.support-info", question);
	if (query && bt_query_executor_query(query, &answer) == BT_QUERY_EXECUTOR_QUERY_STATUS_OK &&
			bt_value_is_map(answer)) {
		group = bt_value_map_borrow_entry_value_const(answer, "group");
		name = group && bt_value_is_string(group) ? bt_value_string_get(group) : "";
	} else {
		bt_current_thread_clear_error();
	}
	for (p = *name ? *parts : NULL; p && strcmp(p->group, name); p = p->next)
		;
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (p) {
			p->group = strdup(name);
			p->inputs = bt_value_array_create();
			p->next = *parts;
			*parts = p;
		}
	}
	bt_value_put_ref(answer);
	bt_query_executor_put_ref(query);
	bt_value_put_ref(question);
	return p && p->group && p->inputs && !bt_value_array_append_string_element(p->inputs, directory) ? 0 : -1;
}

static int file_found(const char *path, const struct stat *st, int type, struct FTW *where)
{
	char directory[4096];

	if (type == FTW_DNR) {
		snprintf(not_read, sizeof(not_read), "%s", path);
		return -1;
	}
	if (type != FTW_F || strcmp(path + where->base, "metadata") || where->base < 1 ||
			(size_t) where->base > sizeof(directory))
		return 0;
	snprintf(directory, sizeof(directory), "%.*s", where->base - 1, path);
	return part_add(finding, directory);
}

int parts_find(struct part **parts, const bt_component_class_source *class, const char *directory, char *why,
	size_t size)
{
	struct stat st;
	const struct part *before = *parts;
	const bt_value *last = before ? before->inputs : NULL;
	uint64_t count = last ? bt_value_array_get_length(last) : 0;

	if (stat(directory, &st) < 0) {
		snprintf(why, size, "%s: %s", directory, strerror(errno));
		return -1;
	}
	if (!S_ISDIR(st.st_mode)) {
		snprintf(why, size, "%s: not a directory: name the directory that `lttng trace -o` or `lttng create` made",
			directory);
		return -1;
	}
	finding = parts;
	asked = class;
	*not_read = 0;
	if (nftw(directory, file_found, 32, FTW_PHYS) != 0) {
		snprintf(why, size, "%s: %s", *not_read ? not_read : directory, *not_read ? strerror(EACCES) : "cannot be read");
		return -1;
	}
	if (*parts == before && (!last || bt_value_array_get_length(last) == count)) {
		snprintf(why, size, "%s: no trace in it, no file `metadata`", directory);
		return -1;
	}
	return 0;
}

const char *part_directory(const struct part *p)
{
	return bt_value_string_get(bt_value_array_borrow_element_by_index_const(p->inputs, 0));
}

int part_is_newer(const struct part *p)
{
	char path[4400];
	FILE *file;
	int first;

	snprintf(path, sizeof(path), "%s/metadata", part_directory(p));
	file = fopen(path, "re");
	first = file ? getc(file) : EOF;
	if (file)
		fclose(file);
	return first == 0x1e;		/* RFC 7464, with which CTF 2's metadata begins */
}

int parts_salvage(struct part *parts, char *cut, size_t size)
{
	int found = 0;

	for (struct part *p = parts; p; p = p->next) {
		if (bt_value_array_get_length(p->inputs) == 1)
			p->salvaged = salvage_make(part_directory(p), cut, size);
		if (!p->salvaged)
			continue;
		found = 1;
		bt_value_put_ref(p->inputs);
		p->inputs = bt_value_array_create();
		if (!p->inputs || (int) bt_value_array_append_string_element(p->inputs, p->salvaged))
			return 0;
	}
	return found;
}

void parts_free(struct part *p)
{
	for (struct part *next; p; p = next) {
		next = p->next;
		bt_value_put_ref(p->inputs);
		salvage_remove(p->salvaged);
		free(p->group);
		free(p);
	}
}
