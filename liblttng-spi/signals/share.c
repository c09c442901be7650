/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Sharing a signal with the program. The agent's handler takes the signals that
 * mean something to it; every other one is handed to the program as the kernel
 * would have: its handler with the same arguments, mask, reset and stack, or its
 * default action with the registers of the interrupted code, so that core dumps
 * are right.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/signals/internal.h"

#define READ_TRIES	1000

/* the kernel does these */
#define PROGRAMS_FLAGS	((uint64_t) (SA_ONSTACK | SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT))

long spi_signal_query(int number, struct spi_sigaction *action)
{
	return spi_raw4(SYS_rt_sigaction, (uint64_t) number, 0, (uint64_t) action, 8);
}

struct spi_signal *spi_signal_of[SPI_SIGNALS];

/*
 * The holder runs with all signals blocked, so no handler waits for the thread
 * that it interrupts. The word is the holder's process id: what a fork() left
 * locked in the child is nobody's.
 */
uint64_t spi_signal_lock(struct spi_signal *s)
{
	uint64_t before = spi_signals_hold(~UINT64_C(0));
	int self = (int) spi_raw3(SYS_getpid, 0, 0, 0), seen;

	for (;;) {
		seen = __atomic_load_n(&s->lock, __ATOMIC_RELAXED);
		if (seen != self && __atomic_compare_exchange_n(&s->lock, &seen, self, 0, __ATOMIC_ACQUIRE,
				__ATOMIC_RELAXED))
			return before;
		spi_raw3(SYS_sched_yield, 0, 0, 0);
	}
}

void spi_signal_unlock(struct spi_signal *s, uint64_t before)
{
	__atomic_store_n(&s->lock, 0, __ATOMIC_RELEASE);
	spi_signals_release(before);
}

/* Handlers read it at any time, without the lock: `change` is odd while it is written. */
void spi_signal_program_set(struct spi_signal *s, const struct spi_sigaction *action)
{
	__atomic_store_n(&s->change, s->change | 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	spi_bytes_copy(&s->program, action, sizeof(s->program));
	__atomic_store_n(&s->change, (s->change | 1) + 1, __ATOMIC_RELEASE);
}

/* The tries are limited because a fork() may leave the child's odd for ever. */
static struct spi_sigaction program_get(const struct spi_signal *s)
{
	struct spi_sigaction copy;

	for (int i = 0; i < READ_TRIES; i++) {
		uint32_t change = __atomic_load_n(&s->change, __ATOMIC_ACQUIRE);

		spi_bytes_copy(&copy, &s->program, sizeof(copy));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(change & 1) && change == __atomic_load_n(&s->change, __ATOMIC_RELAXED))
			break;
	}
	return copy;
}

int spi_signal_is_ours(const struct spi_signal *s)
{
	struct spi_sigaction now;

	return s->installed && spi_signal_query(s->number, &now) == 0 && now.handler == (uint64_t) s->handler;
}

/*
 * The handler runs with every signal blocked: it is short, and a handler of the
 * program's in between might hit an int3 while SIGTRAP is blocked. The stack and
 * whether system calls are restarted follow what the program has. Without a handler of
 * the program's the alternate stack is not used: its memory may be gone, or be
 * used for something else, as no signal of the program's ever comes there. The
 * stack that a function is called on has room, as recording the call needs more
 * than a signal's frame.
 */
long spi_signal_install(struct spi_signal *s, const struct spi_sigaction *program, struct spi_sigaction *was)
{
	struct spi_sigaction ours = {
		.handler = (uint64_t) s->handler,
		.flags = SA_SIGINFO | SPI_SA_RESTORER,
		.restorer = (uint64_t) spi_signal_return,
		.mask = ~UINT64_C(0),
	};

	ours.flags |= spi_signal_has_handler(program) ? program->flags & PROGRAMS_FLAGS : SA_RESTART;
	return spi_raw4(SYS_rt_sigaction, (uint64_t) s->number, (uint64_t) &ours, (uint64_t) was, 8);
}

