/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A graph of libbabeltrace2: a source a trace, their messages merged, and a sink that hands them on. Directories that
 * libbabeltrace2 takes for parts of one trace (chunks of a rotated session) go to one source.
 */
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "reader/calls/source.h"

#define LIVE_URL	"lttng-live"

struct part {
	struct part *next;
	char *group;			/* the same for parts of one trace; "": it is one by itself */
	bt_value *inputs;		/* directories */
};

struct source {
	bt_graph *graph;
	bt_message_iterator *iterator;
	const bt_plugin *ctf, *utils;
	const bt_component_class_source *class;
	const bt_component_filter *muxer;
	source_taker *take;
	void *data;
	struct part *parts;
	uint64_t ports;			/* of the muxer that are in use */
	int status;			/* of the taker */
};

/* ---- errors ---- */

/* The innermost cause of what libbabeltrace2 has against it, in one line. */
static void error_take(char *why, size_t size, const char *otherwise)
{
	const bt_error *error = bt_current_thread_take_error();

	snprintf(why, size, "%s", otherwise);
	if (!error)
		return;
	if (bt_error_get_cause_count(error))
		snprintf(why, size, "%s", bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0)));
	why[strcspn(why, "\n")] = 0;
	bt_error_release(error);
}

/* ---- the sink ---- */

