/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#ifndef SPI_SECCOMP_FILTER_H
#define SPI_SECCOMP_FILTER_H

#include <linux/filter.h>
#include <stdint.h>

/*
 * Would this seccomp filter (seccomp(2)) end a thread for a system call that the
 * tracer makes in it? `ip`: from about where. The answer is for arguments as the
 * tracer's; a call that only fails does no harm. to_load: is the agent yet to be
 * loaded there? 0: no; else the number of such a call + 1. Calls nothing; any thread, any state.
 */
uint32_t spi_seccomp_deadly(const struct sock_filter *code, uint32_t count, uint64_t ip, int to_load);

#endif /* SPI_SECCOMP_FILTER_H */
