/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * sink.lttng-spi.calls and sink.lttng-spi.report: what `lttng-spi calls` and `lttng-spi report` print, at the end of a graph
 * of babeltrace2's. Parameters: format, and of the report by, sort and limit.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bt2/expand.h"
#include "reader/views/views.h"

struct view_sink {
	struct calls calls;
	struct calls_view *lines;	/* the one, */
	struct report *report;		/* or the other */
	enum report_sort sort;
	uint32_t limit;
	enum format format;
	bt_message_iterator *iterator;
};

/* ---- parameters ---- */

static const char *text_of(const bt_value *parameters, const char *name)
{
	const bt_value *value = bt_value_map_borrow_entry_value_const(parameters, name);

	return value && bt_value_is_string(value) ? bt_value_string_get(value) : "";
}

static int parameters_take(struct view_sink *s, int is_report, const bt_value *parameters, const char **wrong)
{
	const char *format = text_of(parameters, "format"), *by = text_of(parameters, "by"), *sort = text_of(parameters, "sort");
	const bt_value *limit = bt_value_map_borrow_entry_value_const(parameters, "limit");
	const int by_is = *by ? report_by_read(by) : BY_FUNCTION, sort_is = *sort ? report_sort_read(sort) : SORT_TOTAL;

	s->format = !strcmp(format, "json") ? FORMAT_JSON : is_report && !strcmp(format, "csv") ? FORMAT_CSV : FORMAT_TEXT;
	*wrong = NULL;
	if (*format && s->format == FORMAT_TEXT && strcmp(format, "text"))
		*wrong = is_report ? "format is text, json or csv" : "format is text or json";
	else if (by_is < 0)
		*wrong = "by is function, object, thread, process or caller";
	else if (sort_is < 0)
		*wrong = "sort is total, self, calls, average, min, max, p50, p99 or name";
	if (*wrong)
		return -1;
	s->sort = (enum report_sort) sort_is;
	if (limit && bt_value_is_signed_integer(limit))
		s->limit = (uint32_t) bt_value_integer_signed_get(limit);
	else if (limit && bt_value_is_unsigned_integer(limit))
		s->limit = (uint32_t) bt_value_integer_unsigned_get(limit);
	if (is_report) {
		s->report = report_make((enum report_by) by_is);
		return s->report ? calls_init(&s->calls, report_take, s->report) : -1;
	}
	s->lines = calls_view_make(stdout, s->format);
	if (!s->lines)
		return -1;
	calls_init(&s->calls, calls_view_take, s->lines);
	s->calls.has_events = 1;
	return 0;
}

/* ---- the component ---- */

static void sink_free(struct view_sink *s)
{
	calls_view_free(s->lines);
	report_free(s->report);
	free(s);
}

static bt_component_class_initialize_method_status sink_init(bt_self_component_sink *self, const bt_value *parameters,
	int is_report)
{
	bt_self_component *component = bt_self_component_sink_as_self_component(self);
	struct view_sink *s = calloc(1, sizeof(*s));
	const char *wrong = NULL;

	if (!s || parameters_take(s, is_report, parameters, &wrong) < 0) {
		if (wrong)
			BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(component, "%s", wrong);
		if (s)
			sink_free(s);
		return wrong ? BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR :
			BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	bt_self_component_set_data(component, s);
	return bt_self_component_sink_add_input_port(self, "in", NULL, NULL) == BT_SELF_COMPONENT_ADD_PORT_STATUS_OK ?
		BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK : BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
}

bt_component_class_initialize_method_status calls_sink_init(bt_self_component_sink *self,
	bt_self_component_sink_configuration *configuration, const bt_value *parameters, void *data)
{
	return sink_init(self, parameters, 0);
}

bt_component_class_initialize_method_status report_sink_init(bt_self_component_sink *self,
	bt_self_component_sink_configuration *configuration, const bt_value *parameters, void *data)
{
	return sink_init(self, parameters, 1);
}

void view_sink_finalize(bt_self_component_sink *self)
{
	struct view_sink *s = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	if (!s)
		return;
	bt_message_iterator_put_ref(s->iterator);
	calls_free(&s->calls);
	sink_free(s);
}

bt_component_class_sink_graph_is_configured_method_status view_sink_configured(bt_self_component_sink *self)
{
	struct view_sink *s = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	return (bt_component_class_sink_graph_is_configured_method_status) bt_message_iterator_create_from_sink_component(self,
		bt_self_component_sink_borrow_input_port_by_index(self, 0), &s->iterator);
}

/* All was given. */
static int view_end(struct view_sink *s)
{
	int r = calls_end(&s->calls);

	if (r >= 0)
		r = s->lines ? calls_view_flush(s->lines) :
			report_write(s->report, NULL, s->sort, s->limit, s->format, stdout);
	fflush(stdout);
	merge_tell(&s->calls.merge);
	return r;
}

bt_component_class_sink_consume_method_status view_sink_consume(bt_self_component_sink *self)
{
	struct view_sink *s = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
	bt_message_array_const messages;
	uint64_t count = 0;
	int r = 0;
	const bt_message_iterator_next_status status = bt_message_iterator_next(s->iterator, &messages, &count);

	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END)
		return view_end(s) < 0 ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR :
			BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return (bt_component_class_sink_consume_method_status) status;
	bt_current_thread_clear_error();
	for (uint64_t i = 0; i < count; i++) {
		if (r < 0)
			bt_message_put_ref(messages[i]);
		else
			r = calls_take(&s->calls, messages[i]);
	}
	if (r >= 0)
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(bt_self_component_sink_as_self_component(self), "%s", strerror(-r));
	return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
}
