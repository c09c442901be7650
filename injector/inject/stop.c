/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Stopping one thread of another process, letting it go again, or letting it run on to a place. The
 * thread's work is not disturbed: system calls that the stop interrupted are called again, and
 * signals reach the thread.
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
#include <unistd.h>

#include "injector/inject/remote-internal.h"

#define OPTIONS		(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC)
#define AHEAD_NS	UINT64_C(500000000)	/* for a program to be executed and stopped */
#define DYING_NS	UINT64_C(1000000000)	/* for a thread that was killed to be gone */

bool spi_stop_signalled;

/* A stop sends SIGCHLD, which is for whoever takes it first: where this process has no other use for it, we do. */
static void stop_sleep(long ns)
{
	struct timespec t = { 0, ns };
	sigset_t child;

	if (!spi_stop_signalled) {
		nanosleep(&t, NULL);
		return;
	}
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigtimedwait(&child, NULL, &t);
}

/*
 * Wait for the thread's next stop. A thread cannot be waited for with a time
 * limit, so look again and again: at first without pause, since most stops come
 * within microseconds and the program stands still meanwhile; then with short
 * sleeps. priority.c sees to it that looking does not keep it from running.
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
		spi_late_look();
		if (now - begun < 200000) {
			sched_yield();
		} else {
			stop_sleep(pause);
			if (pause < 1000000)
				pause += pause / 8;
		}
	}
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

/*
 * A stop ends a wait that has a timeout (poll, nanosleep, futex, ...) with ERESTART_RESTARTBLOCK: the kernel goes on with it by the system call
 * restart_syscall, which a seccomp filter is asked for, and few that list what a program calls know it: sshd's kills for it. Called again
 * from its beginning instead, the wait's time begins anew. At once: the target may have to do without us.
 */
static void avoid_restart_syscall(pid_t tid, struct user_regs_struct *regs)
{
	if ((int64_t) regs->orig_rax < 0 || (int64_t) regs->rax != -ERESTART_RESTARTBLOCK)
		return;
	regs->rax = (uint64_t) -ERESTARTNOHAND;
	spi_regs_set(tid, regs);
}

static uint64_t status_signals(const char *status, const char *key)
{
	const char *value = spi_status_value(status, key);

	return value ? strtoull(value, NULL, 16) : 0;
}

/* The thread's id in its own namespace, the signals its program handles, whether it has filters. */
static void read_status(struct spi_remote *r)
{
	char *status = spi_proc_read(NULL, "%d/task/%d/status", (int) r->target->pid, (int) r->tid);
	const char *seccomp;

	r->inner_tid = status ? spi_status_inner_pid(status, r->tid) : r->tid;
	r->caught = status ? status_signals(status, "SigCgt") : 0;
	seccomp = status ? spi_status_value(status, "Seccomp") : NULL;
	r->filtered = seccomp && *seccomp != '0';
	r->trap_masked = !status ||
			 (status_signals(status, "SigBlk") | status_signals(status, "SigIgn")) & BIT(SIGTRAP);
	free(status);
}

/*
 * Is a fault of its own waiting for it, or, with `code`, one of that kind? Then its registers are where that happened. A
 * stop of ours can come in between, as the kernel looks for those first; and a handler that was told of
 * any other place could make nothing of it.
 */
static bool fault_waits(pid_t tid, int code)
{
	struct { uint64_t off; uint32_t flags; int32_t nr; } args = { 0, 0, 8 };
	siginfo_t infos[8];
	long n;

	while ((n = ptrace(PTRACE_PEEKSIGINFO, tid, &args, infos)) > 0) {
		for (long i = 0; i < n; i++)
			if ((SYNCHRONOUS & BIT(infos[i].si_signo)) && (code ? infos[i].si_code == code : infos[i].si_code > 0))
				return true;
		args.off += n;
	}
	return false;
}

/*
 * It stands; or it was killed there, as its process ends, and is to be waited for: nobody else may, and as long as that
 * is not done its process has not ended for its parent.
 */
static void let_run(struct spi_remote *r)
{
	struct user_regs_struct regs;
	int status;

	if (r->filtered && !spi_regs_get(r->tid, &regs))
		avoid_restart_syscall(r->tid, &regs);
	while (ptrace(PTRACE_DETACH, r->tid, NULL, (void *) (long) r->deliver) && errno == ESRCH)
		if (spi_stop_wait(r->tid, &status, spi_now() + DYING_NS))
			break;
}

/*
 * The thread did not stop in time. One that only waits for a processor will, and
 * can be let go then; one that sleeps in the kernel (D) may never.
 */
static void give_back_late(struct spi_remote *r)
{
	char *stat = spi_proc_read(NULL, "%d/task/%d/stat", (int) r->target->pid, (int) r->tid);
	const char *state = stat ? spi_stat_field(stat, 3) : NULL;
	int status;

	if (!state || *state == 'D') {
		spi_late_add(r->tid);
	} else if (spi_stop_wait(r->tid, &status, spi_now() + UINT64_C(2000000000)) == 0) {
		r->deliver = status >> 16 ? 0 : WSTOPSIG(status);
		let_run(r);
		r->attached = false;
	}
	free(stat);
	spi_first_give_back(r->first);
}

/* Seized, asked to stop, and not wanted: a thread can only be let go once it stands. */
static void give_up(struct spi_remote *r, uint64_t deadline)
{
	int status, ret = spi_stop_wait(r->tid, &status, deadline);

	if (ret == -ETIMEDOUT) {
		spi_late_add(r->tid);
	} else if (!ret) {
		r->deliver = status >> 16 ? 0 : WSTOPSIG(status);	/* a signal came first */
		spi_remote_let_go(r);
	}
	spi_first_give_back(r->first);
}

