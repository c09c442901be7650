/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Stop one thread of another process, let it go again, or let it run on to a
 * place. What it did is not disturbed: system calls that the stop interrupted
 * are called again, signals reach it.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "injector/remote-internal.h"

uint64_t spi_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t) t.tv_sec * 1000000000u + t.tv_nsec;
}

/*
 * Wait for the thread's next stop. A thread cannot be waited for with a time
 * limit, so look again and again: at first without pause, since most stops come
 * within microseconds and the program stands still meanwhile; then with short
 * sleeps. keep_apart() sees to it that looking does not keep it from running.
 */
int spi_stop_wait(pid_t tid, int *status, uint64_t deadline)
{
	uint64_t begun = spi_now();
	long pause = 20000;

	for (;;) {
		pid_t got = waitpid(tid, status, __WALL | WNOHANG);
		uint64_t now;

		if (got == tid)
			return WIFSTOPPED(*status) ? 0 : -ESRCH;
		if (got < 0 && errno != EINTR)
			return -ESRCH;
		now = spi_now();
		if (now >= deadline)
			return -ETIMEDOUT;
		if (now - begun < 200000) {
			sched_yield();
		} else {
			struct timespec t = { 0, pause };

			nanosleep(&t, NULL);
			if (pause < 1000000)
				pause += pause / 8;
		}
	}
}

/*
 * Run on another processor than the thread did last, where it will want to run
 * again: otherwise the two would wait for each other, with the thread stopped.
 */
static void keep_apart(pid_t pid, pid_t tid)
{
	char *stat = spi_proc_read(NULL, "%d/task/%d/stat", (int) pid, (int) tid);
	const char *last = stat ? spi_stat_field(stat, 39) : NULL;
	cpu_set_t set;
	int cpu = last ? atoi(last) : -1;

	free(stat);
	CPU_ZERO(&set);
	if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(getpid(), sizeof(set), &set))
		return;
	CPU_CLR(cpu, &set);
	if (CPU_COUNT(&set))
		sched_setaffinity(0, sizeof(set), &set);	/* of this thread, which ends with the injection */
}

int spi_regs_get(pid_t tid, struct user_regs_struct *regs)
{
	return ptrace(PTRACE_GETREGS, tid, NULL, regs) ? -errno : 0;
}

int spi_regs_set(pid_t tid, const struct user_regs_struct *regs)
{
	return ptrace(PTRACE_SETREGS, tid, NULL, regs) ? -errno : 0;
}

/*
 * Some system calls (epoll_wait, semop, sigtimedwait, ...) answer our stop with
 * a plain EINTR. Turned into ERESTARTNOHAND it means the same when a signal
 * handler is about to run, and a restart otherwise. close() has done its work.
 */
bool spi_regs_make_restartable(struct user_regs_struct *regs)
{
	if ((int64_t) regs->orig_rax < 0 || (int64_t) regs->rax != -EINTR || regs->orig_rax == SYS_close)
		return false;
	regs->rax = (uint64_t) -ERESTARTNOHAND;
	return true;
}

static uint64_t status_signals(const char *status, const char *key)
{
	const char *value = spi_status_value(status, key);

	return value ? strtoull(value, NULL, 16) : 0;
}

/* The thread's id in its own namespace, and the signals its program handles. */
static void read_status(struct spi_remote *r)
{
	char *status = spi_proc_read(NULL, "%d/task/%d/status", (int) r->target->pid, (int) r->tid);

	r->inner_tid = status ? spi_status_inner_pid(status, r->tid) : r->tid;
	r->caught = status ? status_signals(status, "SigCgt") : 0;
	r->trap_masked = !status ||
			 (status_signals(status, "SigBlk") | status_signals(status, "SigIgn")) & BIT(SIGTRAP);
	free(status);
}

int spi_remote_stop(struct spi_remote *r, const struct spi_target *target, const struct spi_gadgets *gadgets, pid_t tid,
		    uint64_t deadline)
{
	int status, ret;

	memset(r, 0, sizeof(*r));
	r->target = target;
	r->gadgets = gadgets;
	r->tid = tid;
	read_status(r);
	keep_apart(target->pid, tid);
	if (ptrace(PTRACE_SEIZE, tid, NULL, PTRACE_O_TRACESYSGOOD))
		return errno == EACCES ? -EPERM : -errno;
	r->attached = true;
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		return -errno;
	while (!(ret = spi_stop_wait(tid, &status, deadline))) {
		if (status >> 16 == PTRACE_EVENT_STOP)
			break;
		/* A signal came first: its handler is entered, then the thread stops. */
		if (ptrace(PTRACE_CONT, tid, NULL, (void *) (long) WSTOPSIG(status)))
			return -ESRCH;
	}
	if (ret)
		return ret == -ETIMEDOUT ? -EAGAIN : ret;
	r->stopped_at = spi_now();
	r->stopped = r->in_signal_stop = true;
	if (WSTOPSIG(status) != SIGTRAP || spi_regs_get(tid, &r->regs)) {
		spi_remote_release(r);	/* stopped for job control: not ours to run */
		return -EAGAIN;
	}
	return 0;
}

