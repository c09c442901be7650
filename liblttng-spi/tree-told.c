/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What could not be done anywhere on a tree's way is kept in a list, since the
 * thread that notices is the program's, and reported when the control side comes by.
 * And the tags of trees, as texts that payloads show.
 */
#include <string.h>
#include "liblttng-spi/budget.h"

#define DECLINED_MAX	4096u		/* of which we know the place */

/* ---- what could not be done ---- */

static struct {
	const struct spi_tree_object *to;
	uint64_t address;
	const char *reason;
} declined[DECLINED_MAX];
static uint32_t declined_count, declined_told;

void spi_tree_decline(const struct spi_tree_object *to, uint64_t address, const char *reason)
{
	if (declined_count < DECLINED_MAX) {
		declined[declined_count].to = to;
		declined[declined_count].address = address;
		declined[declined_count].reason = reason ? reason : "cannot be redirected";
	}
	declined_count++;
}

void spi_tree_report(struct spi_link *link)
{
	uint64_t before = spi_patch_lock();
	uint32_t end = declined_count < DECLINED_MAX ? declined_count : DECLINED_MAX, from = declined_told;

	declined_told = end;
	spi_patch_unlock(before);
	for (; from < end; from++) {
		const struct spi_tree_object *to = declined[from].to;
		int64_t func = to->gone ? -1 : spi_tree_func_around(to, declined[from].address);
		char where[400];

		spi_format(where, sizeof(where), "%s+0x%lx", func < 0 ? "" : spi_tree_func_name(to, (uint64_t) func),
			declined[from].address - to->object->bias - (func < 0 ? 0 : spi_tree_map_func(to, (uint64_t) func)->vaddr));
		spi_link_declined(link, to->object->name, where, declined[from].reason);
	}
	if (link)
		spi_link_declined_flush(link);
}

/* The process ends, in whatever thread, and the control side may be at anything. */
void spi_tree_process_end(void)
{
	if (!spi_trees || !spi_control_try())
		return;
	spi_tree_report(spi_link_current);
	spi_site_share_tell();
	spi_budget_tell(spi_link_current, 1);
	spi_tree_hot(spi_link_current);
	spi_control_unlock();
}

/* ---- tags ---- */

/* Texts of sets of trees, made when they are first asked for, in any thread, and kept for ever. */
static struct tags {
	struct tags *next;
	uint32_t trees, version;
	char text[SPI_TREES_MAX * 18 + 2];
} *tags;
static char tag_of[SPI_TREES_MAX][16];
uint32_t spi_tree_tagged;
static uint32_t tags_version;

void spi_tree_tag_set(uint32_t index, const char *tag)
{
	uint64_t before = spi_patch_lock();

	spi_bytes_copy(tag_of[index], tag, sizeof(tag_of[index]));
	spi_tree_tagged = tag[0] ? spi_tree_tagged | 1u << index : spi_tree_tagged & ~(1u << index);
	__atomic_fetch_add(&tags_version, 1, __ATOMIC_RELEASE);
	spi_patch_unlock(before);
}

static struct tags *tags_find(uint32_t trees, uint32_t version)
{
	struct tags *t = __atomic_load_n(&tags, __ATOMIC_ACQUIRE);

	while (t && (t->trees != trees || t->version != version))
		t = t->next;
	return t;
}

const char *spi_tree_tags(uint32_t trees)
{
	uint32_t version = __atomic_load_n(&tags_version, __ATOMIC_ACQUIRE), n = 0;
	struct tags *t = tags_find(trees, version);
	uint64_t before;

	if (t)
		return t->text;
	before = spi_patch_lock();
	t = spi_alloc(sizeof(*t));
	for (uint32_t i = 0; t && i < SPI_TREES_MAX; i++) {
		if (!(trees >> i & 1) || !tag_of[i][0])
			continue;
		t->text[n] = '|';
		for (const char *c = tag_of[i]; *c; c++)
			t->text[++n] = *c;
		t->text[++n] = '|';
	}
	if (t) {
		t->trees = trees;
		t->version = version;
		t->next = tags;
		__atomic_store_n(&tags, t, __ATOMIC_RELEASE);
	}
	spi_patch_unlock(before);
	return t ? t->text : "";
}
