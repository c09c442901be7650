/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room signals: sharing SIGTRAP, SIGSEGV, SIGBUS and a signal of the tracer's own with the program. The agent's handler
 * is in the kernel; the program's action is kept here, and has each signal that is not the agent's as if it came from
 * the kernel. What the program asks of sigaction() and the like is answered by room dispositions.
 *
 * Threads: a signal is taken by the control side. The handlers run in any thread in any state; they take no lock and
 * allocate nothing. spi_signal.program is changed under spi_signal_lock() and read by handlers without it (`change`).
 */
#ifndef SPI_SIGNALS_H
#define SPI_SIGNALS_H

#include <stdint.h>
#include "liblttng-spi/base/base.h"

#define SPI_TRACER_THREADS	16u
#define SPI_SA_RESTORER		UINT64_C(0x04000000)
#define SPI_SIGNALS		32	/* the agent takes none of the real-time ones */

/* The kernel's struct sigaction. */
struct spi_sigaction {
	uint64_t handler;
	uint64_t flags;
	uint64_t restorer;
	uint64_t mask;
};

/* A signal that the agent took, and what the program had there. */
struct spi_signal {
	int number;
	uint8_t installed, taken;	/* now; ever */
	uint8_t is_harmless;		/* its default action does not end the process */
	uint8_t is_watched;		/* for no meaning of the agent's own: dispositions/watch.c */
	void (*handler)(int number, void *info, void *context);
	int lock;			/* on changes; see spi_signal_lock() */
	uint32_t change;		/* odd while `program` is being written */
	struct spi_sigaction program;	/* handed on to */
	struct spi_sigaction below;	/* for a handler over ours that calls ours for what it does not know */
};

#define SPI_MASK_PAIR	(SPI_SIGNAL_BIT(SIGTRAP) | SPI_SIGNAL_BIT(SIGSTKFLT))

/* ---- tracer-signal.c: something done in the tracer's threads, one at a time ---- */
int spi_tracer_ask(const int32_t *tids, unsigned int n, void (*what)(void));	/* raw system calls only. 0 or -1 */
int spi_tracer_wait(unsigned int tenths_ms);	/* 0: all have done it; -1: some have not yet, and will */
void spi_tracer_done(void);			/* where they end by it: all have */

/* ---- fault.c ---- */
/*
 * spi_fault_install() - take SIGSEGV and SIGBUS so that reads of wild pointers
 * by spi_string_copy() and spi_memory_copy() can fail; every other fault goes to
 * the program exactly as if the agent were not there. Idempotent.
 */
int spi_fault_install(void);
extern int (*spi_fault_elsewhere)(uint64_t address) SPI_HIDDEN;	/* SIGBUS there: 1 if it can be read now. Signal handler */
/* A fault of whatever kind, or abort(): 1 if the context was changed, and the thread goes on there. Signal handler. */
extern int (*spi_fault_guarded)(void *context) SPI_HIDDEN;
/* A thread was asked by spi_fault_late_tell(): its context changes if it is still late. Signal handler. */
extern int (*spi_fault_late)(void *context) SPI_HIDDEN;
int spi_fault_late_tell(int32_t thread) SPI_HIDDEN;	/* 0, or a negative errno: it is not asked */
/* Faults of the program's own that somebody takes: 1: the thread goes on. NULL: nobody does. Signal handler. */
extern int (*spi_fault_taken)(int number, void *info, void *context) SPI_HIDDEN;
extern const char spi_fault_late_mark SPI_HIDDEN;
void spi_fault_guard_install(void) SPI_HIDDEN;	/* have it called for all of them */
void spi_fault_last_install(void (*last)(void));	/* called when a fault, of whatever kind, ends the program. Signal handler */

/* ---- share.c ---- */
/* Take the signal, unless the agent has it. 0 or -errno. */
int spi_signal_take(struct spi_signal *s);
/* The signals that were taken, by number; dispositions/actions.c answers the program from there. */
extern struct spi_signal *spi_signal_of[SPI_SIGNALS] SPI_HIDDEN;
/* Blocks all signals and returns the mask to give back. */
uint64_t spi_signal_lock(struct spi_signal *s);
void spi_signal_unlock(struct spi_signal *s, uint64_t before);
/* Under the lock: what the program wants; the agent's handler into the kernel, with the flags that go with it. */
void spi_signal_program_set(struct spi_signal *s, const struct spi_sigaction *action);
long spi_signal_install(struct spi_signal *s, const struct spi_sigaction *program, struct spi_sigaction *was);
/*
 * In the agent's handler: let the program have the signal as if it had come straight from the kernel. `caller` is the
 * handler's return address: another handler may have called it, not the kernel.
 */
void spi_signal_hand_on(struct spi_signal *s, void *info, void *context, const void *caller);
long spi_signal_query(int number, struct spi_sigaction *action);
/* Was it (a siginfo_t) sent, by kill() or a timer, or is it about the instruction that the context stands at? */
int spi_signal_was_sent(const void *info);
/* In the agent's handler: the default action, as soon as that returns. */
void spi_signal_default(struct spi_signal *s, const void *info);
uint64_t spi_mask_to_kernel(uint64_t mask);
/* Faults that are a payload's: what the program blocks from then on leaves them out. */
extern uint64_t spi_mask_open SPI_HIDDEN;

/* Neither SIG_DFL nor SIG_IGN. */
SPI_INLINE int spi_signal_has_handler(const struct spi_sigaction *action)
{
	return action->handler > 1;
}

#endif /* SPI_SIGNALS_H */