void spi_remote_release(struct spi_remote *r)
{
	struct user_regs_struct regs = r->regs;

	if (!r->attached)
		return;
	if (r->stopped && spi_regs_make_restartable(&regs))
		spi_regs_set(r->tid, &regs);
	ptrace(PTRACE_DETACH, r->tid, NULL, NULL);
	r->attached = r->stopped = false;
}

static int set_breakpoint(pid_t tid, uint64_t address)
{
	const size_t control = offsetof(struct user, u_debugreg[7]), first = offsetof(struct user, u_debugreg[0]);

	if (ptrace(PTRACE_POKEUSER, tid, (void *) control, 0ul))
		return -errno;
	if (address && (ptrace(PTRACE_POKEUSER, tid, (void *) first, address) ||
			ptrace(PTRACE_POKEUSER, tid, (void *) control, 1ul)))
		return -errno;
	return 0;
}

/*
 * The thread was stopped for us, and the breakpoint may have been hit in the same
 * moment: its SIGTRAP then waits and would end the program once it is let go.
 * Take it; the stop it makes is at the breakpoint itself, or nowhere of interest.
 */
static void take_pending_trap(struct spi_remote *r)
{
	char *text = spi_proc_read(NULL, "%d/task/%d/status", (int) r->target->pid, (int) r->tid);
	uint64_t pending = text ? status_signals(text, "SigPnd") : 0;
	int status;

	free(text);
	if (!(pending & BIT(SIGTRAP)) || ptrace(PTRACE_CONT, r->tid, NULL, NULL))
		return;
	r->stopped = false;
	if (spi_stop_wait(r->tid, &status, UINT64_MAX) == 0) {
		r->stopped = true;
		spi_regs_get(r->tid, &r->regs);
		if (status >> 16 == 0 && WSTOPSIG(status) != SIGTRAP)	/* another came first: send it once more */
			syscall(SYS_tgkill, r->target->pid, r->tid, WSTOPSIG(status));
	}
}

/*
 * A breakpoint in the processor, not in the code: other threads run past it. Its
 * trap would end an untraced program, so this is the one moment when the target
 * would not survive its injector's death: from here until the thread comes out
 * of malloc(), usually microseconds, two milliseconds at most. Never in a thread
 * that blocks or ignores SIGTRAP, for which the kernel would reset the action.
 */
int spi_remote_run_to(struct spi_remote *r, uint64_t address, uint64_t deadline)
{
	struct user_regs_struct regs = r->regs;
	bool interrupted = false;
	int status = 0, ret;

	if (r->trap_masked || set_breakpoint(r->tid, address)) {
		set_breakpoint(r->tid, 0);
		spi_remote_release(r);
		return -ENOTSUP;
	}
	if (spi_regs_make_restartable(&regs))
		spi_regs_set(r->tid, &regs);
	for (int deliver = 0;;) {
		if (ptrace(PTRACE_CONT, r->tid, NULL, (void *) (long) deliver)) {
			ret = -ESRCH;
			break;
		}
		r->stopped = false;
		ret = spi_stop_wait(r->tid, &status, interrupted ? UINT64_MAX : deadline);
		if (ret == -ETIMEDOUT) {
			/* It must be stopped once more, to take the breakpoint away. */
			interrupted = true;
			ptrace(PTRACE_INTERRUPT, r->tid, NULL, NULL);
			ret = spi_stop_wait(r->tid, &status, UINT64_MAX);
		}
		if (ret)
			break;
		r->stopped = true;
		if (spi_regs_get(r->tid, &r->regs)) {
			ret = -ESRCH;
			break;
		}
		if (status >> 16 == PTRACE_EVENT_STOP) {
			ret = -EAGAIN;
			break;
		}
		if (WSTOPSIG(status) == SIGTRAP && r->regs.rip == address)
			break;
		deliver = WSTOPSIG(status);
	}
	if (ret != -ESRCH)
		set_breakpoint(r->tid, 0);
	if (ret == -EAGAIN)
		take_pending_trap(r);
	r->stopped_at = spi_now();
	if (ret)
		spi_remote_release(r);
	return ret;
}
