/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * CPU time that is split in a known way: heavy() has 70 of 100 parts, light() 30, in each thread. argv[1]: milliseconds
 * of CPU time a thread; argv[2]: threads; argv[3]: "prof": the program has a profiling timer of its own, and says at
 * its end how often that came.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noipa))
#define PART_US	10

/* One turn: no memory, which threads would have to share. */
#define TURN(x)	do { (x) = (x) * 5 + 1; __asm__ volatile("" : "+r"(x)); } while (0)

static volatile sig_atomic_t ticks;
static long milliseconds;
static unsigned long a_part;	/* turns of the loop in PART_US */

static uint64_t cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t) ts.tv_sec * 1000000u + (uint64_t) ts.tv_nsec / 1000;
}

KEPT void heavy(unsigned long turns)
{
	unsigned int x = 1;

	for (unsigned long i = 0; i < turns; i++)
		TURN(x);
}

KEPT void light(unsigned long turns)
{
	unsigned int x = 1;

	for (unsigned long i = 0; i < turns; i++)
		TURN(x);
}

static KEPT void *work(void *data)
{
	const uint64_t end = cpu_us() + (uint64_t) milliseconds * 1000;
	unsigned int random = (unsigned int) ((uint64_t) &end >> 12) ^ (unsigned int) time(NULL) * 2654435761u;

	/*
	 * In turns of random lengths, others in each thread: samples come in step with the clock, and with each
	 * other. The clock is asked seldom: the kernel takes a busy processor away as a system call ends, and at a tick,
	 * where it takes the samples.
	 */
	while (cpu_us() < end) {
		for (int i = 0; i < 16; i++) {
			const unsigned long parts = a_part * (1 + (random = random * 1103515245u + 12345u) / 65536 % 50);

			heavy(parts * 7);
			light(parts * 3);
		}
	}
	return data;
}

static void on_prof(int number)
{
	(void) number;
	ticks++;
}

/* So many turns take a part's time: the most of several looks, as one may count what a hypervisor does meanwhile. */
static KEPT void calibrate(void)
{
	const unsigned long turns = 500000;
	unsigned int x = 1;

	for (int look = 0; look < 10; look++) {
		const uint64_t begin = cpu_us();
		unsigned long now;

		for (unsigned long i = 0; i < turns; i++)
			TURN(x);
		now = turns * PART_US / (cpu_us() - begin + 1);
		a_part = now > a_part ? now : a_part;
	}
}

int main(int argc, char **argv)
{
	const int count = argc > 2 ? atoi(argv[2]) : 1, has_timer = argc > 3 && !strcmp(argv[3], "prof");
	const struct itimerval every = { { 0, 10000 }, { 0, 10000 } }, none = { { 0, 0 }, { 0, 0 } };
	pthread_t threads[16];

	milliseconds = argc > 1 ? atol(argv[1]) : 1000;
	calibrate();
	if (has_timer) {
		signal(SIGPROF, on_prof);
		setitimer(ITIMER_PROF, &every, NULL);
	}
	puts("ready");
	fflush(stdout);
	for (int i = 1; i < count && i < 16; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	work(NULL);
	for (int i = 1; i < count && i < 16; i++)
		pthread_join(threads[i], NULL);
	if (has_timer) {
		setitimer(ITIMER_PROF, &none, NULL);
		printf("ticks %d\n", (int) ticks);
	}
	return 0;
}
