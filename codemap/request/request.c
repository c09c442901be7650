/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The analysing process: it reads the object's symbols, lets the patterns choose functions, and
 * writes what the request asks for. Everything here reads foreign bytes and runs in the sandbox.
 */
#include <string.h>
#include "codemap/map/each.h"
#include "codemap/map/marks.h"
#include "codemap/request/map.h"
#include "codemap/request/request.h"
#include "codemap/request/tree.h"

static int request_map(const struct request *request, struct object *object, struct functions *functions, int out_fd)
{
	struct code code;
	const struct spi_map_header *map = map_make(request->limit, object, functions, request->kind == REQUEST_MAP ? &code : NULL, 0);

	write_or_fail(out_fd, map, map->file_size, "the output");
	if (object->wants_marks)
		marks_write(object->marks_out);
	return EXIT_DONE;
}

static int request_tree(const struct request *request, struct object *object, struct functions *functions, int out_fd)
{
	const struct spi_map_header *map, *types = request->has_detail ? detail_types(object, functions) : NULL;
	struct tables tables = { .has_detail = request->has_detail };
	struct spi_map_header head;

	head_fill(&head, object, functions, &tables);
	head.flags |= tree_make(object->image, functions, &tables);
	if (types)
		detail_sources(types, &tables);
	map = tables_finish(&tables, &head);
	write_or_fail(out_fd, map, map->file_size, "the output");
	return EXIT_DONE;
}

/* How many functions the pattern means: parts and stubs are none. */
static size_t functions_wanted(const struct functions *functions)
{
	size_t i, count = 0;

	for (i = 0; i < functions->list.count; i++) {
		const struct function *f = &functions->list.at[i];

		count += f->wanted && f->reason != SPI_REASON_PLT && f->reason != SPI_REASON_PART;
	}
	return count;
}

/* Which of the patterns mean a function here? Some mean parts or stubs alone. */
static int request_which(const struct request *request, struct functions *functions, int out_fd)
{
	char *said = mem_alloc(request->pattern_count + 1);

	for (unsigned int i = 0; i < request->pattern_count; i++)
		said[i] = !functions_match(functions, &request->patterns[i], 1) ? '0' : functions_wanted(functions) ? '1' : '-';
	write_or_fail(out_fd, said, request->pattern_count, "the output");
	return EXIT_DONE;
}

static void each_write(int out_fd, const struct spi_map_header *map, uint64_t size)
{
	write_or_fail(out_fd, &size, sizeof(size), "the output");
	if (map)
		write_or_fail(out_fd, map, size, "the output");
	write_or_fail(out_fd, "\0\0\0\0\0\0\0", -size & 7, "the output");
}

/*
 * A map for each pattern, as if each had been asked for by itself: but symbols, debug info and code are read once. All
 * prototypes are looked up together, in one map, and taken from there.
 */
static int request_each(const struct request *request, struct object *object, struct functions *functions, int out_fd)
{
	const size_t count = functions->list.count, bytes = count * sizeof(*functions->list.at);
	struct function *plain = heap_grow(NULL, bytes + 1);
	uint8_t *all = mem_alloc(count + 1), *found = mem_alloc(request->pattern_count + 1);
	unsigned int k, any = 0;
	struct code code;
	size_t i;

	if (count)
		memcpy(plain, functions->list.at, bytes);
	for (k = 0; k < request->pattern_count; k++) {
		uint64_t wanted = functions_match(functions, &request->patterns[k], 1);

		found[k] = !wanted ? 0 : wanted > EACH_FUNCTIONS_MAX ? 2 : 1;
		any |= found[k] == 1;
		for (i = 0; i < count && found[k] == 1; i++)
			all[i] |= functions->list.at[i].wanted;
	}
	if (any) {
		memcpy(functions->list.at, plain, bytes);	/* names are those that a list has */
		for (i = 0; i < count; i++)
			functions->list.at[i].wanted = all[i];
		if (!object->types)
			object->types = map_make(0, object, functions, NULL, 0);
		for (i = 0; i < count; i++)
			plain[i].size = functions->list.at[i].size;	/* debug info knows more of them */
		code_scan(&code, object->image, functions);
	}
	for (k = 0; k < request->pattern_count; k++) {
		const struct spi_map_header *map;

		if (found[k] != 1) {
			each_write(out_fd, NULL, found[k] ? EACH_ALONE : EACH_NONE);
			continue;
		}
		memcpy(functions->list.at, plain, bytes);
		functions_match(functions, &request->patterns[k], 1);
		map = map_make(request->limit, object, functions, &code, 1);
		each_write(out_fd, map, map->file_size);
	}
	if (object->wants_marks)
		marks_write(object->marks_out);
	return EXIT_DONE;
}

int request_run(const struct request *request, struct object *object, int out_fd)
{
	struct functions functions = { 0 };
	struct symbol_sources from;

	fail_object = object->name;
	object_debug_verify(object);
	from.object = object->image;
	from.debug = object->debug;
	from.mini = minidebuginfo_read(object->image);
	functions_read(&functions, &from);
	/* Many processes have a library of data alone (ICU's): nothing in it matches, that is all. */
	if (!functions.list.count && request->kind == REQUEST_MAP)
		fail_status(EXIT_NO_MATCH, "no functions in it: neither symbols nor unwind tables; install its debug symbols");
	if (!functions.list.count && request->kind == REQUEST_LIST)
		fail("no functions in it: neither symbols nor unwind tables; install its debug symbols");
	if (request->kind == REQUEST_FIND) {
		find_write(&functions, request->find_name, out_fd);
		return EXIT_DONE;
	}
	if (request->kind == REQUEST_TREE)
		return request_tree(request, object, &functions, out_fd);
	if (request->kind == REQUEST_WHICH)
		return request_which(request, &functions, out_fd);
	if (request->kind == REQUEST_EACH)
		return request_each(request, object, &functions, out_fd);
	if (!functions_match(&functions, request->patterns, request->pattern_count))
		fail_status(EXIT_NO_MATCH, "no function matches '%s': spi-codemap find shows near names",
			    request->pattern_count ? request->patterns[0].text : "*");
	return request_map(request, object, &functions, out_fd);
}
