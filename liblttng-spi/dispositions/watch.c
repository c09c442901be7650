/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Signals that an observer of a payload's is to be told of (payload/observer.c): those that the program handles, and
 * those that end it. The agent takes such a signal, tells, and hands the signal on.
 *
 * Left to the kernel: what the program ignores, as executed programs inherit that; what does nothing or stops the
 * process by default, until the program has a handler; SIGKILL, SIGSTOP and the real-time signals.
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/dispositions/internal.h"

#define BIT(name)	SPI_SIGNAL_BIT(SIG##name)
#define NOT_FATAL	(BIT(CHLD) | BIT(URG) | BIT(WINCH) | BIT(CONT) | BIT(TSTP) | BIT(TTIN) | BIT(TTOU))
/* the latter two mean something else: patch/trap.c */
#define NEVER		(BIT(KILL) | BIT(STOP) | BIT(TRAP) | BIT(STKFLT))

static void handle(int number, void *info, void *context);
static struct spi_signal watched[SPI_SIGNALS];

static void handle(int number, void *info, void *context)
{
	spi_signal_hand_on(&watched[number], info, context, __builtin_return_address(0));
}

/* Another room's handler stands there for the program's: it goes by itself. */
static int is_hidden(int number, uint64_t handler)
{
	return spi_signal_hidden && spi_signal_hidden(number, handler);
}

void spi_signal_watch(int number)
{
	struct spi_signal *s = number > 0 && number < SPI_SIGNALS ? &watched[number] : NULL;
	struct spi_signal *has = s ? __atomic_load_n(&spi_signal_of[number], __ATOMIC_ACQUIRE) : NULL;
	struct spi_sigaction now;

	if (!s || (SPI_SIGNAL_BIT(number) & NEVER) || (has && has != s) || spi_signal_query(number, &now) < 0)
		return;
	if (now.handler == (uint64_t) SIG_IGN || is_hidden(number, now.handler))
		return;
	if (now.handler == (uint64_t) SIG_DFL && (SPI_SIGNAL_BIT(number) & NOT_FATAL))
		return;
	s->number = number;
	s->handler = handle;
	s->is_watched = 1;
	s->is_harmless = !!(SPI_SIGNAL_BIT(number) & NOT_FATAL);
	spi_signal_take(s);
}

const char *spi_signals_watch(void)
{
	const char *why = NULL;

	if (!spi_signals_interposed && spi_trap_watch && spi_trap_watch(&why) < 0)
		return "libc's functions for signals cannot be watched";
	spi_signals_interposed = 1;
	for (int number = 1; number < SPI_SIGNALS; number++)
		spi_signal_watch(number);
	return NULL;
}

/* As the program has set it. The restorer that libc gives is not known where the agent stood before libc's function. */
static void give_back(const struct spi_signal *s)
{
	struct spi_sigaction action = s->program;

	if (spi_signal_has_handler(&action) && !action.restorer) {
		action.restorer = (uint64_t) spi_signal_return;
		action.flags |= SPI_SA_RESTORER;
	}
	action.mask = spi_mask_to_kernel(action.mask);
	spi_raw4(SYS_rt_sigaction, (uint64_t) s->number, (uint64_t) &action, 0, 8);
}

/* What is on its way to the agent's handler is handed on as ever. */
void spi_signals_unwatch(void)
{
	for (int number = 1; number < SPI_SIGNALS; number++) {
		struct spi_signal *s = &watched[number];
		struct spi_sigaction now;
		uint64_t before;

		if (__atomic_load_n(&spi_signal_of[number], __ATOMIC_ACQUIRE) != s)
			continue;
		before = spi_signal_lock(s);
		if (spi_signal_query(number, &now) == 0 && now.handler == (uint64_t) handle)
			give_back(s);
		s->installed = s->taken = 0;
		__atomic_store_n(&spi_signal_of[number], NULL, __ATOMIC_RELEASE);
		spi_signal_unlock(s, before);
	}
}
