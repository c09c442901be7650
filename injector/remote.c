/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Make a stopped thread call functions, and leave no trace of it.
 *
 * The area below the thread's stack pointer (behind the red zone) gets a signal
 * frame with the thread's complete state, and in front of it a chain of return
 * addresses (gadgets.c) that leads into it. Whatever function is called returns
 * into that chain. So from the first step to the last the thread is able to go
 * back to its own work by itself: if the injector is killed, the kernel lets the
 * thread run, it finishes the call, and the signal frame restores it. The normal
 * way back is another: registers, vector state and signal mask are set through
 * ptrace, because only that lets the kernel restart an interrupted system call
 * exactly as it would have without us (a sigreturn forgets the restart block).
 *
 * While calls are made, asynchronous signals are blocked: they stay pending in
 * the kernel, with all their details, and reach the program afterwards.
 */
#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "injector/remote.h"

#define RED_ZONE		128u
#define STACK_ROOM		(48u << 10)	/* what dlopen() and constructors may need, bytes */
#define OWN_STACK_SIZE		(256u << 10)
#define CHAIN_WORDS		9u
#define CONTEXT_SIZE		304u	/* the kernel's struct ucontext */
#define DONE_SIGNAL		SIGURG

/* Results of interrupted system calls that the kernel never shows to programs. */
#define ERESTARTSYS		512
#define ERESTARTNOHAND		514
#define ERESTART_RESTARTBLOCK	516

#define BIT(sig)		(UINT64_C(1) << ((sig) - 1))
#define SYNCHRONOUS		(BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE) | BIT(SIGTRAP) | BIT(SIGSYS))

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
static int wait_stop(pid_t tid, int *status, uint64_t deadline)
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

static int get_regs(pid_t tid, struct user_regs_struct *regs)
{
	return ptrace(PTRACE_GETREGS, tid, NULL, regs) ? -errno : 0;
}

static int set_regs(pid_t tid, const struct user_regs_struct *regs)
{
	return ptrace(PTRACE_SETREGS, tid, NULL, regs) ? -errno : 0;
}

/*
 * Some system calls (epoll_wait, semop, sigtimedwait, ...) answer our stop with
 * a plain EINTR. Turned into ERESTARTNOHAND it means the same when a signal
 * handler is about to run, and a restart otherwise. close() has done its work.
 */
