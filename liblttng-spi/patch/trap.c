/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * int3 in the program's code.
 *
 * A thread that runs into one of ours gets a SIGTRAP, and the handler sends it on
 * to where the table says. The table is an open-addressing hash that one thread
 * adds to and handlers read without a lock: an entry's destination is written
 * before its address, a larger table is filled before it is published, an old one
 * is never freed. Entries stay for ever, because a thread may fetch an int3 now
 * and take the signal long after the byte was replaced.
 *
 * A preloaded agent stands before libc's functions for signals (dispositions/actions.c), and
 * from the first int3 on keeps SIGTRAP unblocked whatever the program asks for.
 * In the kernel's masks SIGSTKFLT, which no kernel sends on this architecture,
 * then says that the program blocks SIGTRAP: so that goes with the mask to new
 * threads, through siglongjmp() and sigreturn, without anything of ours to keep
 * in step. A SIGTRAP that is sent meanwhile is sent on as a SIGSTKFLT, which waits
 * as long as that one would have, and turns back when it arrives. An injected agent
 * does the same while libc's functions for signals lead to dispositions/actions.c (hooks/entries.c).
 */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/signals/signals.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/internal.h"

#define DEFERRED_TRAP	0x53504974	/* si_errno of a SIGSTKFLT that is a SIGTRAP */
#define LOOK_AGAIN_NS	UINT64_C(50000000)	/* how long a look at all threads' masks is good for; one at thousands, */
#define LOOK_SHARE	10u			/* so many times as long as it took */

/* ---- the table ---- */

struct trap_site {
	uint64_t address;	/* 0: free */
	uint64_t to;		/* 0: forgotten */
};
struct trap_table {
	uint64_t size;		/* power of two */
	struct trap_site site[];
};
static struct trap_table *trap_table;
static uint64_t trap_count;

