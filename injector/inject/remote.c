/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Make a stopped thread call functions, and leave no trace of it.
 *
 * The area below the thread's stack pointer (behind the red zone) gets a signal frame with the
 * thread's complete state, and in front of it a chain of return addresses (gadgets.c) that leads
 * into the frame. Whatever function is called returns into that chain. So from the first step to
 * the last the thread is able to go back to its own work by itself: if the injector is killed, the
 * kernel lets the thread run, the thread finishes the call, and the signal frame restores it. The
 * normal way back is another: registers, vector state and signal mask are set through ptrace,
 * because only that lets the kernel restart an interrupted system call exactly as it would have
 * done without the injector (a sigreturn forgets the restart block).
 *
 * While calls are made, asynchronous signals are blocked: they stay pending in the kernel, with all
 * their details, and reach the program afterwards.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "injector/inject/remote-internal.h"

#define OWN_STACK_SIZE		(256u << 10)
#define STEP_PATIENCE		UINT64_C(2000000000)	/* ns for a system call that never waits: a thread that is frozen makes none */

/*
 * Before the thread first runs for us, when its registers lead into the chain already: from there the signal frame puts back
 * its mask, while in its own work nothing would.
 */
static int mask_signals(struct spi_remote *r)
{
	/* an agent that is there takes a blocked SIGSTKFLT for the program's wish that SIGTRAP were: liblttng-spi/patch/trap.c */
	uint64_t mask = ~(SYNCHRONOUS | BIT(DONE_SIGNAL) | (BIT(SIGSTKFLT) & ~r->mask));

	if (r->masked)
		return 0;
	r->masked = true;
	return ptrace(PTRACE_SETSIGMASK, r->tid, (void *) sizeof(mask), &mask) ? -errno : 0;
}

