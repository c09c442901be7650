/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A thread of the program that single-steps itself (the trap flag; steps.c). A step
 * with SIGTRAP blocked ends the process, and one while a lock is held brings the
 * program's handler in. So signals are blocked by these, which take the flag back
 * first: for reading it, a nanosecond beside a system call.
 */
#ifndef SPI_STEPS_H
#define SPI_STEPS_H

#include <signal.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/signal-mask.h"
#include "liblttng-spi/patch/internal.h"

/* From the first instrumentation on; control side. steps.c */
void spi_steps_begin(void) SPI_HIDDEN;

#endif /* SPI_STEPS_H */
