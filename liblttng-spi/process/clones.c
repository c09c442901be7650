/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Children and threads that neither fork() nor pthread_create() makes.
 *
 * The agent knows a thread by its thread-local words. A child on its parent's memory
 * has its parent's, and so has one on a copy whose making no fork handler has seen:
 * what they call would be recorded as the parent's, between its calls. So before
 * vfork(), clone(), _Fork() and the like through syscall() the thread is marked as
 * lent: from then on its calls ask the kernel whose thread it is. The child records
 * nothing and changes nothing; the parent stops asking when it is sure that the
 * child is gone, or has a copy. A child that shares the words without end (clone()
 * with CLONE_VM alone) has its parent ask for ever. Functions that are traced by name ask where
 * the words have SPI_THREAD_LENT, which is only so for children that run beside their parent.
 *
 * A thread with thread-local memory that is not of libc's making has words that are
 * no words at all. It cannot be kept from code that is instrumented; so before it
 * is made all instrumentation is taken out of the process, for good, and named.
 *
 * Who makes system calls without libc is not seen.
 */
#include <linux/sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/unwind/unwind.h"
#include "liblttng-spi/ledger/ledger.h"
#include "liblttng-spi/process/internal.h"

/* ---- a process in which nothing can be instrumented any more ---- */

/* Control side. */
void spi_give_up_take(void)
{
	if (!spi_give_up_is_due())
		return;
	spi_note("nothing is traced in it any more: %s", spi_given_up());
	spi_participants_run(removal);
}

/* A thread of the program, which may wait. */
void spi_give_up(const char *reason)
{
	if (!spi_give_up_soon(reason))
		return;
	spi_busy_begin(&spi_thread, (uint64_t) __builtin_frame_address(0));
	if (spi_link_current) {
		spi_control_ask();
	} else {
		spi_control_lock();
		spi_give_up_take();
		spi_control_unlock();
	}
	spi_thread.busy--;
}

static const char *const by_call = "it was not made by fork(), but by a system call";

static void copy_note(const char *why)
{
	spi_exec_note("a child", why);
}

static void clone_comes(uint64_t flags)
{
	struct spi_thread *t = &spi_thread;

	if (t->busy || !spi_may(SPI_MAY_ACT | SPI_MAY_HERE) || spi_is_lent() > 0)
		return;
	if (!(flags & CLONE_VM)) {
		if (spi_lend_beside(SPI_LEND_ONCE))
			copy_note(by_call);
	} else if ((flags & CLONE_VFORK) && !(flags & CLONE_THREAD)) {
		spi_lend(SPI_LEND_ONCE);
	} else if (flags & CLONE_SETTLS) {
		spi_give_up("it makes a thread whose thread-local memory is not of libc's making");
	} else if (spi_lend_beside(SPI_LEND_EVER)) {
		spi_exec_note("a thread", "it was not made by pthread_create(), and has its maker's thread-local memory");
	}
}

/* A child on a copy of the memory, whose making no handler of fork() has seen. */
static void copy_begins(void)
{
	spi_thread.busy |= SPI_BUSY_ALWAYS;
	spi_ledger_abandon();
	spi_descriptors_copy_child();
}

static int (*next__Fork)(void);

