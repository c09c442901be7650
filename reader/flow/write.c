/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Messages, who sent to whom, and because of what, as text and as a graph of Graphviz's. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/flow/flow.h"

#define NAME_SIZE	64u

static const char *time_or_dash(int64_t ns, int is_there, char *text)
{
	strcpy(text, "-");
	if (is_there && ns < 0) {
		*text = '-';
		duration_text(-ns, text + 1);
	} else if (is_there) {
		duration_text(ns, text);
	}
	return text;
}

static void head_write(const char *text, FILE *out)
{
	fprintf(out, "%s%s%s\n", colour_begin(COLOUR_HEAD), text, colour_end(COLOUR_HEAD));
}

/* ---- one message ---- */

static void end_write(const struct call_thread *t, FILE *out)
{
	char name[NAME_SIZE];

	flow_process_text(t->process, name, sizeof(name));
	fprintf(out, "%s%s%s [%" PRId64 "]", colour_begin(COLOUR_FUNCTION), name, colour_end(COLOUR_FUNCTION), t->tid);
}

static void message_text(const struct flow_message *m, FILE *out)
{
	const struct flow_op *s = m->send, *r = m->receive;
	char at[32];

	time_text(s->begin, at);
	fprintf(out, "%s ", at);
	end_write(s->thread, out);
	fputs(" -> ", out);
	if (r) {
		end_write(r->thread, out);
		time_text(r->end, at);
		fprintf(out, " %s", at);
	} else {
		fputs("one of:", out);
		for (uint32_t i = 0; i < m->candidate_count; i++) {
			fputs(i ? ", " : " ", out);
			end_write(m->candidates[i]->thread, out);
			time_text(m->candidates[i]->end, at);
			fprintf(out, " %s", at);
		}
	}
	fprintf(out, "  %s %" PRIu64 " bytes", *s->channel->kind ? s->channel->kind : "channel", s->bytes);
	if (r && s->parts > 1)
		fprintf(out, " in %" PRIu32 " receives", s->parts);
	if (s->flags & FLOW_LATE)
		fputs(", out before the peer was in", out);
	if (r)
		fprintf(out, "  %s<%s>%s", colour_begin(COLOUR_VALUE), time_or_dash(m->latency, 1, at), colour_end(COLOUR_VALUE));
	putc('\n', out);
}

static void end_json(const char *name, const struct flow_op *op, FILE *out)
{
	fprintf(out, "\"%s\":{\"process\":", name);
	json_string(out, op->thread->process->name);
	fprintf(out, ",\"pid\":%" PRId64 ",\"thread\":%" PRId64 ",\"begin\":%" PRId64 ",\"end\":%" PRId64 "}",
		op->thread->process->pid, op->thread->tid, op->begin, op->end);
}

static void message_json(const struct flow_message *m, FILE *out)
{
	const struct flow_channel *c = m->send->channel;

	fprintf(out, "{\"channel\":\"0x%" PRIx64 "\",\"kind\":", c->id);
	json_string(out, c->kind);
	fputs(",\"from\":", out);
	json_string(out, c->from);
	fputs(",\"to\":", out);
	json_string(out, c->to);
	fprintf(out, ",\"bytes\":%" PRIu64 ",\"late\":%s,", m->send->bytes, m->send->flags & FLOW_LATE ? "true" : "false");
	end_json("send", m->send, out);
	if (m->receive) {
		putc(',', out);
		end_json("receive", m->receive, out);
		fprintf(out, ",\"receives\":%" PRIu32 ",\"latency\":%" PRId64 ",\"queue\":%" PRId64, m->send->parts, m->latency,
			m->queue);
	} else {
		fprintf(out, ",\"ambiguous\":%s,\"candidates\":[", m->to ? "false" : "true");
		for (uint32_t i = 0; i < m->candidate_count; i++) {
			fputs(i ? ",{" : "{", out);
			end_json("receive", m->candidates[i], out);
			putc('}', out);
		}
		putc(']', out);
	}
	fputs("}\n", out);
}

int flow_message_write(const struct flow_message *m, enum format format, FILE *out)
{
	if (format == FORMAT_JSON)
		message_json(m, out);
	else
		message_text(m, out);
	return output_status(out);
}

/* ---- edges ---- */