static bool regs_make_restartable(struct user_regs_struct *regs)
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
	r->trap_masked = !status || (status_signals(status, "SigBlk") | status_signals(status, "SigIgn")) & BIT(SIGTRAP);
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
	while (!(ret = wait_stop(tid, &status, deadline))) {
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
	if (WSTOPSIG(status) != SIGTRAP || get_regs(tid, &r->regs)) {
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
	if (r->stopped && regs_make_restartable(&regs))
		set_regs(r->tid, &regs);
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
	if (regs_make_restartable(&regs))
		set_regs(r->tid, &regs);
	for (int deliver = 0;;) {
		if (ptrace(PTRACE_CONT, r->tid, NULL, (void *) (long) deliver)) {
			ret = -ESRCH;
			break;
		}
		r->stopped = false;
		ret = wait_stop(r->tid, &status, interrupted ? UINT64_MAX : deadline);
		if (ret == -ETIMEDOUT) {
			/* It must be stopped once more, to take the breakpoint away. */
			interrupted = true;
			ptrace(PTRACE_INTERRUPT, r->tid, NULL, NULL);
			ret = wait_stop(r->tid, &status, UINT64_MAX);
		}
		if (ret)
			break;
		r->stopped = true;
		if (get_regs(r->tid, &r->regs)) {
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
	r->stopped_at = spi_now();
	if (ret)
		spi_remote_release(r);
	return ret;
}

/* ---- what restores the thread --------------------------------------- */

/* Bytes of vector state that a signal frame may hold for the features in `mask`. */
static uint32_t xstate_frame_size(const struct spi_gadgets *g, uint64_t mask)
{
	uint32_t size = 576;

	for (unsigned int i = 2; i < 64; i++)
		if (mask >> i & 1 && g->xstate_end[i] > size)
			size = g->xstate_end[i];
	return size;
}

/* Make what ptrace gave into what the kernel expects in a signal frame; returns its size. */
static uint32_t frame_put_xstate(const struct spi_remote *r, uint8_t *to)
{
	struct {
		uint32_t magic1, extended_size;
		uint64_t features;
		uint32_t size, padding[7];
	} software = { .magic1 = 0x46505853u };
	const uint32_t magic2 = 0x46505845u;
	uint64_t features, in_use;
	uint32_t size;

	if (r->xstate_size < 576)
		return 0;
	memcpy(&features, r->xstate + 464, 8);
	memcpy(&in_use, r->xstate + 512, 8);
	/* Tile registers are there only for programs that asked for them. */
	if (!(in_use >> 18 & 1))
		features &= ~(UINT64_C(3) << 17);
	size = xstate_frame_size(r->gadgets, features);
	if (size > r->xstate_size)
		return 0;
	software.features = features;
	software.size = size;
	software.extended_size = size + sizeof(magic2);
	memcpy(to, r->xstate, size);
	memcpy(to + 464, &software, sizeof(software));
	memcpy(to + size, &magic2, sizeof(magic2));
	return size + sizeof(magic2);
}

static void frame_put_context(const struct spi_remote *r, uint8_t *to, uint64_t xstate_at)
{
	const struct user_regs_struct *u = &r->regs;
	ucontext_t context;
	greg_t *g = context.uc_mcontext.gregs;
	uint64_t rax = u->rax, rip = u->rip;

	/* Without ptrace nobody restarts an interrupted system call: call it again. */
	if ((int64_t) u->orig_rax >= 0 && (((int64_t) rax <= -ERESTARTSYS && (int64_t) rax >= -ERESTART_RESTARTBLOCK) ||
					   ((int64_t) rax == -EINTR && u->orig_rax != SYS_close))) {
		rax = u->orig_rax == SYS_restart_syscall && r->first_call ? r->first_call : u->orig_rax;
		rip -= 2;
	}
	memset(&context, 0, sizeof(context));
	context.uc_flags = 7;			/* vector state is extended; the stack segment is given */
	context.uc_stack.ss_flags = 0x5a5a;	/* invalid: the alternate signal stack stays as it is */
	g[REG_R8] = u->r8, g[REG_R9] = u->r9, g[REG_R10] = u->r10, g[REG_R11] = u->r11;
	g[REG_R12] = u->r12, g[REG_R13] = u->r13, g[REG_R14] = u->r14, g[REG_R15] = u->r15;
	g[REG_RDI] = u->rdi, g[REG_RSI] = u->rsi, g[REG_RBP] = u->rbp, g[REG_RBX] = u->rbx;
	g[REG_RDX] = u->rdx, g[REG_RAX] = rax, g[REG_RCX] = u->rcx, g[REG_RSP] = u->rsp;
	g[REG_RIP] = rip, g[REG_EFL] = u->eflags;
	g[REG_CSGSFS] = (greg_t) ((u->cs & 0xffff) | (u->ss & 0xffff) << 48);
	context.uc_mcontext.fpregs = (void *) (uintptr_t) xstate_at;
	memcpy(&context.uc_sigmask, &r->mask, sizeof(r->mask));
	memcpy(to, &context, CONTEXT_SIZE);
}

static void chain_put(const struct spi_remote *r, uint64_t *chain)
{
	const struct spi_gadgets *g = r->gadgets;

	chain[0] = g->complete ? g->store : 0;
	chain[1] = 0;
	chain[2] = g->pop_rdi;
	chain[3] = r->inner_tid;
	chain[4] = g->pop_rsi;
	chain[5] = DONE_SIGNAL;
	chain[6] = g->pop_rax;
	chain[7] = SYS_tkill;
	chain[8] = g->syscall;
}

/* Lay the area out so that its highest byte is below `top`; nothing is written yet. */
static void area_place(struct spi_remote *r, uint64_t top)
{
	uint64_t xstate = (top - r->xstate_size - 8) & ~UINT64_C(63);

	r->text = xstate - SPI_REMOTE_TEXT_MAX;
	r->slot = r->text - 64;
	r->frame = r->slot - CONTEXT_SIZE - 16;		/* 16-byte aligned; the context follows it */
	r->stack = r->frame - 8 * CHAIN_WORDS;		/* as at a function's first instruction */
}

static int area_write(struct spi_remote *r)
{
	uint64_t xstate = r->text + SPI_REMOTE_TEXT_MAX, size = xstate - r->stack + r->xstate_size + 8;
	uint8_t *area = calloc(1, size);
	uint32_t xstate_used;
	int ret;

	if (!area)
		return -ENOMEM;
	chain_put(r, (uint64_t *) area);
	memcpy(area + 8 * CHAIN_WORDS, &r->gadgets->sigreturn, 8);
	xstate_used = frame_put_xstate(r, area + (xstate - r->stack));
	frame_put_context(r, area + 8 * CHAIN_WORDS + 8, xstate_used ? xstate : 0);
	ret = spi_memory_write(r->target->pid, r->stack, area, size);
	free(area);
	return ret;
}

/* Is there room for the call on the thread's own stack? Coroutines and signal stacks are not trusted to have any. */
static bool stack_has_room(const struct spi_remote *r)
{
	const struct spi_mapping *m = spi_maps_find(&r->target->maps, r->regs.rsp);

	if (!m || r->stack < m->start)
		return false;
	if (strcmp(m->path, "[stack]") && (r->regs.fs_base < m->start || r->regs.fs_base >= m->end))
		return false;
	return r->stack - m->start > STACK_ROOM;
}

/* ---- calls ---------------------------------------------------------- */

/* Run to the thread's next system call stop. Signals that get in between are kept for later. */
static int run_to_syscall_stop(struct spi_remote *r)
{
	for (;;) {
		int status, ret;

		if (ptrace(PTRACE_SYSCALL, r->tid, NULL, NULL))
			return -errno;
		ret = wait_stop(r->tid, &status, UINT64_MAX);
		if (ret)
			return ret;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			return 0;
		if (status >> 16 == 0)
			r->late |= BIT(WSTOPSIG(status) & 63);
	}
}

static int syscall_on(struct spi_remote *r, uint64_t stack, int64_t *result, uint64_t number, const uint64_t args[6])
{
	struct user_regs_struct regs = r->regs;
	int ret;

	regs.rip = r->gadgets->syscall;
	regs.rsp = stack;
	regs.rax = number;
	regs.orig_rax = (uint64_t) -1;
	regs.rdi = args[0];
	regs.rsi = args[1];
	regs.rdx = args[2];
	regs.r10 = args[3];
	regs.r8 = args[4];
	regs.r9 = args[5];
	ret = set_regs(r->tid, &regs);
	if (!ret)
		ret = run_to_syscall_stop(r);	/* in */
	if (!ret)
		ret = run_to_syscall_stop(r);	/* out */
	r->in_signal_stop = false;
	if (!ret)
		ret = get_regs(r->tid, &regs);
	*result = regs.rax;
	return ret;
}

static bool is_done(const struct spi_remote *r, int sig, const struct user_regs_struct *regs)
{
	if (!r->gadgets->complete)
		return sig == SIGSEGV && !regs->rip;
	return sig == DONE_SIGNAL && regs->orig_rax == SYS_tkill && regs->rip == r->gadgets->syscall + 2;
}

/* A fault of the called code's own? Then either the program's handler gets it, or the call is over. */
static int handle_fault(struct spi_remote *r, int sig, const struct user_regs_struct *regs, int *deliver)
{
	siginfo_t info;

	if (!(SYNCHRONOUS & BIT(sig)) || ptrace(PTRACE_GETSIGINFO, r->tid, NULL, &info) || info.si_code <= 0) {
		if (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU)
			*deliver = sig;	/* the others stop; this thread goes on until its call is over */
		else
			r->late |= BIT(sig & 63);
		return 0;
	}
	if (r->caught & BIT(sig)) {
		*deliver = sig;
		return 0;
	}
	r->crash = sig;
	r->crash_at = regs->rip;
	return -EFAULT;
}

int spi_remote_wait(struct spi_remote *r, uint64_t *result, uint64_t deadline)
{
	while (!r->returned) {
		struct user_regs_struct regs;
		int status, deliver = 0, ret;

		ret = wait_stop(r->tid, &status, deadline);
		if (ret)
			return ret;
		r->stopped = true;
		if (status >> 16 != PTRACE_EVENT_STOP) {
			ret = get_regs(r->tid, &regs);
			if (!ret && is_done(r, WSTOPSIG(status), &regs)) {
				r->returned = true;
				if (!r->gadgets->complete)
					*result = regs.rax;
				break;
			}
			if (!ret)
				ret = handle_fault(r, WSTOPSIG(status), &regs, &deliver);
			if (ret)
				return ret;
		}
		if (ptrace(PTRACE_CONT, r->tid, NULL, (void *) (long) deliver))
			return -ESRCH;
		r->stopped = false;
	}
	r->returned = false;
	r->in_signal_stop = true;
	return r->gadgets->complete ? spi_memory_read(r->target->pid, r->slot, result, sizeof(*result)) : 0;
}

/* Set the thread going at regs->rip, to return through the chain. */
static int start_call(struct spi_remote *r, struct user_regs_struct *regs)
{
	uint64_t chain[CHAIN_WORDS];
	int ret;

	/* What was called before may have used the words above its return address. */
	chain_put(r, chain);
	ret = spi_memory_write(r->target->pid, r->stack, chain, sizeof(chain));
	if (ret)
		return ret;
	regs->rsp = r->stack;
	regs->rbx = r->slot;
	regs->rbp = 0;
	regs->orig_rax = (uint64_t) -1;
	regs->eflags &= ~UINT64_C(0x400);	/* direction forward, as every function expects */
	ret = set_regs(r->tid, regs);
	if (ret)
		return ret;
	r->returned = false;
	if (ptrace(PTRACE_CONT, r->tid, NULL, NULL))
		return -ESRCH;
	r->stopped = false;
	return 0;
}

int spi_remote_call(struct spi_remote *r, uint64_t *result, uint64_t function, uint64_t a, uint64_t b, uint64_t c,
		    uint64_t deadline)
{
	struct user_regs_struct regs = r->regs;
	int ret;

	regs.rip = function;
	regs.rdi = a;
	regs.rsi = b;
	regs.rdx = c;
	regs.rax = 0;
	ret = start_call(r, &regs);
	return ret ? ret : spi_remote_wait(r, result, deadline);
}

/*
 * The gadget ends like any of libc's system call functions: it returns, with -1
 * and errno set on failure. So it can be called like one, which takes one stop
 * where following the system call itself takes two.
 */
int spi_remote_syscall(struct spi_remote *r, int64_t *result, uint64_t number, uint64_t a, uint64_t b, uint64_t c,
		       uint64_t d)
{
	struct user_regs_struct regs = r->regs;
	int32_t error;
	int ret;

	if (!r->gadgets->complete || !r->errno_address)
		return syscall_on(r, r->frame, result, number, (uint64_t[]) { a, b, c, d, 0, 0 });
	regs.rip = r->gadgets->syscall;
	regs.rdi = a;
	regs.rsi = b;
	regs.rdx = c;
	regs.r10 = d;
	regs.rax = number;
	ret = start_call(r, &regs);
	if (!ret)
		ret = spi_remote_wait(r, (uint64_t *) result, UINT64_MAX);
	if (!ret && *result == -1) {
		ret = spi_memory_read(r->target->pid, r->errno_address, &error, sizeof(error));
		*result = error > 0 ? -error : -EIO;
	}
	return ret;
}

int spi_remote_peek(struct spi_remote *r, struct user_regs_struct *regs)
{
	int status, deliver = 0, ret;

	if (ptrace(PTRACE_INTERRUPT, r->tid, NULL, NULL))
		return -errno;
	for (;;) {
		ret = wait_stop(r->tid, &status, spi_now() + UINT64_C(1000000000));
		if (ret)
			return ret;
		r->stopped = true;
		ret = get_regs(r->tid, regs);
		if (ret)
			return ret;
		if (status >> 16 == PTRACE_EVENT_STOP) {
			r->in_signal_stop = true;
			return 0;
		}
		if (is_done(r, WSTOPSIG(status), regs)) {
			r->returned = true;
			return -EAGAIN;
		}
		ret = handle_fault(r, WSTOPSIG(status), regs, &deliver);
		if (ret)
			return ret;
		if (ptrace(PTRACE_CONT, r->tid, NULL, (void *) (long) deliver))
			return -ESRCH;
	}
}

int spi_remote_resume(struct spi_remote *r)
{
	struct user_regs_struct regs;

	if (!get_regs(r->tid, &regs) && regs_make_restartable(&regs))
		set_regs(r->tid, &regs);
	r->stopped = false;
	return ptrace(PTRACE_CONT, r->tid, NULL, NULL) ? -errno : 0;
}

void spi_remote_leave(struct spi_remote *r)
{
	struct user_regs_struct regs;

	if (!r->attached)
		return;
	if (!r->stopped && spi_remote_peek(r, &regs) && !r->returned)
		return;		/* the thread is gone, or the kernel lets it go when ours ends */
	if (!r->returned && !get_regs(r->tid, &regs) && regs_make_restartable(&regs))
		set_regs(r->tid, &regs);
	ptrace(PTRACE_DETACH, r->tid, NULL, NULL);
	r->attached = r->stopped = r->begun = false;
}

/* ---- begin and end -------------------------------------------------- */

static int map_own_stack(struct spi_remote *r)
{
	const uint64_t args[6] = { 0, OWN_STACK_SIZE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, (uint64_t) -1, 0 };
	int64_t address;
	int ret = syscall_on(r, r->regs.rsp - RED_ZONE - 64, &address, SYS_mmap, args);

	if (ret)
		return ret;
	if (address < 0 && address > -4096)
		return (int) address;
	r->own_stack = address;
	area_place(r, r->own_stack + OWN_STACK_SIZE);
	return 0;
}

static int save_errno(struct spi_remote *r)
{
	if (r->gadgets->errno_offset) {
		r->errno_address = r->regs.fs_base + r->gadgets->errno_offset;
	} else {
		uint64_t location = spi_image_symbol(&r->target->libc, "__errno_location", NULL);

		if (!location || spi_remote_call(r, &r->errno_address, location, 0, 0, 0, spi_now() + 1000000000))
			return -EFAULT;
	}
	return spi_memory_read(r->target->pid, r->errno_address, &r->errno_value, sizeof(r->errno_value));
}

int spi_remote_begin(struct spi_remote *r)
{
	struct iovec xstate = { r->xstate, sizeof(r->xstate) };
	uint64_t mask;
	int ret;

	if (ptrace(PTRACE_GETREGSET, r->tid, (void *) NT_X86_XSTATE, &xstate) ||
	    ptrace(PTRACE_GETSIGMASK, r->tid, (void *) sizeof(r->mask), &r->mask))
		return -errno;
	r->xstate_size = xstate.iov_len;
	mask = ~(SYNCHRONOUS | BIT(DONE_SIGNAL));
	if (ptrace(PTRACE_SETSIGMASK, r->tid, (void *) sizeof(mask), &mask))
		return -errno;
	r->begun = true;
	area_place(r, r->regs.rsp - RED_ZONE);
	ret = stack_has_room(r) ? 0 : map_own_stack(r);
	if (!ret)
		ret = area_write(r);
	if (!ret)
		ret = save_errno(r);
	return ret;
}

/* Bring the thread into the kernel's signal delivery, the only place from where it restarts system calls. */
static void enter_signal_stop(struct spi_remote *r)
{
	int status;

	ptrace(PTRACE_INTERRUPT, r->tid, NULL, NULL);
	while (!ptrace(PTRACE_CONT, r->tid, NULL, NULL)) {
		if (wait_stop(r->tid, &status, spi_now() + UINT64_C(1000000000)))
			return;
		if (status >> 16 == PTRACE_EVENT_STOP)
			return;
		r->late |= BIT(WSTOPSIG(status) & 63);
	}
}

void spi_remote_end(struct spi_remote *r)
{
	struct iovec xstate = { r->xstate, r->xstate_size };
	struct user_regs_struct regs = r->regs;
	int64_t ignored;

	if (!r->attached)
		return;
	if (!r->begun) {
		spi_remote_release(r);
		return;
	}
	if (r->errno_address)
		spi_memory_write(r->target->pid, r->errno_address, &r->errno_value, sizeof(r->errno_value));
	if (r->own_stack)
		syscall_on(r, r->regs.rsp - RED_ZONE - 64, &ignored, SYS_munmap,
			   (uint64_t[]) { r->own_stack, OWN_STACK_SIZE, 0, 0, 0, 0 });
	ptrace(PTRACE_SETREGSET, r->tid, (void *) NT_X86_XSTATE, &xstate);
	regs_make_restartable(&regs);
	if (!r->in_signal_stop) {
		/* Nothing of the program's may run on the way: the registers are right before the mask is. */
		set_regs(r->tid, &regs);
		enter_signal_stop(r);
	}
	set_regs(r->tid, &regs);
	ptrace(PTRACE_SETSIGMASK, r->tid, (void *) sizeof(r->mask), &r->mask);
	for (int sig = 1; sig < 64; sig++)
		if (r->late & BIT(sig))
			syscall(SYS_tgkill, r->target->pid, r->tid, sig);
	ptrace(PTRACE_DETACH, r->tid, NULL, NULL);
	r->attached = r->stopped = r->begun = false;
}
