/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A map of chosen functions: debug info gives their prototypes while another thread decodes the
 * code, then each function gets its record, or its place among the refused ones.
 */
#include <pthread.h>
#include <string.h>
#include "codemap/dwarf/debug-info.h"
#include "codemap/prototypes/prototypes.h"
#include "codemap/request/map.h"
#include "codemap/types/search.h"

#define ERROR_SHOWN	220	/* bytes of an error in a file of prototypes: with a long path, the last ones */

void head_fill(struct spi_map_header *head, const struct object *object, const struct functions *functions,
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
static int limit_apply(uint32_t limit, struct functions *functions)
{
	uint32_t count = 0;
	size_t i;

	for (i = 0; i < functions->list.count; i++) {
		struct function *f = &functions->list.at[i];

		if (!f->wanted || f->reason)
			continue;
		if (limit && count >= limit)
			f->reason = SPI_REASON_LIMIT;
		else
			count++;
	}
	return limit && count >= limit;
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
		object->debug_lost.count = 0;
		text_add(&object->debug_lost, map_string(object->types, object->types->debug_lost));
		return NULL;
	}
	if (!file)
		return NULL;
	head->flags |= SPI_MAP_HAS_DWARF;
	return collect_begin(file, functions, tables);
}

/* What of the debug info could not be read. */
static void lost_find(struct object *object, struct dw_file *file, const struct functions *functions)
{
	size_t i;

	for (i = 0; i < functions->list.count && !functions->list.at[i].type; i++)
		;
	debug_judge(object, file, i == functions->list.count);
}

/* The declaration of a function in the files of prototypes: by the name asked for, then by its others. */
static int declaration_find(const struct functions *functions, const struct function *f, const struct object *object,
			    struct dw_die *die)
{
	const struct alias *alias = functions->aliases.at + f->alias_first;

	if (f->known_as && prototypes_find(f->known_as, object->name, die))
		return 1;
	if (f->alias_count && prototypes_find(f->name, object->name, die))
		return 1;
	for (uint32_t k = 0; k < f->alias_count; k++)
		if (prototypes_find(alias[k].name, object->name, die))
			return 1;
	return 0;
}

/* Which files of prototypes cannot be used. */
static void prototypes_judge(struct object *object)
{
	const char *first = NULL;
	unsigned int i, count = 0;
	size_t size;

	for (i = 0; i < prototypes_file_count(); i++)
		if (prototypes_error(i) && !count++)
			first = prototypes_error(i);
	size = count ? strlen(first) : 0;
	if (count)
		debug_lose(object, "no prototypes", "%s%s%s", size > ERROR_SHOWN ? "..." : "",
			   size > ERROR_SHOWN ? first + size - ERROR_SHOWN : first,
			   count == 1 ? "" : mem_format("; and %u more file%s", count - 1, count == 2 ? "" : "s"));
}

/* Functions that debug info does not type. What it says of an indirect function is about its resolver. */
static void prototypes_give(struct object *object, struct functions *functions, struct tables *tables)
{
	int any = 0;

	for (size_t i = 0; i < functions->list.count; i++) {
		struct function *f = &functions->list.at[i];
		struct prototype *known = f->type;
		struct dw_die die;

		if (!f->wanted || f->reason || (known && known->flags & SPI_FUNC_HAS_DWARF && !(f->flags & SPI_FUNC_IFUNC)))
			continue;
		any = 1;
		if (!declaration_find(functions, f, object, &die))
			continue;
		f->type = prototype_read(&die, functions, f, tables);
		if (known)
			((struct prototype *) f->type)->source = known->source;
	}
	if (any)
		prototypes_judge(object);
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

const struct spi_map_header *map_make(uint32_t limit, struct object *object, struct functions *functions,
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
	if (limit_apply(limit, functions))
		for (i = 0; i < functions->list.count; i++)
			if (functions->list.at[i].reason == SPI_REASON_LIMIT)
				head.flags |= SPI_MAP_TRUNCATED;
	search = prototypes_begin(file, object, functions, &tables, &head);
	if (search && code && !scanned && sizes_are_known(functions))
		scan.is_begun = !pthread_create(&scan.thread, NULL, scan_thread, &scan);
	if (search)
		collect_finish(search);
	if (!object->types)
		lost_find(object, file, functions);
	prototypes_give(object, functions, &tables);
	head.debug_lost = strings_add(&tables.strings, text_end(&object->debug_lost));
	head.debug_name =
		strings_add(&tables.strings, (head.flags & SPI_MAP_HAS_DWARF) ? object->debug_name : "");
	if (code && !scanned)
		scan_finish(&scan);
	if (code)
		head.flags |= code->flags;
	return records_make(functions, code, &tables, &head);
}
