/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Printed events on their way to our stdout, without those that only the viewer itself needs. */
#ifndef SPI_CLI_VIEW_SIEVE_H
#define SPI_CLI_VIEW_SIEVE_H

#include <sys/types.h>

/*
 * sieve_start() - a child that copies lines to our stdout. Returns its pid; *to is where it reads, to be closed here
 * once the writer has it. Or a negative errno.
 */
pid_t sieve_start(int *to);

/* sieve_hides() - is this printed event one that tells where libraries are? 1 or 0. */
int sieve_hides(const char *line, size_t size);

#endif /* SPI_CLI_VIEW_SIEVE_H */
