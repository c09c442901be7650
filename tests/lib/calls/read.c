/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The trace through babeltrace2: a source.ctf.fs for each directory with a
 * metadata file, a muxer, on request filter.lttng-spi.expand, and a sink of our
 * own. Where a class's fields lie is looked up once; an event is then two or
 * four field accesses.
 */
#define _GNU_SOURCE
#include <babeltrace2/babeltrace.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include "calls.h"

#define NONE UINT64_MAX

/* How an event class's events are read. */
struct shape {
	const bt_event_class *class;
	int ignored;
	enum call_kind kind;
	uint64_t addr, site, path; /* members of the payload */
	uint64_t vpid, vtid;	   /* of the common context */
};

static struct shape *shapes;
static size_t shape_count;
static void (*taker)(const struct call_record *record);
static bt_message_iterator *iterator;
static char *directories[256];
static int directory_count;

static int note_directory(const char *path, const struct stat *stat, int flag, struct FTW *where)
{
	(void) stat;
	if (flag == FTW_F && !strcmp(path + where->base, "metadata") && directory_count < 256)
		directories[directory_count++] = strndup(path, where->base - 1);
	return 0;
}

static uint64_t member(const bt_field_class *structure, const char *name)
{
	uint64_t n = structure ? bt_field_class_structure_get_member_count(structure) : 0;

	for (uint64_t i = 0; i < n; i++)
		if (!strcmp(name, bt_field_class_structure_member_get_name(
					  bt_field_class_structure_borrow_member_by_index_const(structure, i))))
			return i;
	return NONE;
}

static const struct {
	const char *name;
	enum call_kind kind;
	const char *addr, *site, *path;
} known[] = {
	{ "lttng_ust_cyg_profile:func_entry", CALL_ENTRY, "addr", "call_site", NULL },
	{ "lttng_ust_cyg_profile:func_exit", CALL_EXIT, "addr", "call_site", NULL },
	{ "lttng_ust_cyg_profile_fast:func_entry", CALL_ENTRY, "addr", NULL, NULL },
	{ "lttng_ust_cyg_profile_fast:func_exit", CALL_EXIT, NULL, NULL, NULL },
	{ "lttng_ust_statedump:start", CALL_START, NULL, NULL, NULL },
	{ "lttng_ust_statedump:bin_info", CALL_OBJECT, "baddr", "memsz", "path" },
	{ "lttng_ust_lib:load", CALL_LOAD, "baddr", "memsz", "path" },
	{ "lttng_ust_lib:unload", CALL_UNLOAD, "baddr", NULL, NULL },
};

static void shape_fill(struct shape *shape, const bt_event_class *class)
{
	const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(class);
	const bt_field_class *context = bt_stream_class_borrow_event_common_context_field_class_const(
		bt_event_class_borrow_stream_class_const(class));
	const char *name = bt_event_class_get_name(class);

	bt_event_class_get_ref(class);
	*shape = (struct shape) { .class = class, .ignored = 1, .vpid = member(context, "vpid"), .vtid = member(context, "vtid") };
	for (size_t i = 0; name && i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(name, known[i].name))
			continue;
		shape->ignored = 0;
		shape->kind = known[i].kind;
		shape->addr = known[i].addr ? member(payload, known[i].addr) : NONE;
		shape->site = known[i].site ? member(payload, known[i].site) : NONE;
		shape->path = known[i].path ? member(payload, known[i].path) : NONE;
	}
}

static const struct shape *shape_of(const bt_event_class *class)
{
	static size_t last;

	if (last < shape_count && shapes[last].class == class)
		return &shapes[last];
	for (last = 0; last < shape_count; last++)
		if (shapes[last].class == class)
			return &shapes[last];
	shapes = realloc(shapes, (shape_count + 1) * sizeof(*shapes));
	shape_fill(&shapes[shape_count++], class);
	return &shapes[last];
}

/* A number, signed or not; 0 where there is none. */
static uint64_t number(const bt_field *structure, uint64_t index)
{
	const bt_field *field;
	bt_field_class_type type;

	if (!structure || index == NONE)
		return 0;
	field = bt_field_structure_borrow_member_field_by_index_const(structure, index);
	type = bt_field_get_class_type(field);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return bt_field_integer_unsigned_get_value(field);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		return (uint64_t) bt_field_integer_signed_get_value(field);
	return 0;
}

static void take_event(const bt_message *message)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const struct shape *shape = shape_of(bt_event_borrow_class_const(event));
	const bt_field *context, *payload;
	struct call_record record = { 0 };

	if (shape->ignored)
		return;
	context = bt_event_borrow_common_context_field_const(event);
	payload = bt_event_borrow_payload_field_const(event);
	record.kind = shape->kind;
	record.time = bt_clock_snapshot_get_value(bt_message_event_borrow_default_clock_snapshot_const(message));
	record.vpid = (int) number(context, shape->vpid);
	record.vtid = (int) number(context, shape->vtid);
	record.has_addr = shape->addr != NONE;
	record.addr = number(payload, shape->addr);
	record.site = number(payload, shape->site);
	if (shape->path != NONE)
		record.path = bt_field_string_get_value(
			bt_field_structure_borrow_member_field_by_index_const(payload, shape->path));
	taker(&record);
}

