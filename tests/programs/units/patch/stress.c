/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * stress WORKERS GATES SECONDS THREADS STORM-US - prepare every function of
 * funcs.S with the workers named (letters j p c t l), check each quietly, then
 * install and remove all of them over and over while threads run them, with a
 * SIGPROF every STORM-US microseconds, taken by whichever thread runs.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "harness.h"

#define WORKERS "-jpctl"	/* by enum spi_entry_worker */

static volatile int stop;
static uint64_t wrong, calls, storms;
static pthread_barrier_t begun;

static uint32_t workers_parse(const char *letters)
{
	uint32_t workers = 0;

	for (; *letters; letters++)
		workers |= 1u << (strchr(WORKERS, *letters) - WORKERS);
	return workers;
}

static void check_quiet(void)
{
	unsigned int installed = 0, declined = 0, used[SPI_WORKER_COUNT_] = { 0 }, bad = 0, miscounted = 0;
	int changed;

	for (unsigned int i = 0; i < funcs_count; i++) {
		if (funcs[i].declined) {
			printf("# declined: %s: %s\n", funcs[i].record->name, funcs[i].declined);
			declined++;
		} else {
			used[spi_patch_worker(funcs[i].point)]++;
			installed++;
		}
	}
	printf("# %u functions: jump %u pun %u cc %u trap %u late %u declined %u\n", funcs_count,
		used[SPI_WORKER_JUMP], used[SPI_WORKER_PUN], used[SPI_WORKER_CC], used[SPI_WORKER_TRAP],
		used[SPI_WORKER_LATE], declined);
	ok(installed > 0, "some functions can be patched");
	changed = funcs_all(1);
	ok(changed == (int) installed, "install changes all %u (%d)", installed, changed);
	ok(funcs_all(1) == 0, "installing again changes none");
	for (int gate = 0; gate < 2; gate++) {
		gates[0] = gate;
		for (unsigned int i = 0; i < funcs_count; i++) {
			struct test_func *f = &funcs[i];
			uint64_t before = f->calls, loops = 1;

			if (getenv("STRESS_TALK"))
				fprintf(stderr, "# %s worker %d gate %d\n", f->record->name, spi_patch_worker(f->point), gate);
			for (long x = -9; x < 91; x++)
				if (!funcs_call(f, x)) {
					bad++;
					printf("# wrong value: %s(%ld)\n", f->record->name, x);
				}
			if (f->record->flags & SPI_FUNC_LOOPS_TO_ENTRY)
				loops = 0;	/* its jumps back may be seen as calls */
			if (loops && f->calls - before != (gate && !f->declined ? 100 : 0)) {
				miscounted++;
				printf("# %s: %lu calls seen\n", f->record->name, f->calls - before);
			}
		}
	}
	ok(bad == 0, "every value is right");
	ok(miscounted == 0, "every call is seen when the gate is open, none when not");
	changed = funcs_all(0);
	ok(changed == (int) installed, "remove changes all (%d)", changed);
	ok(text_is_original(), "after removal the text is the original");
}

static void *run(void *arg)
{
	uint64_t n = 0, bad = 0;

	pthread_barrier_wait(&begun);	/* libc starts threads with all signals blocked: that is over here */
	for (long x = (long) arg; !stop; x++)
		for (unsigned int i = 0; i < funcs_count; i++, n++)
			bad += !funcs_call(&funcs[i], x);
	__atomic_fetch_add(&calls, n, __ATOMIC_RELAXED);
	__atomic_fetch_add(&wrong, bad, __ATOMIC_RELAXED);
	return NULL;
}

static void on_prof(int number)
{
	for (volatile int i = 0; i < 50; i++)
		;
	__atomic_fetch_add(&storms, 1, __ATOMIC_RELAXED);
}

static void storm(long us)
{
	struct itimerspec interval = { { 0, us * 1000 }, { 0, us * 1000 } };
	struct sigaction action = { .sa_handler = on_prof, .sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF };
	static timer_t timer;
	static int made;

	if (us && !made) {
		sigaction(SIGPROF, &action, NULL);
		timer_create(CLOCK_MONOTONIC, &event, &timer);
		made = 1;
	}
	if (made)
		timer_settime(timer, 0, &interval, NULL);
}

int main(int argc, char **argv)
{
	double seconds = atof(argv[3]), end, slowest = 0;
	int threads = atoi(argv[4]), rounds = 0, incomplete = 0, want;
	pthread_t thread[16];

	funcs_prepare(workers_parse(argv[1]), atoi(argv[2]) == 2);
	check_quiet();
	want = funcs_all(1);
	funcs_all(0);
	gates[1] = 1;
	pthread_barrier_init(&begun, NULL, (unsigned int) threads + 1);
	for (long i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, run, (void *) (i * 1000003));
	pthread_barrier_wait(&begun);
	storm(atol(argv[5]));
	for (end = now() + seconds; now() < end; rounds++) {
		double start = now();

		incomplete += funcs_all(1) != want;
		if (now() - start > slowest)
			slowest = now() - start;
		gates[0] = rounds & 1;
		incomplete += funcs_all(0) != want;
		incomplete += !text_is_original();
	}
	storm(0);
	stop = 1;
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	printf("# %d rounds of %d points, slowest install %.0f us, %lu calls, %lu signals\n", rounds, want, slowest * 1e6,
		calls, storms);
	ok(incomplete == 0, "each round installs and removes all");
	ok(wrong == 0, "no call returned a wrong value (%lu did)", wrong);
	return done_testing();
}
