/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The plugin `lttng-spi` and its component classes. */
#include "bt2/expand.h"

BT_PLUGIN_MODULE();
BT_PLUGIN_WITH_ID(auto, "lttng-spi");
BT_PLUGIN_DESCRIPTION("lttng-spi's traces");
BT_PLUGIN_AUTHOR("the lttng-spi authors");
BT_PLUGIN_LICENSE("GPL-2.0-only");

BT_PLUGIN_FILTER_COMPONENT_CLASS(expand, expand_iterator_next);
BT_PLUGIN_FILTER_COMPONENT_CLASS_DESCRIPTION(expand, "Turn compact call records into func_entry and func_exit events, and name the functions of calls.");
BT_PLUGIN_FILTER_COMPONENT_CLASS_HELP(expand,
	"spi_tree:calls events become lttng_ust_cyg_profile:func_entry and :func_exit, each with its own time.\n"
	"Each has the field `name` where a spi_tree:function event says it, and so have those that were recorded one by one.\n"
	"hold-ms (500): how long a record may have been on its way into the trace.");
BT_PLUGIN_FILTER_COMPONENT_CLASS_INITIALIZE_METHOD(expand, expand_init);
BT_PLUGIN_FILTER_COMPONENT_CLASS_FINALIZE_METHOD(expand, expand_finalize);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(expand, expand_iterator_init);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(expand, expand_iterator_finalize);

BT_PLUGIN_SINK_COMPONENT_CLASS(calls, view_sink_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(calls, "Print calls as people read them.");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(calls, "A line for each end of a call, as `lttng-spi calls` prints it.\nformat (text): or json.");
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(calls, calls_sink_init);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(calls, view_sink_finalize);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(calls, view_sink_configured);

BT_PLUGIN_SINK_COMPONENT_CLASS(report, view_sink_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(report, "Print a table of functions: calls and times.");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(report,
	"The table of `lttng-spi report`.\n"
	"by (function): or object, thread, process, caller.\n"
	"sort (total): or self, calls, average, min, max, p50, p99, name.\n"
	"limit: so many rows. format (text): or json, csv.");
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(report, report_sink_init);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(report, view_sink_finalize);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(report, view_sink_configured);
