/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* How a page is written: what the build assembled, with compressed data in its middle. */
#include <errno.h>
#include <inttypes.h>
#include <time.h>
#include "reader/base/text.h"
#include "reader/pages/pages.h"

int page_part(const char *head, page_writer *write, void *data, FILE *page)
{
	FILE *out;
	int r;

	fprintf(page, "<script type=\"text/plain\" %s>", head);
	out = pack_open(page);
	if (!out)
		return -ENOMEM;
	r = write(data, out);
	if (fclose(out) != 0 && r == 0)
		r = -EPIPE;
	fputs("</script>\n", page);
	return r;
}

void page_date_write(int64_t origin, FILE *out)
{
	const time_t seconds = (time_t) (origin / 1000000000);
	struct tm tm = { .tm_year = 70 };
	char date[64] = "";

	if (localtime_r(&seconds, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S %Z", &tm);
	fputs(",\"date\":", out);
	json_string(out, date);
	fprintf(out, ",\"clock\":%" PRId64, ((int64_t) tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec) * 1000000000 +
		origin % 1000000000);
}

int page_write(enum page_kind kind, const char *head, page_writer *write, void *data, FILE *page)
{
	int r = page_begin(kind, page);

	if (r == 0)
		r = page_part(head, write, data, page);
	return r == 0 ? page_end(kind, page) : r;
}

struct graphs {
	const char *title;
	page_writer *frames, *profiles;
	void *data;
};

static int graphs_write(void *data, FILE *out)
{
	const struct graphs *g = data;
	int r;

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		"\"exporter\":\"lttng-spi\",\"name\":", out);
	json_string(out, g->title);
	fputs(",\"activeProfileIndex\":0,\"shared\":", out);
	r = g->frames(g->data, out);
	fputs(",\"profiles\":[", out);
	if (r == 0)
		r = g->profiles(g->data, out);
	fputs("]}", out);
	return r;
}

int page_graphs_write(const char *title, uint64_t calls, page_writer *frames, page_writer *profiles, void *data, FILE *page)
{
	struct graphs g = { title, frames, profiles, data };
	char head[64];

	snprintf(head, sizeof(head), "id=\"profile\" data-calls=\"%" PRIu64 "\"", calls);
	return page_write(PAGE_FLAME, head, graphs_write, &g, page);
}
