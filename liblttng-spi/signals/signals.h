/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Signals that the agent takes, shared with the program, and SIGTRAP among them: int3 in the program's code, and
 * when there may be such. Which threads are the tracer's is asked for it first.
 */
#ifndef SPI_SIGNALS_H
#define SPI_SIGNALS_H

#include <stdint.h>
#include "liblttng-spi/base/signal-mask.h"
#include "liblttng-spi/patch/patch.h"

/* ---- share.c ---- */

#define SPI_SA_RESTORER		UINT64_C(0x04000000)
#define SPI_SIGNALS		32	/* the agent takes none of the real-time ones */

/* The kernel's struct sigaction. */
struct spi_sigaction {
	uint64_t handler;
	uint64_t flags;
	uint64_t restorer;
	uint64_t mask;
};

/* Neither SIG_DFL nor SIG_IGN. */
SPI_INLINE int spi_signal_has_handler(const struct spi_sigaction *action)
{
	return action->handler > 1;
}

/* A signal that the agent took, and what the program had there. */
struct spi_signal {
	int number;
	uint8_t installed, taken;	/* now; ever */
	void (*handler)(int number, void *info, void *context);
	int lock;			/* on changes; see spi_signal_lock() */
	uint32_t change;		/* odd while `program` is being written */
	struct spi_sigaction program;	/* handed on to */
	struct spi_sigaction below;	/* for a handler over ours that calls ours for what it does not know */
};

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
/* Does the kernel still lead this signal to the agent's handler? */
int spi_signal_is_ours(const struct spi_signal *s);
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

/* ---- patch/trap.c ---- */

/*
 * The program's signal masks. spi_signals_interposed: dispositions/actions.c stands before
 * libc. spi_mask_virtual: and SIGTRAP is never blocked in the kernel, SIGSTKFLT
 * says what the program wants. It stays so once it is.
 */
extern int spi_signals_interposed SPI_HIDDEN, spi_mask_virtual SPI_HIDDEN;
#define SPI_MASK_PAIR	(SPI_SIGNAL_BIT(SIGTRAP) | SPI_SIGNAL_BIT(SIGSTKFLT))
uint64_t spi_mask_to_kernel(uint64_t mask);
/* What the program set just before this began: this thread's mask, a signal's action. */
void spi_mask_make_virtual(void);
void spi_action_make_virtual(int number);
/*
 * An injected agent (control/init.c): called before there is int3; 0, or negative and *reason. NULL where symbols are in the
 * agent's favour, and in tests of the patcher alone.
 */
extern int (*spi_trap_watch)(const char **reason) SPI_HIDDEN;
void spi_trap_unwatched(void) SPI_HIDDEN;	/* the program is on its own again: no int3 is left */
/* A signal that was taken from the queue: SIGTRAP when that is what it was, and *info with it. */
int spi_signal_undefer(int number, void *siginfo);

/*
 * An int3 at `address` continues at `to`, from now on and for ever: a thread may
 * have fetched an int3 that is no longer there. 0 or -ENOMEM.
 */
int spi_trap_add(uint64_t address, uint64_t to);
void spi_trap_forget(uint64_t low, uint64_t high);	/* the object there was unloaded */
/* A step (TRAP_TRACE) of a program that sets the trap flag: 1, it is one in the tracer's code. Set by patch/steps.c. */
extern int (*spi_trap_step)(void *context) SPI_HIDDEN;
void spi_trap_share(int watched);
/* May code of this object contain int3? 0, or -EPERM and *reason. Takes SIGTRAP. */
int spi_trap_ready(const struct spi_object *object, const char **reason);
/* The same but for which object it is: for code in the C library of which it is known that signals are let in there. */
int spi_trap_ready_anywhere(const char **reason);

/* ---- patch/trap-ready.c: NULL, or what speaks against int3 ---- */
const char *spi_trap_threads_look(void);	/* a thread that blocks SIGTRAP, a debugger */
const char *spi_trap_handlers_look(void);	/* a handler of the program's that does */
/* Libraries that run with all signals blocked at times, or that the tracer's own threads run. */
int spi_object_is_runtime(const struct spi_object *object);

/* ---- tracer-threads.c ---- */

/* On a thread of the agent's own: by its start routine and id it finds out where libc keeps these. */
void spi_tracer_threads_learn(uint64_t start, int tid);
void spi_tracer_threads_except(uint64_t start);	/* a start routine in the tracer's code, of threads that are the program's */
int32_t spi_tracer_threads_tid_at(void);	/* where libc's descriptor of a thread has its id; -1: not known */
/* Threads that start there are the tracer's. */
void spi_tracer_code_add(uint64_t low, uint64_t high);
int spi_within_lttng(uint64_t p);		/* module/payload.h */
/*
 * The tracing begins before main() (1), or has begun (0): whether the calling thread is the only one is found out. If so, whatever
 * threads there are until then are lttng-ust's or ours, and nobody else opens or closes files: what spi_tracer_is_alone() tells it.
 */
void spi_tracer_start(int begins);
int spi_tracer_is_alone(void);
int spi_tracer_code_has(uint64_t address);	/* is it lttng-ust's or ours? Any thread */
int spi_tracer_thread_start(void *(*run)(void *), void *data);	/* one of the agent's, detached. 0 or an errno */
int spi_thread_is_tracer(void);		/* this thread; async-signal-safe */
int spi_thread_is_tracer_other(int task_dir, const char *tid_text, int tid, const char *name);
int spi_thread_is_tracer_task(int task_dir, const char *tid_text, int tid);

#endif /* SPI_SIGNALS_H */
