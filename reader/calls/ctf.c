/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* A graph of libbabeltrace2: traces, filter.lttng-spi.expand, which is made here from its code, and sink.ctf.fs. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include "bt2/expand.h"
#include "reader/calls/ctf.h"
#include "reader/calls/source.h"

struct writer {
	const char *output;
	const bt_plugin *ctf;
};

static bt_component_class_filter *expand_class(void)
{
	bt_message_iterator_class *iterator = bt_message_iterator_class_create(expand_iterator_next);
	bt_component_class_filter *class = NULL;

	if (!iterator)
		return NULL;
	if (!(int) bt_message_iterator_class_set_initialize_method(iterator, expand_iterator_init) &&
			!(int) bt_message_iterator_class_set_finalize_method(iterator, expand_iterator_finalize))
		class = bt_component_class_filter_create("expand", iterator);
	bt_message_iterator_class_put_ref(iterator);
	if (class && ((int) bt_component_class_filter_set_initialize_method(class, expand_init) ||
			(int) bt_component_class_filter_set_finalize_method(class, expand_finalize))) {
		bt_component_class_filter_put_ref(class);
		class = NULL;
	}
	return class;
}

/* The rest of the graph, behind the muxer's port. */
static int writer_connect(void *data, bt_graph *graph, const bt_port_output *from)
{
	struct writer *w = data;
	const bt_component_class_sink *sink_class = bt_plugin_borrow_sink_component_class_by_name_const(w->ctf, "fs");
	bt_component_class_filter *filter_class = expand_class();
	bt_value *parameters = bt_value_map_create();
	const bt_component_filter *filter = NULL;
	const bt_component_sink *sink = NULL;
	int r = -1;

	if (sink_class && filter_class && parameters &&
			!(int) bt_value_map_insert_string_entry(parameters, "path", w->output) &&
			!(int) bt_value_map_insert_bool_entry(parameters, "quiet", BT_TRUE) &&
			!(int) bt_graph_add_filter_component(graph, filter_class, "expand", NULL, BT_LOGGING_LEVEL_NONE, &filter) &&
			!(int) bt_graph_add_sink_component(graph, sink_class, "ctf", parameters, BT_LOGGING_LEVEL_NONE, &sink) &&
			!(int) bt_graph_connect_ports(graph, from,
				bt_component_filter_borrow_input_port_by_index_const(filter, 0), NULL) &&
			!(int) bt_graph_connect_ports(graph, bt_component_filter_borrow_output_port_by_index_const(filter, 0),
				bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL))
		r = 0;
	bt_value_put_ref(parameters);
	bt_component_class_filter_put_ref(filter_class);
	return r;
}

int ctf_write(const char *const *directories, const char *output, char *why, size_t size)
{
	struct writer w = { .output = output };
	struct source *source;
	struct stat st;
	char other[2000];
	int r, is_cut = 0;

	if (bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &w.ctf) != BT_PLUGIN_FIND_STATUS_OK) {
		bt_current_thread_clear_error();
		snprintf(why, size, "libbabeltrace2 has no plugin `ctf`: install the package babeltrace2");
		return -1;
	}
	source = source_open_into(directories, writer_connect, &w, why, size);
	r = source ? 1 : -1;
	if (source && *source_cut(source)) {
		snprintf(why, size, "%s", source_cut(source));
		is_cut = 1;
	}
	while (r > 0)
		r = source_read(source, is_cut ? other : why, is_cut ? sizeof(other) : size);
	source_close(source);
	bt_plugin_put_ref(w.ctf);
	return r == 0 ? is_cut : r == -EIO && stat(output, &st) == 0 ? 1 : -1;
}
