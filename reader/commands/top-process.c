/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What `lttng-spi top` knows of the process: a child runs `lttng trace -p PID --payload top`, and its lines are
 * counted here. The child is begun anew when other functions' calls are to be counted.
 *
 * A function that is called so often that counting takes more than its share is given up at once, and stays so.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "reader/base/text.h"
#include "reader/commands/top.h"
#include "reader/trace/symbols.h"

#define COUNTED_MOST	8u		/* functions at a time */
#define CALL_NS		100.0		/* what counting a call takes, rather too much */
#define SHARE_MOST	0.015		/* of the process's CPU time */
#define CHOOSE_SAMPLES	30.0		/* before functions are chosen */
#define END_MS		10000
#define KEPT		0.7		/* of older samples' weight, from table to table */

struct top_object {
	struct top_object *next;
	struct object object;
	char path[];
};

/* ---- rows ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

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
	t->samples *= KEPT;
	t->wall_ns = t->cpu_ns = 0;
	for (uint32_t i = 0; i < t->count; i++) {
		t->rows[i]->samples *= KEPT;
		t->rows[i]->calls = t->rows[i]->ns = 0;
		t->rows[i]->seconds = 0;
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

static void sample_take(struct top *t, uint64_t count, uint64_t address, const char *path)
{
	struct symbols *symbols = *path ? symbols_of(t, path) : NULL;
	uint64_t offset = symbols ? address - symbols->low : 0;
	char name[1400];
	struct top_row *row;

	if (!*path)
		snprintf(name, sizeof(name), "(code of no file: tracing, or made at run time)");
	else if (!symbols || !symbols_function(symbols, &offset, name, sizeof(name)))
		snprintf(name, sizeof(name), "0x%" PRIx64, address);
	row = row_get(t, base_name(path), name);
	if (row)
		row->samples += (double) count;
	t->samples += (double) count;
}

static void calls_take(struct top *t, uint64_t calls, uint64_t ns, char *rest)
{
	char *function = strchr(rest, ' ');
	struct top_row *row;

	if (!function)
		return;
	*function++ = 0;
	row = row_get(t, rest, function);
	if (!row)
		return;
	row->calls += calls;
	row->ns += ns;
	row->rate_seen = (double) calls;	/* of this interval: end_take() makes it one of a second */
	row->is_counted = 1;
	t->calls_now += calls;
}

/* Too dear: what is called most is counted no longer. */
static void give_up(struct top *t, double seconds)
{
	struct top_row *most = NULL;

	for (uint32_t i = 0; i < t->count; i++)
		if (t->rows[i]->is_counted && (!most || t->rows[i]->rate_seen > most->rate_seen))
			most = t->rows[i];
	if (!most)
		return;
	most->is_hot = 1;
	most->is_counted = most->is_wanted = 0;
	most->rate_seen /= seconds;
	top_child_end(t);
	top_child_begin(t);
}

static void end_take(struct top *t, uint64_t wall, uint64_t cpu)
{
	const double seconds = (double) wall / 1e9, cost = (double) t->calls_now * CALL_NS;

	t->wall_ns += wall;
	t->cpu_ns += cpu;
	t->calls_now = 0;
	for (uint32_t i = 0; i < t->count; i++)
		if (t->rows[i]->is_counted)
			t->rows[i]->seconds += seconds;
	if (cost > SHARE_MOST * (double) cpu)
		give_up(t, seconds);
	for (uint32_t i = 0; i < t->count; i++)
		if (!t->rows[i]->is_hot)
			t->rows[i]->rate_seen = 0;
}

