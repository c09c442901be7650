/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The control lock serialises the control side: rules, maps, patching, loading the event module; and fork() against all of these. One
 * thread at a time holds it: the thread that runs the constructor before main(), afterwards the control thread, and threads of the
 * program that load a library or end the process. It is taken before any lock of lttng-ust's or the dynamic linker's.
 */
#ifndef SPI_BASE_CONTROL_LOCK_H
#define SPI_BASE_CONTROL_LOCK_H

#include <stdint.h>

void spi_control_lock(void);
void spi_control_unlock(void);
/* As the process ends: waits 50 ms at most, all calls together. 1: the caller holds it. */
int spi_control_try(void);
/*
 * For a fork: blocks `signals` while it is held; *held is for spi_signals_release(). 0: it is not held, because
 * its owner has had it for two seconds, as while a controller is stopped, and may_give_up is set.
 */
int spi_control_lock_fork(uint64_t signals, uint64_t *held, int may_give_up);
/* In the child, within fork(): the calling thread is the owner. */
void spi_control_lock_fork_child(void);
int spi_control_is_mine(void);

#endif /* SPI_BASE_CONTROL_LOCK_H */