static bt_graph_simple_sink_component_initialize_func_status sink_init(bt_message_iterator *iterator, void *data)
{
	struct source *s = data;

	s->iterator = iterator;
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

static bt_graph_simple_sink_component_consume_func_status sink_consume(bt_message_iterator *iterator, void *data)
{
	struct source *s = data;
	bt_message_array_const messages;
	uint64_t count = 0;
	const bt_message_iterator_next_status status = bt_message_iterator_next(iterator, &messages, &count);

	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END)
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return (bt_graph_simple_sink_component_consume_func_status) status;
	/*
	 * The muxer gives what it has before it meets a damaged packet, and leaves the error set. It meets the packet
	 * again when it is asked for more.
	 */
	bt_current_thread_clear_error();
	for (uint64_t i = 0; i < count; i++) {
		if (s->status < 0)
			bt_message_put_ref(messages[i]);
		else
			s->status = s->take(s->data, messages[i]);
	}
	return s->status < 0 ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR :
		BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

/* ---- directories ---- */

static struct source *finding;		/* nftw() has no argument for its callee */
static int has_newer;

/* As the command babeltrace2 asks: is it a trace, and of which group? */
static int part_add(struct source *s, const char *directory)
{
	bt_value *question = bt_value_map_create();
	const bt_value *answer = NULL, *group;
	const char *name = "";
	struct part *p = NULL;
	bt_query_executor *query;

	if (!question || (int) bt_value_map_insert_string_entry(question, "type", "directory") ||
			(int) bt_value_map_insert_string_entry(question, "input", directory))
		return -1;
	query = bt_query_executor_create(bt_component_class_source_as_component_class_const(s->class),
		"babeltrace.support-info", question);
	if (query && bt_query_executor_query(query, &answer) == BT_QUERY_EXECUTOR_QUERY_STATUS_OK &&
			bt_value_is_map(answer)) {
		group = bt_value_map_borrow_entry_value_const(answer, "group");
		name = group && bt_value_is_string(group) ? bt_value_string_get(group) : "";
	} else {
		bt_current_thread_clear_error();
	}
	for (p = *name ? s->parts : NULL; p && strcmp(p->group, name); p = p->next)
		;
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (p) {
			p->group = strdup(name);
			p->inputs = bt_value_array_create();
			p->next = s->parts;
			s->parts = p;
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
	FILE *file;
	int first;

	if (type != FTW_F || strcmp(path + where->base, "metadata") || where->base < 1 ||
			(size_t) where->base > sizeof(directory))
		return 0;
	file = fopen(path, "re");
	first = file ? getc(file) : EOF;
	if (file)
		fclose(file);
	if (first == 0x1e)		/* RFC 7464, with which CTF 2's metadata begins */
		has_newer = 1;
	snprintf(directory, sizeof(directory), "%.*s", where->base - 1, path);
	return part_add(finding, directory);
}

static int parts_find(struct source *s, const char *directory, char *why, size_t size)
{
	struct stat st;
	const struct part *before = s->parts;
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
	finding = s;
	has_newer = 0;
	if (nftw(directory, file_found, 32, FTW_PHYS) != 0) {
		snprintf(why, size, "%s: cannot be read", directory);
		return -1;
	}
	if (s->parts == before && (!last || bt_value_array_get_length(last) == count)) {
		snprintf(why, size, "%s: no trace in it, no file `metadata`", directory);
		return -1;
	}
	return 0;
}

/* ---- the graph ---- */

static int component_connect(struct source *s, const bt_component_source *source)
{
	const uint64_t n = bt_component_source_get_output_port_count(source);

	for (uint64_t i = 0; i < n; i++)
		if ((int) bt_graph_connect_ports(s->graph, bt_component_source_borrow_output_port_by_index_const(source, i),
			    bt_component_filter_borrow_input_port_by_index_const(s->muxer, s->ports++), NULL))
			return -1;
	return 0;
}

static int component_add(struct source *s, const char *name, const bt_value *parameters)
{
	const bt_component_source *source = NULL;

	if ((int) bt_graph_add_source_component(s->graph, s->class, name, parameters, BT_LOGGING_LEVEL_NONE, &source))
		return -1;
	return component_connect(s, source);
}

static int graph_begin(struct source *s, const char *class, char *why, size_t size)
{
	const bt_component_class_filter *muxer;

	if (bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &s->ctf) != BT_PLUGIN_FIND_STATUS_OK ||
			bt_plugin_find("utils", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &s->utils) !=
				BT_PLUGIN_FIND_STATUS_OK) {
		bt_current_thread_clear_error();
		snprintf(why, size, "libbabeltrace2 has no plugins `ctf` and `utils`: install the package babeltrace2");
		return -1;
	}
	s->class = bt_plugin_borrow_source_component_class_by_name_const(s->ctf, class);
	muxer = bt_plugin_borrow_filter_component_class_by_name_const(s->utils, "muxer");
	s->graph = bt_graph_create(0);
	if (!s->class || !muxer || !s->graph || (int) bt_graph_add_filter_component(s->graph, muxer, "muxer", NULL,
			BT_LOGGING_LEVEL_NONE, &s->muxer)) {
		error_take(why, size, "libbabeltrace2 cannot be used");
		return -1;
	}
	return 0;
}

static int graph_end(struct source *s, char *why, size_t size)
{
	const bt_component_sink *sink = NULL;

	if ((int) bt_graph_add_simple_sink_component(s->graph, "sink", sink_init, sink_consume, NULL, s, &sink) ||
			(int) bt_graph_connect_ports(s->graph,
				bt_component_filter_borrow_output_port_by_index_const(s->muxer, 0),
				bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL)) {
		error_take(why, size, "no memory");
		return -1;
	}
	return 0;
}

static int parts_add(struct source *s, char *why, size_t size)
{
	char text[1000];
	unsigned int n = 0;

	for (const struct part *p = s->parts; p; p = p->next) {
		bt_value *parameters = bt_value_map_create();
		char name[24];
		int r = -1;

		snprintf(name, sizeof(name), "trace-%u", n++);
		if (parameters && !bt_value_map_insert_entry(parameters, "inputs", p->inputs))
			r = component_add(s, name, parameters);
		bt_value_put_ref(parameters);
		if (r < 0) {
			error_take(text, sizeof(text), "no memory");
			snprintf(why, size, "%s: %s: %s",
				bt_value_string_get(bt_value_array_borrow_element_by_index_const(p->inputs, 0)),
				has_newer ? "libbabeltrace2 does not read this trace, CTF 2 needs version 2.1" :
				"the trace cannot be read", text);
			return -1;
		}
	}
	return 0;
}

/* All but what is behind the muxer. */
static struct source *directories_open(const char *const *directories, char *why, size_t size)
{
	struct source *s = calloc(1, sizeof(*s));
	int r = -1;

	snprintf(why, size, "no memory");
	if (!s)
		return NULL;
	r = graph_begin(s, "fs", why, size);
	for (; r == 0 && *directories; directories++)
		r = parts_find(s, *directories, why, size);
	if (r == 0)
		r = parts_add(s, why, size);
	if (r < 0) {
		source_close(s);
		return NULL;
	}
	return s;
}

struct source *source_open(const char *const *directories, source_taker *take, void *data, char *why, size_t size)
{
	struct source *s = directories_open(directories, why, size);

	if (!s)
		return NULL;
	s->take = take;
	s->data = data;
	if (graph_end(s, why, size) == 0)
		return s;
	source_close(s);
	return NULL;
}

struct source *source_open_into(const char *const *directories, source_connector *connect, void *data, char *why,
	size_t size)
{
	struct source *s = directories_open(directories, why, size);

	if (!s || connect(data, s->graph, bt_component_filter_borrow_output_port_by_index_const(s->muxer, 0)) == 0)
		return s;
	error_take(why, size, "no memory");
	source_close(s);
	return NULL;
}

struct source *source_open_live(const char *url, source_taker *take, void *data, char *why, size_t size)
{
	struct source *s = calloc(1, sizeof(*s));
	bt_value *parameters = bt_value_map_create(), *inputs = bt_value_array_create();
	int r = -1;

	snprintf(why, size, "no memory");
	if (s && parameters && inputs) {
		s->take = take;
		s->data = data;
		r = graph_begin(s, LIVE_URL, why, size);
	}
	if (r == 0 && ((int) bt_value_array_append_string_element(inputs, url) ||
			(int) bt_value_map_insert_entry(parameters, "inputs", inputs) ||
			(int) bt_value_map_insert_string_entry(parameters, "session-not-found-action", "end") ||
			component_add(s, "live", parameters) < 0)) {
		error_take(why, size, "the live session cannot be read");
		r = -1;
	}
	if (r == 0)
		r = graph_end(s, why, size);
	bt_value_put_ref(inputs);
	bt_value_put_ref(parameters);
	if (r < 0) {
		source_close(s);
		return NULL;
	}
	return s;
}

int source_read(struct source *s, char *why, size_t size)
{
	switch (bt_graph_run_once(s->graph)) {
	case BT_GRAPH_RUN_ONCE_STATUS_OK:
		return 1;
	case BT_GRAPH_RUN_ONCE_STATUS_END:
		return 0;
	case BT_GRAPH_RUN_ONCE_STATUS_AGAIN:
		return 2;
	default:
		break;
	}
	if (s->status < 0) {
		bt_current_thread_clear_error();
		return s->status;
	}
	error_take(why, size, "no memory");
	return -EIO;
}

/* What a map of `trace-infos` says of one end of a stream's range. */
static int range_end(const bt_value *range, const char *name, int64_t *ns)
{
	const bt_value *value = range && bt_value_is_map(range) ? bt_value_map_borrow_entry_value_const(range, name) : NULL;

	if (!value || !bt_value_is_signed_integer(value))
		return 0;
	*ns = bt_value_integer_signed_get(value);
	return 1;
}

static void range_add(const bt_value *answer, int64_t *first, int64_t *last)
{
	for (uint64_t i = 0; i < bt_value_array_get_length(answer); i++) {
		const bt_value *trace = bt_value_array_borrow_element_by_index_const(answer, i);
		const bt_value *streams = bt_value_is_map(trace) ?
			bt_value_map_borrow_entry_value_const(trace, "stream-infos") : NULL;

		for (uint64_t k = 0; streams && bt_value_is_array(streams) && k < bt_value_array_get_length(streams); k++) {
			const bt_value *stream = bt_value_array_borrow_element_by_index_const(streams, k);
			const bt_value *range = bt_value_is_map(stream) ?
				bt_value_map_borrow_entry_value_const(stream, "range-ns") : NULL;
			int64_t ns;

			if (range_end(range, "begin", &ns) && ns < *first)
				*first = ns;
			if (range_end(range, "end", &ns) && ns > *last)
				*last = ns;
		}
	}
}

int source_range(struct source *s, int64_t *first, int64_t *last)
{
	*first = INT64_MAX;
	*last = INT64_MIN;
	for (const struct part *p = s->parts; p; p = p->next) {
		bt_value *question = bt_value_map_create();
		const bt_value *answer = NULL;
		bt_query_executor *query = NULL;

		if (question && !bt_value_map_insert_entry(question, "inputs", p->inputs))
			query = bt_query_executor_create(bt_component_class_source_as_component_class_const(s->class),
				"babeltrace.trace-infos", question);
		if (query && bt_query_executor_query(query, &answer) == BT_QUERY_EXECUTOR_QUERY_STATUS_OK &&
				bt_value_is_array(answer))
			range_add(answer, first, last);
		else
			bt_current_thread_clear_error();
		bt_value_put_ref(answer);
		bt_query_executor_put_ref(query);
		bt_value_put_ref(question);
	}
	return *first <= *last ? 0 : -1;
}

void source_close(struct source *s)
{
	if (!s)
		return;
	bt_graph_put_ref(s->graph);
	for (struct part *p = s->parts, *next; p; p = next) {
		next = p->next;
		bt_value_put_ref(p->inputs);
		free(p->group);
		free(p);
	}
	bt_plugin_put_ref(s->ctf);
	bt_plugin_put_ref(s->utils);
	free(s);
}
