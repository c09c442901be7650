/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A program that uses the agent's signals itself. The agent takes SIGSEGV and
 * SIGBUS (reading wild pointers) and SIGTRAP (int3); a program that installs its
 * own handlers would put these out, would find a stranger's when it asks what is
 * installed, and would die of the next int3 after it blocked all signals.
 *
 * So a preloaded agent stands before libc's functions. For a signal that was
 * taken, the program's action is kept beside the agent's (struct spi_signal):
 * what it sets goes there and what it asks for comes from there; the signal
 * itself reaches it by spi_signal_hand_on(). SIGSEGV and SIGBUS that are to be
 * ignored are left to the kernel, as programs executed later inherit that.
 *
 * The masks of actions are translated as in masks.c. Programs that the program
 * executes do not inherit that it ignores SIGTRAP.
 *
 * In an injected agent, whose symbols come too late to be found first, libc's
 * functions lead here while there may be int3 (SPI_HOOKS_SIGNALS). While nothing is taken
 * everything goes to the next definition as it came. A vfork()ed child has signal actions of its own, but its parent's memory: there
 * they go to the kernel, except SIGTRAP's, which executing resets anyway.
 *
 * Everything here may run in signal handlers and leaves errno as libc would.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/signals/signals.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/dispositions/internal.h"

SPI_HOOK_DECLARE(sigaction)

const struct spi_sigaction *(*spi_signal_hidden)(int number, uint64_t handler);

static uint64_t action_flags(int flags)
{
	const uint64_t known = SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER |
		(uint64_t) (uint32_t) SA_RESETHAND | 0x800 /* SA_EXPOSE_TAGBITS */;

	return ((uint64_t) (uint32_t) flags & known) | SPI_SA_RESTORER;
}

static struct spi_sigaction action_of(const struct sigaction *action)
{
	return (struct spi_sigaction) {
		.handler = (uint64_t) action->sa_handler,
		.flags = action_flags(action->sa_flags),
		.mask = mask_of(&action->sa_mask) & ~(SPI_SIGNAL_BIT(SIGKILL) | SPI_SIGNAL_BIT(SIGSTOP)),
	};
}

static void action_put(struct sigaction *to, const struct spi_sigaction *from)
{
	to->sa_handler = (sighandler_t) from->handler;
	to->sa_flags = (int) from->flags;
	to->sa_restorer = (void (*)(void)) from->restorer;
	mask_put(&to->sa_mask, from->mask);
}

/* Does it count as ours: with our handler, or ignored by the kernel because the program wants that? */
static int signal_is_kept(const struct spi_signal *s)
{
	struct spi_sigaction now;

	if (!s->installed || spi_raw4(SYS_rt_sigaction, (uint64_t) s->number, 0, (uint64_t) &now, 8) < 0)
		return 0;
	return now.handler == (uint64_t) s->handler ||
		(now.handler == (uint64_t) SIG_IGN && s->program.handler == (uint64_t) SIG_IGN);
}

static void signal_ignore(const struct spi_signal *s)
{
	struct spi_sigaction ignore = { .handler = (uint64_t) SIG_IGN };

	spi_raw4(SYS_rt_sigaction, (uint64_t) s->number, (uint64_t) &ignore, 0, 8);
}

/*
 * The program's action of a signal that the agent has taken. 1: done; 0: the
 * agent has it no more, the kernel knows. The caller's memory is not touched under
 * the lock, as it may be anything.
 */
static int action_keep(struct spi_signal *s, const struct sigaction *action, struct sigaction *old)
{
	struct spi_sigaction new = { 0 }, was;
	uint64_t before;

	if (action)
		new = action_of(action);
	before = spi_signal_lock(s);
	if (!signal_is_kept(s)) {
		spi_signal_unlock(s, before);
		return 0;
	}
	was = s->program;
	if (action) {
		new.restorer = was.restorer;
		spi_signal_program_set(s, &new);
		if (new.handler == (uint64_t) SIG_IGN && s->number != SIGTRAP)
			signal_ignore(s);
		else
			spi_signal_install(s, &new, NULL);
	}
	spi_signal_unlock(s, before);
	if (old)
		action_put(old, &was);
	return 1;
}

/* In a vforked child: what the program would see, and for SIGTRAP no change. */
static int action_of_vforked(struct spi_signal *s, const struct sigaction *action, struct sigaction *old)
{
	struct spi_sigaction was = s->program;
	int ret = s->number == SIGTRAP ? 0 : SPI_NEXT(sigaction)(s->number, action, old);

	if (!ret && old && (s->number == SIGTRAP || (uint64_t) old->sa_handler == (uint64_t) s->handler))
		action_put(old, &was);
	return ret;
}

/* A signal that a tree waits for (tree/start.c): what the program has is not what the kernel says. */
static void late_look(int number, struct sigaction *old)
{
	const struct spi_sigaction *program = spi_signal_hidden ? spi_signal_hidden(number, (uint64_t) old->sa_handler) : NULL;

	if (program)
		action_put(old, program);
}

