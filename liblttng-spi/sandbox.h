/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Threads that are about to give system calls up (sandbox.c). */
#ifndef SPI_SANDBOX_H
#define SPI_SANDBOX_H

#include "liblttng-spi/core.h"

/* Before libc's prctl(). */
uint64_t spi_sandbox_prctl(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
/* Before seccomp(operation, flags, args) by syscall(). 1: it has to be for the calling thread alone. */
int spi_sandbox_by_syscall(uint64_t operation, uint64_t flags, uint64_t args);
/* The agent's own, which comes before libc's. */
int spi_own_prctl(int option, ...) SPI_HIDDEN;
void spi_sandbox_init(void);
/* The process goes on without the tracer: neither destructors nor system calls of its from here on. */
void spi_sandbox_drop(void);
/* The same in the child of a fork, where this thread is the only one and libc's lock of the objects may be nobody's. */
void spi_sandbox_drop_alone(void);

#endif /* SPI_SANDBOX_H */
