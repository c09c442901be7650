/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Keeps its memory map locked for as long as nobody answers for a page of FILE: one thread reads that by way of /proc/self/mem, which
 * takes the lock to read, and another thread wants the lock to write, which all later readers wait for. `held-memory FILE`
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void *page;

static void *reads(void *data)
{
	int fd = open("/proc/self/mem", O_RDONLY);
	char byte;

	return pread(fd, &byte, 1, (off_t) (uintptr_t) page) == 1 ? data : NULL;
}

static void *writes(void *data)
{
	usleep(100000);
	return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? NULL : data;
}

int main(int argc, char **argv)
{
	static char out[64];
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	pthread_t a, b;

	setvbuf(stdout, out, _IOFBF, sizeof(out));
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd < 0 || page == MAP_FAILED || pthread_create(&a, NULL, reads, NULL) || pthread_create(&b, NULL, writes, NULL))
		return 1;
	usleep(300000);
	if (write(1, "held\n", 5) != 5)
		return 1;
	pthread_join(a, NULL);
	return 0;
}
