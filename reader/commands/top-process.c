/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What `lttng-spi top` knows of the process: the lines of its child (top-child.c) are counted here. The child is begun
 * anew when other functions' calls are to be counted.
 *
 * The payload keeps counting within its share of the CPU time. But a call that is not counted costs a little, too, as
 * long as its function is instrumented: what is called too often for that is given up, and stays so. So is what is
 * called most while samples say that tracing takes more than it may, whatever it is that takes the time.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "reader/base/text.h"
#include "reader/commands/top.h"
#include "reader/trace/symbols.h"

#define OURS		"liblttng-spi.so."	/* samples there are of hooks' system calls; others are tracing */
#define PASS_NS		4.0		/* what a call takes that is not counted, caches included */
#define PASS_SHARE	0.0015		/* of the CPU time, for all of these */
#define TRACING_SHARE	0.02		/* of the samples, for all of tracing; and so many of them at least */
#define TRACING_LEAST	6u
#define CHOOSE_SAMPLES	30.0		/* before functions are chosen */
#define CHOOSE_MS	INT64_C(10000)	/* from the first choice to the second; then twice as long */
#define KEPT		0.7		/* of older samples' weight, from table to table */

struct top_object {
	struct top_object *next;
	struct object object;
	char path[];
};

/* ---- rows ---- */

static struct top_row *row_get(struct top *t, const char *object, const char *name)
{
	struct top_row *row;

	for (uint32_t i = 0; i < t->count; i++)
		if (!strcmp(t->rows[i]->name, name) && !strcmp(t->rows[i]->object, object))
			return t->rows[i];
	if (t->count == t->room) {
		const uint32_t room = t->room ? t->room * 2 : 256;
		struct top_row **more = realloc(t->rows, room * sizeof(*more));

		if (!more)
			return NULL;
		t->rows = more;
		t->room = room;
	}
	row = calloc(1, sizeof(*row));
	if (!row)
		return NULL;
	row->name = strdup(name);
	row->object = strdup(object);
	if (!row->name || !row->object)
		return NULL;
	t->rows[t->count++] = row;
	return row;
}

static int compare(const void *a, const void *b)
{
	const struct top_row *x = *(const struct top_row *const *) a, *y = *(const struct top_row *const *) b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return strcmp(x->name, y->name);
}

void top_sort(struct top *t)
{
	if (t->count)
		qsort(t->rows, t->count, sizeof(*t->rows), compare);
}

void top_decay(struct top *t)
{
	t->is_old = 0;
	t->samples *= KEPT;
	t->tracing *= KEPT;
	t->wall_ns = t->cpu_ns = t->lost = t->sampled = 0;
	for (uint32_t i = 0; i < t->count; i++) {
		struct top_row *row = t->rows[i];

		row->samples *= KEPT;
		row->kernel *= KEPT;
		row->calls = row->open_ns = row->ended = row->ns = 0;
	}
}

/* ---- lines ---- */

static struct symbols *symbols_of(struct top *t, const char *path)
{
	struct top_object *o = t->objects;

	while (o && strcmp(o->path, path))
		o = o->next;
	if (!o) {
		o = calloc(1, sizeof(*o) + strlen(path) + 1);
		if (!o)
			return NULL;
		strcpy(o->path, path);
		o->object.path = o->path;
		o->object.symbols = symbols_open(&o->object);
		o->next = t->objects;
		t->objects = o;
	}
	return o->object.symbols;
}

static struct top_row *row_at(struct top *t, uint64_t address, const char *path)
{
	struct symbols *symbols = *path ? symbols_of(t, path) : NULL;
	uint64_t offset = symbols ? address - symbols->low : 0;
	char name[1400];

