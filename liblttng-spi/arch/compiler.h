/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Words for the compiler that every file uses. */
#ifndef SPI_BASE_COMPILER_H
#define SPI_BASE_COMPILER_H

#define spi_likely(x)	__builtin_expect(!!(x), 1)
#define spi_unlikely(x)	__builtin_expect(!!(x), 0)
#define spi_barrier()	__asm__ __volatile__("" ::: "memory")	/* against the compiler: own thread, signal handlers */
#define SPI_INLINE	static inline __attribute__((always_inline, unused))
#define SPI_HIDDEN	__attribute__((visibility("hidden")))
#define SPI_EXPORT	__attribute__((visibility("default")))
/* For what each fork writes: side by side, as each page that is written then is copied, in parent and child. */
#define SPI_FORK_DATA	__attribute__((section("spi_fork_data")))

#endif /* SPI_BASE_COMPILER_H */
