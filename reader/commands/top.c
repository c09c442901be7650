/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * `lttng-spi top -p PID`: where a running process spends its time, live. Nothing is recorded: the payload `top`
 * (payloads/top.c), which `lttng trace` loads into the process, writes lines, and this reads them. The lines are
 * samples of CPU time at first. Then the functions that have most of them are instrumented, so that their calls are
 * counted, as far as that costs no more than its share of the process's CPU time.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include "reader/base/text.h"
#include "reader/commands/reading.h"
#include "reader/commands/top.h"

#define OTHER_LINES	5u		/* of the screen, around the rows */
#define SAMPLE_NS	1e7		/* CPU time for each sample of the payload's */
#define UNSEEN_LEAST	50.0		/* samples that are due, before it is said that fewer have come than */
#define UNSEEN_SHARE	0.8		/* of them: a thread is sampled from when it is found on */

static volatile sig_atomic_t is_stopped;

static void stop(int number)
{
	(void) number;
	is_stopped = 1;
}

int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* ---- the screen ---- */

static struct termios before;
static int is_screen;

static void screen_begin(void)
{
	const char *kind = getenv("TERM");
	struct termios raw;

	if (!terminal.is_one || !kind || !strcmp(kind, "dumb") || !isatty(STDIN_FILENO) ||
			tcgetattr(STDIN_FILENO, &before) < 0)
		return;
	signal(SIGTSTP, SIG_IGN);	/* a stopped one would leave its screen behind */
	raw = before;
	raw.c_lflag &= ~(tcflag_t) (ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	fputs("\033[?1049h\033[?25l", stdout);
	is_screen = 1;
}

static void screen_end(void)
{
	if (!is_screen)
		return;
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
	is_screen = 0;
}

/* How many rows there is room for; windows change. */
static uint32_t screen_rows(const struct top *t)
{
	const uint32_t most = t->limit ? t->limit : 20;
	struct winsize size;
	uint32_t room;

	if (!is_screen || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_row)
		return most;
	if (size.ws_col && !getenv("COLUMNS"))
		terminal.width = size.ws_col;
	room = size.ws_row > OTHER_LINES ? size.ws_row - OTHER_LINES : 1;
	return t->limit && t->limit < room ? t->limit : room;
}

static void line(const char *text)
{
	printf("%.*s", is_screen ? (int) terminal.width : 100000, text);
	fputs(is_screen ? "\033[K\n" : "\n", stdout);
}

static void row_write(const struct top *t, const struct top_row *row, int is_chosen)
{
	char kernel[32] = "-", rate[32] = "-", average[32] = "-";
	const int room = terminal.width > 60 ? (int) terminal.width - 52 : 100000;

	if (row->kernel >= 0.05)
		snprintf(kernel, sizeof(kernel), "%.1f%%", 100.0 * row->kernel / t->samples);
	if (row->is_counted && row->open_ns)
		snprintf(rate, sizeof(rate), "%.0f", (double) row->calls * 1e9 / (double) row->open_ns);
	else if (row->is_given_up && row->rate > 0)
		snprintf(rate, sizeof(rate), ">%.0f", row->rate);
	if (row->ended)
		duration_text((int64_t) (row->ns / row->ended), average);
	printf("%s%6.1f%% %7s %12s %12s  %s%.*s%s", is_chosen ? "\033[7m" : "",
		t->samples > 0 ? 100.0 * row->samples / t->samples : 0.0, kernel,
		rate, average, is_chosen ? "" : colour_begin(COLOUR_FUNCTION), room, row->name,
		is_chosen ? "" : colour_end(COLOUR_FUNCTION));
	if ((int) (strlen(row->name) + strlen(row->object)) + 3 < room)
		printf(" [%s]", row->object);
	line(is_chosen ? "\033[0m" : "");
}

static void head_write(const struct top *t)
{
	const double due = (double) t->cpu_ns / SAMPLE_NS;
	char text[256], unseen[64] = "", lost[64] = "", tracing[64] = "";

	if (due >= UNSEEN_LEAST && (double) t->sampled < UNSEEN_SHARE * due)
		snprintf(unseen, sizeof(unseen), " (%.0f %% of that not sampled: short threads)",
			100.0 * (1 - (double) t->sampled / due));
	if (t->lost)
		snprintf(lost, sizeof(lost), ", %" PRIu64 " more without room", t->lost);
	if (t->tracing >= 0.5)
		snprintf(tracing, sizeof(tracing), ", tracing %.1f %%", 100.0 * t->tracing / (t->samples + t->tracing));
	snprintf(text, sizeof(text), "process %d %s: %.1f %% of a CPU%s, %.0f samples%s%s%s%s", t->pid, t->name,
		t->wall_ns ? 100.0 * (double) t->cpu_ns / (double) t->wall_ns : 0.0, unseen, t->samples, lost, tracing,
		t->is_paused ? ", paused" : "", t->wall_ns ? "" : ": no CPU time used yet");
	line(text);
	printf("%s%7s %7s %12s %12s  function", colour_begin(COLOUR_HEAD), "self", "kernel", "calls/s", "average");
	line(colour_end(COLOUR_HEAD));
}

static int is_shown(const struct top_row *row)
{
	return !row->is_excluded && row->samples >= 0.05;
}

static void table_write(struct top *t)
{
	const uint32_t room = screen_rows(t);
	uint32_t shown = 0;

	if (is_screen)
		fputs("\033[H", stdout);
	head_write(t);
	top_sort(t);
	if (t->chosen && !is_shown(t->chosen))
		t->chosen = NULL;
	for (uint32_t i = 0; i < t->count && shown < room; i++) {
		if (!is_shown(t->rows[i]))
			continue;
		if (!t->chosen)
			t->chosen = t->rows[i];
		row_write(t, t->rows[i], is_screen && t->rows[i] == t->chosen);
		shown++;
	}
	if (is_screen) {
		line("");
		line("q quit  up/down choose  x exclude  r all  t trace  p pause");
		fputs("\033[J", stdout);
	}
	fflush(stdout);
}

/* ---- keys ---- */

/* The row above the chosen one, or below; from no row, or a row that is gone, the first one. */
static void choose(struct top *t, int step)
{
	struct top_row *above = NULL;
	int is_behind = 0;

	for (uint32_t i = 0; i < t->count; i++) {
		struct top_row *row = t->rows[i];

		if (!is_shown(row))
			continue;
		if (is_behind) {
			t->chosen = row;
			return;
		}
		if (row == t->chosen && step < 0) {
			t->chosen = above ? above : row;
			return;
		}
		is_behind = row == t->chosen;
		above = row;
	}
}

/* One function's calls, for a while, below the table's place. */
static void function_trace(struct top *t, const struct top_row *row)
{
	char function[4400];

	if (!row)
		return;
	top_child_end(t);
	top_pattern(row, function, sizeof(function));
	screen_end();
	printf("calls of %s for 3 seconds, then any key:\n", row->name);
	fflush(stdout);
	top_trace(t, function);
	screen_begin();
	if (is_screen) {
		struct pollfd key = { .fd = STDIN_FILENO, .events = POLLIN };
		char c;

		while (!is_stopped && poll(&key, 1, 200) == 0)
			;
		if (!is_stopped && read(STDIN_FILENO, &c, 1) < 0)
			is_stopped = 1;
	}
	top_child_begin(t);
}

static void key_take(struct top *t, char key)
{
	struct top_row *row = t->chosen;

	if (key == 'q')
		is_stopped = 1;
	else if (key == 'p')
		t->is_paused = !t->is_paused;
	else if (key == 'x' && row) {
		choose(t, 1);
		row->is_excluded = 1;
		t->chosen = t->chosen == row ? NULL : t->chosen;
	} else if (key == 'r')
		for (uint32_t i = 0; i < t->count; i++)
			t->rows[i]->is_excluded = 0;
	else if (key == 't')
		function_trace(t, row);
}

static void keys_take(struct top *t)
{
	char keys[64];
	const ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));

	if (n <= 0 || (n == 1 && keys[0] == '\033'))
		is_stopped = 1;
	for (ssize_t i = 0; i < n && !is_stopped; i++) {
		if (keys[i] != '\033') {
			key_take(t, keys[i]);
		} else if (i + 2 < n) {
			if (keys[i + 2] == 'A' || keys[i + 2] == 'B')
				choose(t, keys[i + 2] == 'A' ? -1 : 1);
			i += 2;
		}
		if (!is_stopped)
			table_write(t);
	}
}

