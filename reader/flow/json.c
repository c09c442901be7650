/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Who sent to whom as JSON: times in ns. lttng-spi(1) has the members. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "reader/base/text.h"
#include "reader/flow/flow.h"

static void text_json(const char *name, const char *text, FILE *out)
{
	fprintf(out, ",\"%s\":", name);
	json_string(out, text);
}

static void process_json(const char *name, const struct call_process *p, FILE *out)
{
	fprintf(out, "\"%s\":{\"number\":%" PRIu32 ",\"name\":", name, p->number);
	json_string(out, p->name);
	fprintf(out, ",\"pid\":%" PRId64 "}", p->pid);
}

static void times_json(const char *name, const struct times *t, FILE *out)
{
	if (!t->count)
		return;
	fprintf(out, ",\"%s\":{\"count\":%" PRIu64 ",\"sum\":%" PRId64 ",\"min\":%" PRId64 ",\"median\":%" PRId64 ",\"p99\":%" PRId64
		",\"max\":%" PRId64 "}", name, t->count, t->sum, t->min, times_quantile(t, 0.5), times_quantile(t, 0.99), t->max);
}

static void edge_json(const struct flow_edge *e, FILE *out)
{
	putc('{', out);
	process_json("from", e->from, out);
	putc(',', out);
	process_json("to", e->to, out);
	text_json("kind", e->kind, out);
	text_json("from_end", e->from_text, out);
	text_json("to_end", e->to_text, out);
	fprintf(out, ",\"channels\":%" PRIu64 ",\"messages\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"unsure\":%" PRIu64
		",\"ambiguous\":%" PRIu64 ",\"late\":%" PRIu64, e->channels, e->messages, e->bytes, e->unsure, e->ambiguous, e->late);
	times_json("latency", &e->latency, out);
	times_json("queue", &e->queue, out);
	putc('}', out);
}

static void pid_json(const char *name, int64_t pid, FILE *out)
{
	if (pid < 0)
		fprintf(out, ",\"%s\":null", name);
	else
		fprintf(out, ",\"%s\":%" PRId64, name, pid);
}

/* Parents come before their children, and a depth says whose child one is. */
static void chains_json(const struct flow_node *top, FILE *out)
{
	const char *between = "\n";

	for (const struct flow_node *n = top->child; n; n = flow_node_next(n)) {
		if (!n->shown)
			continue;
		fprintf(out, "%s{\"depth\":%" PRIu32, between, n->depth);
		text_json("from", n->from, out);
		pid_json("from_pid", n->from_pid, out);
		text_json("to", n->to, out);
		pid_json("to_pid", n->to_pid, out);
		text_json("kind", n->kind, out);
		fprintf(out, ",\"calls\":%" PRIu64 ",\"messages\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"answers\":%" PRIu64
			",\"answer_bytes\":%" PRIu64, n->calls, n->messages, n->bytes, n->answers, n->answer_bytes);
		times_json("time", &n->times, out);
		putc('}', out);
		between = ",\n";
	}
}

static void peers_json(const struct flow *f, FILE *out)
{
	const char *between = "\n";

	for (const struct flow_peer *p = f->peers; p; p = p->next) {
		if (!p->by->process->chosen)
			continue;
		fprintf(out, "%s{\"time\":%" PRId64 ",", between, p->ns);
		process_json("by", p->by->process, out);
		fprintf(out, ",\"thread\":%" PRId64 ",\"channel\":\"0x%" PRIx64 "\"", p->by->tid, p->channel->id);
		text_json("kind", p->channel->kind, out);
		text_json("from_end", p->channel->from, out);
		text_json("to_end", p->channel->to, out);
		fprintf(out, ",\"pid\":%" PRId64, p->pid);
		text_json("name", p->name, out);
		fprintf(out, ",\"status\":%d", p->status);
		text_json("reason", p->reason, out);
		fprintf(out, ",\"waited\":%" PRIu64 "}", p->took);
		between = ",\n";
	}
}

int flow_json_members(struct flow *f, uint32_t depth, FILE *out)
{
	const struct flow_node *top = flow_chains_tree(f, depth);
	uint32_t count;
	struct flow_edge **list = flow_edges_list(f, &count);

	if (!list || !top) {
		free(list);
		return -ENOMEM;
	}
	fputs("\"edges\":[", out);
	for (uint32_t i = 0; i < count; i++) {
		fputs(i ? ",\n" : "\n", out);
		edge_json(list[i], out);
	}
	free(list);
	fputs("],\n\"chains\":[", out);
	chains_json(top, out);
	fputs("],\n\"peers\":[", out);
	peers_json(f, out);
	fputs("],\n\"counts\":{", out);
	for (int i = 0; i < COUNTS; i++) {
		fprintf(out, "%s\"%s\":", i ? "," : "", flow_count_names[i]);
		if (f->counts[i] == UINT64_MAX)	/* lost, and nobody knows how many */
			fputs("null", out);
		else
			fprintf(out, "%" PRIu64, f->counts[i]);
	}
	putc('}', out);
	return output_status(out);
}

int flow_json_write(struct flow *f, uint32_t depth, FILE *out)
{
	int r;

	putc('{', out);
	r = flow_json_members(f, depth, out);
	fputs("}\n", out);
	return r == 0 ? output_status(out) : r;
}