static void edges_write(struct flow_edge *const *list, uint32_t count, FILE *out)
{
	char times[5][40], from[NAME_SIZE], to[NAME_SIZE];

	head_write("messages        bytes        min     median        p99        max   in queue  kind           who to whom", out);
	for (uint32_t i = 0; i < count; i++) {
		const struct flow_edge *e = list[i];
		const int any = e->latency.count != 0;

		flow_process_text(e->from, from, sizeof(from));
		flow_process_text(e->to, to, sizeof(to));
		fprintf(out, "%8" PRIu64 " %12" PRIu64 " %10s %10s %10s %10s %10s  %-13s  %s%s -> %s%s", e->messages, e->bytes,
			time_or_dash(e->latency.min, any, times[0]), time_or_dash(times_quantile(&e->latency, 0.5), any, times[1]),
			time_or_dash(times_quantile(&e->latency, 0.99), any, times[2]), time_or_dash(e->latency.max, any, times[3]),
			time_or_dash(times_quantile(&e->queue, 0.5), any, times[4]), *e->kind ? e->kind : "?",
			colour_begin(COLOUR_FUNCTION), from, to, colour_end(COLOUR_FUNCTION));
		if (*e->from_text || *e->to_text)
			fprintf(out, "  %s%s -> %s%s", colour_begin(COLOUR_DIM), e->from_text, e->to_text, colour_end(COLOUR_DIM));
		if (e->channels > 1)
			fprintf(out, " on %" PRIu64 " channels", e->channels);
		if (e->unsure)
			fprintf(out, ", of %" PRIu64 " the receive is not sure", e->unsure);
		if (e->ambiguous)
			fprintf(out, ", and %" PRIu64 " more that may be another process's", e->ambiguous);
		if (e->late)
			fprintf(out, ", %" PRIu64 " out before the peer was in", e->late);
		putc('\n', out);
	}
}

/* ---- chains ---- */

static void node_name(const char *name, int64_t pid, FILE *out)
{
	fputs(name, out);
	if (pid >= 0 && !strchr(name, '('))
		fprintf(out, " (%" PRId64 ")", pid);
}

static void chains_write(struct flow *f, uint32_t depth, FILE *out)
{
	const struct flow_node *top = flow_chains_tree(f, depth);
	char times[4][40];
	int any = 0;

	for (const struct flow_node *n = top ? top->child : NULL; n; n = flow_node_next(n)) {
		const int is_answered = n->answers != 0;

		if (!n->shown)
			continue;
		if (!any++) {
			putc('\n', out);
			head_write("   calls  messages  answered     median        p99        max      total  who called whom, because of what is above it", out);
		}
		fprintf(out, "%8" PRIu64 " %9" PRIu64 " %9" PRIu64 " %10s %10s %10s %10s  %*s", n->calls, n->messages, n->answers,
			time_or_dash(times_quantile(&n->times, 0.5), is_answered, times[0]),
			time_or_dash(times_quantile(&n->times, 0.99), is_answered, times[1]),
			time_or_dash(n->times.max, is_answered, times[2]), time_or_dash(n->times.sum, is_answered, times[3]),
			(int) n->depth * 2, "");
		fputs(colour_begin(COLOUR_FUNCTION), out);
		node_name(n->from, n->from_pid, out);
		fputs(" -> ", out);
		node_name(n->to, n->to_pid, out);
		fprintf(out, "%s %s%s%s\n", colour_end(COLOUR_FUNCTION), colour_begin(COLOUR_DIM), n->kind, colour_end(COLOUR_DIM));
	}
}

/* ---- peers ---- */

static void peers_write(const struct flow *f, FILE *out)
{
	char name[NAME_SIZE], at[32], took[32];

	if (!f->peers)
		return;
	putc('\n', out);
	head_write("Processes that a message led to", out);
	for (const struct flow_peer *p = f->peers; p; p = p->next) {
		if (!p->by->process->chosen)
			continue;
		time_text(p->ns, at);
		duration_text((int64_t) p->took, took);
		flow_process_text(p->by->process, name, sizeof(name));
		fprintf(out, "%s %s", at, *p->name ? p->name : "process");
		if (p->pid)	/* nobody in particular */
			fprintf(out, " (%" PRId64 ")", p->pid);
		if (p->status < 0)
			fprintf(out, " %snot brought in%s", colour_begin(COLOUR_ERROR), colour_end(COLOUR_ERROR));
		else
			fputs(p->status ? " was in already" : " brought in", out);
		fprintf(out, " by %s [%" PRId64 "] %s %s -> %s, which waited %s", name, p->by->tid,
			*p->channel->kind ? p->channel->kind : "channel", p->channel->from, p->channel->to, took);
		if (p->status < 0)
			fprintf(out, ": %s", *p->reason ? p->reason : strerror(-p->status));
		putc('\n', out);
	}
}

/* ---- what is missing ---- */

const char *const flow_count_names[COUNTS] = {
	[COUNT_SENDS] = "sends", [COUNT_RECEIVES] = "receives", [COUNT_MESSAGES] = "messages",
	[COUNT_UNSURE] = "unsure", [COUNT_AMBIGUOUS] = "ambiguous", [COUNT_UNRECEIVED] = "not_received",
	[COUNT_UNRECEIVED_BYTES] = "not_received_bytes", [COUNT_UNSENT] = "not_sent", [COUNT_UNSENT_BYTES] = "not_sent_bytes",
	[COUNT_UNKNOWN_SENDS] = "unknown_sends", [COUNT_UNKNOWN_RECEIVES] = "unknown_receives", [COUNT_CUT] = "cut",
	[COUNT_LATE] = "late", [COUNT_REUSED] = "reused", [COUNT_NEGATIVE] = "negative", [COUNT_OVERTAKEN] = "overtaken",
	[COUNT_DROPPED] = "dropped", [COUNT_PEERS_MORE] = "peers_more", [COUNT_CHAIN_UNCLEAR] = "chains_unclear",
	[COUNT_CHAIN_UNKNOWN] = "chains_unknown", [COUNT_CHAIN_DEEP] = "chains_deep", [COUNT_LOST] = "lost",
};