	if (!*path)
		snprintf(name, sizeof(name), "(code of no file: made at run time)");
	else if (!strncmp(path, "linux-vdso.so.", 14))
		snprintf(name, sizeof(name), "(clock_gettime and the like, of the kernel)");
	else if (!strncmp(last_part(path), OURS, strlen(OURS)))
		snprintf(name, sizeof(name), "(system calls of functions that tracing stands before)");
	else if (!symbols || !symbols_function(symbols, &offset, name, sizeof(name)))
		snprintf(name, sizeof(name), symbols_frame(symbols, &offset) ? "sub_%" PRIx64 : "0x%" PRIx64,
			symbols ? offset + symbols->low : address);
	return row_get(t, last_part(path), name);
}

static void sample_take(struct top *t, uint64_t count, int is_kernel, struct top_row *row)
{
	if (row) {
		row->samples += (double) count;
		row->kernel += is_kernel ? (double) count : 0;
	}
	t->samples += (double) count;
	t->child_samples += count;
	t->sampled += count;
}

static void calls_take(const uint64_t *numbers, struct top_row *row)
{
	if (!row || !numbers[1])
		return;
	row->calls += numbers[0];
	row->open_ns += numbers[1];
	row->ended += numbers[2];
	row->ns += numbers[3];
	row->rate = (double) numbers[0] * 1e9 / (double) numbers[1];
}

static struct top_row *row_most(const struct top *t, double *rates)
{
	struct top_row *most = NULL;

	*rates = 0;
	for (uint32_t i = 0; i < t->count; i++) {
		if (!t->rows[i]->is_counted)
			continue;
		*rates += t->rows[i]->rate;
		if (!most || t->rows[i]->rate > most->rate)
			most = t->rows[i];
	}
	return most;
}

static void give_up(struct top_row *row)
{
	row->is_given_up = 1;
	row->is_counted = row->is_wanted = 0;
}

/* Too dear: what is called most is counted no longer. */
static void end_take(struct top *t, uint64_t wall, uint64_t cpu, uint64_t lost, uint64_t tracing)
{
	const double most = wall ? (double) cpu / (double) wall * 1e9 * PASS_SHARE / PASS_NS : 0;
	struct top_row *row;
	double rates;
	int is_given_up = 0;

	t->wall_ns += wall;
	t->cpu_ns += cpu;
	t->lost += lost;
	t->tracing += (double) tracing;
	t->child_tracing += tracing;
	t->sampled += lost + tracing;
	row = row_most(t, &rates);
	if (row && row->rate > 0 && t->child_tracing >= TRACING_LEAST &&
			(double) t->child_tracing > TRACING_SHARE * (double) (t->child_samples + t->child_tracing)) {
		give_up(row);
		is_given_up = 1;
	}
	while ((row = row_most(t, &rates)) && rates > most) {
		give_up(row);
		is_given_up = 1;
	}
	if (is_given_up)
		top_child_anew(t);
}

/* The function that `lttng trace` cannot find, or NULL. */
static struct top_row *row_of_error(const struct top *t, const char *error)
{
	char pattern[4400];

	for (uint32_t i = 0; i < t->count; i++) {
		top_pattern(t->rows[i], pattern, sizeof(pattern));
		if (t->rows[i]->is_counted && !strncmp(error, pattern, strlen(pattern)) &&
				error[strlen(pattern)] == ':')
			return t->rows[i];
	}
	return NULL;
}

static void error_take(struct top *t, const char *error)
{
	struct top_row *row = row_of_error(t, error);

	if (!row) {
		snprintf(t->error, sizeof(t->error), "%s", error);
		return;
	}
	give_up(row);
	top_child_anew(t);
}

