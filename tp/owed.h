/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Exit records that found no room in the ring (owed.c).
 */
#ifndef SPI_TP_OWED_H
#define SPI_TP_OWED_H

#include "tp/as.h"

/*
 * Keep the exit record `shot`, which `channel` has no room for, until it has.
 * The channel is an address to compare, never to follow. Counted in t->owed, or
 * as lost when there is no memory to keep it.
 */
SPI_HIDDEN void tp_owed_add(struct spi_thread *t, const struct tp_shot *shot, const void *channel);
/* Try to write what is owed, oldest (innermost) first. Does nothing in a signal handler that interrupted recording. */
SPI_HIDDEN void tp_owed_flush(struct spi_thread *t);
/* Is something owed to this channel? Then no newer record of the thread may go there. */
SPI_HIDDEN int tp_owed_blocks(struct spi_thread *t, const void *channel);
/* The thread ends: a few last tries, then what is left is lost. */
SPI_HIDDEN void tp_owed_end(struct spi_thread *t);
/* The process ends: what another thread owes, in its name. */
SPI_HIDDEN void tp_owed_other(const struct tp_as *as, struct tp_thread *thread, struct spi_thread_count *count);
/* In the child of a fork: the parent's debts are the parent's. */
SPI_HIDDEN void tp_owed_fork_child(struct spi_thread *t);

#endif /* SPI_TP_OWED_H */
