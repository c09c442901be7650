/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Chrome's trace-event format: a "B" event where a call begins and an "E" event where the call ends, an "X" event of a
 * whole call. Readers put events in order of time themselves, so events are written as the calls come, and names of
 * processes and threads at the end.
 *
 * A pid means one process there. A process whose pid another one has already, or is not known, gets a number of its own
 * above all pids.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/exports/export.h"

#define NUMBERS_FIRST	(INT64_C(1) << 24)	/* Linux has no pid from 2^22 on */
#define TEXT_MOST	16384u

struct chrome {
	FILE *out;
	const struct calls *calls;
	char **heads;			/* of functions by number: "name":...,"cat":... */
	int64_t *pids;			/* of processes by number; -1: not asked for yet */
	uint8_t *named;			/* threads by number: they have events */
	uint32_t head_room, pid_room, named_room;
	int has_any;
	uint64_t messages;
	char result[TEXT_MOST];
};

struct chrome *chrome_make(FILE *out, const struct calls *calls)
{
	struct chrome *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->out = out;
	c->calls = calls;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
	return c;
}

void chrome_free(struct chrome *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->head_room; i++)
		free(c->heads[i]);
	free(c->heads);
	free(c->pids);
	free(c->named);
	free(c);
}

/* Room for the element `at`; new bytes have the value `fill`: 0 or -1. */
static int reach(void *array, uint32_t *room, uint32_t at, size_t size, int fill)
{
	uint32_t more = *room ? *room : 64;
	char *grown;

	if (at < *room)
		return 0;
	while (more <= at)
		more *= 2;
	grown = realloc(*(void **) array, more * size);
	if (!grown)
		return -1;
	memset(grown + *room * size, fill, (more - *room) * size);
	*(void **) array = grown;
	*room = more;
	return 0;
}

/* ---- names and numbers ---- */

static const char *head_of(struct chrome *c, const struct call_function *f)
{
	size_t size;
	FILE *text;

	if (reach(&c->heads, &c->head_room, f->number, sizeof(*c->heads), 0) < 0)
		return NULL;
	if (c->heads[f->number])
		return c->heads[f->number];
	text = open_memstream(&c->heads[f->number], &size);
	if (!text)
		return NULL;
	fputs("\"name\":", text);
	json_string(text, f->name);
	if (*f->object) {
		fputs(",\"cat\":", text);
		json_string(text, f->object);
	}
	return fclose(text) == 0 ? c->heads[f->number] : NULL;
}

/* -1: no memory. */
static int64_t pid_of(struct chrome *c, const struct call_process *p)
{
	if (reach(&c->pids, &c->pid_room, p->number, sizeof(*c->pids), 0xff) < 0)
		return -1;
	if (c->pids[p->number] >= 0)
		return c->pids[p->number];
	c->pids[p->number] = p->pid > 0 && p->pid < NUMBERS_FIRST ? p->pid : NUMBERS_FIRST + p->number;
	for (uint32_t i = 0; i < c->pid_room; i++)
		if (i != p->number && c->pids[i] == c->pids[p->number])
			c->pids[p->number] = NUMBERS_FIRST + p->number;
	return c->pids[p->number];
}

static int64_t tid_of(const struct call_thread *t)
{
	return t->tid >= 0 ? t->tid : NUMBERS_FIRST + t->number;
}

static void put_number(FILE *out, uint64_t number)
{
	char text[24];
	size_t n = sizeof(text);

	do {
		text[--n] = (char) ('0' + number % 10);
	} while (number /= 10);
	fwrite_unlocked(text + n, 1, sizeof(text) - n, out);
}

/* Microseconds, with the ns behind the point. */
static void put_time(FILE *out, int64_t ns)
{
	const uint64_t value = ns < 0 ? -(uint64_t) ns : (uint64_t) ns;
	const unsigned int rest = (unsigned int) (value % 1000);

	if (ns < 0)
		putc_unlocked('-', out);
	put_number(out, value / 1000);
	putc_unlocked('.', out);
	putc_unlocked((char) ('0' + rest / 100), out);
	putc_unlocked((char) ('0' + rest / 10 % 10), out);
	putc_unlocked((char) ('0' + rest % 10), out);
}

/* What all events begin with. phase: what the format calls "ph". */
static int begin(struct chrome *c, const char *phase, const struct call_thread *t, int64_t ns)
{
	const int64_t pid = pid_of(c, t->process);

	if (pid < 0 || reach(&c->named, &c->named_room, t->number, 1, 0) < 0)
		return -1;
	c->named[t->number] = 1;
	fputs_unlocked(c->has_any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"", c->out);
	c->has_any = 1;
	fputs_unlocked(phase, c->out);
	fputs_unlocked("\",\"pid\":", c->out);
	put_number(c->out, (uint64_t) pid);
	fputs_unlocked(",\"tid\":", c->out);
	put_number(c->out, (uint64_t) tid_of(t));
	fputs_unlocked(",\"ts\":", c->out);
	put_time(c->out, ns - c->calls->merge.first_ns);
	return 0;
}

/* ---- events ---- */

