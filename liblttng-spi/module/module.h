/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room module: loading the event module (tp/, liblttng-spi-tp.so), and what the trace is told of the process beside its
 * calls: libraries that come and go, the clock that all processes of a user share.
 *
 * Threads: control side, under the control lock; before main() the thread that runs constructors. Loading the module
 * calls the dynamic linker, so no other lock of the agent's is held.
 */
#ifndef SPI_MODULE_H
#define SPI_MODULE_H

#include <stddef.h>
#include <stdint.h>
#include "liblttng-spi/link/link.h"

/* ---- floor.c ---- */
/* Who takes WELCOME or loads the payload: the control thread, or before there are other threads. */
/* Memory of SPI_PLACES that all of the user's programs under this controller have; NULL: there is none. Any thread. */
void *spi_floor_places(void);
void spi_floor_take(int fd);		/* what WELCOME brought, or -1; closes it */

/* ---- module.c: the event module ---- */
extern struct spi_core_ops spi_core_ops;	/* what it may call; what rooms above module/module.c offer, control/participants.c sets */
int spi_module_is_run(void);
void spi_module_run(uint32_t run);		/* the run that this process belongs to, as WELCOME says */
/* A file that the controller has (SPI_MSG_FILE_REQUEST): a descriptor, which is the caller's, or a negative errno and `error`. */
int spi_module_file(struct spi_link *link, const char *name, char *error, size_t error_size);
extern int spi_module_records_wait SPI_HIDDEN;	/* before it is loaded: records wait for room where a channel says so */
int spi_module_load(struct spi_link *link, char *error, size_t error_size);
/* Nothing is recorded here: what has to be there before calls come to payloads. */
void spi_module_do_without(void);
int spi_module_loads_code(uint64_t address);	/* is it lttng-ust's, which is being loaded just now? Any thread */
void spi_tracer_code_find(void);	/* threads that start in the code of ours that is there now are the tracer's */

/* ---- load-tell.c: libraries that come and go, told to the trace ---- */
void spi_loads_tell(void);		/* what the latest scan has found, or no longer */

#endif /* SPI_MODULE_H */
