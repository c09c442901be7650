/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The tags of the rules that asked for a point: "|TAG|TAG|".
 *
 * A tag stands in a point's text once for each rule with that tag that is in
 * force, so that two rules with one tag may come and go in any order. The texts
 * are kept for ever, each once: a filter in another thread may be reading the one
 * that is being replaced. There are as many as there are sets of rules that ever
 * met in a function.
 *
 * Control side only, under the control lock.
 */
#include <string.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/rules/internal.h"

#define TAGS_MAX 1024u	/* bytes of one point's text: some hundred rules */

struct text {
	struct text *next;
	char tags[];
};

static struct text *texts;

static const char *text_keep(const char *tags)
{
	size_t n = strlen(tags) + 1;
	struct text *text = texts;

	while (text && strcmp(text->tags, tags))
		text = text->next;
	if (text)
		return text->tags;
	text = spi_alloc(sizeof(*text) + n);
	if (!text)
		return NULL;
	memcpy(text->tags, tags, n);
	text->next = texts;
	texts = text;
	return text->tags;
}

const char *spi_tags_text(const char *was, const char *tag, int add)
{
	char now[TAGS_MAX];
	size_t n = strlen(was), t = strlen(tag);

	if (n >= sizeof(now))
		return NULL;
	if (add) {
		if (n + t + 3 > sizeof(now))
			return NULL;
		spi_format(now, sizeof(now), "%s%s%s|", n ? "" : "|", was, tag);
		return text_keep(now);
	}
	for (const char *at = strchr(was, '|'); at && at[1]; at = strchr(at + 1, '|'))
		if (!strncmp(at + 1, tag, t) && at[t + 1] == '|') {
			size_t head = (size_t) (at - was);

			memcpy(now, was, head);
			memcpy(now + head, at + t + 1, n - head - t);	/* with the NUL */
			return text_keep(now[1] ? now : "");
		}
	return was;
}

void spi_tags_change(struct spi_point **points, uint32_t count, const char *tag, int add)
{
	const char *was = NULL, *now = NULL;
	uint32_t failed = 0;

	for (uint32_t i = 0; i < count; i++) {
		const char *mine = points[i]->tags ? points[i]->tags : "";

		if (!points[i]->payload)
			continue;
		if (mine != was) {		/* neighbours mostly have the same rules */
			was = mine;
			now = spi_tags_text(was, tag, add);
		}
		if (now && spi_payload->set_tags && spi_payload->set_tags(points[i], now) == 0)
			points[i]->tags = now;
		else
			failed++;
	}
	if (failed)
		spi_note("%u functions are recorded for too many rules already: the last rule records nothing of them", failed);
}

void spi_tags_clear(struct spi_point *point)
{
	if (point->tags && *point->tags && spi_payload->set_tags && spi_payload->set_tags(point, "") == 0)
		point->tags = "";
}
