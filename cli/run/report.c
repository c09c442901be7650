/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The summary. Declined functions are grouped by reason, for one reason usually covers many. A screen
 * shows the first ones; --verbose and the file in the trace directory name them all. Readers of the
 * trace pass that file over.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/say.h"
#include "cli/run/report.h"
#include "rules/harmless.h"

#define REPORT_FILE	"not-instrumented.txt"
#define REPORT_SHOWN	20u

int report_declined(struct report *r, const char *object, const char *function, const char *reason)
{
	struct declined d;

	if (r->declined_count == r->declined_room) {
		size_t room = r->declined_room ? r->declined_room * 2 : 64;
		struct declined *list = realloc(r->declined, room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		r->declined = list;
		r->declined_room = room;
	}
	d.object = strdup(object);
	d.function = strdup(function);
	d.reason = strdup(reason);
	if (!d.object || !d.function || !d.reason) {
		free(d.object);
		free(d.function);
		free(d.reason);
		return -ENOMEM;
	}
	/* The file is looked at in a terminal, too; and a tab or a newline in a name would end a field there. */
	spi_make_harmless(d.object, strlen(d.object), "");
	spi_make_harmless(d.function, strlen(d.function), "");
	spi_make_harmless(d.reason, strlen(d.reason), "");
	r->declined[r->declined_count++] = d;
	return 0;
}

void report_note(struct report *r, const char *text)
{
	unsigned int i;

	for (i = 0; i < r->note_count; i++)
		if (!strcmp(r->notes[i], text))
			return;
	if (i == sizeof(r->notes) / sizeof(r->notes[0]))
		return;
	r->notes[i] = strdup(text);
	if (r->notes[i])
		r->note_count++;
}

void report_unrecorded(struct report *r, const char *title, const char *reason)
{
	char **list = realloc(r->unrecorded, (r->unrecorded_count + 1) * sizeof(*list));

	if (!list)
		return;
	r->unrecorded = list;
	if (asprintf(&list[r->unrecorded_count], "%s%s%s", title, *title ? ": " : "", reason) >= 0)
		r->unrecorded_count++;
}

void report_process(struct report *r, pid_t pid)
{
	pid_t *pids = realloc(r->pids, (r->pid_count + 1) * sizeof(*pids));

	if (!pids)
		return;
	r->pids = pids;
	pids[r->pid_count++] = pid;
}

int report_has_process(const struct report *r, pid_t pid)
{
	unsigned int i;

	for (i = 0; i < r->pid_count && r->pids[i] != pid; i++)
		;
	return i < r->pid_count;
}

void report_add_status(struct report *r, const volatile struct spi_status_page *page)
{
	if (!page)
		return;
	r->entries += page->entries;
	r->exits += page->exits;
	r->lost_calls += page->lost_entries;
	for (unsigned int i = 0; i < SPI_LOST_REASONS; i++)
		r->lost_by[i] += page->lost_by[i];
	r->lost_exits += page->lost_exits;
	r->no_exit += page->slots_exhausted;
	r->nested += page->nested_skipped;
	r->bad_strings += page->strings_unreadable;
}

static int declined_compare(const void *va, const void *vb)
{
	const struct declined *a = va, *b = vb;
	int c = strcmp(a->reason, b->reason);

	if (!c)
		c = strcmp(a->object, b->object);
	return c ? c : strcmp(a->function, b->function);
}

static void declined_free(struct declined *d)
{
	free(d->object);
	free(d->function);
	free(d->reason);
}

/* By reason, object and name, each once: several rules may have asked for the same function. */
static void report_sort(struct report *r)
{
	size_t i, n = 0;

	if (!r->declined_count)
		return;
	qsort(r->declined, r->declined_count, sizeof(*r->declined), declined_compare);
	for (i = 0; i < r->declined_count; i++) {
		if (n && !declined_compare(&r->declined[n - 1], &r->declined[i]))
			declined_free(&r->declined[i]);
		else
			r->declined[n++] = r->declined[i];
	}
	r->declined_count = n;
}

int report_write_file(struct report *r, const char *directory)
{
	char *path;
	FILE *file;
	size_t i;
	int ret = 0;

	report_sort(r);
	if (asprintf(&path, "%s/" REPORT_FILE, directory) < 0)
		return -ENOMEM;
	file = fopen(path, "we");
	if (!file) {
		ret = -errno;
		say_warning("%s: %s", path, strerror(-ret));
		free(path);
		return ret;
	}
	for (i = 0; i < r->declined_count; i++)
		fprintf(file, "%s:%s\t%s\n", r->declined[i].object, r->declined[i].function, r->declined[i].reason);
	if (ferror(file) || fclose(file)) {
		ret = -errno;
		say_warning("%s: cannot be written: %s", path, strerror(errno));
	}
	free(path);
	return ret;
}

/* One reason: its count and names, `*room` more of them at most. */
static size_t report_say_reason(const struct report *r, size_t from, size_t *room)
{
	const struct declined *first = &r->declined[from];
	char line[3900];
	size_t to = from, used = 0, i;

	while (to < r->declined_count && !strcmp(r->declined[to].reason, first->reason))
		to++;
	say("  %zu: %s", to - from, first->reason);
	for (i = from; i < to && *room; i++, (*room)--) {
		const struct declined *d = &r->declined[i];
		size_t more = strlen(d->object) + strlen(d->function) + 3;

		if (used && used + more > 100) {
			say("    %s", line);
			used = 0;
		}
		used += (size_t) snprintf(line + used, sizeof(line) - used, "%s%.255s:%.3000s", used ? ", " : "",
			d->object, d->function);
	}
	if (used)
		say("    %s", line);
	return to;
}

static void report_say_declined(struct report *r, const char *directory)
{
	size_t room = say_verbose ? SIZE_MAX : REPORT_SHOWN, at;

	report_sort(r);
	for (at = 0; at < r->declined_count;)
		at = report_say_reason(r, at, &room);
	if (!say_verbose && r->declined_count > REPORT_SHOWN) {
		if (directory)
			say("  all %zu are named in %s/" REPORT_FILE, r->declined_count, directory);
		else
			say("  the first %u are named here; --verbose names all %zu", REPORT_SHOWN, r->declined_count);
	}
}

static const char *const lost_reasons[SPI_LOST_REASONS] = {
	[SPI_LOST_THREAD] = "the process had no memory for their thread's records: raise its limits (ulimit -d, ulimit -v)",
	[SPI_LOST_MEMORY] = "the process had no memory for the record of the call: raise its limits (ulimit -d, ulimit -v)",
	[SPI_LOST_OPEN] = "too many calls were open at once",
	[SPI_LOST_STACK] = "made in the last 8 KB of a stack",
	[SPI_LOST_MALLOC] = "made within malloc() before any other of their thread",
	[SPI_LOST_FORK] = "made for the first time while another thread forked",
	[SPI_LOST_CHILD] = "made by a forked child before the child began to record",
	[SPI_LOST_LEFT] = "left by a signal handler while they were recorded",
	[SPI_LOST_CALLEES] = "made at a call site with too many callees; the site is named below",
	[SPI_APART_UNBOUND] = "made through the dynamic linker before it knew their function",
	[SPI_APART_HALF] = "made while a session had only the exit event of their function enabled",
	[SPI_APART_END] = "made after their process began to end",
	[SPI_APART_EXEC] = "made after their process began to execute another program",
	[SPI_APART_THREAD_END] = "made by destructors at their thread's end",
	[SPI_APART_TIMER] = "made by a thread that blocks libc's own signals, as libc's thread for timers does",
	[SPI_ALONE_OPEN] = "too many calls were open at once",
	[SPI_ALONE_MEMORY] = "the process had no memory for the record of the exit: raise its limits (ulimit -d, ulimit -v)",
};

/* A reason a line, with its count, below `title`: in one line where one reason accounts for all of `sum`. */
static void report_say_reasons(const struct report *r, const char *title, uint64_t sum, unsigned int from, unsigned int to)
{
	uint64_t known = 0;

	for (unsigned int i = from; i < to; i++)
		if (sum && r->lost_by[i] == sum) {
			say("%s: %llu: %s", title, (unsigned long long) sum, lost_reasons[i]);
			return;
		}
	say("%s: %llu", title, (unsigned long long) sum);
	for (unsigned int i = from; i < to; i++) {
		if (r->lost_by[i])
			say("  %llu: %s", (unsigned long long) r->lost_by[i], lost_reasons[i]);
		known += r->lost_by[i];
	}
	if (to == SPI_LOST_KINDS && sum > known && (known || !r->discarded))
		say("  %llu: the buffers had no room", (unsigned long long) (sum - known));
}

static void report_say_lost(const struct report *r)
{
	uint64_t apart = 0;

	for (unsigned int i = SPI_LOST_KINDS; i < SPI_APART_KINDS; i++)
		apart += r->lost_by[i];
	if (r->discarded) {
		say("Records that LTTng discarded because its buffers were full: %llu", (unsigned long long) r->discarded);
		say("  try a larger --subbuf-size or --num-subbuf, or %s", r->trees ? "--exclude, --depth or --compact" : "fewer functions");
	}
	if (r->lost_calls)
		report_say_reasons(r, "Lost calls", r->lost_calls, 0, SPI_LOST_KINDS);
	if (apart)
		report_say_reasons(r, "Other calls that are not recorded", apart, SPI_LOST_KINDS, SPI_APART_KINDS);
	if (r->lost_exits)
		say("Lost exits whose entry was recorded: %llu", (unsigned long long) r->lost_exits);
}

/* Every other way out of a call gets its exit: what is left had not ended. */
static void report_say_open(const struct report *r)
{
	unsigned long long ended = r->exits + r->lost_exits + r->no_exit;

	if (!r->one_event && r->entries > ended)
		say("Calls that had not returned at the end: %llu", (unsigned long long) r->entries - ended);
}

int report_has_nothing(const struct report *r)
{
	/* a library that has been unloaded took its points along; a tree without a call has words of its own (tree_say_none()) */
	return !r->is_unknown && !r->functions && !r->ended && !r->entries && !r->exits && !r->lost_calls && (!r->trees || r->by_daemon);
}

int report_is_empty(const struct report *r)
{
	return r->trees && !r->by_daemon && !r->entries && !r->exits && !r->lost_calls && !r->discarded;
}

static void report_say_notes(const struct report *r)
{
	for (unsigned int i = 0; i < r->note_count; i++)
		say("Note: %s", r->notes[i]);
}

void report_say_instrumented(struct report *r, const char *directory)
{
	if (r->declined_count)
		say("%s instrumented: %llu; not instrumented: %zu", r->trees ? "Calls and functions" : "Functions",
			(unsigned long long) r->functions, r->declined_count);
	report_say_declined(r, directory);
	report_say_notes(r);
}

void report_say(struct report *r, const char *directory)
{
	unsigned int i;
	const char *cut = r->is_cut ? ", and those in the buffer that cannot be read" : "";
	unsigned long long lost = r->lost_calls * (r->one_event ? 1 : 2) + r->lost_exits;
	uint64_t calls = r->one_event ? (r->entries + r->exits) / 2 : r->entries;	/* of two events each, as a tree's */
	int is_mixed = r->one_event && r->trees && r->lost_calls;	/* a lost call's events were one or two */

	/* LTTng counts what it refused; the agent what it then could not make up for. */
	if (!lost)
		lost = r->discarded;
	if (r->is_unknown)
		say("Processes traced: not known");
	else if (r->by_daemon)
		say("Processes traced: %u, at the end: %u; events lost: %llu%s", r->processes + r->ended, r->processes, lost, cut);
	else if (r->one_event)
		say("Events recorded: %llu; lost: %s%llu%s%s", (unsigned long long) (r->entries + r->exits),
			is_mixed ? "those of " : "", is_mixed ? (unsigned long long) r->lost_calls : lost,
			is_mixed ? " calls" : "", cut);
	else
		say("Events recorded: %llu (%llu entries, %llu exits); lost: %llu%s",
			(unsigned long long) (r->entries + r->exits), (unsigned long long) r->entries,
			(unsigned long long) r->exits, lost, cut);
	report_say_lost(r);
	report_say_open(r);
	if (r->no_exit)
		report_say_reasons(r, "Calls recorded without their exit", r->no_exit, SPI_APART_KINDS, SPI_LOST_REASONS);
	if (r->bad_strings)
		say("Strings that could not be read, recorded as \"(unreadable)\": %llu", (unsigned long long) r->bad_strings);
	if (r->nested)
		say_detail("Calls that the tracer itself made, which are not recorded: %llu", (unsigned long long) r->nested);
	if (!r->is_unknown)
		say("%s instrumented%s%s: %llu%s; not instrumented: %zu", r->trees ? "Calls and functions" : "Functions",
			r->ended ? " at the end" : "", r->is_twice && !r->trees ? ", for payload and record each" : "",
			(unsigned long long) r->functions,
			r->generic && !r->trees ? ", recorded by address (too many for events of their own)" : "", r->declined_count);
	report_say_declined(r, directory);
	if (r->unrecorded_count)
		say("Processes not recorded: %u", r->unrecorded_count);
	for (i = 0; i < r->unrecorded_count; i++)
		say("  %s", r->unrecorded[i]);
	if (r->functions && !r->trees && !r->ended && !r->entries && !r->exits && !r->lost_calls && !r->discarded && !r->seen)
		say("No instrumented function was called");
	if (r->trees)
		hot_say(&r->hot, calls);
	if (r->trees)
		budget_say(&r->budget, &r->hot, calls);
	report_say_notes(r);
}

void report_free(struct report *r)
{
	size_t i;

	for (i = 0; i < r->declined_count; i++)
		declined_free(&r->declined[i]);
	free(r->declined);
	hot_free(&r->hot);
	budget_free(&r->budget);
	free(r->pids);
	for (i = 0; i < r->note_count; i++)
		free(r->notes[i]);
	for (i = 0; i < r->unrecorded_count; i++)
		free(r->unrecorded[i]);
	free(r->unrecorded);
	memset(r, 0, sizeof(*r));
}