static int signal_take_locked(struct spi_signal *s)
{
	struct spi_sigaction now;
	long ret = spi_signal_query(s->number, &now);

	if (ret < 0)
		return (int) ret;
	if (now.handler == (uint64_t) s->handler)
		return 0;
	if (!s->taken)
		s->below = now;
	spi_signal_program_set(s, &now);
	ret = spi_signal_install(s, &now, &now);
	if (ret < 0)
		return (int) ret;
	if (now.handler != (uint64_t) s->handler)
		spi_signal_program_set(s, &now);
	s->taken = s->installed = 1;
	spi_debug(SPI_DEBUG_SIGNALS, "signal %d is shared", s->number);
	return 0;
}

int spi_signal_take(struct spi_signal *s)
{
	uint64_t before = spi_signal_lock(s);
	int ret = signal_take_locked(s);

	if (!ret)
		__atomic_store_n(&spi_signal_of[s->number], s, __ATOMIC_RELEASE);
	spi_signal_unlock(s, before);
	return ret;
}

int spi_signal_was_sent(const void *siginfo)
{
	const siginfo_t *info = siginfo;

	return info->si_code <= 0 || (info->si_signo == SIGBUS && info->si_code == BUS_MCEERR_AO);
}

/*
 * Let the kernel do it: with the default action in force, a fault happens again
 * when the handler returns; anything else is sent again, and waits until then
 * because it is blocked.
 */
void spi_signal_default(struct spi_signal *s, const void *info)
{
	struct spi_sigaction action = { 0 };

	spi_raw4(SYS_rt_sigaction, (uint64_t) s->number, (uint64_t) &action, 0, 8);
	s->installed = 0;
	if (spi_signal_was_sent(info) || s->number == SIGTRAP || s->is_watched)
		spi_raw4(SYS_rt_tgsigqueueinfo, (uint64_t) spi_raw3(SYS_getpid, 0, 0, 0),
			(uint64_t) spi_raw3(SYS_gettid, 0, 0, 0), (uint64_t) s->number, (uint64_t) info);
}

/* The program gets the signal now. What ends it by default has been taken where it does: dispositions/watch.c. */
static void tell(const struct spi_signal *s, int is_fatal, const void *info)
{
	if (spi_unlikely(spi_watched & SPI_WATCH_SIGNALS))
		spi_participants_run(signal_comes, s->number, is_fatal, info);
}

void spi_signal_hand_on(struct spi_signal *s, void *info, void *context, const void *caller)
{
	struct spi_sigaction *from = caller == (const void *) spi_signal_return ? &s->program : &s->below;
	struct spi_sigaction action = from == &s->program ? program_get(s) : *from;
	ucontext_t *uc = context;
	uint64_t mask;

	if (action.handler == (uint64_t) SIG_IGN && spi_signal_was_sent(info))
		return;
	/* the kernel does not let a fault be ignored either */
	if (action.handler == (uint64_t) SIG_DFL || action.handler == (uint64_t) SIG_IGN) {
		if (!s->is_harmless)
			tell(s, 1, info);
		spi_signal_default(s, info);
		return;
	}
	tell(s, 0, info);
	if (action.flags & SA_RESETHAND)
		__atomic_store_n(&from->handler, (uint64_t) SIG_DFL, __ATOMIC_RELAXED);
	spi_bytes_copy(&mask, &uc->uc_sigmask, 8);
	mask |= action.mask;
	if (!(action.flags & SA_NODEFER))
		mask |= SPI_SIGNAL_BIT(s->number);
	mask = spi_mask_to_kernel(mask);
	spi_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (uint64_t) &mask, 0, 8);
	((void (*)(int, void *, void *)) action.handler)(s->number, info, context);
}

/* ---- masks ---- */

int spi_mask_virtual;
uint64_t spi_mask_open;

uint64_t spi_mask_to_kernel(uint64_t mask)
{
	mask &= ~spi_mask_open;
	if (spi_mask_virtual && (mask & SPI_MASK_PAIR))
		mask = (mask & ~SPI_SIGNAL_BIT(SIGTRAP)) | SPI_SIGNAL_BIT(SIGSTKFLT);
	return mask;
}
