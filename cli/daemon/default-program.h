/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Which program is to be started when there is no session daemon. */
#ifndef SPI_CLI_DAEMON_DEFAULT_PROGRAM_H
#define SPI_CLI_DAEMON_DEFAULT_PROGRAM_H

/*
 * sessiond_default() - path of spi-sessiond, which runs the session daemon with
 * the plugin: beside this program in the build tree or where both are installed.
 * In static storage; NULL when it is not there.
 */
const char *sessiond_default(void);

#endif /* SPI_CLI_DAEMON_DEFAULT_PROGRAM_H */
