/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The daemon's text on its way to a terminal: clean.c. */
#ifndef SPI_CLI_CLEAN_H
#define SPI_CLI_CLEAN_H

/*
 * clean_output() - go on in a child whose stdout ends here: what it writes is passed on, and what a terminal would obey, but for line ends and tabs,
 * becomes '?'. Returns in the child, and where there can be none; the caller ends as the child did, its exit status or its signal.
 */
void clean_output(void);

#endif /* SPI_CLI_CLEAN_H */
