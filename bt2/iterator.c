/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The message iterator: gives what comes in to the merge, and makes messages of what the merge gives out.
 */
#include <stdlib.h>
#include "bt2/expand.h"

#define RECORD_MESSAGES	4u	/* at most, for one record or the end of a stream */

bt_message_iterator_class_initialize_method_status expand_iterator_init(bt_self_message_iterator *self,
	bt_self_message_iterator_configuration *configuration, bt_self_component_port_output *port)
{
	bt_self_component *component = bt_self_message_iterator_borrow_component(self);
	bt_self_component_filter *filter = (bt_self_component_filter *) component;
	bt_self_component_port_input *in = bt_self_component_filter_borrow_input_port_by_index(filter, 0);
	struct expand *e = calloc(1, sizeof(*e));

	if (!e)
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	e->self = self;
	e->component = component;
	merge_init(&e->merge, *(const int64_t *) bt_self_component_get_data(component), "filter.lttng-spi.expand");
	e->merge.batch_keep = out_batch_keep;
	e->merge.batch_drop = out_batch_drop;
	if (bt_message_iterator_create_from_message_iterator(self, in, &e->upstream) !=
			BT_MESSAGE_ITERATOR_CREATE_FROM_MESSAGE_ITERATOR_STATUS_OK) {
		free(e);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_message_iterator_set_data(self, e);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void expand_iterator_finalize(bt_self_message_iterator *self)
{
	struct expand *e = bt_self_message_iterator_get_data(self);

	if (!e)
		return;
	merge_free(&e->merge);
	out_free(e);
	named_free(e);
	callers_free(e);
	bt_message_iterator_put_ref(e->upstream);
	free(e);
}

/* ---- out ---- */

/* The earliest message or record: how many messages, 0 when there is none that may go, -1. */
static int put_one(struct expand *e, bt_message_array_const messages)
{
	struct merged next;
	int n = merge_next(&e->merge, &next);

	if (n <= 0)
		return n;
	if (!next.message) {
		n = out_record(e, next.thread, messages);
		return n < 0 || merge_done(&e->merge, next.thread) < 0 ? -1 : n;
	}
	messages[0] = next.message;
	if (next.function)
		messages[0] = named_message(e, next.message, next.function->name);
	else if (next.class)
		messages[0] = callers_message(e, next.message);
	return messages[0] ? 1 : -1;
}

static bt_message_iterator_class_next_method_status next_input(struct expand *e)
{
	bt_message_array_const messages;
	bt_message_iterator_next_status status;
	uint64_t count = 0;
	int bad = 0;

	status = bt_message_iterator_next(e->upstream, &messages, &count);
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
		merge_end(&e->merge);
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	}
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return (bt_message_iterator_class_next_method_status) status;
	/*
	 * The muxer gives what it has before it meets a damaged packet, and leaves the error set, with which no object
	 * may be made. It meets the packet again when it is asked for more.
	 */
	bt_current_thread_clear_error();
	for (uint64_t i = 0; i < count; i++) {
		if (bad)
			bt_message_put_ref(messages[i]);
		else
			bad = merge_take(&e->merge, messages[i]) < 0;
	}
	if (!bad)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(e->self, "no memory, or a trace whose clock is not one of nanoseconds");
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
}

bt_message_iterator_class_next_method_status expand_iterator_next(bt_self_message_iterator *self,
	bt_message_array_const messages, uint64_t capacity, uint64_t *count)
{
	struct expand *e = bt_self_message_iterator_get_data(self);
	bt_message_iterator_class_next_method_status status;

	*count = 0;
	while (*count + RECORD_MESSAGES <= capacity) {
		int n = put_one(e, messages + *count);

		if (n == 0 && e->merge.ended)
			n = out_end(e, messages + *count);
		if (n < 0) {
			BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(self, "no memory");
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR;
		}
		*count += (uint64_t) n;
		if (n)
			continue;
		if (*count)
			break;
		if (e->merge.ended) {
			merge_tell(&e->merge);
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
		}
		status = next_input(e);
		if (status != BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK)
			return status;
	}
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}
