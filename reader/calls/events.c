/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Events that are no calls, for a view that shows them at their place among the calls: messages (spi_ipc:*), what
 * becomes of processes (spi_process:*), events of payloads and of the program's own tracepoints.
 *
 * An operation on a channel has the channel's number alone. What the channel is, an event spi_ipc:channel of the same
 * process has said before. The latest CHANNELS_MOST are kept: a server may have any number of connections.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/calls/calls.h"

#define CHANNELS_MOST	65536u

struct event_channel {
	struct spi_hash_link link;	/* by process and id */
	struct event_channel *next;	/* described later */
	const struct call_process *process;
	uint64_t id;
	char kind[24], from[128], to[128];
};

/* ---- which ---- */

/* What the recorder itself says, to be read with the calls, and what other views are made of. */
static int is_internal(const char *name)
{
	static const char *const own[] = { "lttng_ust_tracef:", "lttng_ust_tracelog:" };
	static const char *const internal[] = {
		"spi:", "spi_tree:", "spi_rule:", "spi_run:", "spi_call:", "lttng_ust_",
	};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!strncmp(name, own[i], strlen(own[i])))
			return 0;
	for (size_t i = 0; i < sizeof(internal) / sizeof(internal[0]); i++)
		if (!strncmp(name, internal[i], strlen(internal[i])))
			return 1;
	return 0;
}

int event_kind_find(struct calls *c, struct value_class *v, const char *name)
{
	if (!c->has_events || is_internal(name))
		return 0;
	v->kind = !strcmp(name, "spi_ipc:send") ? VALUE_SEND : !strcmp(name, "spi_ipc:recv") ? VALUE_RECEIVE :
		!strcmp(name, "spi_ipc:peer") ? VALUE_PEER :
		!strcmp(name, "spi_ipc:channel") ? VALUE_CHANNEL : VALUE_EVENT;
	v->result = v->duration = v->left = UINT64_MAX;		/* names of fields like others */
	v->function = call_function_get(c, "", 0, name, 1);
	return v->function ? 0 : -1;
}

/* A field of a class that is ours, signed or not; 0: there is none of this name. */
static uint64_t number(const struct call *call, const char *field)
{
	return field_integer(payload_field(call->event,
		member_find(bt_event_class_borrow_payload_field_class_const(call->values->in), field)));
}

/* ---- channels ---- */

static uint64_t channel_hash(const struct call_process *process, uint64_t id)
{
	return spi_hash_number((uintptr_t) process ^ id);
}

static void text_keep(char *to, size_t size, const bt_event *event, const char *field)
{
	snprintf(to, size, "%s", payload_string(event, field));
	text_clean(to);
}

int event_channel_take(struct calls *c, const struct call_process *process, const bt_event *event)
{
	struct event_channel *channel = c->channel_first;

	if (c->channels.count < CHANNELS_MOST)
		channel = calloc(1, sizeof(*channel));
	if (!channel)
		return -ENOMEM;
	if (channel == c->channel_first) {
		c->channel_first = channel->next;
		spi_hash_remove(&c->channels, &channel->link);
	}
	channel->next = NULL;
	channel->process = process;
	channel->id = payload_unsigned(event, "channel");
	text_keep(channel->kind, sizeof(channel->kind), event, "kind");
	text_keep(channel->from, sizeof(channel->from), event, "from");
	text_keep(channel->to, sizeof(channel->to), event, "to");
	spi_hash_add(&c->channels, &channel->link, channel_hash(process, channel->id));
	*(c->channel_first ? &c->channel_last->next : &c->channel_first) = channel;
	c->channel_last = channel;
	return 0;
}

void event_channels_free(struct calls *c)
{
	for (struct event_channel *channel = c->channel_first, *next; channel; channel = next) {
		next = channel->next;
		free(channel);
	}
}

/* NULL: it is none of a channel, or its channel was not described. */
static const struct event_channel *channel_of(const struct call *call)
{
	const struct calls *c = call->values->calls;
	const uint64_t id = number(call, "channel");
	const struct event_channel *channel;

	if (call->values->kind == VALUE_EVENT)
		return NULL;
	channel = spi_hash_find(&c->channels, channel_hash(call->thread->process, id));
	while (channel && (channel->process != call->thread->process || channel->id != id))
		channel = spi_hash_again(&channel->link);
	return channel;
}

/* ---- as people read them ---- */

/* ", KIND OTHER-END" */
static const char *channel_text(const struct call *call, char *text, size_t size)
{
	const struct event_channel *channel = channel_of(call);
	const char *end = !channel ? "" : call->values->kind == VALUE_RECEIVE ? channel->from : channel->to;

	*text = 0;
	if (channel)
		snprintf(text, size, ", %s%s%s", channel->kind, *end ? " " : "", end);
	return text;
}

static void message_text(const struct call *call, char *text, size_t size)
{
	const uint64_t flags = number(call, "flags"), bytes = number(call, "result");
	char at[40] = "", channel[200];

	if (!(flags & (FLOW_DATAGRAM | FLOW_UNKNOWN)))	/* a datagram's position is a hash */
		snprintf(at, sizeof(at), " at %" PRIu64 "%s", number(call, "position"),
			flags & FLOW_UNSURE ? " or so" : "");
	snprintf(text, size, "%" PRId64 " byte%s%s%s%s%s", (int64_t) bytes, bytes == 1 ? "" : "s", at,
		channel_text(call, channel, sizeof(channel)), flags & FLOW_CUT ? ", cut" : "",
		flags & FLOW_LATE ? ", out before the other process was in" : "");
}

static void peer_text(const struct call *call, char *text, size_t size)
{
	const int64_t status = (int64_t) number(call, "status");
	char channel[200], time[32];

	duration_text((int64_t) number(call, "took"), time);
	snprintf(text, size, "%s (%" PRId64 ") %s%s%s, waited %s", payload_string(call->event, "name"),
		(int64_t) number(call, "pid"), !status ? "brought in" : status > 0 ? "was in already" :
		"not brought in: ", status < 0 ? payload_string(call->event, "reason") : "",
		channel_text(call, channel, sizeof(channel)), time);
	text_clean(text);
}

void call_event_text(const struct call *call, char *text, size_t size)
{
	if (call->values->kind == VALUE_EVENT)
		call_arguments(call, text, size);
	else if (call->values->kind == VALUE_PEER)
		peer_text(call, text, size);
	else
		message_text(call, text, size);
}

void call_event_json(const struct call *call, FILE *out)
{
	const struct event_channel *channel = channel_of(call);

	fputs(",\"event\":", out);
	json_string(out, call->function->name);
	fputs(",\"fields\":", out);
	call_arguments_json(call, out);
	if (!channel)
		return;
	fputs(",\"channel\":{\"kind\":", out);
	json_string(out, channel->kind);
	fputs(",\"from\":", out);
	json_string(out, channel->from);
	fputs(",\"to\":", out);
	json_string(out, channel->to);
	putc('}', out);
}
