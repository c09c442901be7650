/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of a run share: run.c, output.c, events.c. */
#ifndef SPI_CLI_RUN_INTERNAL_H
#define SPI_CLI_RUN_INTERNAL_H

#include "cli/run/run.h"

/* output.c: make or take the directory of -o, where there is one. 0, or an exit status after one line was said. */
int run_take_output(struct run *run);

/* events.c: make the session record the FUNCs' events; and all the others. 0, or negative after one line was said. */
int run_enable_functions(struct run *run);
int run_enable_others(struct run *run);
/* run_number_take() - run->number, which agents are told; run_enable_others() does it, too. */
void run_number_take(struct run *run);

#endif /* SPI_CLI_RUN_INTERNAL_H */
