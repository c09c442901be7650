/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Faults of the process. A fault in the loops that read the program's memory (base/read-safe.c) makes the loop return
 * early. Other faults are handed on to the program (share.c). Where a fault ends the program, the last records are
 * written before.
 *
 * SIGBUS is also taken for a code map whose file is cut off or cannot be read any more (objects/map-cache.c).
 */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/signals/internal.h"

static void (*fault_last)(void);

/* Nobody handles this fault: it ends the program. */
static void dying(const struct spi_signal *s, const siginfo_t *info)
{
	uint64_t handler = s->program.handler;

	if (fault_last && !spi_signal_was_sent(info) && (handler == (uint64_t) SIG_DFL || handler == (uint64_t) SIG_IGN))
		fault_last();
}

static void fault_handle(int number, void *info, void *context);

/* SIGILL and SIGFPE are handled only for what is to be done before the process ends. */
enum { SEGV, BUS, ILL, FPE, FAULTS };
static struct spi_signal faults[FAULTS] = {
	[SEGV] = { .number = SIGSEGV, .handler = fault_handle }, [BUS] = { .number = SIGBUS, .handler = fault_handle },
	[ILL] = { .number = SIGILL, .handler = fault_handle }, [FPE] = { .number = SIGFPE, .handler = fault_handle },
};

int (*spi_fault_elsewhere)(uint64_t address);
int (*spi_fault_guarded)(void *context);
int (*spi_fault_late)(void *context);
int (*spi_fault_taken)(int number, void *info, void *context);
const char spi_fault_late_mark;

static int fault_is_guarded(const siginfo_t *info, void *context)
{
	return spi_fault_guarded && !spi_signal_was_sent(info) && spi_fault_guarded(context);
}

/* A fault of the copying loops: let them return. */
static int fault_is_ours(void *context)
{
	uint64_t pc = spi_context_pc(context);

	if (pc < (uint64_t) spi_read_begin || pc >= (uint64_t) spi_read_end)
		return 0;
	spi_context_pc_set(context, (uint64_t) spi_read_fixup);
	return 1;
}

static void fault_handle(int number, void *info, void *context)
{
	struct spi_signal *s = faults;

	while (s->number != number)
		s++;
	if (!spi_signal_was_sent(info) && (fault_is_ours(context) || (number == SIGBUS && spi_fault_elsewhere &&
			spi_fault_elsewhere((uint64_t) ((siginfo_t *) info)->si_addr))))
		return;
	if (spi_fault_taken && !spi_signal_was_sent(info) && spi_fault_taken(number, info, context))
		return;
	if (fault_is_guarded(info, context))
		return;
	dying(s, info);
	spi_signal_hand_on(s, info, context, __builtin_return_address(0));
}

/* A thread's own abort(): a signal that it sends to itself. */
static void abort_handle(int number, void *info, void *context);
static struct spi_signal aborts = { .number = SIGABRT, .handler = abort_handle };

static void abort_handle(int number, void *info, void *context)
{
	const siginfo_t *si = info;

	(void) number;
	if (si->si_code == SI_QUEUE && si->si_value.sival_ptr == (const void *) &spi_fault_late_mark) {
		if (spi_fault_late)
			spi_fault_late(context);
		return;
	}
	if (si->si_code == SI_TKILL && si->si_pid == (pid_t) spi_sys(SYS_getpid) && spi_fault_guarded && spi_fault_guarded(context))
		return;
	dying(&aborts, si);
	spi_signal_hand_on(&aborts, info, context, __builtin_return_address(0));
}

static int fault_take(struct spi_signal *s)
{
	struct spi_sigaction now;
	long ret;

	if (s->taken)
		return 0;	/* if it was replaced since: not fought over */
	ret = spi_raw4(SYS_rt_sigaction, (uint64_t) s->number, 0, (uint64_t) &now, 8);
	if (ret < 0 || now.handler == (uint64_t) SIG_IGN)
		return (int) ret;
	return spi_signal_take(s);
}

/* Would a fault in the copying loops, here and now, reach the handlers? */
static int net_is_there(void)
{
	uint64_t blocked = ~UINT64_C(0);

	spi_raw4(SYS_rt_sigprocmask, SIG_BLOCK, 0, (uint64_t) &blocked, 8);
	return !(blocked & (UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGBUS - 1)))
		&& spi_signal_is_ours(&faults[SEGV]) && spi_signal_is_ours(&faults[BUS]);
}

int spi_fault_install(void)
{
	int a = fault_take(&faults[SEGV]), b = fault_take(&faults[BUS]);

	spi_read_net = net_is_there;
	return a < 0 ? a : b;
}

void spi_fault_last_install(void (*last)(void))
{
	fault_last = last;
	fault_take(&faults[ILL]);
	fault_take(&faults[FPE]);
}

int spi_fault_late_tell(int32_t thread)
{
	const uint64_t process = (uint64_t) spi_raw3(SYS_getpid, 0, 0, 0);
	siginfo_t info = { .si_signo = SIGABRT, .si_code = SI_QUEUE };

	if (!spi_signal_is_ours(&aborts))
		return -EPERM;		/* the program has put a handler there: it is not to see this */
	info.si_value.sival_ptr = (void *) &spi_fault_late_mark;
	return (int) spi_raw4(SYS_rt_tgsigqueueinfo, process, (uint64_t) thread, SIGABRT, (uint64_t) &info);
}

void spi_fault_guard_install(void)
{
	fault_take(&faults[ILL]);
	fault_take(&faults[FPE]);
	fault_take(&aborts);
}
