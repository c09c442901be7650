/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Trace Compass keeps a stack for each thread: an entry pushes, an exit pops
 * whatever is on top, and nothing ever brings the two together again when they
 * have come apart; of two events with the same time it drops one. So each exit
 * must be that of the innermost open call, and time must increase strictly.
 */
#include <stdlib.h>
#include <string.h>
#include "calls.h"

#define EXIT_MARK UINT32_MAX
#define PROBLEMS_MAX 16

static struct thread {
	int vpid, vtid;
	uint64_t time;
	uint32_t *stack;
	uint64_t depth, room;
	uint32_t *kept;
	uint64_t kept_count, kept_room;
} *threads;
static uint32_t thread_count, thread_room, *thread_buckets, thread_mask;
static struct call_totals sum;
static int keep;

static struct problem {
	const char *what;
	int vpid, vtid;
	uint64_t time, addr, site;
	uint32_t pair;
} problems[PROBLEMS_MAX];
static int problem_count;

static uint32_t thread_bucket(int vpid, int vtid)
{
	uint32_t at = ((uint32_t) vtid * 2654435761U ^ (uint32_t) vpid * 40503U) & thread_mask;

	for (; thread_buckets[at]; at = (at + 1) & thread_mask)
		if (threads[thread_buckets[at] - 1].vtid == vtid && threads[thread_buckets[at] - 1].vpid == vpid)
			break;
	return at;
}

static void threads_grow(void)
{
	thread_room = thread_room ? 2 * thread_room : 256;
	threads = realloc(threads, thread_room * sizeof(*threads));
	free(thread_buckets);
	thread_buckets = calloc(4 * thread_room, sizeof(*thread_buckets));
	thread_mask = 4 * thread_room - 1;
	for (uint32_t i = 0; i < thread_count; i++)
		thread_buckets[thread_bucket(threads[i].vpid, threads[i].vtid)] = i + 1;
}

static void problem(const char *what, const struct call_record *record, uint32_t pair)
{
	if (problem_count < PROBLEMS_MAX)
		problems[problem_count++] = (struct problem) {
			what, record->vpid, record->vtid, record->time, record->addr, record->site, pair,
		};
}

static struct thread *thread_of(const struct call_record *record)
{
	static uint32_t last;
	uint32_t at;

	if (last >= thread_count || threads[last].vtid != record->vtid || threads[last].vpid != record->vpid) {
		if (thread_count == thread_room)
			threads_grow();
		at = thread_bucket(record->vpid, record->vtid);
		if (!thread_buckets[at]) {
			threads[thread_count] = (struct thread) { .vpid = record->vpid, .vtid = record->vtid };
			thread_buckets[at] = ++thread_count;
		}
		last = thread_buckets[at] - 1;
	}
	if (record->time <= threads[last].time) {
		sum.clock++;
		problem("not later than the event before it", record, EXIT_MARK);
	}
	threads[last].time = record->time;
	return &threads[last];
}

static void append(uint32_t **array, uint64_t *count, uint64_t *room, uint32_t value)
{
	if (*count == *room) {
		*room = *room ? 2 * *room : 64;
		*array = realloc(*array, *room * sizeof(**array));
	}
	(*array)[(*count)++] = value;
}

void thread_entry(const struct call_record *record)
{
	struct thread *thread = thread_of(record);
	uint32_t pair = pair_count(record->vpid, record->addr, record->site);

	sum.entries++;
	append(&thread->stack, &thread->depth, &thread->room, pair);
	if (thread->depth > sum.deepest)
		sum.deepest = thread->depth;
	if (keep)
		append(&thread->kept, &thread->kept_count, &thread->kept_room, pair);
}

void thread_exit(const struct call_record *record)
{
	struct thread *thread = thread_of(record);
	uint32_t pair;

	sum.exits++;
	if (keep)
		append(&thread->kept, &thread->kept_count, &thread->kept_room, EXIT_MARK);
	if (!thread->depth) {
		sum.orphans++;
		problem("exit without entry", record, EXIT_MARK);
		return;
	}
	pair = thread->stack[--thread->depth];
	if (!record->has_addr)
		return;
	if (pair_addr(pair) != record->addr) {
		sum.crossed++;
		problem("exit of another function than the innermost", record, pair);
	} else if (pair_site(pair) != record->site) {
		sum.sites++;
		problem("exit of another call than the innermost", record, pair);
	}
}