static pid_t fork_copy(const char *why)
{
	int busy = spi_thread.busy >= SPI_BUSY_ALWAYS, pid = next__Fork();

	if (!pid && !busy)
		copy_begins();
	else if (pid > 0 && !busy && spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
		copy_note(why);
	return pid;
}

/* fork() calls it as well, and its handlers say so in the child. */
static int own__Fork(void)
{
	return fork_copy(by_call);
}

/*
 * libc's fork() takes malloc()'s locks where the process has more than one thread, as every traced one has. A handler
 * that has interrupted malloc() would wait for itself there. _Fork() takes no lock (glibc 2.34).
 */
SPI_HOOK_DECLARE(fork)
SPI_EXPORT pid_t fork(void)
{
	return next__Fork && spi_is_in_malloc(__builtin_frame_address(0)) ?
		fork_copy("it was made by a signal handler within malloc()") : SPI_NEXT(fork)();
}

/* ---- syscall() ---- */

enum call_how {
	CALL_SAME = 0,		/* as the program makes it */
	CALL_COPY,		/* clones_by_copy() makes it */
	CALL_ALONE,		/* seccomp() for the calling thread alone: without its flag TSYNC, 1 */
};

/* Before the system call: enum call_how. */
int clones_by_syscall(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e) SPI_HIDDEN __attribute__((used));
int clones_by_syscall(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	uint64_t clone3[6];	/* struct clone_args: flags first, stack sixth */

	switch (number) {
	case SYS_execve:
		spi_exec_by_syscall(-100, (const char *) a, (char *const *) b, (char *const *) c, 0, 0);
		break;
	case SYS_execveat:
		spi_exec_by_syscall((int) a, (const char *) b, (char *const *) c, (char *const *) d, (int) e, 1);
		break;
	case SYS_exit_group:
		if (spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
			spi_own_exit((int) a);
		break;
	case SYS_exit:
		if (!spi_thread.busy && spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
			spi_last_thread_watch();
		break;
	case SYS_seccomp:
		return spi_sandbox_by_syscall(a, b, c) ? CALL_ALONE : CALL_SAME;
	case SYS_fork:
		return CALL_COPY;
	case SYS_vfork:
		clone_comes(CLONE_VM | CLONE_VFORK);
		break;
	case SYS_clone:
		if (!(a & CLONE_VM) && !b)
			return CALL_COPY;
		clone_comes(a);
		break;
	case SYS_clone3:
		if (spi_memory_copy(clone3, a, sizeof(clone3)) < 0)
			break;
		if (!(clone3[0] & CLONE_VM) && !clone3[5])
			return CALL_COPY;
		clone_comes(clone3[0]);
		break;
	}
	return CALL_SAME;
}

/* On its own copy of the stack the child can return from here as its parent does. */
long (*spi_clones_next_syscall)(long number, ...);
long clones_by_copy(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e) SPI_HIDDEN __attribute__((used));
long clones_by_copy(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	int busy = spi_thread.busy >= SPI_BUSY_ALWAYS || !spi_may(SPI_MAY_ACT | SPI_MAY_HERE);
	long pid;

	pid = spi_clones_next_syscall(number, a, b, c, d, e, (uint64_t) 0);
	if (!pid && !busy)
		copy_begins();
	else if (pid > 0 && !busy)
		copy_note(by_call);
	return pid;
}

/* arch/x86-64/process/hooks.S: the first call, before the rows of hooks are known. */
void clones_find_syscall(void) SPI_HIDDEN __attribute__((used));
void clones_find_syscall(void)
{
	*(void **) &spi_clones_next_syscall = spi_find_in_libc("syscall");
}

/* ---- vfork(), clone(): called before libc's function, to which arch/x86-64/process/hooks.S goes on ---- */

static void *next_vfork, *next_clone;

void *clones_by_vfork(void) SPI_HIDDEN __attribute__((used));
void *clones_by_vfork(void)
{
	if (spi_tree_existing)
		spi_lend(SPI_LEND_ONCE);
	return SPI_NEXT(vfork);
}

/* What libc itself calls clone() for are threads of its own, and posix_spawn(): it does not come by here. */
void *clones_by_clone(uint64_t function, uint64_t stack, uint64_t flags) SPI_HIDDEN __attribute__((used));
void *clones_by_clone(uint64_t function, uint64_t stack, uint64_t flags)
{
	(void) function;
	(void) stack;
	clone_comes(flags);
	return SPI_NEXT(clone);
}

/* libc itself does not call vfork(), and its first bytes have no room. */
#define WAYS		SPI_HOOK_ORDER | SPI_HOOK_POINTERS
#define PROGRAMS	.set = SPI_HOOKS_PROGRAMS
const struct spi_hook spi_clone_hooks[] = {
	{ "vfork", (void *) spi_own_vfork, &next_vfork, .ways = WAYS },
	{ "clone", (void *) spi_own_clone, &next_clone, .ways = WAYS },
	{ "__clone", (void *) spi_own_clone, .ways = WAYS },
	{ SPI_HOOK_ROW(fork), .ways = WAYS },
	{ SPI_HOOK_ROW(_Fork), .ways = SPI_HOOK_ENTRY, PROGRAMS,
		.lost = "what its children call is not told from the program's own calls" },
	{ "syscall", (void *) spi_own_syscall, (void **) &spi_clones_next_syscall, .ways = WAYS | SPI_HOOK_ENTRY, PROGRAMS,
		.flags = SPI_HOOK_NO_TRAP, .lost = "threads and children that it makes are not told from their maker" },
	{ NULL },
};