/* ---- the command ---- */

static int usage(const char *what)
{
	say_error("%s: see `lttng-spi top --help`", what);
	return 1;
}

static int help(void)
{
	puts("Usage: lttng-spi top -p PID [--interval S] [--count N] [--rows N] [--no-calls]\n"
		"Shows live where a running process spends its time, function by function; nothing is recorded.\n"
		"  -p, --pid PID      the process; you need the rights of a debugger\n"
		"      --interval S   between two tables (2)\n"
		"      --count N      end after N tables; without a terminal 1 by default\n"
		"      --rows N       functions in a table (20, on a terminal as many as fit)\n"
		"      --no-calls     samples only: no function is instrumented\n"
		"self: the share of the process's CPU time that was spent in the function itself; kernel: of this,\n"
		"in its system calls. calls/s, average: of the hottest functions, as far as counting their calls\n"
		"costs less than 2 % of that time; >N: counting was given up at that rate.\n"
		"Keys: q quit, up and down choose a function, x exclude it, r show all again, t trace its calls\n"
		"for 3 seconds, p pause.");
	return 0;
}

static int number_read(const char *text, double least, double most, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return end != text && !*end && *value >= least && *value <= most ? 0 : -1;
}

static int options_take(struct top *t, int argc, char **argv, int *tables)
{
	static const struct option options[] = {
		{ "pid", required_argument, NULL, 'p' }, { "interval", required_argument, NULL, 'i' },
		{ "count", required_argument, NULL, 'c' }, { "rows", required_argument, NULL, 'r' },
		{ "no-calls", no_argument, NULL, 'n' }, { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 },
	};
	double value = 0;
	int option;

	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, "p:h", options, NULL)) != -1) {
		if (option == 'h')
			return -1;
		if (option == 'n')
			t->has_no_calls = 1;
		else if (option == 'p' && number_read(optarg, 1, INT32_MAX, &value) == 0)
			t->pid = (int) value;
		else if (option == 'i' && number_read(optarg, 0.2, 3600, &value) == 0)
			t->interval_ms = (int64_t) (value * 1000);
		else if (option == 'c' && number_read(optarg, 1, 1e6, &value) == 0)
			*tables = (int) value;
		else if (option == 'r' && number_read(optarg, 1, 1e6, &value) == 0)
			t->limit = (uint32_t) value;
		else
			return usage("an option that is not known, or its value");
	}
	if (optind < argc)
		return usage("top takes no directory: it looks at a process that runs");
	return t->pid ? 0 : usage("-p PID is missing");
}

