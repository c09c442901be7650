/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Which thunks suit this processor (thunks.S). */
#include <sys/platform/x86.h>
#include "liblttng-spi/arch/arch.h"

void spi_thunk_entry_inuse(void) SPI_HIDDEN;
void spi_thunk_exit_inuse(void) SPI_HIDDEN;
void spi_thunk_entry_plain(void) SPI_HIDDEN;
void spi_thunk_entry_ymm(void) SPI_HIDDEN;
void spi_thunk_exit_ymm(void) SPI_HIDDEN;

#define IN_USE_YMM	0x04u	/* of XINUSE */
#define IN_USE_ZMM	0xe0u

static struct spi_thunks full;	/* the pair that suits this CPU; written by spi_thunks_init() only */

void spi_thunks_init(void)
{
	/* As libc has read them: CPUID itself takes microseconds each time in a virtual machine, which is asked. */
	int has_avx = CPU_FEATURE_PRESENT(OSXSAVE) && CPU_FEATURE_PRESENT(AVX);
	int has_inuse = has_avx && CPU_FEATURE_PRESENT(XGETBV_ECX_1) && CPU_FEATURE_PRESENT(XSAVEC);

	full = (struct spi_thunks) { (uint64_t) spi_thunk_entry_plain, (uint64_t) spi_thunk_exit_plain, 0 };
	if (has_avx)
		full = (struct spi_thunks) { (uint64_t) spi_thunk_entry_ymm, (uint64_t) spi_thunk_exit_ymm, 0 };
	if (has_inuse)
		full = (struct spi_thunks) { (uint64_t) spi_thunk_entry_inuse, (uint64_t) spi_thunk_exit_inuse,
			IN_USE_YMM };
}

/*
 * An object that uses no wide registers across calls has nothing in them that
 * its functions' callers could want back: xmm0-15 will do, and XGETBV, 7 ns on
 * some CPUs, is saved.
 */
void spi_thunks_full(int uses_wide, int uses_widest, struct spi_thunks *thunks)
{
	*thunks = full;
	if (!uses_wide && !uses_widest)
		*thunks = (struct spi_thunks) { (uint64_t) spi_thunk_entry_plain, (uint64_t) spi_thunk_exit_plain, 0 };
	else if (uses_widest && full.vectors)
		thunks->vectors |= IN_USE_ZMM;
}