static void take_lost(const bt_message *message)
{
	struct call_record record = { .kind = CALL_LOST, .addr = 1 };

	/* A difference of 64-bit counters of which the daemon may have set the highest bit. */
	if (bt_message_discarded_events_get_count(message, &record.addr) == BT_PROPERTY_AVAILABILITY_AVAILABLE)
		record.addr &= ~(1ULL << 63);
	taker(&record);
}

static bt_graph_simple_sink_component_initialize_func_status sink_begin(bt_message_iterator *it, void *data)
{
	(void) data;
	iterator = it;
	bt_message_iterator_get_ref(it);
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

static bt_graph_simple_sink_component_consume_func_status sink_consume(bt_message_iterator *it, void *data)
{
	bt_message_array_const messages;
	uint64_t count;
	bt_message_iterator_next_status status = bt_message_iterator_next(it, &messages, &count);

	(void) data;
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return (bt_graph_simple_sink_component_consume_func_status) status;
	for (uint64_t i = 0; i < count; i++) {
		switch (bt_message_get_type(messages[i])) {
		case BT_MESSAGE_TYPE_EVENT:
			take_event(messages[i]);
			break;
		case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
			take_lost(messages[i]);
			break;
		default:
			break;
		}
		bt_message_put_ref(messages[i]);
	}
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

static const bt_component_class_filter *filter_class(const char *plugin_name, const char *name, const char *directory)
{
	const bt_plugin_set *set = NULL;
	const bt_plugin *plugin = NULL;
	const bt_component_class_filter *class = NULL;

	if (!directory) {
		if (bt_plugin_find(plugin_name, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, BT_TRUE, &plugin) == 0)
			class = bt_plugin_borrow_filter_component_class_by_name_const(plugin, name);
		return class;
	}
	if (bt_plugin_find_all_from_dir(directory, BT_FALSE, BT_TRUE, &set) == 0)
		for (uint64_t i = 0; !class && i < bt_plugin_set_get_plugin_count(set); i++) {
			plugin = bt_plugin_set_borrow_plugin_by_index_const(set, i);
			if (!strcmp(bt_plugin_get_name(plugin), plugin_name))
				class = bt_plugin_borrow_filter_component_class_by_name_const(plugin, name);
		}
	return class;
}

static int source_add(bt_graph *graph, const bt_component_filter *muxer, const char *directory, const char *name)
{
	static const bt_component_class_source *class;
	const bt_plugin *plugin;
	const bt_component_source *source;
	bt_value *params = bt_value_map_create(), *inputs = bt_value_array_create();
	int failed;

	if (!class && bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, BT_TRUE, &plugin) == 0)
		class = bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
	bt_value_array_append_string_element(inputs, directory);
	bt_value_map_insert_entry(params, "inputs", inputs);
	failed = !class || bt_graph_add_source_component(graph, class, name, params, BT_LOGGING_LEVEL_WARNING, &source);
	for (uint64_t i = 0; !failed && i < bt_component_source_get_output_port_count(source); i++)
		failed = bt_graph_connect_ports(graph, bt_component_source_borrow_output_port_by_index_const(source, i),
			bt_component_filter_borrow_input_port_by_index_const(
				muxer, bt_component_filter_get_input_port_count(muxer) - 1), NULL);
	return failed;
}

int calls_read(const char *directory, const char *plugins, void (*take)(const struct call_record *record))
{
	const bt_component_class_filter *muxer_class = filter_class("utils", "muxer", NULL), *expand_class;
	const bt_component_filter *last, *expand;
	const bt_component_sink *sink;
	bt_graph *graph = bt_graph_create(0);
	char name[32];
	int failed;

	taker = take;
	nftw(directory, note_directory, 16, FTW_PHYS);
	failed = !directory_count || !muxer_class ||
		bt_graph_add_filter_component(graph, muxer_class, "muxer", NULL, BT_LOGGING_LEVEL_WARNING, &last);
	for (int i = 0; !failed && i < directory_count; i++) {
		snprintf(name, sizeof(name), "trace%d", i);
		failed = source_add(graph, last, directories[i], name);
	}
	if (!failed && plugins) {
		expand_class = filter_class("lttng-spi", "expand", plugins);
		failed = !expand_class ||
			bt_graph_add_filter_component(graph, expand_class, "expand", NULL, BT_LOGGING_LEVEL_WARNING, &expand) ||
			bt_graph_connect_ports(graph, bt_component_filter_borrow_output_port_by_index_const(last, 0),
				bt_component_filter_borrow_input_port_by_index_const(expand, 0), NULL);
		last = expand;
	}
	failed = failed || bt_graph_add_simple_sink_component(graph, "calls", sink_begin, sink_consume, NULL, NULL, &sink) ||
		bt_graph_connect_ports(graph, bt_component_filter_borrow_output_port_by_index_const(last, 0),
			bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL) ||
		bt_graph_run(graph);
	if (failed)
		fprintf(stderr, "calls: cannot read %s (%d traces)\n", directory, directory_count);
	return failed ? -1 : 0;
}
