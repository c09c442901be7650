/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A record that one thread writes in the name of another.
 *
 * lttng-ust (2.13 to 2.15) keeps a thread's id for the context vtid in one word of its thread-local memory, from the
 * first record with that context on. While the record is written the word has the other thread's id. The word lies at
 * the same place in all threads: the module looks for the id behind a thread's first record. Where several words have
 * it, as small numbers are frequent, another thread tells.
 */
#include <link.h>
#include <string.h>
#include "tp/ust/ust.h"

static struct {
	unsigned long module, offset;
} ust_tls;			/* lttng-ust's thread-local memory, for __tls_get_addr() */
static size_t word_count;
static uint32_t word_place;	/* the word's number, from 1 on; 0: not known */

static int find_ust_tls(struct dl_phdr_info *info, size_t size, void *unused)
{
	const char *name = strrchr(info->dlpi_name, '/');

	(void) size;
	(void) unused;
	if (strncmp(name ? name + 1 : info->dlpi_name, "liblttng-ust.so", 15) != 0)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS)
			word_count = info->dlpi_phdr[i].p_memsz / sizeof(int32_t);
	ust_tls.module = info->dlpi_tls_modid;
	return 1;
}

void tp_in_name_init(void)
{
	dl_iterate_phdr(find_ust_tls, NULL);
}

static int32_t *own_words(void)
{
	extern void *__tls_get_addr(void *index);

	return __tls_get_addr(&ust_tls);
}

__attribute__((noinline)) void tp_in_name_learn(int32_t tid)
{
	const int is_known = __atomic_load_n(&word_place, __ATOMIC_RELAXED) != 0;
	const int32_t *words = word_count && !is_known ? own_words() : NULL;
	uint32_t n = 0, found = 0;

	for (uint32_t i = 0; words && i < word_count; i++)
		if (words[i] == tid) {
			found = i + 1;
			n++;
		}
	if (n == 1)
		__atomic_store_n(&word_place, found, __ATOMIC_RELAXED);
}

/* The calling thread's word; NULL: not known, or what was taken for the word is another value. */
static int32_t *own_word(int32_t tid)
{
	uint32_t place;
	int32_t *word;

	tp_in_name_learn(tid);
	place = __atomic_load_n(&word_place, __ATOMIC_RELAXED);
	word = place ? own_words() + place - 1 : NULL;
	if (!word || !*word || *word == tid)
		return word;
	__atomic_store_n(&word_place, 0, __ATOMIC_RELAXED);
	return NULL;
}

int tp_record_as(int32_t other, const struct tp_event *event, const uint8_t *record, uint32_t length,
	struct lttng_ust_event_recorder *recorder)
{
	int32_t *word = other ? own_word(tp_tid()) : NULL, was;
	int error;

	if (!other)
		return tp_record(event, record, length, recorder);
	if (!word)
		return -EAGAIN;
	was = *word;
	*word = other;
	spi_barrier();
	error = tp_record(event, record, length, recorder);
	spi_barrier();
	*word = was;
	return error;
}

void tp_in_name_forget(int32_t tid)
{
	int32_t *word = own_word(tid);

	if (word)
		*word = 0;
}
