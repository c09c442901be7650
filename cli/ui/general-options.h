/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What stands before the command on lttng's command line. */
#ifndef SPI_CLI_UI_GENERAL_OPTIONS_H
#define SPI_CLI_UI_GENERAL_OPTIONS_H

#include "cli/ui/trace-options.h"

/*
 * general_options_parse() - the real lttng's general options, the way it parses them itself: they end at the first
 * word that is no option. Returns the index in argv of the command, or 0 when there is none, or one that is not ours to look for.
 */
int general_options_parse(int argc, char **argv, struct trace_options *o);

#endif /* SPI_CLI_UI_GENERAL_OPTIONS_H */