static void line_take(struct top *t, char *line)
{
	uint64_t a[5];
	int n = 0;

	text_clean(line);
	if (t->is_old && !strncmp(line, "top: ", 5))
		top_decay(t);
	if (sscanf(line, "top: sample %" SCNu64 " %" SCNu64 " 0x%" SCNx64 " %n", &a[0], &a[1], &a[2], &n) == 3 && n)
		sample_take(t, a[0], a[1] != 0, row_at(t, a[2], line + n));
	else if (sscanf(line, "top: calls %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " 0x%" SCNx64 " %n", &a[0],
			&a[1], &a[2], &a[3], &a[4], &n) == 5 && n)
		calls_take(a, row_at(t, a[4], line + n));
	else if (sscanf(line, "top: end %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &a[0], &a[1], &a[2], &a[3]) == 4)
		end_take(t, a[0], a[1], a[2], a[3]);
	else if (!strncmp(line, "top: no samples: ", 17))
		snprintf(t->error, sizeof(t->error), "%s", line + 5);
	else if (!strncmp(line, "Error: ", 7))
		error_take(t, line + 7);
}

int top_read(struct top *t)
{
	const unsigned int child = t->children;
	const ssize_t n = read(t->from, t->line + t->used, sizeof(t->line) - 1 - t->used);
	char *begin = t->line, *end;

	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -1;
	if (n == 0) {
		top_child_end(t);
		if (kill(t->pid, 0) < 0 && errno == ESRCH)
			*t->error = 0;
		else if (!*t->error)
			snprintf(t->error, sizeof(t->error), "process %d is traced no more", t->pid);
		return -1;
	}
	t->used += (size_t) n;
	t->line[t->used] = 0;
	while (t->children == child && (end = strchr(begin, '\n'))) {
		*end = 0;
		line_take(t, begin);
		begin = end + 1;
	}
	if (t->children != child)
		return 0;		/* another child: its lines begin anew */
	t->used = (size_t) (t->line + t->used - begin);
	memmove(t->line, begin, t->used);
	if (t->used == sizeof(t->line) - 1)
		t->used = 0;
	return 0;
}

/* ---- which functions ---- */

/* A process that is traced makes one more system call for each close() whose calls are counted. */
static int may_be_counted(const struct top_row *row)
{
	return !row->is_given_up && !row->is_excluded && *row->object && *row->name != '(' &&
		strncmp(row->name, "0x", 2) && strcmp(row->name, "close") && strcmp(row->name, "__close");
}

/* Others than those that are counted have become the hottest: the child begins anew with them. */
void top_choose(struct top *t)
{
	unsigned int n = 0, fresh = 0;
	const int64_t now = now_ms();

	if (t->has_no_calls || t->samples < CHOOSE_SAMPLES || t->child <= 0 || now < t->choose_ms)
		return;
	top_sort(t);
	for (uint32_t i = 0; i < t->count; i++) {
		struct top_row *row = t->rows[i];

		row->is_wanted = may_be_counted(row) && n < TOP_COUNTED_MOST && row->samples * 100 > t->samples;
		fresh += (unsigned int) (row->is_wanted && !row->is_counted && n < TOP_COUNTED_MOST / 2);
		n += (unsigned int) row->is_wanted;
	}
	if (!fresh || !n)
		return;
	t->choose_ms = now + (CHOOSE_MS << t->choices);
	t->choices += t->choices < 8;
	top_child_anew(t);
}

/* ---- begin and end ---- */

int top_begin(struct top *t)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", t->pid);
	file = fopen(path, "re");
	if (!file) {
		say_error("%d: no such process", t->pid);
		return -1;
	}
	if (fgets(t->name, sizeof(t->name), file))
		t->name[strcspn(t->name, "\n")] = 0;
	fclose(file);
	top_child_begin(t);
	if (t->child > 0)
		return 0;
	say_error("%s", t->error);
	return -1;
}

void top_end(struct top *t)
{
	top_child_end(t);
	for (uint32_t i = 0; i < t->count; i++) {
		free(t->rows[i]->name);
		free(t->rows[i]->object);
		free(t->rows[i]);
	}
	free(t->rows);
	for (struct top_object *o = t->objects, *next; o; o = next) {
		next = o->next;
		symbols_close(o->object.symbols);
		free(o);
	}
}