/* The one that is stopped before it is looked at. */
static _Thread_local struct {
	pid_t pid;
	bool stands;
} ahead;

/* A process within execve() stops there first, for the old program, which takes the place of this stop. What stands afterwards is the new one. */
void spi_remote_seize(pid_t pid)
{
	uint64_t until = spi_now() + AHEAD_NS;
	int status, deliver = 0;

	if (ahead.pid == pid || ptrace(PTRACE_SEIZE, pid, NULL, OPTIONS) || ptrace(PTRACE_INTERRUPT, pid, NULL, NULL))
		return;
	ahead.pid = pid;
	ahead.stands = false;
	while (!spi_stop_wait(pid, &status, until)) {
		ahead.stands = status >> 16 == PTRACE_EVENT_STOP;
		if (ahead.stands)
			return;
		if (status >> 16 == PTRACE_EVENT_EXEC)
			ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
		deliver = status >> 16 ? 0 : WSTOPSIG(status);
		if (ptrace(PTRACE_CONT, pid, NULL, (void *) (long) deliver))
			return;
	}
}

int spi_remote_stop(struct spi_remote *r, const struct spi_target *target, const struct spi_gadgets *gadgets,
		    struct spi_first *first, pid_t tid, uint64_t deadline)
{
	bool is_asked = ahead.pid == tid, stands = is_asked && ahead.stands;
	int status = PTRACE_EVENT_STOP << 16 | SIGTRAP << 8, ret;

	ahead.pid = 0;
	memset(r, 0, sizeof(*r));
	r->target = target;
	r->gadgets = gadgets;
	r->first = first;
	r->tid = tid;
	spi_late_look();
	if (spi_late_has(tid)) {
		r->attached = true;
		return -ETIMEDOUT;
	}
	read_status(r);
	if (!is_asked && ptrace(PTRACE_SEIZE, tid, NULL, OPTIONS)) {
		ret = errno == EACCES ? -EPERM : -errno;
		return ret == -EPERM && spi_thread_has_ended(target->pid, tid) ? -ESRCH : ret;	/* the kernel says the same of both */
	}
	r->attached = true;
	ret = spi_identity_check(target);	/* from here on an exec() is reported to us */
	if (!ret)
		spi_first_take(first, target->pid, tid);	/* now that we know that we may */
	if (!is_asked && ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) && !ret)
		ret = -errno;
	if (ret && stands) {
		spi_remote_let_go(r);
		return ret;
	}
	if (ret) {
		give_up(r, deadline);
		return ret;
	}
	while (!stands && !(ret = spi_stop_wait(tid, &status, deadline))) {
		if (status >> 16 == PTRACE_EVENT_STOP)
			break;
		if (status >> 16 == PTRACE_EVENT_EXEC) {
			spi_remote_let_go(r);
			return spi_identity_replaced(target);
		}
		/* A signal came first: its handler is entered, then the thread stops. */
		r->at_handler = (r->caught & BIT(WSTOPSIG(status))) != 0;
		if (ptrace(PTRACE_CONT, tid, NULL, (void *) (long) WSTOPSIG(status))) {
			ret = -ESRCH;
			break;
		}
	}
	if (ret == -ETIMEDOUT) {
		give_back_late(r);
		return -ETIMEDOUT;
	}
	if (ret) {
		spi_stop_wait(tid, &status, spi_now() + DYING_NS);	/* unless its end has been seen */
		/* It may have called exec(), and is the process's first thread now, stopped for us. */
		if (tid != target->pid)
			ptrace(PTRACE_DETACH, target->pid, NULL, NULL);
		spi_first_give_back(r->first);
		return ret;
	}
	r->stopped_at = spi_now();
	r->stopped = r->in_signal_stop = true;
	if (WSTOPSIG(status) != SIGTRAP) {
		spi_remote_release(r);	/* stopped for job control: not ours to run */
		return -EAGAIN;
	}
	if (spi_regs_get(tid, &r->regs)) {
		spi_remote_release(r);	/* killed meanwhile */
		return -ESRCH;
	}
	if (r->filtered)
		avoid_restart_syscall(tid, &r->regs);
	if (fault_waits(tid, 0)) {
		spi_remote_release(r);
		return -EINPROGRESS;
	}
	return 0;
}

void spi_remote_let_go(struct spi_remote *r)
{
	spi_first_part(r->first);
	let_run(r);
	r->let_go_at = spi_now();
	spi_first_give_back(r->first);
	r->attached = r->stopped = r->begun = false;
}

void spi_remote_release(struct spi_remote *r)
{
	struct user_regs_struct regs = r->regs;

	if (!r->attached)
		return;
	if (r->stopped && spi_regs_make_restartable(&regs))
		spi_regs_set(r->tid, &regs);
	spi_remote_let_go(r);
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
	int status;

	if (!fault_waits(r->tid, TRAP_HWBKPT) || ptrace(PTRACE_CONT, r->tid, NULL, NULL))
		return;
	r->stopped = false;
	if (spi_stop_wait(r->tid, &status, UINT64_MAX) == 0) {
		r->stopped = true;
		spi_regs_get(r->tid, &r->regs);
		if (status >> 16 == 0 && WSTOPSIG(status) != SIGTRAP)	/* another came first: it goes along */
			r->deliver = WSTOPSIG(status);
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

	r->at_handler = false;
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
		if (status >> 16 == PTRACE_EVENT_EXEC) {
			spi_remote_let_go(r);	/* the breakpoint went with the old program */
			return spi_identity_replaced(r->target);
		}
		r->stopped = true;
		if (spi_regs_get(r->tid, &r->regs)) {
			ret = -ESRCH;
			break;
		}
		if (r->filtered)
			avoid_restart_syscall(r->tid, &r->regs);
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
