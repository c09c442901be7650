/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#ifndef SPI_SECCOMP_FILTER_H
#define SPI_SECCOMP_FILTER_H

#include <linux/filter.h>
#include <stdint.h>

enum spi_seccomp_for {
	SPI_SECCOMP_RECORD,	/* whatever the agent may come to do in a thread of the program */
	SPI_SECCOMP_LOAD,	/* that, and loading the agent there, with its and lttng-ust's threads */
};

/*
 * Would this seccomp filter (seccomp(2)) end a thread for a system call that the
 * tracer makes in it? `ip`: from about where. The answer is for arguments as the
 * tracer's; a call that only fails does no harm. 0: no; else the number of such a
 * call + 1. Calls nothing; any thread, any state.
 */
uint32_t spi_seccomp_deadly(const struct sock_filter *code, uint32_t count, uint64_t ip, enum spi_seccomp_for purpose);

#endif /* SPI_SECCOMP_FILTER_H */
