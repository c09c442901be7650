/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A program whose life can be watched from outside without a system call of its
 * own: two threads call app_work() again and again, and how often is in a mapped
 * file. Linked with lttng-ust.
 *
 *	alive FILE STOP		until STOP exists; status 0 when every result was right
 *
 * FILE begins with a 64-bit number for each thread.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define TARGET __attribute__((noinline, noclone))

TARGET long app_work(int number, const char *text);
TARGET long app_other(long value);

static volatile uint64_t *calls;
static const char *stop;
static int wrong;

long app_work(int number, const char *text)
{
	__asm__ volatile("" : : "r"(text));
	return number * 2L;
}

long app_other(long value)
{
	__asm__ volatile("");
	return value * 3;
}

static void *work(void *data)
{
	volatile uint64_t *mine = data;

	while (*mine % 64 || access(stop, F_OK)) {
		int number = (int) (*mine & 0xffff);

		if (app_work(number, "alive") != number * 2L || app_other(number) != number * 3L)
			__atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
		*mine += 1;
		if (*mine % 64 == 0)
			nanosleep(&(struct timespec) { .tv_nsec = 5000000 }, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644) : -1;
	pthread_t other;

	if (fd < 0 || ftruncate(fd, 4096))
		return 2;
	calls = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	stop = argv[2];
	if (calls == MAP_FAILED || pthread_create(&other, NULL, work, (void *) &calls[1]))
		return 2;
	work((void *) &calls[0]);
	pthread_join(other, NULL);
	return wrong;
}
