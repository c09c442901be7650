/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What each thread has of the agent's (base/point.h). Initialised in the image, so it is good before any code of the agent's runs in the thread. */
#include "liblttng-spi/base/base.h"

SPI_EXPORT __thread struct spi_thread spi_thread __attribute__((tls_model("initial-exec"))) = { .owed = SPI_THREAD_MARK | SPI_THREAD_NEW };

#define POOL_BYTES	65536u

static struct spi_thread_own *owns;
int spi_stacks_copied;

/* The first one is there from the beginning: a program that limits its memory afterwards has some for its next threads. */
static struct spi_thread_own *pool_get(void)
{
	static struct spi_thread_own first[POOL_BYTES / sizeof(struct spi_thread_own)];
	static int is_taken;

	return __atomic_exchange_n(&is_taken, 1, __ATOMIC_RELAXED) ? spi_map_pages(POOL_BYTES) : first;
}

struct spi_thread_own *spi_thread_own_get(void)
{
	struct spi_thread_own *own, *pool;
	size_t n = POOL_BYTES / sizeof(*own);

	for (own = __atomic_load_n(&owns, __ATOMIC_ACQUIRE); own; own = own->next) {
		uint64_t unused = 0;

		if (!__atomic_load_n(&own->in_use, __ATOMIC_RELAXED) &&
				__atomic_compare_exchange_n(&own->in_use, &unused, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return own;
	}
	pool = pool_get();
	if (!pool)
		return NULL;
	pool[0].in_use = 1;
	for (size_t i = 0; i < n; i++) {
		pool[i].chunk = CHUNK_NONE;
		pool[i].next = &pool[i + 1];	/* the last one's is set below */
	}
	own = __atomic_load_n(&owns, __ATOMIC_ACQUIRE);
	do
		pool[n - 1].next = own;
	while (!__atomic_compare_exchange_n(&owns, &own, pool, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	return pool;
}

struct spi_thread_own *spi_threads_first(void)
{
	return __atomic_load_n(&owns, __ATOMIC_ACQUIRE);
}
