/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A graph of libbabeltrace2: a source a trace, their messages merged, and a sink that hands them on. Directories that
 * libbabeltrace2 takes for parts of one trace (chunks of a rotated session) go to one source.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "reader/base/text.h"
#include "reader/calls/parts.h"
#include "reader/calls/source.h"

#define LIVE_URL	"lttng-live"

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
	char cut[1000];			/* which streams are; "": none */
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

static void graph_drop(struct source *s)
{
	bt_graph_put_ref(s->graph);
	bt_plugin_put_ref(s->ctf);
	bt_plugin_put_ref(s->utils);
	s->graph = NULL;
	s->ctf = s->utils = NULL;
	s->ports = 0;
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

static int part_connect(struct source *s, const struct part *p, unsigned int number)
{
	bt_value *parameters = bt_value_map_create();
	char name[24];
	int r = -1;

	snprintf(name, sizeof(name), "trace-%u", number);
	if (parameters && !bt_value_map_insert_entry(parameters, "inputs", p->inputs))
		r = component_add(s, name, parameters);
	bt_value_put_ref(parameters);
	return r;
}

static int parts_add(struct source *s, char *why, size_t size)
{
	char text[1000];
	unsigned int n = 0;

	for (struct part *p = s->parts; p; p = p->next) {
		if (part_connect(s, p, n++) < 0) {
			error_take(text, sizeof(text), "no memory");
			snprintf(why, size, "%s: %s: %s", part_directory(p), part_is_newer(p) ?
				"libbabeltrace2 does not read this trace, CTF 2 needs version 2.1" :
				"the trace cannot be read", text);
			return -1;
		}
	}
	return 0;
}

/*
 * libbabeltrace2 asserts what a damaged trace does not keep, and trusts lengths: of ten traces with a changed byte, one
 * ends it. Then there is one line, too.
 */
static char broken_text[600];

static void broken(int number)
{
	if (write(STDERR_FILENO, broken_text, strlen(broken_text)) < 0)
		_exit(2);
	_exit(1);
}

static void broken_watch(const char *directory)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGTRAP };
	const struct sigaction action = { .sa_handler = broken, .sa_flags = (int) SA_RESETHAND };
	struct sigaction now;

	snprintf(broken_text, sizeof(broken_text), "Error: %.400s: the trace is damaged, and cannot be read: its reader "
		"(libbabeltrace2) fails on it", directory);
	text_clean(broken_text);
	strcat(broken_text, "\n");
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)	/* a sanitizer has its own */
		if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
}

/* All but what is behind the muxer. */
static struct source *directories_open(const char *const *directories, char *why, size_t size)
{
	struct source *s = calloc(1, sizeof(*s));
	int r = -1;

	snprintf(why, size, "no memory");
	if (!s)
		return NULL;
	broken_watch(directories[0]);
	r = graph_begin(s, "fs", why, size);
	for (; r == 0 && *directories; directories++)
		r = parts_find(&s->parts, s->class, *directories, why, size);
	if (r == 0 && parts_add(s, why, size) < 0) {
		r = parts_salvage(s->parts, s->cut, sizeof(s->cut)) ? 0 : -1;
		if (r == 0) {		/* a graph that has refused a component takes no other */
			graph_drop(s);
			r = graph_begin(s, "fs", why, size);
		}
		if (r == 0)
			r = parts_add(s, why, size);
	}
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

const char *source_cut(const struct source *s)
{
	return s->cut;
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
	s->graph = NULL;
	parts_free(s->parts);
	graph_drop(s);
	free(s);
}
