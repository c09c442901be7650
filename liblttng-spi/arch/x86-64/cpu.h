/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* x86-64: what arch.h promises. Everything here may be called by any thread, in any state. */
#ifndef SPI_ARCH_CPU_H
#define SPI_ARCH_CPU_H

#include <stddef.h>
#include <stdint.h>
#include "liblttng-spi/base/compiler.h"

/* ---- system calls: a negative errno in the result; errno itself is not touched ---- */

SPI_INLINE long spi_raw6(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	register uint64_t r10 __asm__("r10") = d;
	register uint64_t r8 __asm__("r8") = e;
	register uint64_t r9 __asm__("r9") = f;
	long ret;

	__asm__ __volatile__("syscall"
		: "=a"(ret)
		: "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
		: "rcx", "r11", "memory");
	return ret;
}

SPI_INLINE long spi_raw4(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	register uint64_t r10 __asm__("r10") = d;
	long ret;

	__asm__ __volatile__("syscall"
		: "=a"(ret)
		: "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
		: "rcx", "r11", "memory");
	return ret;
}

SPI_INLINE long spi_raw3(long nr, uint64_t a, uint64_t b, uint64_t c)
{
	return spi_raw4(nr, a, b, c, 0);
}

/* ---- bytes ---- */

/* memcpy and memset may be instrumented, and gcc turns loops into calls of them. */
SPI_INLINE void spi_bytes_copy(void *to, const void *from, size_t n)
{
	__asm__ __volatile__("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

SPI_INLINE void spi_bytes_set(void *to, int value, size_t n)
{
	__asm__ __volatile__("rep stosb" : "+D"(to), "+c"(n) : "a"(value) : "memory");
}

/* ---- the trap flag: a thread that single-steps itself ---- */

#define SPI_FLAGS_TRAP		UINT64_C(0x100)

/* 1: it was set. */
SPI_INLINE uint64_t spi_steps_pause(void)
{
	uint64_t flags = __builtin_ia32_readeflags_u64();

	if (spi_likely(!(flags & SPI_FLAGS_TRAP)))
		return 0;
	__builtin_ia32_writeeflags_u64(flags & ~SPI_FLAGS_TRAP);
	return 1;
}

SPI_INLINE void spi_steps_resume(uint64_t paused)
{
	if (spi_unlikely(paused))
		__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | SPI_FLAGS_TRAP);
}

/* ---- the frame that thunks make ---- */

/*
 * The caller's registers as the thunk pushed them (arch/x86-64/thunks.S). At an
 * entry `ra` is the return address and stack[] the stack arguments; at an exit
 * rax and rdx hold the return value.
 */
struct spi_frame {
	uint64_t rbp, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax;
	uint64_t ra;
	uint64_t stack[];
};

/* The vector registers: the low `stride` bytes of xmm<n>, ymm<n>, zmm<n> (16, 32, 64) are at vec + n * stride. */
struct spi_vectors {
	const uint8_t *base;
	uint64_t stride;
};

#endif /* SPI_ARCH_CPU_H */
