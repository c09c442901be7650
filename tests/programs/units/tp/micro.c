/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the event module costs beside static macro tracepoints with the same
 * fields: thread CPU time, rounds interleaved, medians of the ratio in each
 * round. Each side runs in a process of its own, since the module's clock would
 * speed up the macros too. Frames are made up, so patching, thunks and saving of
 * vector registers are not in it; tests/bench measures the whole path.
 *
 *	micro CALLS ROUNDS
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "static-tp.h"
#include "host.h"

#define ROUNDS_MAX	101

static const struct host_field two[] = {
	{ "a", SPI_KIND_INT, SPI_PLACE_GPR, RDI, 4, 1 }, { "b", SPI_KIND_INT, SPI_PLACE_GPR, RSI, 4, 1 },
};
static const struct host_field six[] = {
	{ "a", SPI_KIND_INT, SPI_PLACE_GPR, RDI, 4, 1 }, { "b", SPI_KIND_INT, SPI_PLACE_GPR, RSI, 4, 1 },
	{ "c", SPI_KIND_INT, SPI_PLACE_GPR, RDX, 4, 1 }, { "d", SPI_KIND_INT, SPI_PLACE_GPR, RCX, 4, 1 },
	{ "e", SPI_KIND_INT, SPI_PLACE_GPR, R8, 4, 1 }, { "f", SPI_KIND_INT, SPI_PLACE_GPR, R9, 4, 1 },
};
static const struct host_field str[] = { { "s", SPI_KIND_STRING, SPI_PLACE_GPR, RDI, 8 } };
static const struct host_field ret[] = { { "ret", SPI_KIND_INT, SPI_PLACE_GPR, RAX, 8, 1 } };
static const struct host_func entries[] = {{"two", two, ret, 2, 1}, {"six", six, ret, 6, 1}, {"str", str, ret, 1, 1}};
static const struct host_func pairs[] = { { "pair", two, ret, 2, 1 } }, ones[] = { { "one", two, ret, 2, 1 } };

static struct spi_point *entry_points[3], *pair_point[1], *one_point[1];
static const char text[] = "abcdefghijklmnopqrstuvwxyz0123";

#define CASE(name, body) \
	static __attribute__((noinline)) void name(long n) \
	{ \
		struct host_frame *f = host_frame(0); \
		for (long i = 0; i < n; i++) { \
			body \
			__asm__ __volatile__("" ::: "memory"); \
		} \
		(void) f; \
	}
#define ARGS f->f.rdi = i, f->f.rsi = i + 1
#define ARGS6 ARGS, f->f.rdx = i + 2, f->f.rcx = i + 3, f->f.r8 = i + 4, f->f.r9 = i + 5
#define SIX (int) i, (int) i + 1, (int) i + 2, (int) i + 3, (int) i + 4, (int) i + 5

CASE(static_two, lttng_ust_tracepoint(bench, two, (int) i, (int) i + 1);)
CASE(entry_two, ARGS; host_enter(entry_points[0], f);)
CASE(static_six, lttng_ust_tracepoint(bench, six, SIX);)
CASE(entry_six, ARGS6; host_enter(entry_points[1], f);)
CASE(static_str, lttng_ust_tracepoint(bench, str, text);)
CASE(entry_str, f->f.rdi = (uint64_t) text; host_enter(entry_points[2], f);)
CASE(static_pair, lttng_ust_tracepoint(bench, two, (int) i, (int) i + 1); lttng_ust_tracepoint(bench, ret, i);)
CASE(entry_pair, ARGS; struct spi_slot *s = host_enter(pair_point[0], f); f->f.rax = i; host_leave(s, f);)
CASE(entry_one, ARGS; struct spi_slot *s = host_enter(one_point[0], f); f->f.rax = i; host_leave(s, f);)

static const struct {
	const char *name;
	void (*plain)(long), (*ours)(long);
	double limit;
} cases[] = {
	{"entry, 2 ints", static_two, entry_two, 0.80},
	{"entry, 6 ints", static_six, entry_six, 0.80},
	{"entry, 30-character string", static_str, entry_str, 0.80},
	{"entry and exit", static_pair, entry_pair, 0.90},
	{"one event a call", static_pair, entry_one, 0.55},
};

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return x < y ? -1 : x > y;
}

