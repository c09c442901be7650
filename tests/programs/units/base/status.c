/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The status memory as a controller sees it: threads and children count in
 * blocks of their own, each controller has its own time, more threads than there
 * are blocks share the last one.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "liblttng-spi/base/base.h"

#define SIZE	(SPI_STATUS_BLOCKS_AT + SPI_STATUS_BLOCKS_MAX * sizeof(struct spi_status_block))

__thread struct spi_thread spi_thread __attribute__((tls_model("initial-exec"))) = { .owed = SPI_THREAD_MARK };
static struct spi_thread_own *owns;
static int failed, count;

struct spi_thread_own *spi_threads_first(void)
{
	return owns;
}

static void ok(int passed, const char *name)
{
	printf("%sok %d - %s\n", passed ? "" : "not ", ++count, name);
	failed |= !passed;
}

static const void *controller_new(void)
{
	int fd = spi_status_fd();
	void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED) {
		printf("Bail out! no status memory: %d\n", fd);
		exit(1);
	}
	close(fd);
	return memory;
}

static uint64_t entries_of(const void *memory)
{
	const struct spi_status_page *page = memory;
	const struct spi_status_block *blocks = (const void *) ((const char *) memory + SPI_STATUS_BLOCKS_AT);
	uint64_t sum = page->entries;

	for (uint64_t i = 0; i < page->blocks && i < SPI_STATUS_BLOCKS_MAX; i++)
		sum += blocks[i].counter[0];
	return sum;
}

static struct spi_thread_own *own_new(void)
{
	struct spi_thread_own *own = calloc(1, sizeof(*own));

	own->next = owns;
	owns = own;
	if (spi_status_record_get(own) < 0)
		abort();
	return own;
}

static void thread_begin(void)
{
	spi_thread.own = own_new();
	spi_thread.record = spi_thread.own->record;
}

static void calls(long n)
{
	while (n--)
		spi_thread.record->count.entries++;
}

static int forked(void (*child)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		spi_status_fork_child();
		child();
		raise(SIGKILL);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void child_counts(void)
{
	calls(1000);
}

/* As it begins: what was counted before is told to nobody. */
static void child_of_its_own(void)
{
	const void *own;

	calls(5);
	own = controller_new();
	if (entries_of(own) != 0 || spi_status_child_thread(&spi_thread) < 0)
		abort();
	calls(7);
	_exit(entries_of(own) == 7 ? 0 : 1);
}

static volatile int stop;

static void *counting(void *number)
{
	thread_begin();
	while (!stop) {
		calls(1);
		++*(uint64_t *) number;
	}
	return NULL;
}

/* No call is counted twice or never while controllers come. */
static void controllers_come(void)
{
	uint64_t sum = 0, made = 0;
	const void *seen[201];
	pthread_t thread;

	seen[0] = controller_new();
	pthread_create(&thread, NULL, counting, &made);
	for (int i = 1; i <= 200; i++) {
		usleep(100);
		seen[i] = controller_new();
	}
	stop = 1;
	pthread_join(thread, NULL);
	for (int i = 0; i <= 200; i++)
		sum += entries_of(seen[i]);
	ok(sum == made, "controllers one after the other, while a thread counts: each call in one of them");
}

int main(void)
{
	const void *first, *second;
	struct spi_thread_own *many;

	spi_status_init();
	thread_begin();
	calls(3);
	first = controller_new();
	ok(entries_of(first) == 0, "a controller begins at zero");
	calls(10);
	ok(entries_of(first) == 10, "a thread's calls");
	forked(child_counts);
	ok(entries_of(first) == 10, "not a child's that has not begun");
	calls(100);
	ok(entries_of(first) == 110, "the parent's go on");
	second = controller_new();
	calls(1);
	ok(entries_of(second) == 1 && entries_of(first) == 110, "another controller has its own time");
	ok(forked(child_of_its_own) == 0 && entries_of(second) == 1, "a child that begins has a controller of its own");
	controllers_come();
	second = controller_new();
	for (int i = 0; i < 5000; i++)
		many = own_new();
	many->record->count.entries += 100;
	ok(entries_of(second) == 100, "more threads than blocks");
	printf("1..%d\n", count);
	return failed;
}
