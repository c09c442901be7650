/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * filter.lttng-spi.expand: compact records become the events that they stand for, and calls get names. Which comes when,
 * and what its function is, the reader says (reader/trace/trace.h); this makes messages of it.
 *
 * Objects are made and used by one message iterator, and live as long as it does.
 */
#ifndef SPI_BT2_EXPAND_H
#define SPI_BT2_EXPAND_H

#include "reader/trace/trace.h"

#define EXPAND_CONTEXT_MAX	32u

/* Where an input stream class's expanded events go: a stream class beside it, in the same trace. */
struct out_class {
	struct out_class *next;
	const bt_stream_class *in;
	bt_stream_class *out;
	bt_event_class *entry, *exit, *named_entry, *named_exit;	/* named: with the function's name */
	int64_t offset;			/* ns from origin = clock value + offset */
	unsigned int context_count;
	struct out_member {
		uint64_t index;		/* in the input's context */
		enum out_member_kind { MEMBER_UNSIGNED, MEMBER_SIGNED, MEMBER_REAL, MEMBER_STRING, MEMBER_VTID, MEMBER_IP } kind;
	} members[EXPAND_CONTEXT_MAX];
};

/* And one stream for each of its streams. */
struct out_stream {
	struct out_stream *next;
	struct out_class *class;
	const bt_stream *in;
	bt_stream *out;
	bt_packet *packet;		/* open; NULL: none */
	uint64_t cpu;
	uint32_t in_packet;		/* events */
	int begun;
};

/* What is kept of a batch's event: its stream and its context's values. */
struct kept {
	struct out_stream *stream;
	union value {
		uint64_t u;
		int64_t i;
		double d;
		char *s;
	} context[];
};

struct expand {
	struct merge merge;		/* first: its callbacks' user is the whole */
	bt_self_message_iterator *self;
	bt_self_component *component;
	bt_message_iterator *upstream;
	struct named_class *named;
	struct callers_class *callers;
	struct out_class *classes;
	struct out_stream *streams;
};

/* ---- callers.c ---- */
/* The event with its callers' names, or as it is. The reference to `message` is taken. NULL: no memory. */
const bt_message *callers_message(struct expand *e, const bt_message *message);
void callers_free(struct expand *e);

/* ---- named.c ---- */
/* The event with its function's name, or as it is. The reference to `message` is taken. NULL: no memory. */
const bt_message *named_message(struct expand *e, const bt_message *message, const char *name);
void named_free(struct expand *e);
/* ---- copy.c: an event of a call as one of another class, which has a further field ---- */
/* May events of this class be copied into others of their stream? */
int event_class_fits(const bt_event_class *in);
/* A class of these payload fields, which it puts, beside `in` in their stream. NULL: no memory, or no fields. */
bt_event_class *event_class_beside(const bt_event_class *in, bt_field_class *fields);
/*
 * Copies context and payload: *added is the further field, which is still to be set. 0; 1: it has a field of a kind
 * that is left alone; or -1: no memory, and no *copy.
 */
int event_copy(struct expand *e, const bt_message *message, const bt_event_class *out, bt_message **copy,
	bt_field **added);
/* The message that goes on, of the two; the other one is put. has_failed: the copy is not whole. */
const bt_message *event_copied(const bt_message *message, const bt_message *copy, int has_failed);

/* ---- output.c ---- */
int out_append_unsigned(bt_trace_class *trace_class, bt_field_class *structure, const char *name, unsigned int bits, int hex);
int out_append_name(bt_trace_class *trace_class, bt_field_class *structure);	/* the field for a function's name */
int out_batch_keep(struct merge *m, const bt_event *event, struct batch *batch);
void out_batch_drop(struct batch *batch);
/* Messages for the thread's record, at most 4 of them: how many, or -1. */
int out_record(struct expand *e, struct thread *thread, bt_message_array_const messages);
/* The same at the end, for one more stream: 0 when all are ended. */
int out_end(struct expand *e, bt_message_array_const messages);
void out_free(struct expand *e);

/* ---- component.c ---- */
bt_component_class_initialize_method_status expand_init(bt_self_component_filter *self,
	bt_self_component_filter_configuration *configuration, const bt_value *params, void *data);
void expand_finalize(bt_self_component_filter *self);

/* ---- iterator.c ---- */
bt_message_iterator_class_initialize_method_status expand_iterator_init(bt_self_message_iterator *self,
	bt_self_message_iterator_configuration *configuration, bt_self_component_port_output *port);
void expand_iterator_finalize(bt_self_message_iterator *self);
bt_message_iterator_class_next_method_status expand_iterator_next(bt_self_message_iterator *self,
	bt_message_array_const messages, uint64_t capacity, uint64_t *count);

/* ---- sinks.c ---- */
bt_component_class_initialize_method_status calls_sink_init(bt_self_component_sink *self,
	bt_self_component_sink_configuration *configuration, const bt_value *parameters, void *data);
bt_component_class_initialize_method_status report_sink_init(bt_self_component_sink *self,
	bt_self_component_sink_configuration *configuration, const bt_value *parameters, void *data);
void view_sink_finalize(bt_self_component_sink *self);
bt_component_class_sink_graph_is_configured_method_status view_sink_configured(bt_self_component_sink *self);
bt_component_class_sink_consume_method_status view_sink_consume(bt_self_component_sink *self);

#endif /* SPI_BT2_EXPAND_H */
