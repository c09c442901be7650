/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Bring a shared library into a running process.
 *
 * One thread of the target is stopped by ptrace, at a moment when its unwound
 * stack shows that it holds none of the locks that loading a library takes; it
 * is made to call dlopen(), and goes on exactly where it was. The other threads
 * run all the time. Everything that can be looked up beforehand is, so that the
 * thread stands still for some hundred microseconds only.
 */
#ifndef SPI_INJECTOR_INJECT_H
#define SPI_INJECTOR_INJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct spi_inject_result;

struct spi_inject_options {
	uint32_t size;		/* sizeof(struct spi_inject_options); larger or smaller ones are understood */
	uint32_t flags;		/* SPI_INJECT_* */
	/*
	 * What dlopen() is given: a path, or a name without a slash that the target
	 * looks up itself. NULL: the agent. A path that means another file (or none)
	 * in the target's root directory is carried in by memfd.
	 */
	const char *library;
	uint32_t deadline_ms;	/* how long to look for a safe moment; 0: 3000 */
	uint32_t reserved;
	/*
	 * Called with a line of progress when not NULL: which thread, how many tries.
	 */
	void (*progress)(const char *line, void *data);
	void *data;
	/*
	 * Who the process must be, when it is not enough to have its id. -ESRCH when
	 * its start time is another (0: any), -EPERM when one of its four user ids is
	 * (any, unless flags have SPI_INJECT_EXPECT_UID).
	 */
	uint64_t expect_start_time;
	uid_t expect_uid;
	uint32_t again_ms;	/* instead of deadline_ms when the process has the agent already; 0: no difference */
	/*
	 * Called when not NULL, on the injection's thread, with what spi_inject() will return, as soon as that stands and the
	 * target has been let go. What remains then is our own, and takes longer than a program that waits should be
	 * made to. Not called where nothing could begin (no memory, no thread). `result` is valid during the call; its fd is in
	 * the caller's too: one of the two closes it.
	 */
	void (*finished)(int ret, const struct spi_inject_result *result, void *data);
	/*
	 * Asked between two looks, and while a call takes long, when not NULL: does the caller want no more of it? Then the
	 * injection ends with -ECANCELED. It runs on the injection's thread.
	 */
	bool (*unwanted)(void *data);
};

/*
 * Make the socket between agent and controller, and have the agent attach to
 * it. Implied when library is NULL; without it the agent is only loaded.
 */
#define SPI_INJECT_ATTACH	1u
/* Report what would be done, do not stop anything: all refusals that can be known beforehand. */
#define SPI_INJECT_CHECK	2u
#define SPI_INJECT_EXPECT_UID	4u
/*
 * Do everything on the calling thread, which is to block all signals and to end afterwards, as nothing else lets go for certain
 * what it traces. Its priority, timer slack and processors are not put back, and the process's SIGCHLD are the injection's.
 */
#define SPI_INJECT_ON_CALLER	8u
/*
 * The process has executed its program just now: it is stopped at once, goes on to the program's first instruction, has the agent
 * there, and waits until the agent's controller lets it go, for three seconds at most (SPI_HELLO_WAITS). Where the program has
 * begun already, or cannot be held there, it is injected as ever, and result->begun set. -EINPROGRESS: it has lttng-ust, which waits for the
 * session daemon before the program begins; nothing was loaded.
 */
#define SPI_INJECT_AT_START	16u

struct spi_inject_result {
	uint32_t size;		/* set by the caller: sizeof(struct spi_inject_result) */
	uint32_t tries;		/* how often a thread was stopped and looked at */
	int fd;			/* our end of the agent socket, or -1; the caller's to close or adopt */
	pid_t tid;		/* the thread that made the call */
	uint32_t already;	/* 1: the library had been loaded before */
	uint32_t stop_us;	/* how long that thread stood still for the call itself, microseconds */
	uint32_t looked_us;	/* the longest stop that only looked and let it run on, microseconds */
	uint32_t begun;		/* 1: with SPI_INJECT_AT_START, and the program was not held at its first instruction */
	uint64_t start_time;	/* of the process: field 22 of /proc/PID/stat */
	char text[1024];	/* on failure one line without newline: what, why, remedy; dlopen's own words */
};

/*
 * spi_inject() - load options->library into process `pid`.
 *
 * Returns 0, or a negative errno with result->text set:
 *   -ESRCH no such process, or it ended meanwhile; -EPERM not permitted to trace
 *   it; -EBUSY another tracer has it; -ENOTSUP a process that cannot be injected
 *   (seccomp, static, 32-bit, not glibc, ...); -EAGAIN no safe moment before the
 *   deadline; -ELIBACC dlopen() failed; -ENOENT no such library; -ECANCELED it is
 *   not wanted any more; other errors as
 *   they came. The target is unharmed in every case, and unchanged unless 0. A
 *   process that runs another program meanwhile is left alone, -ESRCH, or -EPERM
 *   when that changed its user. An agent file is loaded only if it belongs to
 *   root, the caller or the target's user, and nobody else may write to it.
 *
 * Blocks up to the deadline, and as long as the library's constructors run. Uses
 * ptrace and waitpid() for the target's thread only, from the calling thread:
 * do not wait for "any child" in another thread meanwhile. options may be NULL.
 */
int spi_inject(pid_t pid, const struct spi_inject_options *options, struct spi_inject_result *result);

/*
 * spi_inject_stop() - stop a process that was executed just now, on the thread that calls spi_inject() with SPI_INJECT_AT_START for
 * it next. It goes on when that is over, or with the thread's end.
 */
void spi_inject_stop(pid_t pid);

/*
 * kernel.yama.ptrace_scope; 0 also where there is none. From 1 on a process without
 * CAP_SYS_PTRACE may trace its descendants only, from 2 on none, with 3 nobody any.
 */
int spi_inject_yama(void);

#endif /* SPI_INJECTOR_INJECT_H */
