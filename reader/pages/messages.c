/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/pages/messages.h"

#define KINDS_MOST	(sizeof(((struct messages *) NULL)->kinds) / sizeof(char *))

static uint32_t kind_of(struct messages *m, const char *kind)
{
	for (uint32_t i = 0; i < m->kind_count; i++)
		if (!strcmp(m->kinds[i], kind))
			return i;
	if (m->kind_count == KINDS_MOST)
		return KINDS_MOST - 1;
	m->kinds[m->kind_count] = strdup(kind);
	return m->kinds[m->kind_count] ? m->kind_count++ : UINT32_MAX;
}

static int64_t took(const struct message_kept *k)
{
	return k->end - k->begin;
}

static void swap(struct message_kept *a, struct message_kept *b)
{
	const struct message_kept other = *a;

	*a = *b;
	*b = other;
}

static void heap_down(struct messages *m)
{
	for (uint32_t at = 0, least; (least = 2 * at + 1) < m->count; at = least) {
		if (least + 1 < m->count && took(&m->list[least + 1]) < took(&m->list[least]))
			least++;
		if (took(&m->list[at]) <= took(&m->list[least]))
			return;
		swap(&m->list[at], &m->list[least]);
	}
}

int messages_take(struct messages *m, const struct flow_message *message)
{
	const struct flow_op *send = message->send, *receive = message->receive;
	struct message_kept kept;
	struct message_kept *more;
	uint32_t at;

	if (!receive)
		return 0;
	kept = (struct message_kept) { .begin = send->begin, .sent = send->end, .asked = receive->begin, .end = receive->end,
		.bytes = send->bytes, .from = send->thread->number, .to = receive->thread->number,
		.kind = kind_of(m, send->channel->kind) };
	if (kept.kind == UINT32_MAX)
		return -ENOMEM;
	if (!m->all++ || kept.begin < m->first)
		m->first = kept.begin;
	if (m->all == 1 || kept.end > m->last)
		m->last = kept.end;
	if (m->count == MESSAGES_MOST) {
		if (took(&kept) > took(&m->list[0])) {
			m->list[0] = kept;
			heap_down(m);
		}
		return 0;
	}
	if (m->count == m->room) {
		more = realloc(m->list, (m->room ? m->room * 2 : 256) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		m->list = more;
		m->room = m->room ? m->room * 2 : 256;
	}
	m->list[at = m->count++] = kept;
	for (; at && took(&m->list[at]) < took(&m->list[(at - 1) / 2]); at = (at - 1) / 2)
		swap(&m->list[at], &m->list[(at - 1) / 2]);
	return 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct message_kept *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

int messages_write(struct messages *m, int64_t origin, FILE *out)
{
	if (m->count)
		qsort(m->list, m->count, sizeof(*m->list), by_begin);
	fprintf(out, ",\n\"messages_all\":%" PRIu64 ",\"kinds\":[", m->all);
	for (uint32_t i = 0; i < m->kind_count; i++) {
		fputs(i ? "," : "", out);
		json_string(out, m->kinds[i]);
	}
	fputs("],\n\"messages\":[", out);
	for (uint32_t i = 0; i < m->count; i++) {
		const struct message_kept *k = &m->list[i];

		fprintf(out, "%s[%" PRIu32 ",%" PRIu32 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu32 "]",
			i ? ",\n" : "\n", k->from, k->to, k->begin - origin, k->sent - k->begin, k->asked - k->begin, k->end - k->begin,
			k->bytes, k->kind);
	}
	putc(']', out);
	return output_status(out);
}

void messages_free(struct messages *m)
{
	for (uint32_t i = 0; i < m->kind_count; i++)
		free(m->kinds[i]);
	free(m->list);
}
