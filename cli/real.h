/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The real lttng, to which everything but `trace` is handed unchanged. */
#ifndef SPI_CLI_REAL_H
#define SPI_CLI_REAL_H

/*
 * real_lttng_find() - path of the real lttng, malloc'ed: LTTNG_SPI_REAL_LTTNG,
 * else the first `lttng` in PATH that is not this program, else /usr/bin/lttng.
 * NULL when there is none.
 */
char *real_lttng_find(void);

/*
 * real_lttng_exec() - become the real lttng. Returns only on failure: 127 or 126,
 * said. Of argv only a path in argv[0] is replaced.
 */
int real_lttng_exec(char **argv);

#endif /* SPI_CLI_REAL_H */
