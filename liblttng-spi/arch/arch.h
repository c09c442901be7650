/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a processor has to offer: the one contract between the agent and arch/<cpu>/. Only these files know registers, opcodes, system
 * call numbers' way into the kernel, thread-local storage, the clock and the layout of what the agent writes as code.
 */
#ifndef SPI_ARCH_H
#define SPI_ARCH_H

#if defined(__x86_64__)
#include "liblttng-spi/arch/x86-64/cpu.h"
#else
#error "no directory of arch/ is for this processor"
#endif

#endif /* SPI_ARCH_H */
