/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * `spi-codemap find`: names near a misspelt one, by edit distance (a swap of neighbours counts
 * one), with a lower price for letter case, and by one name containing the other.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "codemap/request/request.h"

#define NAME_MAX_	256u
#define SHOWN		5u
#define KEPT		32u	/* lines of one object */

struct near_name {
	unsigned int distance;
	const char *name;
};

/* Price of turning a into b, in halves: other letter case 1, any other edit 2; `limit` or more when it is not near. */
static unsigned int edit_distance(const char *a, const char *b, unsigned int limit)
{
	static unsigned int row[3][NAME_MAX_ + 1];
	size_t n = strlen(a), m = strlen(b), i, k;

	if (n > NAME_MAX_ || m > NAME_MAX_ || (n > m ? n - m : m - n) * 2 >= limit)
		return limit;
	for (k = 0; k <= m; k++)
		row[0][k] = (unsigned int) k * 2;
	for (i = 1; i <= n; i++) {
		unsigned int *last = row[(i - 1) % 3], *now = row[i % 3], *before = row[(i + 1) % 3], best = limit;

		now[0] = (unsigned int) i * 2;
		for (k = 1; k <= m; k++) {
			unsigned int price = a[i - 1] == b[k - 1] ? 0
					     : tolower((unsigned char) a[i - 1]) == tolower((unsigned char) b[k - 1])
						     ? 1
						     : 2;

			now[k] = last[k - 1] + price;
			if (last[k] + 2 < now[k])
				now[k] = last[k] + 2;
			if (now[k - 1] + 2 < now[k])
				now[k] = now[k - 1] + 2;
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
				before[k - 2] + 2 < now[k])
				now[k] = before[k - 2] + 2;
			if (now[k] < best)
				best = now[k];
		}
		if (best >= limit)
			return limit;
	}
	return row[n % 3][m];
}

/* 0: the same name. Otherwise smaller is nearer; `limit`: not near. */
static unsigned int name_distance(const char *wanted, const char *name, unsigned int limit)
{
	size_t a = strlen(wanted), b = strlen(name);
	unsigned int distance;

	if (!strcmp(wanted, name))
		return 0;
	distance = edit_distance(wanted, name, limit < 2 + a ? limit : (unsigned int) (2 + a));
	if (a >= 3 && strstr(name, wanted) && 4 + (b - a) / 4 < distance)
		distance = (unsigned int) (4 + (b - a) / 4);
	else if (b >= 4 && strstr(wanted, name) && 6 + (a - b) / 2 < distance)
		distance = (unsigned int) (6 + (a - b) / 2);
	if (distance >= 2 + a)
		return limit;
	return distance ? distance : 1;
}

static int near_compare(const void *x, const void *y)
{
	const struct near_name *a = x, *b = y;

	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void near_add(struct near_name *list, size_t *count, unsigned int distance, const char *name)
{
	size_t i;

	for (i = 0; i < *count; i++)
		if (!strcmp(list[i].name, name))
			return;
	if (*count == KEPT) {
		if (distance >= list[KEPT - 1].distance)
			return;
		--*count;
	}
	list[*count].distance = distance;
	list[(*count)++].name = mem_string(name, strlen(name));
	qsort(list, *count, sizeof(*list), near_compare);
}

void find_write(const struct functions *functions, const char *name, int out_fd)
{
	struct near_name list[KEPT];
	struct text lines = { 0 };
	struct pattern pattern;
	size_t count = 0, i, k;

	pattern_parse(&pattern, name);
	for (i = 0; i < functions->list.count; i++) {
		const struct function *f = &functions->list.at[i];

		if (f->reason == SPI_REASON_PLT || f->reason == SPI_REASON_PART)
			continue;
		if (pattern.is_address) {
			if (f->vaddr == pattern.address)
				near_add(list, &count, 0, name);
			continue;
		}
		if (!f->alias_count && pattern_glob(name, f->name))	/* stripped: sub_<address> */
			near_add(list, &count, 0, f->name);
		for (k = 0; k < f->alias_count; k++) {
			const char *alias = functions->aliases.at[f->alias_first + k].name,
				   *full = name_demangle(alias);
			unsigned int limit = count == KEPT ? list[KEPT - 1].distance : 1000, distance;
			char *base = full ? name_base(full) : NULL;

			if (pattern_glob(name, alias) || pattern_glob(name, name_unclone(alias)) ||
			    (base && (pattern_glob(name, base) || pattern_glob(name, name_unclone(base)))) ||
			    (full && pattern.has_parameters && pattern_glob(name, full))) {
				near_add(list, &count, 0, alias);
				continue;
			}
			distance = name_distance(name, base ? base : alias, limit);
			if (base && strrchr(base, ':')) {	/* the method's own name will do */
				unsigned int last = name_distance(name, strrchr(base, ':') + 1, limit);

				distance = last < distance ? last + 1 : distance;
			}
			if (distance < limit)
				near_add(list, &count, distance ? distance : 1, base ? base : alias);
		}
	}
	for (i = 0; i < count; i++)
		text_add(&lines, mem_format("%u\t%s\n", list[i].distance, list[i].name));
	write_or_fail(out_fd, lines.at, lines.count, "the output");
}

int find_print(const char *lines, size_t size)
{
	struct vec_of(struct near_name) all = { 0 };
	const char *end = lines + size, *next;
	const char *last = "";
	size_t i, shown = 0;

	for (; lines < end; lines = next + 1) {
		struct near_name *one;
		const char *tab;

		next = memchr(lines, '\n', (size_t) (end - lines));
		if (!next)
			break;
		tab = memchr(lines, '\t', (size_t) (next - lines));
		if (!tab)
			continue;
		one = vec_push(&all);
		one->distance = (unsigned int) strtoul(lines, NULL, 10);
		one->name = mem_string(tab + 1, (size_t) (next - tab - 1));
	}
	if (all.count)
		qsort(all.at, all.count, sizeof(*all.at), near_compare);
	for (i = 0; i < all.count; i++) {
		int exact = !all.at[i].distance;

		if (!strcmp(last, all.at[i].name) || (!exact && (shown == SHOWN || !all.at[0].distance)))
			continue;
		last = all.at[i].name;
		puts(last);
		shown++;
	}
	return all.count && !all.at[0].distance ? EXIT_DONE : EXIT_BAD;
}
