/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The analysis: symbols, then debug info for the functions asked for, then their
 * code, then the map. Everything here reads foreign bytes and runs in the sandbox.
 */
#include <errno.h>
#include <lzma.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include "codemap/code.h"
#include "codemap/collect.h"
#include "codemap/map-check.h"
#include "codemap/marks.h"
#include "codemap/request.h"
#include "codemap/tree.h"

#define MINI_MAX	(UINT64_C(256) << 20)	/* minidebuginfo, unpacked */

/* .gnu_debugdata: a small ELF file with the symbols that stripping took, xz-compressed. */
static struct image *mini_read(const struct image *image)
{
	struct bytes packed = image_raw(image, image_section(image, ".gnu_debugdata"));
	uint64_t memory = MINI_MAX, room = packed.size * 8 + 65536;
	size_t in = 0, out = 0;
	lzma_ret rc = LZMA_BUF_ERROR;
	uint8_t *data = NULL;

	if (!packed.size)
		return NULL;
	for (; rc == LZMA_BUF_ERROR && room <= MINI_MAX; room *= 4) {
		data = heap_grow(data, room);
		in = out = 0;
		rc = lzma_stream_buffer_decode(&memory, 0, NULL, packed.data, &in, packed.size, data, &out, room);
	}
	if (rc != LZMA_OK)
		return NULL;
	return image_memory(data, out, "minidebuginfo");
}

static uint32_t file_crc(const struct image *image)
{
	uint64_t at = 0, step = UINT64_C(1) << 20;
	uLong crc = crc32(0, NULL, 0);

	for (; at < image->size; at += step) {
		struct bytes all = { .data = image->data, .size = image->size, .ready = image->size };

		crc = crc32(crc, image->data + at, (uInt) (image->size - at < step ? image->size - at : step));
		bytes_drop(&all, at, at + step);
	}
	return (uint32_t) crc;
}

/* The debug file that really belongs to the object. */
static void debug_verify(struct object *object)
{
	if (object->debug_by_link && file_crc(object->debug) != object->debug_crc) {
		debug_lose(object, "no types", "%s is of another build: its checksum differs", object->debug_name);
		object->debug = NULL;
		object->debug_name = "";
	}
}

static struct dw_file *debug_open(const struct object *object)
{
	struct dw_file *alt, *file;

	if (object->wants_marks)
		marks_begin(object->marks_in, object->marks_key);
	alt = object->alt ? dwarf_open(object->alt, NULL) : NULL;

	if (alt)
		alt->is_whole = 1;
	file = dwarf_open(object->debug ? object->debug : object->image, alt);
	if (file)
		file->walk_only = object->walk_only;
	return file;
}

static void skip_add(struct tables *tables, const struct function *function, enum spi_map_reason reason)
{
	struct spi_map_skip *skip = vec_push(&tables->skipped);

	memset(skip, 0, sizeof(*skip));
	skip->vaddr = function->vaddr;
	skip->name = strings_add(&tables->strings, function->base ? function->name : "");
	skip->reason = reason;
}

static char *event_numbered(const struct function *function)
{
	if (function->ordinal < 2)
		return mem_string(function->event, strlen(function->event));
	return mem_format("%s@%u", function->event, function->ordinal);
}

/* What the prototype says behind its parameters. */
static const char *result_mark_text(const struct prototype *prototype, const struct tables *tables)
{
	const struct spi_map_field *field = tables->fields.at + prototype->field_first + prototype->field_count;

	if (!prototype->ret_count || spi_place_is_known(field->place))
		return "";
	return field->place == SPI_PLACE_OPTIMISED_OUT ? MARK_RESULT_OPTIMISED_OUT : MARK_RESULT_UNKNOWN;
}