/* The action of a signal that the kernel has: only its mask is translated. */
static int action_translate(int number, const struct sigaction *action, struct sigaction *old)
{
	int was_virtual = is_virtual(), ret;
	const uint64_t mask = action ? mask_of(&action->sa_mask) : 0;
	struct sigaction copy;

	if (action && spi_mask_to_kernel(mask) != mask) {
		copy = *action;
		mask_put(&copy.sa_mask, spi_mask_to_kernel(mask));
		action = &copy;
	}
	ret = SPI_NEXT(sigaction)(number, action, old);
	if (ret)
		return ret;
	if (old) {
		late_look(number, old);
		set_to_program(&old->sa_mask);
	}
	if (action && !was_virtual && is_virtual())
		spi_action_make_virtual(number);
	return 0;
}

static struct spi_signal *signal_taken(int number)
{
	if (!spi_signals_interposed || number <= 0 || number >= SPI_SIGNALS)
		return NULL;
	return __atomic_load_n(&spi_signal_of[number], __ATOMIC_ACQUIRE);
}

/* A handler's calls belong to the call trees of the thread that it interrupts. */
static void tree_tell(uint64_t handler)
{
	if (spi_unlikely(spi_tree_existing) && handler != (uint64_t) SIG_DFL && handler != (uint64_t) SIG_IGN)
		spi_participants_run(callback, handler);
}

/* The program has set a handler of SIGTRAP that is not taken yet: it may single-step itself with it. */
static void trap_shared(int number)
{
	if (spi_unlikely(number == SIGTRAP) && spi_signals_interposed && spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
		spi_trap_share(0);
}

SPI_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	struct spi_signal *s = signal_taken(number);
	int ret;

	if (action)
		tree_tell((uint64_t) action->sa_handler);
	if (spi_unlikely(s != NULL)) {
		if (!spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
			return action_of_vforked(s, action, old);
		if (action_keep(s, action, old))
			return 0;
	}
	ret = action_translate(number, action, old);
	/* taken in this very moment, and put out by this call: take it back */
	if (!ret && !s && action && action->sa_handler != SIG_IGN && (s = signal_taken(number)))
		spi_signal_take(s);
	else if (!ret && !s && action)
		trap_shared(number);
	if (!ret && action && spi_unlikely(spi_watched & SPI_WATCH_SIGNALS) && spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
		spi_signal_watch(number);
	return ret;
}

/* signal() and its like: libc's go past sigaction()'s symbol. With the flags that libc gives it. */
static sighandler_t signal_set(int number, sighandler_t handler, int flags, int masks_itself)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags }, old;

	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	sigemptyset(&action.sa_mask);
	if (masks_itself)
		sigaddset(&action.sa_mask, number);
	return own_sigaction(number, &action, &old) < 0 ? SIG_ERR : old.sa_handler;
}

/* System V's. */

SPI_EXPORT sighandler_t sigset(int number, sighandler_t handler)
{
	struct sigaction action = { .sa_handler = handler }, old;
	sigset_t set, before;

	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	sigemptyset(&action.sa_mask);
	sigemptyset(&set);
	if (sigaddset(&set, number) < 0 || own_sigaction(number, handler == SIG_HOLD ? NULL : &action, &old) < 0 ||
			own_sigprocmask(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &set, &before) < 0)
		return SIG_ERR;
	return sigismember(&before, number) ? SIG_HOLD : old.sa_handler;
}

SPI_EXPORT int sigignore(int number)
{
	struct sigaction action = { .sa_handler = SIG_IGN };

	return own_sigaction(number, &action, NULL);
}

static uint64_t interrupting;	/* siginterrupt() was called for these */

SPI_EXPORT sighandler_t signal(int number, sighandler_t handler)
{
	int interrupts = number > 0 && number <= 64 && (interrupting & SPI_SIGNAL_BIT(number));

	return signal_set(number, handler, interrupts ? 0 : SA_RESTART, 1);
}

SPI_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler) __attribute__((alias("signal"), copy(signal)));
SPI_EXPORT sighandler_t ssignal(int number, sighandler_t handler) __attribute__((alias("signal"), copy(signal)));

SPI_EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
	return signal_set(number, handler, (int) (SA_RESETHAND | SA_NODEFER), 0);
}

SPI_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler)
	__attribute__((alias("sysv_signal"), copy(sysv_signal)));

SPI_EXPORT int siginterrupt(int number, int interrupt)
{
	struct sigaction action;

	if (own_sigaction(number, NULL, &action) < 0)
		return -1;
	if (interrupt)
		__atomic_fetch_or(&interrupting, SPI_SIGNAL_BIT(number), __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&interrupting, ~SPI_SIGNAL_BIT(number), __ATOMIC_RELAXED);
	action.sa_flags = interrupt ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
	return own_sigaction(number, &action, NULL);
}

/* libc's others come by sigaction(). */
const struct spi_hook spi_signal_hooks[] = {
	{ SPI_HOOK_ROW(sigaction), .ways = SPI_HOOK_ORDER | SPI_HOOK_ENTRY, .set = SPI_HOOKS_SIGNALS,
		.flags = SPI_HOOK_VITAL, .lost = "there is no int3" },
	{ "signal", .ways = SPI_HOOK_ORDER },
	{ "bsd_signal", .ways = SPI_HOOK_ORDER },
	{ "ssignal", .ways = SPI_HOOK_ORDER },
	{ "sysv_signal", .ways = SPI_HOOK_ORDER },
	{ "__sysv_signal", .ways = SPI_HOOK_ORDER },
	{ "siginterrupt", .ways = SPI_HOOK_ORDER },
	{ "sigset", .ways = SPI_HOOK_ORDER },
	{ "sigignore", .ways = SPI_HOOK_ORDER },
	{ NULL },
};
