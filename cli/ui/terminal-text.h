/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Text of the daemon on its way to a terminal, without what a terminal would obey. */
#ifndef SPI_CLI_UI_TERMINAL_TEXT_H
#define SPI_CLI_UI_TERMINAL_TEXT_H

/*
 * clean_output() - go on in a child whose stdout ends here: what it writes is passed on, and what a terminal would obey, but for line ends and tabs,
 * becomes '?'. Returns in the child, and where there can be none; the caller ends as the child did, its exit status or its signal.
 */
void clean_output(void);

#endif /* SPI_CLI_UI_TERMINAL_TEXT_H */