/* Run to the thread's next system call stop. Signals that get in between are kept for later. -ETIMEDOUT: stopped elsewhere. */
static int run_to_syscall_stop(struct spi_remote *r)
{
	uint64_t deadline = spi_now() + STEP_PATIENCE;
	bool late = false;

	r->in_signal_stop = false;
	for (;;) {
		int status, ret;

		if (ptrace(PTRACE_SYSCALL, r->tid, NULL, NULL))
			return -errno;
		ret = spi_stop_wait(r->tid, &status, deadline);
		if (ret == -ETIMEDOUT && !late && !ptrace(PTRACE_INTERRUPT, r->tid, NULL, NULL)) {
			late = true;
			ret = spi_stop_wait(r->tid, &status, spi_now() + STEP_PATIENCE);
		}
		if (ret)
			return ret;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			return 0;
		r->in_signal_stop = late && status >> 16 == PTRACE_EVENT_STOP;
		if (r->in_signal_stop)
			return -ETIMEDOUT;
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
	regs.eflags &= ~UINT64_C(0x100);
	regs.rax = number;
	regs.orig_rax = (uint64_t) -1;
	regs.rdi = args[0];
	regs.rsi = args[1];
	regs.rdx = args[2];
	regs.r10 = args[3];
	regs.r8 = args[4];
	regs.r9 = args[5];
	ret = spi_regs_set(r->tid, &regs);
	if (!ret)
		ret = mask_signals(r);
	if (!ret)
		ret = run_to_syscall_stop(r);	/* in */
	if (!ret)
		ret = run_to_syscall_stop(r);	/* out */
	if (!ret)
		ret = spi_regs_get(r->tid, &regs);
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

		ret = spi_stop_wait(r->tid, &status, deadline);
		if (ret)
			return ret;
		if (status >> 16 == PTRACE_EVENT_EXEC) {	/* nothing that we know is there any more */
			spi_remote_let_go(r);
			return spi_identity_replaced(r->target);
		}
		r->stopped = true;
		if (status >> 16 != PTRACE_EVENT_STOP) {
			ret = spi_regs_get(r->tid, &regs);
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
	spi_frame_chain(r, chain);
	ret = spi_target_write(r->target, r->stack, chain, sizeof(chain));
	if (ret)
		return ret;
	regs->rsp = r->stack;
	regs->rbx = r->slot;
	regs->rbp = 0;
	regs->orig_rax = (uint64_t) -1;
	regs->eflags &= ~UINT64_C(0x500);	/* direction forward, as every function expects; no steps of a program that single-steps itself */
	ret = spi_regs_set(r->tid, regs);
	if (!ret)
		ret = mask_signals(r);
	if (ret)
		return ret;
	r->returned = false;
	if (ptrace(PTRACE_CONT, r->tid, NULL, NULL))
		return -ESRCH;
	r->stopped = false;
	return 0;
}

/* As spi_remote_end() leaves it: the thread puts everything else back by itself. */
static void put_back_errno(struct spi_remote *r)
{
	if (r->errno_address)
		spi_target_write(r->target, r->errno_address, &r->errno_value, sizeof(r->errno_value));
}

static void send_late(struct spi_remote *r)
{
	for (int sig = 1; sig < 64; sig++)
		if (r->late & BIT(sig))
			syscall(SYS_tgkill, r->target->pid, r->tid, sig);
	r->late = 0;
}

int spi_remote_call_begin(struct spi_remote *r, uint64_t function)
{
	struct user_regs_struct regs = r->regs;

	put_back_errno(r);
	regs.rip = function;
	regs.rax = 0;
	return start_call(r, &regs);
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
		ret = spi_remote_wait(r, (uint64_t *) result, spi_now() + STEP_PATIENCE);
	if (ret == -ETIMEDOUT) {
		ret = spi_remote_peek(r, &regs);
		ret = ret == -EAGAIN ? spi_remote_wait(r, (uint64_t *) result, spi_now()) : ret ? ret : -ETIMEDOUT;
	}
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
		ret = spi_stop_wait(r->tid, &status, spi_now() + UINT64_C(1000000000));
		if (ret)
			return ret;
		r->stopped = true;
		ret = spi_regs_get(r->tid, regs);
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

	if (!spi_regs_get(r->tid, &regs) && spi_regs_make_restartable(&regs))
		spi_regs_set(r->tid, &regs);
	r->stopped = false;
	return ptrace(PTRACE_CONT, r->tid, NULL, NULL) ? -errno : 0;
}

void spi_remote_leave(struct spi_remote *r)
{
	struct user_regs_struct regs;

	if (!r->attached)
		return;
	if (!r->stopped && spi_remote_peek(r, &regs) && !r->returned) {
		spi_first_give_back(r->first);
		return;		/* the thread is gone, or the kernel lets it go when ours ends */
	}
	if (!r->returned && !spi_regs_get(r->tid, &regs) && spi_regs_make_restartable(&regs))
		spi_regs_set(r->tid, &regs);
	send_late(r);
	spi_remote_let_go(r);
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
	spi_frame_place(r, r->own_stack + OWN_STACK_SIZE);
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
	int ret;

	if (ptrace(PTRACE_GETREGSET, r->tid, (void *) NT_X86_XSTATE, &xstate) ||
	    ptrace(PTRACE_GETSIGMASK, r->tid, (void *) sizeof(r->mask), &r->mask))
		return -errno;
	r->xstate_size = xstate.iov_len;
	r->masked = false;
	r->begun = true;
	spi_frame_place(r, r->regs.rsp - RED_ZONE);
	ret = spi_frame_fits(r) ? 0 : map_own_stack(r);
	if (!ret)
		ret = spi_frame_write(r);
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
		if (spi_stop_wait(r->tid, &status, spi_now() + UINT64_C(1000000000)))
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
	put_back_errno(r);
	if (r->own_stack)
		syscall_on(r, r->regs.rsp - RED_ZONE - 64, &ignored, SYS_munmap,
			   (uint64_t[]) { r->own_stack, OWN_STACK_SIZE, 0, 0, 0, 0 });
	ptrace(PTRACE_SETREGSET, r->tid, (void *) NT_X86_XSTATE, &xstate);
	spi_regs_make_restartable(&regs);
	if (!r->in_signal_stop) {
		/* Nothing of the program's may run on the way: here the registers are right before the mask is. */
		spi_regs_set(r->tid, &regs);
		enter_signal_stop(r);
	}
	/* The mask first: until the registers are right again, the thread would find its way back by itself. */
	ptrace(PTRACE_SETSIGMASK, r->tid, (void *) sizeof(r->mask), &r->mask);
	spi_regs_set(r->tid, &regs);
	send_late(r);
	spi_remote_let_go(r);
}
