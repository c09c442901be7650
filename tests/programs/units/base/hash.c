/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The hash table: entries are found, also those of one hash, while others come, go, and move to more buckets. */
#include <stdio.h>

#include "liblttng-spi/base/base.h"

#define ENTRIES 1000u

struct entry {
	struct spi_hash_link link;
	unsigned int key, value;
};

static struct entry entries[ENTRIES];
static struct spi_hash_link *few[4], *many[512];
static struct spi_hash table;
static unsigned int checks, failures;

static void check(int good, const char *name)
{
	checks++;
	failures += !good;
	printf("%sok %u - %s\n", good ? "" : "not ", checks, name);
}

/* Eight keys have one hash. */
static uint64_t hash_of(unsigned int key)
{
	return spi_hash_number(key / 8);
}

static struct entry *find(unsigned int key)
{
	struct entry *e = spi_hash_find(&table, hash_of(key));

	while (e && e->key != key)
		e = spi_hash_again(&e->link);
	return e;
}

/* Are exactly the keys from `first` on in the table, `step` apart? */
static int has_exactly(unsigned int first, unsigned int step)
{
	unsigned int there = 0, seen = 0;

	for (unsigned int i = 0; i < ENTRIES; i++) {
		int wanted = i >= first && (i - first) % step == 0;

		if ((find(i) == &entries[i]) != wanted || (!wanted && find(i)))
			return 0;
		there += (unsigned int) wanted;
	}
	for (struct entry *e = spi_hash_next(&table, NULL); e; e = spi_hash_next(&table, &e->link))
		seen += e->key >= first && (e->key - first) % step == 0 ? 1 : ENTRIES;
	return seen == there && table.count == there;
}

int main(void)
{
	struct entry latest = { .key = 7, .value = 1 };

	check(!find(0) && !spi_hash_next(&table, NULL), "a table without buckets has nothing");
	spi_hash_move(&table, few, sizeof(few) / sizeof(few[0]));
	check(has_exactly(ENTRIES, 1), "nor has an empty one");
	for (unsigned int i = 0; i < ENTRIES; i++) {
		entries[i].key = i;
		spi_hash_add(&table, &entries[i].link, hash_of(i));
	}
	check(has_exactly(0, 1), "all that were added are there, each once");
	spi_hash_move(&table, many, sizeof(many) / sizeof(many[0]));
	check(has_exactly(0, 1), "also in more buckets");
	for (unsigned int i = 0; i < ENTRIES; i += 2)
		spi_hash_remove(&table, &entries[i].link);
	check(has_exactly(1, 2), "those that were removed are not there, the others are");
	spi_hash_add(&table, &latest.link, hash_of(7));
	check(find(7) == &latest, "of one key the latest is found first");
	spi_hash_remove(&table, &latest.link);
	check(has_exactly(1, 2), "then the former one again");
	check(spi_hash_text(spi_hash_text(SPI_HASH_SEED, "ab"), "c") == UINT64_C(0xe71fa2190541574b),
	      "a text's hash is FNV-1a");
	printf("1..%u\n", checks);
	return failures != 0;
}