static struct trap_site *trap_slot(struct trap_table *table, uint64_t address)
{
	uint64_t i = (address * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (table->size - 1), seen;

	while ((seen = __atomic_load_n(&table->site[i].address, __ATOMIC_ACQUIRE)) && seen != address)
		i = (i + 1) & (table->size - 1);
	return &table->site[i];
}

static int trap_grow(void)
{
	uint64_t size = trap_table ? trap_table->size * 2 : 256;
	struct trap_table *table = spi_alloc(sizeof(*table) + size * sizeof(table->site[0]));

	if (!table)
		return -ENOMEM;
	table->size = size;
	for (uint64_t i = 0; trap_table && i < trap_table->size; i++)
		if (trap_table->site[i].address)
			*trap_slot(table, trap_table->site[i].address) = trap_table->site[i];
	__atomic_store_n(&trap_table, table, __ATOMIC_RELEASE);
	return 0;
}

int spi_trap_add(uint64_t address, uint64_t to)
{
	struct trap_site *site;

	if ((!trap_table || trap_count * 2 >= trap_table->size) && trap_grow() < 0)
		return -ENOMEM;
	site = trap_slot(trap_table, address);
	__atomic_store_n(&site->to, to, __ATOMIC_RELEASE);
	if (!site->address) {
		__atomic_store_n(&site->address, address, __ATOMIC_RELEASE);
		trap_count++;
	}
	return 0;
}

void spi_trap_forget(uint64_t low, uint64_t high)
{
	for (uint64_t i = 0; trap_table && i < trap_table->size; i++)
		if (trap_table->site[i].address >= low && trap_table->site[i].address < high)
			__atomic_store_n(&trap_table->site[i].to, 0, __ATOMIC_RELEASE);
}

static uint64_t trap_find(uint64_t address)
{
	struct trap_table *table = __atomic_load_n(&trap_table, __ATOMIC_ACQUIRE);
	struct trap_site *site;

	if (!table)
		return 0;
	site = trap_slot(table, address);
	return site->address ? __atomic_load_n(&site->to, __ATOMIC_ACQUIRE) : 0;
}

static void trap_handle(int number, void *info, void *context);
static void deferred_handle(int number, void *info, void *context);
static struct spi_signal trap_signal = { .number = SIGTRAP, .handler = trap_handle };
static struct spi_signal deferred_signal = { .number = SIGSTKFLT, .handler = deferred_handle };

/*
 * A signal for a program that blocks it. One that was sent waits on as a
 * SIGSTKFLT: in this thread if it was meant for it, else wherever one of the
 * process has it unblocked. An instruction's own trap kills, as in the kernel.
 */
static void trap_defer(siginfo_t *info)
{
	uint64_t pid = (uint64_t) spi_raw3(SYS_getpid, 0, 0, 0);

	if (!spi_signal_was_sent(info)) {
		spi_signal_default(&trap_signal, info);
		return;
	}
	info->si_errno = DEFERRED_TRAP;
	if (info->si_code == SI_TKILL)
		spi_raw4(SYS_rt_tgsigqueueinfo, pid, (uint64_t) spi_raw3(SYS_gettid, 0, 0, 0), SIGSTKFLT,
			(uint64_t) info);
	else
		spi_raw4(SYS_rt_sigqueueinfo, pid, SIGSTKFLT, (uint64_t) info, 0);
}

int spi_signal_undefer(int number, void *siginfo)
{
	siginfo_t *info = siginfo;

	if (!spi_mask_virtual || number != SIGSTKFLT || info->si_errno != DEFERRED_TRAP)
		return number;
	info->si_signo = SIGTRAP;
	info->si_errno = 0;
	return SIGTRAP;
}

static void deferred_handle(int number, void *info, void *context)
{
	struct spi_signal *s = spi_signal_undefer(number, info) == SIGTRAP ? &trap_signal : &deferred_signal;

	spi_signal_hand_on(s, info, context, __builtin_return_address(0));
}

int (*spi_trap_step)(void *context);
int (*spi_trap_timer)(const void *info, void *context);
int (*spi_trap_asked)(const void *info, void *context);

/*
 * A step is TRAP_TRACE. A hypervisor that takes an interrupt between the step and its trap may forget DR6's bit for it:
 * the kernel then thinks of an icebp, and says TRAP_BRKPT (a few in a million steps under KVM). An int3 is SI_KERNEL.
 */
static int step_is_told(int code, const void *context)
{
	return code == TRAP_TRACE || (code == TRAP_BRKPT && spi_context_steps(context));
}

static void trap_handle(int number, void *info, void *context)
{
	ucontext_t *uc = context;
	const siginfo_t *si = info;
	uint64_t to = 0, mask;
	int stepped = step_is_told(si->si_code, context);

	(void) number;
	if (si->si_code == SI_TIMER && spi_trap_timer && spi_trap_timer(info, context))
		return;
	if (si->si_code == SI_QUEUE && spi_trap_asked && spi_trap_asked(info, context))
		return;
	if (stepped && spi_trap_step && spi_trap_step(context))
		return;
	spi_bytes_copy(&mask, &uc->uc_sigmask, 8);
	if (!stepped && (si->si_code == SI_KERNEL || si->si_code == TRAP_BRKPT))
		to = trap_find(spi_context_trap(context));
	if (to)
		spi_context_pc_set(context, to);
	else if (spi_mask_virtual && (mask & SPI_SIGNAL_BIT(SIGSTKFLT)))
		trap_defer(info);
	else
		spi_signal_hand_on(&trap_signal, info, context, __builtin_return_address(0));
}

void spi_mask_make_virtual(void)
{
	uint64_t mask = 0;

	spi_raw4(SYS_rt_sigprocmask, SIG_BLOCK, 0, (uint64_t) &mask, 8);
	if (spi_mask_virtual && (mask & SPI_SIGNAL_BIT(SIGTRAP))) {
		mask = spi_mask_to_kernel(mask);
		spi_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (uint64_t) &mask, 0, 8);
	}
}

