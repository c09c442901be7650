/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Starting COMMAND with the agent preloaded. */
#ifndef SPI_CLI_RUN_LAUNCH_H
#define SPI_CLI_RUN_LAUNCH_H

#include <sys/types.h>

struct program;

/* launch_check() - are the agent's files there, and can LD_PRELOAD name them? 0, or -1 after one line was said. */
int launch_check(void);

/*
 * launch() - start the program; its agent connects to `socket`, and comes under the rules whose numbers `follow` has ("1+2"; NULL:
 * those that it is told there). Its pid, or a negative errno of fork or exec.
 */
pid_t launch(const struct program *program, const char *socket, const char *follow);

#endif /* SPI_CLI_RUN_LAUNCH_H */