static const char *const count_texts[COUNTS] = {
	[COUNT_UNSURE] = "messages of which it is not sure by which receive of the process they came",
	[COUNT_AMBIGUOUS] = "messages that one of several processes received: operations overlapped in time",
	[COUNT_UNRECEIVED] = "messages that nobody traced received",
	[COUNT_UNRECEIVED_BYTES] = "bytes that nobody traced received",
	[COUNT_UNSENT] = "receives with bytes that nobody traced sent, or that were sent before the trace",
	[COUNT_UNSENT_BYTES] = "bytes that nobody traced sent",
	[COUNT_UNKNOWN_SENDS] = "sends without a position: not matched",
	[COUNT_UNKNOWN_RECEIVES] = "receives without a position: not matched",
	[COUNT_CUT] = "datagrams that were cut: not matched",
	[COUNT_LATE] = "messages that went out before the peer was in, or was refused",
	[COUNT_REUSED] = "channels that began anew",
	[COUNT_NEGATIVE] = "messages that seem to be received before they were sent: clocks of hosts differ, or a thread had to wait before the event",
	[COUNT_OVERTAKEN] = "operations that took so long that others which overlapped them were matched before",
	[COUNT_DROPPED] = "operations given up, as too many waited for their other end",
	[COUNT_PEERS_MORE] = "further processes that messages led to: not listed",
	[COUNT_CHAIN_UNCLEAR] = "receives whose sender is not sure: what was sent because of them stands by itself",
	[COUNT_CHAIN_UNKNOWN] = "answers whose calls are not known",
	[COUNT_CHAIN_DEEP] = "calls more than 64 deep: they stand by themselves",
};

void flow_missing_write(const struct flow *f, FILE *out)
{
	int any = 0;

	for (int i = COUNT_UNSURE; i < COUNT_LOST; i++)
		if (f->counts[i]) {
			if (!any++)
				fputs("\n", out);
			fprintf(out, "%12" PRIu64 "  %s\n", f->counts[i], count_texts[i]);
		}
}

/* ---- all of it ---- */

int flow_write(struct flow *f, uint32_t depth, FILE *out)
{
	uint32_t count;
	struct flow_edge **list = flow_edges_list(f, &count);

	if (!list)
		return -ENOMEM;
	if (count)
		edges_write(list, count, out);
	free(list);
	chains_write(f, depth, out);
	peers_write(f, out);
	flow_missing_write(f, out);
	return output_status(out);
}

static void dot_string(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', out);
		putc(*text, out);
	}
}

int flow_dot_write(const struct flow *f, FILE *out)
{
	uint32_t count;
	struct flow_edge **list = flow_edges_list(f, &count);
	uint8_t *named = calloc(f->calls->process_count + 1, 1);
	char text[NAME_SIZE], median[40], most[40];

	fputs("digraph flow {\n\tnode [shape=box];\n", out);
	for (uint32_t i = 0; list && named && i < count; i++) {
		const struct flow_edge *e = list[i];

		for (int end = 0; end < 2; end++) {
			const struct call_process *p = end ? e->to : e->from;

			if (named[p->number]++)
				continue;
			flow_process_text(p, text, sizeof(text));
			fprintf(out, "\tp%" PRIu32 " [label=\"", p->number);
			dot_string(text, out);
			fputs("\"];\n", out);
		}
		fprintf(out, "\tp%" PRIu32 " -> p%" PRIu32 " [label=\"", e->from->number, e->to->number);
		dot_string(e->kind, out);
		if (*e->to_text) {
			putc(' ', out);
			dot_string(e->to_text, out);
		}
		fprintf(out, "\\n%" PRIu64 " messages, %" PRIu64 " bytes", e->messages, e->bytes);
		if (e->latency.count)
			fprintf(out, "\\nmedian %s, max %s", time_or_dash(times_quantile(&e->latency, 0.5), 1, median),
				time_or_dash(e->latency.max, 1, most));
		if (e->ambiguous)
			fprintf(out, "\\n%" PRIu64 " more that may be another process's", e->ambiguous);
		fputs(e->messages ? "\"];\n" : "\", style=dashed];\n", out);
	}
	fputs("}\n", out);
	free(named);
	free(list);
	return list && named ? output_status(out) : -ENOMEM;
}
