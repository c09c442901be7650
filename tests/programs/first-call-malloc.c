/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A malloc() of a library's own, which asks the kernel under a lock that its thread cannot take twice.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHUNK	(1u << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *at, *end;

void *malloc(size_t size)
{
	void *block;

	size = ((size + 15) & ~(size_t) 15) + 16;
	pthread_mutex_lock(&lock);
	syscall(SYS_getpid);
	if (!at || (size_t) (end - at) < size) {
		size_t chunk = size > CHUNK ? size : CHUNK;

		at = mmap(NULL, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		end = at + chunk;
	}
	*(size_t *) at = size - 16;
	block = at + 16;
	at += size;
	pthread_mutex_unlock(&lock);
	return block;
}

void free(void *block)
{
	(void) block;
}

void *calloc(size_t n, size_t size)
{
	return malloc(n * size);
}

void *realloc(void *block, size_t size)
{
	void *other = malloc(size);
	size_t old = block ? ((size_t *) block)[-2] : 0;

	return block ? memcpy(other, block, old < size ? old : size) : other;
}

int posix_memalign(void **block, size_t align, size_t size)
{
	*block = (void *) (((uintptr_t) malloc(size + align) + align - 1) & ~(align - 1));
	return 0;
}

void *memalign(size_t align, size_t size)
{
	void *block;

	posix_memalign(&block, align, size);
	return block;
}

void *aligned_alloc(size_t align, size_t size)
{
	return memalign(align, size);
}
