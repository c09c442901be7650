/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Threads that are about to give system calls up (sandbox.c). */
#ifndef SPI_SANDBOX_H
#define SPI_SANDBOX_H

#include "liblttng-spi/core.h"

/* Before seccomp(operation, flags, args) by syscall(). 1: it has to be for the calling thread alone. */
int spi_sandbox_by_syscall(uint64_t operation, uint64_t flags, uint64_t args);
/* lttng-ust and the event module have been loaded. Control side. */
void spi_sandbox_prepare(void);
/*
 * The process goes on without the tracer, which has neither destructors nor system calls from here on. Any thread;
 * takes no lock.
 */
void spi_sandbox_drop(void);

#endif /* SPI_SANDBOX_H */
