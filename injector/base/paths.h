/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Where the project's own files are: beside the running program in the build
 * tree, else where they were installed. So everything works before `make install`.
 */
#ifndef SPI_INJECTOR_BASE_PATHS_H
#define SPI_INJECTOR_BASE_PATHS_H

#include <stddef.h>

/*
 * All return an absolute path in static storage, found at the first call and
 * the same ever after, or NULL when there is no such file. An environment
 * variable has the last word: LTTNG_SPI_AGENT, LTTNG_SPI_TP, LTTNG_SPI_CODEMAP.
 * A program that runs with raised rights (AT_SECURE) ignores those.
 */
const char *spi_path_agent(void);	/* liblttng-spi.so.0, for what runs in the target */
const char *spi_path_tp(void);		/* liblttng-spi-tp.so, the agent's tracepoint module */
const char *spi_path_codemap(void);	/* spi-codemap */
const char *spi_path_broker(void);	/* spi-broker; no variable names it */
/* Directory of the babeltrace2 plugin, for --plugin-path; no variable names it, babeltrace2 has its own. */
const char *spi_path_bt2(void);
const char *spi_path_reader(void);	/* lttng-spi, which shows traces; no variable names it */
const char *spi_path_relay_guard(void);	/* lttng-spi-relay.so, for the relay daemon of a live view; no variable names it */

/*
 * spi_path_library() - find a shared library of this host by its file name, as
 * the dynamic linker would: LD_LIBRARY_PATH, the linker's cache, the usual
 * directories. Only x86-64 files count. Writes an absolute path of at most
 * `size` bytes into `path`. Returns 0 or -ENOENT.
 */
int spi_path_library(const char *name, char *path, size_t size);

/*
 * spi_path_daemon_directory() - the directory that holds the application
 * socket of the session daemon this user's programs register with: root's
 * first, else the user's own. Returns 0, or -ENOENT when no daemon has one.
 */
int spi_path_daemon_directory(char *path, size_t size);

#endif /* SPI_INJECTOR_BASE_PATHS_H */
