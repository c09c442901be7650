/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Sets of signals: as the kernel has them, and as the program sees them while masks are virtual. Any thread. */
#ifndef SPI_DISPOSITIONS_INTERNAL_H
#define SPI_DISPOSITIONS_INTERNAL_H

#include <signal.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/dispositions/dispositions.h"

SPI_INLINE uint64_t mask_of(const sigset_t *set)
{
	uint64_t mask;

	spi_bytes_copy(&mask, set, sizeof(mask));
	return mask;
}

SPI_INLINE void mask_put(sigset_t *set, uint64_t mask)
{
	spi_bytes_copy(set, &mask, sizeof(mask));
}

SPI_INLINE int is_virtual(void)
{
	return __atomic_load_n(&spi_mask_virtual, __ATOMIC_ACQUIRE);
}

/* What the program is to see of the kernel's set. */
SPI_INLINE void set_to_program(sigset_t *set)
{
	if (set && is_virtual() && (mask_of(set) & SPI_MASK_PAIR))
		mask_put(set, mask_of(set) | SPI_MASK_PAIR);
}

/* masks.c: the agent's own, whatever the symbol means to others. */
extern __typeof__(sigprocmask) own_sigprocmask SPI_HIDDEN;

#endif /* SPI_DISPOSITIONS_INTERNAL_H */
