/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What exec-watch.c, exec-file.c and exec-env.c share: programs that the traced one executes. */
#ifndef SPI_EXEC_H
#define SPI_EXEC_H

#include "liblttng-spi/core.h"

enum spi_exec_kind {
	SPI_EXEC_FAILS,		/* execve() will fail, or what it does cannot be told */
	SPI_EXEC_UNFIT,		/* it will run, but the agent cannot be preloaded: *reason */
	SPI_EXEC_FITS,
};

/* ---- exec-file.c: opens and reads, and nothing else; any thread, vforked children included ---- */
/* `path` as execveat() takes it, with AT_EMPTY_PATH or without. */
enum spi_exec_kind spi_exec_look(int directory, const char *path, int flags, const char **reason);

/* ---- exec-env.c ---- */
/*
 * Control side: where executed programs find the controller. `path` may lack its NUL; NULL: what a preloaded agent's
 * environment said.
 */
void spi_exec_env_init(const char *path, size_t size);
const char *spi_exec_socket(void);	/* NULL: nowhere */
const char *spi_exec_agent(void);	/* the agent's own file */
/* The numbers of the rules that executed programs come under wherever those act, "1+2"; control side. Empty: none. */
void spi_exec_env_follow(const char *numbers);
const char *spi_exec_env_followed(void);
/* Bytes that spi_exec_env_fill() needs; 0: the environment stays as it is. */
size_t spi_exec_env_size(char *const envp[]);
/* `envp` with what brings the agent along; in `room`, which is aligned. */
char **spi_exec_env_fill(void *room, char *const envp[]);

#endif /* SPI_EXEC_H */