/* One wanted function: its record, or why there is none. */
static void function_record(const struct function *f, struct code *code, struct tables *tables)
{
	const struct prototype *prototype = f->type;
	enum spi_map_reason reason = SPI_REASON_NONE;
	struct spi_map_func record;

	memset(&record, 0, sizeof(record));
	record.vaddr = f->vaddr;
	record.size = f->size > UINT32_MAX ? UINT32_MAX : (uint32_t) f->size;
	record.flags = f->flags;
	if (code)
		reason = code_entry(code, f, &record, tables);
	if (reason) {
		skip_add(tables, f, reason);
		return;
	}
	if (!prototype)
		prototype = prototype_unknown(tables);
	record.flags |= prototype->flags;
	record.name = strings_add(&tables->strings, f->name);
	record.pretty = strings_add(&tables->strings,
		mem_format("%s(%s)%s", f->base, prototype->parameters ? prototype->parameters : "",
			result_mark_text(prototype, tables)));
	record.event = strings_add(&tables->strings, event_numbered(f));
	record.source = prototype->source;
	record.field_first = prototype->field_first;
	record.field_count = prototype->field_count;
	record.ret_count = prototype->ret_count;
	*vec_push(&tables->funcs) = record;
}

static void span_place(struct spi_map_span *span, uint64_t *at, size_t count, size_t stride)
{
	*at = (*at + 7) & ~UINT64_C(7);
	if (count > UINT32_MAX)
		fail("too many functions for one map: choose fewer");
	span->offset = *at;
	span->count = (uint32_t) count;
	span->stride = (uint32_t) stride;
	*at += count * stride;
}

static void write_all(int fd, const void *data, size_t size)
{
	const char *p = data;

	while (size) {
		ssize_t n = write(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			fail("cannot write: %s", n ? strerror(errno) : "no space");
		p += n;
		size -= (size_t) n;
	}
}

/* Lay the tables out in one block. */
static uint8_t *tables_place(struct tables *t, struct spi_map_header *head)
{
	uint64_t size = sizeof(*head);
	uint8_t *block;

	strings_add(&t->strings, "");
	span_place(&head->strings, &size, t->strings.bytes.count, 1);
	span_place(&head->funcs, &size, t->funcs.count, sizeof(*t->funcs.at));
	span_place(&head->fields, &size, t->fields.count, sizeof(*t->fields.at));
	span_place(&head->insns, &size, t->insns.count, sizeof(*t->insns.at));
	span_place(&head->enums, &size, t->enums.count, sizeof(*t->enums.at));
	span_place(&head->labels, &size, t->labels.count, sizeof(*t->labels.at));
	span_place(&head->skipped, &size, t->skipped.count, sizeof(*t->skipped.at));
	span_place(&head->sites, &size, t->sites.count, sizeof(*t->sites.at));
	head->file_size = size;
	block = mem_alloc(size);
	memcpy(block, head, sizeof(*head));
#define PUT(table) memcpy(block + head->table.offset, t->table.at ? (void *) t->table.at : (void *) "", \
			  t->table.count * sizeof(*t->table.at))
	memcpy(block + head->strings.offset, t->strings.bytes.at, t->strings.bytes.count);
	PUT(funcs);
	PUT(fields);
	PUT(insns);
	PUT(enums);
	PUT(labels);
	PUT(skipped);
	PUT(sites);
#undef PUT
	return block;
}

/* Move what no reader would take to the functions that are refused: one of them never costs another. */
static void bad_functions_skip(struct tables *t, const struct spi_map_header *head, const uint8_t *block)
{
	size_t i, kept = 0;

	for (i = 0; i < t->funcs.count; i++) {
		const struct spi_map_func *func = &t->funcs.at[i];

		if (!spi_map_check_func_fields(block, head->file_size, (uint32_t) i)) {
			t->funcs.at[kept++] = *func;
			continue;
		}
		*vec_push(&t->skipped) =
			(struct spi_map_skip) { .vaddr = func->vaddr, .name = func->name, .reason = SPI_REASON_NONSENSE };
		for (uint32_t k = 0; k < (uint32_t) func->field_count + func->ret_count; k++)
			t->fields.at[func->field_first + k] = (struct spi_map_field) {
				.kind = SPI_KIND_INT, .size = 8, .base = 10, .enum_index = SPI_MAP_NONE };
	}
	t->funcs.count = kept;
}

