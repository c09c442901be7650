/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * calls [OPTION]... TRACE - checks a trace of calls, and prints what is in it.
 *
 *   --counts FILE     calls of each function
 *   --sites FILE      calls of each function from each call site
 *   --sequence FILE   every thread's entries and exits in their order
 *   --hash FILE       the same, a hash a thread
 *   --expand DIR      compact records too, through filter.lttng-spi.expand in DIR
 *   --open N          up to N calls may be open at the end (0)
 *   --dies-in FUNCTION  nor do processes count whose calls ended in that one (PATH+0xOFFSET): a signal killed them there
 *
 * One line on stdout says how many there are of each; the first problems are
 * explained on stderr. Status 1: something does not fit, or no calls at all.
 */
#include <stdlib.h>
#include <string.h>
#include "calls.h"

static uint64_t lost;

static void take(const struct call_record *record)
{
	switch (record->kind) {
	case CALL_ENTRY:
		thread_entry(record);
		break;
	case CALL_EXIT:
		thread_exit(record);
		break;
	case CALL_START:
		objects_start(record->vpid);
		break;
	case CALL_OBJECT:
	case CALL_LOAD:
		objects_add(record->vpid, record->addr, record->site, record->path, record->kind == CALL_LOAD);
		break;
	case CALL_UNLOAD:
		objects_remove(record->vpid, record->addr);
		break;
	case CALL_LOST:
		lost += record->addr;
		break;
	}
}

static void with_sites(FILE *out)
{
	pairs_print(out, 1);
}

static void without_sites(FILE *out)
{
	pairs_print(out, 0);
}

static int print_to(const char *path, void (*print)(FILE *out))
{
	FILE *out;

	if (!path)
		return 0;
	out = fopen(path, "w");
	if (!out) {
		perror(path);
		return 1;
	}
	print(out);
	return fclose(out) ? 1 : 0;
}

enum { COUNTS, SITES, SEQUENCE, HASH, EXPAND, OPEN, DIES_IN, OPTIONS };
static const char *const names[OPTIONS] = { "--counts", "--sites", "--sequence", "--hash", "--expand", "--open",
	"--dies-in" };
static const char *value[OPTIONS];

static const char *options(int argc, char **argv)
{
	int i = 1;

	for (; i + 1 < argc; i += 2) {
		int option = 0;

		while (option < OPTIONS && strcmp(names[option], argv[i]))
			option++;
		if (option == OPTIONS)
			break;
		value[option] = argv[i + 1];
	}
	return i + 1 == argc ? argv[i] : NULL;
}

int main(int argc, char **argv)
{
	const char *trace = options(argc, argv);
	struct call_totals t;
	int failed = 0;

	if (!trace) {
		fputs("usage: calls [--counts|--sites|--sequence|--hash FILE] [--expand DIR] [--open N] [--dies-in FUNCTION] TRACE\n", stderr);
		return 2;
	}
	if (value[SEQUENCE] || value[HASH])
		threads_keep();
	if (calls_read(trace, value[EXPAND], take) < 0)
		return 2;
	failed |= print_to(value[COUNTS], without_sites);
	failed |= print_to(value[SITES], with_sites);
	failed |= print_to(value[SEQUENCE], threads_print);
	failed |= print_to(value[HASH], threads_hash);
	threads_total(&t, value[DIES_IN]);
	printf("entries %llu exits %llu orphans %llu crossed %llu sites %llu clock %llu open %llu threads %llu deepest %llu lost %llu\n",
		(unsigned long long) t.entries, (unsigned long long) t.exits, (unsigned long long) t.orphans,
		(unsigned long long) t.crossed, (unsigned long long) t.sites, (unsigned long long) t.clock,
		(unsigned long long) t.open, (unsigned long long) t.threads, (unsigned long long) t.deepest,
		(unsigned long long) lost);
	threads_problems(stderr);
	if (failed)
		return 2;
	return t.orphans || t.crossed || t.sites || t.clock || !t.entries ||
		t.open > (value[OPEN] ? strtoull(value[OPEN], NULL, 0) : 0);
}
