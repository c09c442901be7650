/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Results that no caller uses, and that compilers therefore remove from functions of one file. */
#ifndef CODEMAP_TYPES_UNUSED_RESULT_H
#define CODEMAP_TYPES_UNUSED_RESULT_H

#include "codemap/types/prototype.h"

/*
 * Look at the code of one unit's functions for what becomes of its doubtful results, and mark
 * those that do not exist as optimised out, those of which nothing is sure as not known.
 */
void results_check(struct dw_unit *unit, const struct functions *functions, struct tables *tables);

#endif /* CODEMAP_TYPES_UNUSED_RESULT_H */