/* Lay the tables out, and verify them. */
static const struct spi_map_header *tables_finish(struct tables *t, struct spi_map_header *head)
{
	uint8_t *block = tables_place(t, head);
	const char *why;

	if (spi_map_check(block, head->file_size, &why) && !(head->flags & SPI_MAP_IS_TREE)) {
		bad_functions_skip(t, head, block);
		block = tables_place(t, head);
	}
	if (spi_map_check(block, head->file_size, &why))
		fail("internal error: %s: please report this file", why);
	return (const struct spi_map_header *) block;
}

static void head_fill(struct spi_map_header *head, const struct object *object, const struct functions *functions,
		      struct tables *tables)
{
	memset(head, 0, sizeof(*head));
	head->magic = SPI_MAP_MAGIC;
	head->version = SPI_MAP_VERSION;
	head->header_size = sizeof(*head);
	head->machine = EM_X86_64;
	if (object->image->head.e_type == ET_DYN)
		head->flags |= SPI_MAP_IS_PIC;
	head->build_id_size = (uint16_t) object->image->build_id_size;
	memcpy(head->build_id, object->image->build_id, sizeof(head->build_id));
	head->load_low = object->image->load_low;
	head->load_high = object->image->load_high;
	head->symbols_total = functions->total;
	if (functions->copies_stacks)
		head->flags |= SPI_MAP_COPIES_STACKS;
	head->object_name = strings_add(&tables->strings, object->name);
}

/* Functions beyond the limit, in the order of addresses, are named but not recorded. */
static int limit_apply(const struct request *request, struct functions *functions)
{
	uint32_t count = 0;
	size_t i;

	for (i = 0; i < functions->list.count; i++) {
		struct function *f = &functions->list.at[i];

		if (!f->wanted || f->reason)
			continue;
		if (request->limit && count >= request->limit)
			f->reason = SPI_REASON_LIMIT;
		else
			count++;
	}
	return request->limit && count >= request->limit;
}

static const char *map_string(const struct spi_map_header *map, uint32_t offset)
{
	return (const char *) map + map->strings.offset + offset;
}

/* Begin to find prototypes, or copy those that are known. NULL: that is all there is to do. */
static struct search *prototypes_begin(struct dw_file *file, struct object *object, struct functions *functions,
				       struct tables *tables, struct spi_map_header *head)
{
	if (object->types) {
		collect_cached(object->types, functions, tables);
		head->flags |= object->types->flags & SPI_MAP_HAS_DWARF;
		head->debug_lost = strings_add(&tables->strings, map_string(object->types, object->types->debug_lost));
		return NULL;
	}
	if (!file)
		return NULL;
	head->flags |= SPI_MAP_HAS_DWARF;
	return collect_begin(file, functions, tables);
}

/* What of the debug info could not be read. */
static void lost_tell(struct object *object, struct dw_file *file, const struct functions *functions,
		      struct tables *tables, struct spi_map_header *head)
{
	size_t i;

	for (i = 0; i < functions->list.count && !functions->list.at[i].type; i++)
		;
	debug_judge(object, file, i == functions->list.count);
	head->debug_lost = strings_add(&tables->strings, text_end(&object->debug_lost));
}

/* Scanning the object's code takes as long as finding a few prototypes: the two go side by side. */
struct scan {
	struct code *code;
	const struct image *image;
	struct functions *functions;
	pthread_t thread;
	int is_begun;
};

static void *scan_thread(void *arg)
{
	struct scan *scan = arg;

	code_scan(scan->code, scan->image, scan->functions);
	return NULL;
}

static void scan_finish(struct scan *scan)
{
	if (scan->is_begun)
		pthread_join(scan->thread, NULL);
	else
		scan_thread(scan);
}

/* Debug info knows the size of functions that symbols and unwind tables give none. */
static int sizes_are_known(const struct functions *functions)
{
	size_t i;

	for (i = 0; i < functions->list.count; i++)
		if (functions->list.at[i].wanted && !functions->list.at[i].size)
			return 0;
	return 1;
}

