/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Is a stopped thread at a place from where it may call dlopen()? Internal to
 * the injector.
 */
#ifndef SPI_INJECTOR_INJECT_SAFE_POINT_H
#define SPI_INJECTOR_INJECT_SAFE_POINT_H

#include <sys/user.h>

#include "injector/inject/target.h"

struct spi_safe;

/* Everything that can be prepared for a process while it runs. NULL: out of memory. */
struct spi_safe *spi_safe_create(const struct spi_target *target, bool has_agent);	/* is the agent there already? */
void spi_safe_destroy(struct spi_safe *safe);

/*
 * spi_safe_snapshot() - copy registers and the upper part of the stack of a
 * stopped thread: some ten microseconds. `at_handler`: it is about to enter a signal handler.
 */
void spi_safe_snapshot(struct spi_safe *safe, pid_t tid, const struct user_regs_struct *regs, bool at_handler);

/*
 * spi_safe_judge() - unwind the last snapshot. 0: safe; -EAGAIN: not here, *why
 * says what the thread was doing (static text). May run after the thread was let
 * go, to be held against a second snapshot.
 */
int spi_safe_judge(struct spi_safe *safe, const char **why);

/* After a safe verdict: it waits in lttng-ust's constructor, and until that ends no other thread can load anything. */
bool spi_safe_in_constructor(const struct spi_safe *safe);

/* After an unsafe verdict: the address to which the unsafe function will return; 0 when that is not known. */
uint64_t spi_safe_escape(const struct spi_safe *safe);

/*
 * Stopped once more: does the thread still wait in the same system call with the
 * same stack as in the snapshot that was judged safe? Then it is safe now.
 */
bool spi_safe_unchanged(struct spi_safe *safe, const struct user_regs_struct *regs);

/* Does the thread stand still with its control group, where it is not stopped by us? False where the kernel does not tell. */
bool spi_thread_is_frozen(pid_t pid, pid_t tid);

/* Before anything is stopped: 0 when a stop would do no harm, else -EAGAIN and *why. */
int spi_safe_precheck(const struct spi_target *target, pid_t tid, const char **why);

#endif /* SPI_INJECTOR_INJECT_SAFE_POINT_H */
