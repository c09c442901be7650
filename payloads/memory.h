/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Tables that a process counts in: zeroed memory of its own, which a forked child has zeroed again. */
#ifndef PAYLOADS_MEMORY_H
#define PAYLOADS_MEMORY_H

#include <stddef.h>
#include <sys/mman.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK	18
#endif

/* NULL: there is none. */
static inline void *own_memory(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	madvise(at, size, MADV_WIPEONFORK);	/* Linux 4.14 and later; before that a child has its parent's counts */
	return at;
}

static inline void own_memory_clear(void *at, size_t size)
{
	madvise(at, size, MADV_DONTNEED);
}

#endif /* PAYLOADS_MEMORY_H */
