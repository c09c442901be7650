/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#ifndef SPI_INJECTOR_INJECT_SANDBOX_H
#define SPI_INJECTOR_INJECT_SANDBOX_H

#include "injector/inject/target.h"

/*
 * spi_sandbox_check() - would system calls of ours end this thread, which is
 * stopped by ptrace? 0, or -ENOTSUP with the target's result filled in.
 */
int spi_sandbox_check(const struct spi_target *t, pid_t tid);

/*
 * spi_sandbox_keep() - copy the filters of the process's threads while the caller is root: each one is stopped for as long as that takes, and
 * let go. For spi_sandbox_check() in the same process. A process without filters is not touched.
 */
void spi_sandbox_keep(pid_t pid, const struct spi_inject_options *options);

#endif /* SPI_INJECTOR_INJECT_SANDBOX_H */
