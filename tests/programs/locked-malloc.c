/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * An allocator with one lock and no handlers of fork(), as a library that comes before libc: what another thread holds when a
 * thread forks is held in the child for ever. Nothing is given back.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK (1u << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *next, *end;

static void *take(size_t align, size_t size)
{
	size_t *at;

	pthread_mutex_lock(&lock);
	next = (char *) (((uintptr_t) next + sizeof(*at) + align - 1) & -align);
	if (!end || next + size > end) {
		size_t bytes = size + align + CHUNK;

		next = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		end = next + bytes;
		next = (char *) (((uintptr_t) next + sizeof(*at) + align - 1) & -align);
	}
	at = (size_t *) next - 1;
	*at = size;
	next += size;
	for (volatile int i = 0; i < 2000; i++)		/* so that it is held often */
		;
	pthread_mutex_unlock(&lock);
	return at + 1;
}

void *malloc(size_t size)
{
	return take(16, size);
}

void *calloc(size_t n, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(n, size, &bytes) ? NULL : take(16, bytes);
}

void *realloc(void *old, size_t size)
{
	void *new = take(16, size);

	if (old)
		memcpy(new, old, ((size_t *) old)[-1] < size ? ((size_t *) old)[-1] : size);
	return new;
}

void *memalign(size_t align, size_t size)
{
	return take(align < 16 ? 16 : align, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	return memalign(align, size);
}

int posix_memalign(void **to, size_t align, size_t size)
{
	*to = memalign(align, size);
	return 0;
}

void free(void *at)
{
	(void) at;
}