static double median(double *v, int n)
{
	qsort(v, (size_t) n, sizeof(*v), by_value);
	return v[n / 2];
}

static double timed(void (*run)(long), long n)
{
	double start = cpu_ns();

	run(n);
	return (cpu_ns() - start) / (double) n;
}

/* A worker: for each number of a case that it reads, answer what a call took. */
static int work(int spi, long n)
{
	struct timespec pause = { .tv_nsec = 30000000 };
	unsigned char number;

	if (spi) {
		host_fast_strings = 1;
		host_start();
		host_bind(entries, 3, SPI_POINT_NO_EXIT, entry_points);
		host_bind(pairs, 1, 0, pair_point);
		host_bind(ones, 1, SPI_POINT_ONE_EVENT, one_point);
		nanosleep(&pause, NULL);	/* the clock has its rate by then */
	}
	while (read(0, &number, 1) == 1) {
		double ns = timed(spi ? cases[number].ours : cases[number].plain, n);

		if (write(1, &ns, sizeof(ns)) != sizeof(ns))
			return 1;
	}
	if (spi) {
		struct spi_thread_count count = host_count();

		fprintf(stderr, "lost: %lu entries, %lu exits\n", (unsigned long) count.lost_entries,
			(unsigned long) count.lost_exits);
	}
	return 0;
}

struct worker {
	int to, from;
	pid_t pid;
};

static void worker_start(struct worker *w, const char *role, const char *n)
{
	char *argv[] = { (char *) "micro", (char *) role, (char *) n, NULL };
	posix_spawn_file_actions_t actions;
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		exit(1);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	if (posix_spawn(&w->pid, "/proc/self/exe", &actions, NULL, argv, environ))
		exit(1);
	close(in[0]);
	close(out[1]);
	w->to = in[1];
	w->from = out[0];
}

static double worker_time(const struct worker *w, unsigned char number)
{
	double ns = 0;

	if (write(w->to, &number, 1) != 1 || read(w->from, &ns, sizeof(ns)) != sizeof(ns))
		exit(1);
	return ns;
}

int main(int argc, char **argv)
{
	static double plain[COUNT(cases)][ROUNDS_MAX], ours[COUNT(cases)][ROUNDS_MAX], ratio[COUNT(cases)][ROUNDS_MAX];
	struct timespec pause = { .tv_nsec = 10000000 };	/* the consumer's turn */
	struct worker w[2];
	int rounds;

	if (argc > 2 && (!strcmp(argv[1], "static") || !strcmp(argv[1], "spi")))
		return work(!strcmp(argv[1], "spi"), atol(argv[2]));
	rounds = argc > 2 ? atoi(argv[2]) : 31;
	worker_start(&w[0], "static", argc > 1 ? argv[1] : "15000");
	worker_start(&w[1], "spi", argc > 1 ? argv[1] : "15000");
	for (int r = -2; r < rounds && r < ROUNDS_MAX; r++)
		for (unsigned char c = 0; c < COUNT(cases); c++) {
			double v[2];

			v[r & 1] = worker_time(&w[r & 1], c);
			v[!(r & 1)] = worker_time(&w[!(r & 1)], c);
			nanosleep(&pause, NULL);
			if (r < 0)
				continue;
			plain[c][r] = v[0];
			ours[c][r] = v[1];
			ratio[c][r] = v[1] / v[0];
		}
	for (size_t c = 0; c < COUNT(cases); c++)
		printf("%-28s static %6.1f ns  spi %6.1f ns  ratio %.3f  (limit %.2f)\n", cases[c].name,
			median(plain[c], rounds), median(ours[c], rounds), median(ratio[c], rounds), cases[c].limit);
	for (int i = 0; i < 2; i++) {
		close(w[i].to);
		waitpid(w[i].pid, NULL, 0);
	}
	return 0;
}