/* Is it in a call of that function (PATH+0xOFFSET)? */
static int thread_is_in(const struct thread *thread, const char *function)
{
	char text[8192];

	for (uint64_t k = 0; k < thread->depth; k++) {
		pair_name(thread->stack[k], text, sizeof(text));
		text[strcspn(text, "\t")] = 0;
		if (!strcmp(text, function))
			return 1;
	}
	return 0;
}

static int process_is_in(int vpid, const char *function)
{
	for (uint32_t i = 0; function && i < thread_count; i++)
		if (threads[i].vpid == vpid && thread_is_in(&threads[i], function))
			return 1;
	return 0;
}

void threads_total(struct call_totals *totals, const char *deadly)
{
	struct call_record end = { 0 };

	sum.open = 0;
	for (uint32_t i = 0; i < thread_count; i++) {
		struct thread *thread = &threads[i];

		if (thread->depth && process_is_in(thread->vpid, deadly))
			continue;
		sum.open += thread->depth;
		end = (struct call_record) { .vpid = thread->vpid, .vtid = thread->vtid, .time = thread->time };
		for (uint64_t k = thread->depth; k--;)
			problem("open at the end", &end, thread->stack[k]);
	}
	sum.threads = thread_count;
	*totals = sum;
}

void threads_problems(FILE *out)
{
	char text[8192];

	for (int i = 0; i < problem_count; i++) {
		const struct problem *p = &problems[i];
		uint32_t own = p->addr ? pair_count(p->vpid, p->addr, p->site) : EXIT_MARK;

		fprintf(out, "%s: process %d thread %d time %llu", p->what, p->vpid, p->vtid, (unsigned long long) p->time);
		if (own != EXIT_MARK) {
			pair_name(own, text, sizeof(text));
			fprintf(out, " event %s", text);
		}
		if (p->pair != EXIT_MARK) {
			pair_name(p->pair, text, sizeof(text));
			fprintf(out, " call %s", text);
		}
		fputc('\n', out);
	}
}

void threads_keep(void)
{
	keep = 1;
}

void threads_print(FILE *out)
{
	char text[8192];

	for (uint32_t i = 0; i < thread_count; i++) {
		fprintf(out, "thread %d %d\n", threads[i].vpid, threads[i].vtid);
		for (uint64_t k = 0; k < threads[i].kept_count; k++) {
			if (threads[i].kept[k] == EXIT_MARK) {
				fputs("<\n", out);
				continue;
			}
			pair_name(threads[i].kept[k], text, sizeof(text));
			fprintf(out, ">\t%s\n", text);
		}
	}
}

static uint64_t text_hash(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	while (*text)
		hash = (hash ^ (unsigned char) *text++) * 0x100000001b3ULL;
	return hash;
}

void threads_hash(FILE *out)
{
	uint64_t *names = NULL; /* by pair, made when first met */
	uint32_t room = 0;
	char text[8192];

	for (uint32_t i = 0; i < thread_count; i++) {
		uint64_t hash = 1, entries = 0;

		for (uint64_t k = 0; k < threads[i].kept_count; k++) {
			uint32_t pair = threads[i].kept[k];

			if (pair != EXIT_MARK && pair >= room) {
				names = realloc(names, (2 * (uint64_t) pair + 64) * sizeof(*names));
				for (; room < 2 * (uint64_t) pair + 64; room++)
					names[room] = 0;
			}
			if (pair != EXIT_MARK && !names[pair]) {
				pair_name(pair, text, sizeof(text));
				names[pair] = text_hash(text) | 1;
			}
			entries += pair != EXIT_MARK;
			hash = (hash ^ (pair == EXIT_MARK ? 2 : names[pair])) * 0x9e3779b97f4a7c15ULL;
			hash ^= hash >> 29;
		}
		if (!threads[i].kept_count)
			continue;
		if (threads[i].kept[0] == EXIT_MARK)
			snprintf(text, sizeof(text), "exit");
		else
			pair_name(threads[i].kept[0], text, sizeof(text));
		fprintf(out, "%016llx\t%llu\t%s\n", (unsigned long long) hash, (unsigned long long) entries, text);
	}
	free(names);
}
