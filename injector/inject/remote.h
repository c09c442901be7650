/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * One thread of another process, stopped, and made to run functions and system
 * calls as if it had called them itself. Internal to the injector.
 *
 * Order of use: spi_remote_stop(); look at regs; then either spi_remote_release()
 * at once, or spi_remote_begin(), calls, spi_remote_end().
 */
#ifndef SPI_INJECTOR_INJECT_REMOTE_H
#define SPI_INJECTOR_INJECT_REMOTE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "injector/base/clock.h"
#include "injector/inject/priority.h"
#include "injector/inject/target.h"

#define SPI_REMOTE_TEXT_MAX	1024u	/* bytes of argument memory in the target */
#define SPI_REMOTE_XSTATE_MAX	12288u	/* bytes of vector state, tile registers included */

/* Instruction sequences of the target's own libc that calls return through. Found before anything is stopped. */
struct spi_gadgets {
	uint64_t store;		/* mov %rax,(%rbx); pop %rbx; ret */
	uint64_t pop_rdi, pop_rsi, pop_rax;	/* pop; ret */
	uint64_t syscall;	/* syscall; cmp; jae; ret */
	uint64_t sigreturn;	/* mov $15,%rax; syscall: libc's signal restorer */
	int64_t errno_offset;	/* of errno from the thread pointer; 0: unknown */
	bool complete;		/* all of them are there: calls survive the injector's death */
	uint32_t xstate_end[64];	/* where each part of the vector state ends in memory, bytes */
};

/* late-stops.c, between two looks: threads that did not stop in time are let go when they do. */
void spi_late_look(void);

struct spi_remote {
	const struct spi_target *target;
	const struct spi_gadgets *gadgets;
	pid_t tid, inner_tid;	/* ours; in the target's pid namespace */
	bool attached, stopped, begun;
	bool in_signal_stop;	/* the current stop is inside the kernel's signal delivery */
	bool at_handler;	/* it stands before the first instruction of a signal handler, most likely */
	bool returned;		/* the call ended while it was being stopped */
	int deliver;		/* a signal that it stands before, to go on with when it is let go; 0: none */
	bool masked;		/* asynchronous signals are blocked */
	struct user_regs_struct regs;	/* as found */
	/*
	 * Set by the caller before spi_remote_begin() when known: the system call that
	 * a restart_syscall() in regs goes on with, after an earlier stop. 0: unknown.
	 */
	uint64_t first_call;
	uint64_t stopped_at, let_go_at;	/* CLOCK_MONOTONIC, ns */
	struct spi_first *first;
	uint64_t mask;		/* signals blocked, as found */
	uint32_t xstate_size;
	uint8_t xstate[SPI_REMOTE_XSTATE_MAX] __attribute__((aligned(64)));
	uint64_t stack;		/* our area on the stack: the return chain begins here */
	uint64_t text, slot;	/* in it: bytes for arguments, a few words for results */
	uint64_t frame;		/* in it: where the word lies that returns to the signal restorer */
	uint64_t own_stack;	/* mapped for the call because the thread's own has little room; 0: none */
	uint64_t errno_address;
	int32_t errno_value;
	uint64_t caught;	/* signals the program has handlers for */
	bool filtered;		/* by seccomp */
	bool trap_masked;	/* SIGTRAP is blocked or ignored in this thread */
	uint64_t late;		/* signals that came and are to be sent again */
	int crash;		/* the signal that ended a call with -EFAULT */
	uint64_t crash_at;	/* and the instruction */
};

void spi_gadgets_find(struct spi_gadgets *gadgets, const struct spi_target *target);

/*
 * spi_remote_stop() - seize and stop thread `tid`, fill regs. -ETIMEDOUT when it
 * does not stop by `deadline` (ns, CLOCK_MONOTONIC); -EAGAIN: it stopped for job control;
 * -EPERM, -EBUSY, -ESRCH. On failure the thread runs on, except that one which
 * could not be stopped stays seized until the calling thread ends.
 */
int spi_remote_stop(struct spi_remote *r, const struct spi_target *target, const struct spi_gadgets *gadgets,
		    struct spi_first *first, pid_t tid, uint64_t deadline);
/* Stop a process's first thread before anything is known of it, for spi_remote_stop() to take up. On failure that says why. */
void spi_remote_seize(pid_t pid);
/*
 * spi_remote_run_to() - let the stopped thread run on until it comes to
 * `address`, with a hardware breakpoint, and take it there: stopped again, regs
 * new. -EAGAIN when it has not come there by the deadline (released), -ENOTSUP
 * when that cannot be done with this thread (released, too).
 */
int spi_remote_run_to(struct spi_remote *r, uint64_t address, uint64_t deadline);
/* Let it go on as it was. */
void spi_remote_release(struct spi_remote *r);

/* Save everything, make room on its stack, write the frame that restores it. 0 or a negative errno. */
int spi_remote_begin(struct spi_remote *r);
/* Restore everything and let it go. */
void spi_remote_end(struct spi_remote *r);

/*
 * A system call, and its result: a negative errno as the kernel returned it.
 * The return value is 0, or a negative errno when the call could not be made.
 */
int spi_remote_syscall(struct spi_remote *r, int64_t *result, uint64_t number, uint64_t a, uint64_t b, uint64_t c,
		       uint64_t d);

/*
 * A function call with up to three arguments. 0; -ESRCH the process ended; -EFAULT it
 * crashed in the call: crash and crash_at say how; -ETIMEDOUT it still runs at
 * the deadline (ns): wait again, or spi_remote_peek().
 */
int spi_remote_call(struct spi_remote *r, uint64_t *result, uint64_t function, uint64_t a, uint64_t b, uint64_t c,
		    uint64_t deadline);
int spi_remote_wait(struct spi_remote *r, uint64_t *result, uint64_t deadline);
/*
 * After -ETIMEDOUT: stop it inside the call, registers in *regs. 0: now decide
 * between spi_remote_resume() and then spi_remote_wait(), spi_remote_end() to
 * undo the call, spi_remote_leave(). -EAGAIN: the call has ended just now, take
 * the result with spi_remote_wait().
 */
int spi_remote_peek(struct spi_remote *r, struct user_regs_struct *regs);
int spi_remote_resume(struct spi_remote *r);
/* Begin a call without arguments that the thread is to be left in, with its errno as it was found: the call must not change errno. */
int spi_remote_call_begin(struct spi_remote *r, uint64_t function);
/* Let it finish the call alone, after which it goes back to what it did. */
void spi_remote_leave(struct spi_remote *r);

/* SIGCHLD is blocked in every thread and nobody else's: waiting for a stop ends with it. For good, once set. */
extern bool spi_stop_signalled;

#endif /* SPI_INJECTOR_INJECT_REMOTE_H */
