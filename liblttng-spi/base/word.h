/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A word that one thread of the agent's waits for and another sets: a futex. libc's ways of waiting may themselves be
 * instrumented.
 */
#ifndef SPI_WORD_H
#define SPI_WORD_H

#include <linux/futex.h>
#include <stdint.h>
#include <time.h>
#include "liblttng-spi/patch/internal.h"

/* Any thread. */
SPI_INLINE void spi_word_set(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	spi_raw3(SYS_futex, (uint64_t) word, FUTEX_WAKE_PRIVATE, INT32_MAX);
}

SPI_INLINE uint64_t spi_word_now_ns(void)
{
	struct timespec ts = { 0, 0 };

	spi_raw3(SYS_clock_gettime, CLOCK_MONOTONIC, (uint64_t) &ts, 0);
	return (uint64_t) ts.tv_sec * 1000000000u + (uint64_t) ts.tv_nsec;
}

/* While it has this value, and no longer than so many milliseconds. */
SPI_INLINE void spi_word_wait(uint32_t *word, uint32_t value, uint32_t ms)
{
	uint64_t now = spi_word_now_ns(), until = now + ms * UINT64_C(1000000);

	for (; __atomic_load_n(word, __ATOMIC_ACQUIRE) == value && now < until; now = spi_word_now_ns()) {
		uint64_t left[2] = { (until - now) / 1000000000u, (until - now) % 1000000000u };

		spi_raw4(SYS_futex, (uint64_t) word, FUTEX_WAIT_PRIVATE, value, (uint64_t) left);
	}
}

#endif /* SPI_WORD_H */