/* Put the translated mask in place of the program's; once more when it changed its mind meanwhile. */
void spi_action_make_virtual(int number)
{
	struct spi_sigaction action, new, was;

	if (!spi_mask_virtual || spi_signal_query(number, &action) < 0)
		return;
	for (int tries = 0; tries < 8; tries++, action = was) {
		if (action.handler == (uint64_t) SIG_DFL || action.handler == (uint64_t) SIG_IGN
			|| action.restorer == (uint64_t) spi_signal_return || !(action.mask & SPI_SIGNAL_BIT(SIGTRAP)))
			return;
		new = action;
		new.mask = spi_mask_to_kernel(new.mask);
		spi_raw4(SYS_rt_sigaction, (uint64_t) number, (uint64_t) &new, (uint64_t) &was, 8);
		if (spi_bytes_equal((uint8_t *) &was, (uint8_t *) &action, sizeof(was)))
			return;
		spi_raw4(SYS_rt_sigaction, (uint64_t) number, (uint64_t) &was, 0, 8);
	}
}

/*
 * From here on the program cannot block SIGTRAP any more. First the handlers, so
 * that a translated mask never meets a signal that nobody takes. Who is between
 * the test of spi_mask_virtual and its system call looks again afterwards. The
 * actions again each time that watching begins: the program may have set some.
 */
static int begun;		/* masks and actions, and they stay so */

static void virtual_start(void)
{
	if (begun || spi_signal_take(&deferred_signal) < 0 || spi_signal_take(&trap_signal) < 0)
		return;
	__atomic_store_n(&spi_mask_virtual, 1, __ATOMIC_SEQ_CST);
	begun = 1;
	spi_mask_make_virtual();
	for (int number = 1; number <= 64; number++)
		spi_action_make_virtual(number);
}

static uint64_t looked_at;	/* at threads and handlers */
int (*spi_trap_watch)(const char **reason);

static int watch(const char **reason)
{
	if (spi_trap_watch && !spi_signals_interposed) {
		if (spi_trap_watch(reason) < 0)
			return -EPERM;
		spi_signals_interposed = 1;
		looked_at = 0;
	}
	if (spi_signals_interposed)
		virtual_start();
	return 0;
}

void spi_trap_unwatched(void)
{
	spi_signals_interposed = begun = 0;
}

/*
 * A program that has a handler of its own may single-step itself, and its handler is not to be called between any two
 * instructions of the tracer's. watched: on the control side, where what it does to it later can be watched too.
 */
void spi_trap_share(int watched)
{
	struct spi_sigaction now;
	const char *reason;

	if (!spi_trap_step || spi_signal_query(SIGTRAP, &now) < 0 || now.handler == (uint64_t) SIG_DFL
			|| now.handler == (uint64_t) SIG_IGN || now.handler == (uint64_t) trap_handle)
		return;
	if (watched && spi_trap_watch && !spi_signals_interposed && spi_trap_watch(&reason) == 0) {
		spi_signals_interposed = 1;	/* masks stay the program's: there is no int3 yet */
		looked_at = 0;
	}
	spi_signal_take(&trap_signal);
}

int spi_trap_ready(const struct spi_object *object, const char **reason)
{
	if (spi_object_is_runtime(object)) {
		*reason = "only a breakpoint (int3) fits, and its library runs with signals blocked";
		return -EPERM;
	}
	return spi_trap_ready_anywhere(reason);
}

int spi_trap_ready_anywhere(const char **reason)
{
	static const char *looked;
	static uint64_t took;
	uint64_t now;

	if (watch(reason) < 0)
		return -EPERM;
	now = spi_now_ns();
	if (!looked_at || now - looked_at > LOOK_AGAIN_NS + took * LOOK_SHARE) {
		looked = spi_trap_handlers_look();
		if (!looked)
			looked = spi_trap_threads_look();
		looked_at = spi_now_ns();
		took = looked_at - now;
	}
	if (looked) {
		*reason = looked;
		return -EPERM;
	}
	if (spi_signal_take(&trap_signal) < 0) {
		*reason = "only a breakpoint (int3) fits, and SIGTRAP cannot be handled";
		return -EPERM;
	}
	return 0;
}

/*
 * A SIGTRAP that was sent does no harm where it is blocked: it waits. So threads and handlers that block it are no
 * reason.
 */
const char *spi_trap_timer_ready(void)
{
	const char *reason = spi_trap_debugger_look();

	if (reason)
		return "a debugger is attached, which every SIGTRAP would stop";
	if (watch(&reason) < 0)
		return "libc's functions for signals cannot be watched";
	return spi_signal_take(&trap_signal) < 0 ? "SIGTRAP cannot be handled" : NULL;
}