/* The records of all wanted functions; without `code`, of their prototypes alone. */
static const struct spi_map_header *records_make(struct functions *functions, struct code *code, struct tables *tables,
						 struct spi_map_header *head)
{
	size_t i;

	for (i = 0; i < functions->list.count; i++) {
		const struct function *f = &functions->list.at[i];

		if (f->wanted && f->reason)
			skip_add(tables, f, f->reason);
		else if (f->wanted)
			function_record(f, code, tables);
	}
	return tables_finish(tables, head);
}

/* A map of the wanted functions; without `code`, of their prototypes alone. `scanned`: the object's code was looked at before. */
static const struct spi_map_header *map_make(const struct request *request, struct object *object, struct functions *functions,
					     struct code *code, int scanned)
{
	struct spi_map_header head;
	struct tables tables = { 0 };
	struct dw_file *file = object->types ? NULL : debug_open(object);
	struct search *search;
	struct scan scan = { code, object->image, functions, 0, 0 };
	size_t i;

	functions_number(functions);
	head_fill(&head, object, functions, &tables);
	if (limit_apply(request, functions))
		for (i = 0; i < functions->list.count; i++)
			if (functions->list.at[i].reason == SPI_REASON_LIMIT)
				head.flags |= SPI_MAP_TRUNCATED;
	search = prototypes_begin(file, object, functions, &tables, &head);
	if (search && code && !scanned && sizes_are_known(functions))
		scan.is_begun = !pthread_create(&scan.thread, NULL, scan_thread, &scan);
	if (search)
		collect_finish(search);
	if (!object->types)
		lost_tell(object, file, functions, &tables, &head);
	head.debug_name =
		strings_add(&tables.strings, (head.flags & SPI_MAP_HAS_DWARF) ? object->debug_name : "");
	if (code && !scanned)
		scan_finish(&scan);
	if (code)
		head.flags |= code->flags;
	return records_make(functions, code, &tables, &head);
}

static int request_map(const struct request *request, struct object *object, struct functions *functions, int out_fd)
{
	struct code code;
	const struct spi_map_header *map = map_make(request, object, functions, request->kind == REQUEST_MAP ? &code : NULL, 0);

	write_all(out_fd, map, map->file_size);
	if (object->wants_marks)
		marks_write(object->marks_out);
	return EXIT_DONE;
}

static int request_tree(struct object *object, struct functions *functions, int out_fd)
{
	const struct spi_map_header *map;
	struct spi_map_header head;
	struct tables tables = { 0 };

	head_fill(&head, object, functions, &tables);
	head.flags |= tree_make(object->image, functions, &tables);
	map = tables_finish(&tables, &head);
	write_all(out_fd, map, map->file_size);
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
	write_all(out_fd, said, request->pattern_count);
	return EXIT_DONE;
}

static void each_write(int out_fd, const struct spi_map_header *map, uint64_t size)
{
	write_all(out_fd, &size, sizeof(size));
	if (map)
		write_all(out_fd, map, size);
	write_all(out_fd, "\0\0\0\0\0\0\0", -size & 7);
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
	const struct request list = { .kind = REQUEST_LIST };
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
			object->types = map_make(&list, object, functions, NULL, 0);
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
		map = map_make(request, object, functions, &code, 1);
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
	debug_verify(object);
	from.object = object->image;
	from.debug = object->debug;
	from.mini = mini_read(object->image);
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
		return request_tree(object, &functions, out_fd);
	if (request->kind == REQUEST_WHICH)
		return request_which(request, &functions, out_fd);
	if (request->kind == REQUEST_EACH)
		return request_each(request, object, &functions, out_fd);
	if (!functions_match(&functions, request->patterns, request->pattern_count))
		fail_status(EXIT_NO_MATCH, "no function matches '%s': spi-codemap find shows near names",
			    request->pattern_count ? request->patterns[0].text : "*");
	return request_map(request, object, &functions, out_fd);
}
