/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The tags of trees, as texts that payloads show; and what is told at the process's end.
 */
#include <string.h>
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

#define TAGS_TRIES	10000u

/*
 * Texts of sets of trees, made when they are first asked for, in any thread, and kept for ever. Not under the patch lock: who asks
 * may be in the middle of malloc(), which a fork() that has the lock waits for, or be the thread that forks itself.
 */
static struct tags {
	struct tags *next;
	uint32_t trees, version;
	char text[SPI_TREES_MAX * 18 + 2];
} *tags;
static char tag_of[SPI_TREES_MAX][16];
static uint32_t tags_version;	/* odd: tag_of[] is being changed */

void spi_tree_tag_set(uint32_t index, const char *tag)
{
	uint64_t before = spi_patch_lock();

	__atomic_fetch_add(&tags_version, 1, __ATOMIC_SEQ_CST);
	spi_bytes_copy(tag_of[index], tag, sizeof(tag_of[index]));
	spi_tree_tagged = tag[0] ? spi_tree_tagged | 1u << index : spi_tree_tagged & ~(1u << index);
	__atomic_fetch_add(&tags_version, 1, __ATOMIC_SEQ_CST);
	spi_patch_unlock(before);
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
		if (!(trees >> i & 1) || !tag_of[i][0])
			continue;
		t->text[n] = '|';
		for (uint32_t k = 0; k < sizeof(tag_of[i]) && tag_of[i][k]; k++)
			t->text[++n] = tag_of[i][k];
		t->text[++n] = '|';
	}
	t->text[n ? n + 1 : 0] = 0;
	t->trees = trees;
	t->version = version;
}

const char *spi_tree_tags(uint32_t trees)
{
	struct tags *made = NULL, *t;
	uint32_t version;

	/* who changes a tag is soon done, but may be preempted, and this thread the more urgent one */
	for (unsigned int i = 0; i < TAGS_TRIES; i++) {
		version = __atomic_load_n(&tags_version, __ATOMIC_SEQ_CST);
		if (version & 1) {
			spi_pause();
			continue;
		}
		t = tags_find(trees, version);
		if (t)
			return t->text;
		if (!made && !(made = spi_alloc(sizeof(*made))))
			return "";
		tags_fill(made, trees, version);
		spi_barrier();
		if (__atomic_load_n(&tags_version, __ATOMIC_SEQ_CST) == version)
			break;
	}
	if (!made)
		return "";
	made->next = __atomic_load_n(&tags, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&tags, &made->next, made, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return made->text;
}
