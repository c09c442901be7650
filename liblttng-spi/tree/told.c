/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The tags of trees, as texts that payloads show; and what is told at the process's end.
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/budget/budget.h"
#include "liblttng-spi/tree/internal.h"

/* ---- the end ---- */

/* The process ends, in whatever thread, and the control side may be at anything. */
void spi_tree_process_end(void)
{
	if (!spi_trees || !spi_control_try())
		return;
	spi_tree_report(spi_link_current);
	spi_budget_tell(spi_link_current, 1);
	spi_tree_hot(spi_link_current);
	spi_control_unlock();
}

/* ---- tags ---- */

/*
 * Texts of sets of trees, made when they are first asked for, in any thread, and kept for ever. Not under the patch lock: a thread
 * that asks may be in the middle of malloc(), which a fork() that has the lock waits for, or be the thread that forks.
 */
static struct tags {
	struct tags *next;
	uint32_t trees, version;
	char text[SPI_TREES_MAX * 18 + 2];
} *tags;
struct tag {
	char text[16];
};
static const struct tag *tag_of[SPI_TREES_MAX];	/* immutable, kept for ever; NULL: none */
static uint32_t tags_version;	/* counts changes of tag_of[], after each */

/* Control side. */
void spi_tree_tag_set(uint32_t index, const char *tag)
{
	struct tag *made = tag[0] ? spi_alloc(sizeof(*made)) : NULL;

	if (made)
		spi_bytes_copy(made->text, tag, sizeof(made->text));
	__atomic_store_n(&tag_of[index], made, __ATOMIC_SEQ_CST);
	if (made)
		__atomic_fetch_or(&spi_tree_tagged, 1u << index, __ATOMIC_RELEASE);
	else
		__atomic_fetch_and(&spi_tree_tagged, ~(1u << index), __ATOMIC_RELEASE);
	__atomic_fetch_add(&tags_version, 1, __ATOMIC_SEQ_CST);
}

static struct tags *tags_find(uint32_t trees, uint32_t version)
{
	struct tags *t = __atomic_load_n(&tags, __ATOMIC_ACQUIRE);

	while (t && (t->trees != trees || t->version != version))
		t = t->next;
	return t;
}

static void tags_fill(struct tags *t, uint32_t trees, uint32_t version)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < SPI_TREES_MAX; i++) {
		const struct tag *tag = trees >> i & 1 ? __atomic_load_n(&tag_of[i], __ATOMIC_SEQ_CST) : NULL;

		if (!tag)
			continue;
		t->text[n] = '|';
		for (uint32_t k = 0; k < sizeof(tag->text) && tag->text[k]; k++)
			t->text[++n] = tag->text[k];
		t->text[++n] = '|';
	}
	t->text[n ? n + 1 : 0] = 0;
	t->trees = trees;
	t->version = version;
}

/* A text that is made while a tag changes may have the new tag and the old version: nobody looks for that version. */
const char *spi_tree_tags(uint32_t trees)
{
	uint32_t version = __atomic_load_n(&tags_version, __ATOMIC_SEQ_CST);
	struct tags *t = tags_find(trees, version);

	if (t)
		return t->text;
	t = spi_alloc(sizeof(*t));
	if (!t)
		return "";
	tags_fill(t, trees, version);
	t->next = __atomic_load_n(&tags, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&tags, &t->next, t, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return t->text;
}