static void line_take(struct top *t, char *line)
{
	uint64_t a, b, c;
	int n = 0;

	for (char *s = line; *s; s++)
		if ((unsigned char) *s < 0x20 || *s == 0x7f)
			*s = '?';
	if (sscanf(line, "top: sample %" SCNu64 " 0x%" SCNx64 " %n", &a, &b, &n) == 2 && n)
		sample_take(t, a, b, line + n);
	else if (sscanf(line, "top: calls %" SCNu64 " %" SCNu64 " %n", &a, &b, &n) == 2 && n)
		calls_take(t, a, b, line + n);
	else if (sscanf(line, "top: end %" SCNu64 " %" SCNu64 " %" SCNu64, &a, &b, &c) == 3)
		end_take(t, a, b);
	else if (!strncmp(line, "top: no samples: ", 17))
		snprintf(t->error, sizeof(t->error), "%s", line + 5);
	else if (!strncmp(line, "Error: ", 7))
		snprintf(t->error, sizeof(t->error), "%s", line + 7);
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
		if (kill(t->pid, 0) < 0)
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

/* ---- the child ---- */

/* `lttng` beside this program: in the build tree, or where both are installed. */
static void lttng_path(char *path, size_t size)
{
	char self[4096];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[n > 0 ? n : 0] = 0;
	slash = strrchr(self, '/');
	if (slash)
		*slash = 0;
	snprintf(path, size, "%s/../cli/lttng", self);
	if (access(path, X_OK) < 0)
		snprintf(path, size, "%s/lttng", self);
	if (access(path, X_OK) < 0)
		snprintf(path, size, "lttng");
}

/* OBJECT:FUNCTION, in which nothing stands for anything else. */
void top_pattern(const struct top_row *row, char *text, size_t size)
{
	const char *const parts[] = { row->object, ":", row->name };
	size_t used = 0;

	for (unsigned int i = 0; i < 3; i++)
		for (const char *s = parts[i]; *s && used + 3 < size; s++) {
			if (strchr("*?[]\\", *s))
				text[used++] = '\\';
			text[used++] = *s;
		}
	text[used] = 0;
}

/*
 * A child in a process group of its own, as ^C is for this program, which ends the child; so does this program's end.
 */
static pid_t spawn(char **arguments, int out, int err)
{
	const pid_t parent = getpid();
	char path[4200];
	pid_t pid;
	int null;

	lttng_path(path, sizeof(path));
	arguments[0] = path;
	pid = fork();
	if (pid)
		return pid < 0 ? -errno : pid;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGINT);
	null = open("/dev/null", O_RDWR);
	dup2(null, STDIN_FILENO);
	dup2(out >= 0 ? out : null, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	if (getppid() == parent)
		execvp(path, arguments);
	_exit(127);
}

void top_child_begin(struct top *t)
{
	char pid[16], patterns[COUNTED_MOST][4400];
	char *arguments[COUNTED_MOST * 2 + 16];
	unsigned int n = 0, counted = 0;
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK) < 0)
		return;
	snprintf(pid, sizeof(pid), "%d", t->pid);
	arguments[n++] = NULL;
	arguments[n++] = (char *) "trace";
	arguments[n++] = (char *) "-p";
	arguments[n++] = pid;
	arguments[n++] = (char *) "--payload";
	arguments[n++] = (char *) "top";
	for (uint32_t i = 0; i < t->count; i++) {
		t->rows[i]->is_counted = 0;
		if (!t->rows[i]->is_wanted || counted == COUNTED_MOST)
			continue;
		top_pattern(t->rows[i], patterns[counted], sizeof(patterns[0]));
		t->rows[i]->is_counted = 1;
		arguments[n++] = (char *) "-f";
		arguments[n++] = patterns[counted++];
	}
	t->is_counting = counted != 0;
	t->children++;
	if (!counted) {
		arguments[n++] = (char *) "-f";
		arguments[n++] = (char *) "*";
	}
	arguments[n++] = (char *) "--payload-arg";
	arguments[n++] = (char *) (counted ? "count=1" : "count=0");
	arguments[n++] = (char *) "--payload-arg";
	arguments[n++] = (char *) "interval=200";
	arguments[n] = NULL;
	t->child = spawn(arguments, -1, pipes[1]);
	close(pipes[1]);
	t->from = pipes[0];
	t->used = 0;
	t->calls_now = 0;
	if (t->child < 0) {
		snprintf(t->error, sizeof(t->error), "lttng cannot be started: %s", strerror((int) -t->child));
		t->child = 0;
	}
}

/* It takes the payload out of the process first. */
static void child_wait(pid_t child)
{
	const struct timespec pause = { 0, 10000000 };

	kill(child, SIGINT);
	for (int i = 0; i < END_MS / 10; i++) {
		if (waitpid(child, NULL, WNOHANG) == child)
			return;
		nanosleep(&pause, NULL);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

void top_child_end(struct top *t)
{
	if (t->child > 0)
		child_wait(t->child);
	if (t->from >= 0)
		close(t->from);
	t->child = 0;
	t->from = -1;
}

void top_trace(struct top *t, const char *function)
{
	char pid[16];
	char *arguments[] = { NULL, (char *) "trace", (char *) "-p", pid, (char *) "-f", (char *) (uintptr_t) function,
		(char *) "--format=calls", (char *) "--duration", (char *) "3", NULL };
	pid_t child;

	snprintf(pid, sizeof(pid), "%d", t->pid);
	child = spawn(arguments, STDOUT_FILENO, STDERR_FILENO);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

/* ---- which functions ---- */

/* Others than those that are counted have become the hottest: the child begins anew with them. */
void top_choose(struct top *t)
{
	unsigned int n = 0, fresh = 0;

	if (t->has_no_calls || t->samples < CHOOSE_SAMPLES || t->child <= 0)
		return;
	top_sort(t);
	for (uint32_t i = 0; i < t->count; i++) {
		struct top_row *row = t->rows[i];
		const int may = !row->is_hot && !row->is_excluded && *row->object && strncmp(row->name, "0x", 2);

		row->is_wanted = may && n < COUNTED_MOST && row->samples * 100 > t->samples;
		n += (unsigned int) row->is_wanted;
		fresh += (unsigned int) (row->is_wanted && !row->is_counted && i < COUNTED_MOST / 2);
	}
	if (!fresh || !n)
		return;
	top_child_end(t);
	top_child_begin(t);
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