static int run(struct top *t, int tables)
{
	int64_t next = now_ms() + t->interval_ms;
	int r = 0;

	while (!is_stopped && r >= 0) {
		struct pollfd fds[2] = { { .fd = t->from, .events = POLLIN },
			{ .fd = is_screen ? STDIN_FILENO : -1, .events = POLLIN } };
		const int64_t left = next - now_ms();

		if (left > 0 && poll(fds, 2, (int) left) > 0) {
			if (fds[1].revents)
				keys_take(t);
			else
				r = top_read(t);
			continue;
		}
		if (left > 0)
			continue;
		if (!t->is_paused) {
			if (t->is_old)		/* nothing has come */
				top_decay(t);
			table_write(t);
			t->is_old = 1;
			if (tables && --tables == 0)
				break;
		}
		top_choose(t);
		next = now_ms() + t->interval_ms;
	}
	return r;
}

int command_top(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = stop };
	struct top t = { .interval_ms = 2000, .from = -1 };
	int tables = terminal.is_one ? 0 : 1, r = options_take(&t, argc, argv, &tables);

	if (r)
		return r < 0 ? help() : 1;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (top_begin(&t) < 0)
		return 1;
	screen_begin();
	r = run(&t, tables);
	screen_end();
	top_end(&t);
	if (r < 0 && *t.error)
		say_error("%s", t.error);
	else if (r < 0)
		fprintf(stderr, "process %d has ended\n", t.pid);
	return r < 0 && *t.error;
}
