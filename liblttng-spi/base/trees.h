/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Which call trees there are, as one bit each: words that every room may read. Room tree/ changes them, under the control lock; the
 * inequality of a thread's epoch and this one has the thread look at them again.
 */
#ifndef SPI_BASE_TREES_H
#define SPI_BASE_TREES_H

#include <stdint.h>

#define SPI_TREES_MAX		16u
#define SPI_TREE_EPOCH_FIRST	UINT64_C(0x5b1d0000)	/* no word that foreign memory would hold by chance: SPI_THREAD_MARK */
extern uint64_t spi_tree_epoch;		/* 32 bits; changes when spi_thread.tree is to be looked at again; 0: no tree ever */
extern uint32_t spi_tree_others;	/* trees that every thread but the first is in */
extern uint32_t spi_tree_everybody;	/* trees that every thread is in */
extern uint32_t spi_tree_whole;		/* trees of a whole program, which has what runs before main() and after it, too */
extern uint32_t spi_tree_existing, spi_tree_limited, spi_tree_flat, spi_tree_compact, spi_tree_threads;
extern uint32_t spi_tree_depths[SPI_TREES_MAX];
extern uint32_t spi_tree_ended[SPI_TREES_MAX];	/* spi_tree_epoch at its latest end */
extern uint32_t spi_tree_tagged;	/* trees that have a tag */
extern uint32_t spi_tree_awaiting;	/* trees that begin with a message that has not come. tree/start.c */
extern uint32_t spi_tree_asked;		/* trees whose clients say which callees to go into: spi_call_propel() */
extern uint32_t spi_tree_decided;	/* trees whose clients say which call sites stay: payload/propeller.c */
extern uint32_t spi_client_trees __attribute__((visibility("default")));	/* trees that are for clients (payload/payload.h), and no record */

#endif /* SPI_BASE_TREES_H */