/* Result, and how the call ended: members of "args". */
static void put_end(struct chrome *c, const struct call *call, const char *between)
{
	const char *left = call_left_text(call->left);

	if (!left && call->event && call_result(call, c->result, sizeof(c->result))) {
		fprintf(c->out, "%s\"result\":", between);
		call_result_json(call, c->out);
	} else if (left) {
		fprintf(c->out, "%s\"left\":\"%s\"", between, left);
	}
}

static void put_arguments(struct chrome *c, const struct call *call)
{
	if (!call->event)
		return;
	fputs(",\"args\":{\"arguments\":", c->out);
	call_arguments_json(call, c->out);
	if (call->kind == CALL_WHOLE)
		put_end(c, call, ",");
	putc('}', c->out);
}

static int lost_put(struct chrome *c, const struct call *call)
{
	fprintf(c->out, "%s{\"ph\":\"i\",\"s\":\"g\",\"pid\":0,\"tid\":0,\"ts\":", c->has_any ? ",\n" : "\n");
	c->has_any = 1;
	put_time(c->out, call->ns - c->calls->merge.first_ns);
	fprintf(c->out, ",\"name\":\"%s\",\"args\":{\"events\":%" PRIu64 "}}",
		call->stream ? "events are lost here" : "calls are missing here", call->lost);
	return output_status(c->out);
}

int chrome_take(void *chrome, const struct call *call)
{
	struct chrome *c = chrome;
	const int has_entry = call->kind != CALL_EXIT || call->begin != INT64_MIN;
	const char *head;
	int r = 0;

	if (call->kind == CALL_LOST)
		return lost_put(c, call);
	head = head_of(c, call->function);
	if (!head)
		return -ENOMEM;
	if (call->kind == CALL_ENTRY)
		r = begin(c, "B", call->thread, call->ns);
	else if (call->kind == CALL_WHOLE)
		r = begin(c, "X", call->thread, call->begin);
	else
		r = begin(c, has_entry ? "E" : "i", call->thread, call->ns);
	if (r < 0)
		return -ENOMEM;
	if (call->kind == CALL_WHOLE) {
		fputs(",\"dur\":", c->out);
		put_time(c->out, call->ns - call->begin);
	}
	if (!has_entry)
		fputs(",\"s\":\"t\"", c->out);
	if (call->kind != CALL_EXIT || !has_entry) {
		putc_unlocked(',', c->out);
		fputs_unlocked(head, c->out);
	}
	if (call->kind != CALL_EXIT) {
		put_arguments(c, call);
	} else if (call->event || call->left != SPI_LEFT_RETURN || !has_entry) {
		fputs(has_entry ? ",\"args\":{" : ",\"args\":{\"entry\":\"not recorded\"", c->out);
		put_end(c, call, has_entry ? "" : ",");
		putc('}', c->out);
	}
	putc_unlocked('}', c->out);
	return output_status(c->out);
}

/* An arrow, from where the send began to where the receive returned. */
int chrome_message(void *chrome, const struct flow_message *message)
{
	const struct flow_op *send = message->send, *receive = message->receive;
	struct chrome *c = chrome;

	for (int is_end = 0; receive && is_end < 2; is_end++) {
		if (begin(c, is_end ? "f" : "s", is_end ? receive->thread : send->thread, is_end ? receive->end : send->begin) < 0)
			return -ENOMEM;
		fprintf(c->out, ",\"id\":%" PRIu64 ",\"bp\":\"e\",\"cat\":\"message\",\"name\":", c->messages);
		json_string(c->out, *send->channel->kind ? send->channel->kind : "message");
		fprintf(c->out, ",\"args\":{\"bytes\":%" PRIu64 "}}", send->bytes);
	}
	c->messages += receive != NULL;
	return output_status(c->out);
}

/* ---- the end ---- */

static void name_put(struct chrome *c, const char *what, const struct call_thread *t, int is_thread)
{
	const struct call_process *p = t->process;
	char name[80];

	if (is_thread && t->tid != p->pid)
		snprintf(name, sizeof(name), t->tid >= 0 ? "thread %" PRId64 : "threads of one buffer", t->tid);
	else if (*p->name)
		snprintf(name, sizeof(name), "%s", p->name);
	else
		snprintf(name, sizeof(name), is_thread ? "thread %" PRId64 : "process %" PRId64, p->pid);
	fprintf(c->out, ",\n{\"ph\":\"M\",\"pid\":%" PRId64 ",\"tid\":%" PRId64 ",\"name\":\"%s\",\"args\":{\"name\":",
		pid_of(c, p), tid_of(t), what);
	json_string(c->out, name);
	fputs("}}", c->out);
}

/* Is it the first with events of its process? */
static int is_first(const struct chrome *c, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++)
		if (c->named[i] && c->calls->thread_list[i]->process == c->calls->thread_list[at]->process)
			return 0;
	return 1;
}

int chrome_end(struct chrome *c)
{
	const struct calls *calls = c->calls;

	for (uint32_t i = 0; i < calls->thread_count; i++)
		if (i < c->named_room && c->named[i]) {
			if (is_first(c, i))
				name_put(c, "process_name", calls->thread_list[i], 0);
			name_put(c, "thread_name", calls->thread_list[i], 1);
		}
	fprintf(c->out, "\n],\n\"otherData\":{\"origin\":\"%" PRId64 " ns since 1970\"}}\n", calls->merge.first_ns);
	return output_status(c->out);
}
