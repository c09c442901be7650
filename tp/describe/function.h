/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The names of functions whose calls are recorded as addresses (function.c). */
#ifndef SPI_TP_FUNCTION_H
#define SPI_TP_FUNCTION_H

#include "tp/record/fire.h"

SPI_HIDDEN int tp_function_ready(void);		/* agent thread only. 0, or -1: LTTng-UST refused the event */
/* A call of the point is about to be recorded. is_first: the thread's first record. Inside a read-side section. */
SPI_HIDDEN void tp_function_met(struct spi_thread *t, struct spi_point *point, int is_first);
/* Another channel than before records calls: does one that knows no function yet? Inside a read-side section. */
SPI_HIDDEN void tp_function_look(void);
SPI_HIDDEN void tp_function_unheard(void);	/* those that recorded calls may be gone */
SPI_HIDDEN void tp_function_again(void);	/* each is said again before its next call that is told of, or by functions_ask() */
SPI_HIDDEN void tp_function_tell(const struct spi_function *f);
SPI_HIDDEN void tp_function_fork_child(void);

#endif /* SPI_TP_FUNCTION_H */
