/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files that drive a stopped thread share: stop.c, late-stops.c, call-frame.c, remote.c. */
#ifndef SPI_INJECTOR_INJECT_REMOTE_INTERNAL_H
#define SPI_INJECTOR_INJECT_REMOTE_INTERNAL_H

#include <signal.h>

#include "injector/inject/remote.h"

#define RED_ZONE		128u
#define CHAIN_WORDS		9u
#define DONE_SIGNAL		SIGURG	/* what a thread sends itself when a call is over */

/* Results of interrupted system calls that the kernel never shows to programs. */
#define ERESTARTSYS		512
#define ERESTARTNOHAND		514
#define ERESTART_RESTARTBLOCK	516

#define BIT(sig)		(UINT64_C(1) << ((sig) - 1))
#define SYNCHRONOUS		(BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE) | BIT(SIGTRAP) | BIT(SIGSYS))

/* stop.c: the next stop of a thread, as waitpid() tells it. 0, -ETIMEDOUT, or -ESRCH when the thread is gone. */
int spi_stop_wait(pid_t tid, int *status, uint64_t deadline);
/* late-stops.c: one that did not stop in time; is it such a one still? */
void spi_late_add(pid_t tid);
bool spi_late_has(pid_t tid);
int spi_regs_get(pid_t tid, struct user_regs_struct *regs);
int spi_regs_set(pid_t tid, const struct user_regs_struct *regs);
bool spi_regs_make_restartable(struct user_regs_struct *regs);
/* It stands as it was found: let it run. */
void spi_remote_let_go(struct spi_remote *r);

/* call-frame.c: our area on the thread's stack, below `top`; nothing is written before spi_frame_write(). */
void spi_frame_place(struct spi_remote *r, uint64_t top);
int spi_frame_write(struct spi_remote *r);
bool spi_frame_fits(const struct spi_remote *r);
void spi_frame_chain(const struct spi_remote *r, uint64_t *chain);

#endif /* SPI_INJECTOR_INJECT_REMOTE_INTERNAL_H */
