/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Sharing SIGTRAP with a program that uses it, and the conditions under which no
 * int3 is put anywhere. Each case runs in a child of its own.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include "harness.h"

#define CHECK(x) do { if (!(x)) { printf("# line %d: %s\n", __LINE__, #x); fflush(stdout); return 1; } } while (0)

static volatile int handled, handled_code;
static volatile uint64_t handled_rip;

static void on_trap(int number, siginfo_t *info, void *context)
{
	handled++;
	handled_code = info->si_code;
	handled_rip = (uint64_t) ((ucontext_t *) context)->uc_mcontext.gregs[REG_RIP];
}

static void program_handles(int flags)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | flags };

	sigaction(SIGTRAP, &action, NULL);
}

extern char own_trap[], behind_own_trap[];
__asm__(".text\nown_trap: int3\nbehind_own_trap: ret\n");

static int traps_prepare(void)
{
	funcs_prepare(1u << SPI_WORKER_TRAP, 1);
	for (unsigned int i = 0; i < funcs_count; i++)
		if (funcs[i].declined)
			return 0;
	return 1;
}

static int calls_are_right(void)
{
	gates[0] = 1;
	for (unsigned int i = 0; i < funcs_count; i++)
		for (long x = 0; x < 20; x++)
			if (!funcs_call(&funcs[i], x))
				return 0;
	return 1;
}

static int with_own_handler(void)
{
	program_handles(0);
	CHECK(traps_prepare());
	CHECK(funcs_all(1) == (int) funcs_count);
	CHECK(calls_are_right() && handled == 0);
	((void (*)(void)) own_trap)();
	CHECK(handled == 1 && handled_code == SI_KERNEL && handled_rip == (uint64_t) behind_own_trap);
	raise(SIGTRAP);
	CHECK(handled == 2 && handled_code == SI_TKILL);
	CHECK(calls_are_right() && handled == 2);
	CHECK(funcs_all(0) == (int) funcs_count && text_is_original());
	((void (*)(void)) own_trap)();
	CHECK(handled == 3);
	return 0;
}

static int own_trap_by_default(void)
{
	CHECK(traps_prepare() && funcs_all(1) == (int) funcs_count && calls_are_right());
	((void (*)(void)) own_trap)();
	return 1;
}

static int sent_by_default(void)
{
	CHECK(traps_prepare() && funcs_all(1) == (int) funcs_count && calls_are_right());
	raise(SIGTRAP);
	return 1;
}

static int sent_and_ignored(void)
{
	signal(SIGTRAP, SIG_IGN);
	CHECK(traps_prepare() && funcs_all(1) == (int) funcs_count && calls_are_right());
	raise(SIGTRAP);
	CHECK(calls_are_right());
	return 0;
}

static int removed_and_hit_late(void)
{
	CHECK(traps_prepare() && funcs_all(1) == (int) funcs_count && funcs_all(0) == (int) funcs_count);
	/* what a thread meets that fetched the int3 before it was removed: the signal, one byte behind the address */
	for (unsigned int i = 0; i < funcs_count; i++) {
		struct spi_point *points[1] = { funcs[i].point };
		const char *errors[1];

		CHECK(spi_patch_install(points, 1, errors) == 1);
		CHECK(funcs_call(&funcs[i], 5));
		CHECK(spi_patch_remove(points, 1, errors) == 1);
		CHECK(funcs_call(&funcs[i], 5));
	}
	return 0;
}

static int barrier[2];

static void *blocker(void *unused)
{
	sigset_t all;

	spi_tracer_threads_learn((uint64_t) blocker, gettid());
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	(void) !write(barrier[1], "x", 1);
	for (;;)
		pause();
	return unused;
}

static void blocker_start(void)
{
	pthread_t thread;
	char c;

	(void) !pipe(barrier);
	pthread_create(&thread, NULL, blocker, NULL);
	(void) !read(barrier[0], &c, 1);
}

static int all_declined(const char *why)
{
	funcs_prepare(1u << SPI_WORKER_TRAP, 1);
	for (unsigned int i = 0; i < funcs_count; i++)
		if (!funcs[i].declined || !strstr(funcs[i].declined, why))
			return 0;
	return text_is_original();
}

static int thread_blocks(void)
{
	blocker_start();
	CHECK(all_declined("a thread blocks SIGTRAP"));
	return 0;
}

static int tracer_thread_blocks(void)
{
	spi_tracer_code_add((uint64_t) blocker, (uint64_t) blocker + 1);
	blocker_start();
	CHECK(traps_prepare() && funcs_all(1) == (int) funcs_count && calls_are_right());
	return 0;
}

static int later_thread_blocks(void)
{
	CHECK(traps_prepare());
	CHECK(funcs_all(1) == (int) funcs_count && funcs_all(0) == (int) funcs_count);
	blocker_start();
	for (double end = now() + 0.06; now() < end;)
		;			/* as long as one look is good for */
	CHECK(funcs_all(1) == 0 && text_is_original());
	return 0;
}

static int handler_blocks(void)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	sigfillset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	CHECK(all_declined("a signal handler of the program blocks SIGTRAP"));
	return 0;
}

static int c_library(void)
{
	strcpy(the_object.name, "libc.so.6");
	CHECK(all_declined("signals blocked"));
	return 0;
}

static int debugger(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		_exit(!all_declined("a debugger is attached"));
	}
	waitpid(child, &status, 0);
	CHECK(status == 0);
	return 0;
}

/* Attached with PTRACE_SEIZE, and gone when it has seen that there is an agent already. */
static int injector(void)
{
	int seized[2];
	pid_t target = getpid(), child;
	char c;

	if (pipe(seized))
		return 1;
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	child = fork();
	if (!child) {
		prctl(PR_SET_NAME, "spi-inject");
		if (ptrace(PTRACE_SEIZE, target, 0, 0) == 0 && write(seized[1], "s", 1) == 1)
			usleep(50000);	/* how long it is attached; nobody waits by it */
		_exit(0);
	}
	CHECK(read(seized[0], &c, 1) == 1);
	CHECK(traps_prepare() && funcs_all(1) == (int) funcs_count && calls_are_right());
	return 0;
}

static const struct {
	const char *what;
	int (*run)(void);
	int signal;
} cases[] = {
	{ "the program's handler gets its own traps, with the same context", with_own_handler, 0 },
	{ "its own trap kills a program without handler", own_trap_by_default, SIGTRAP },
	{ "a SIGTRAP that was sent likewise", sent_by_default, SIGTRAP },
	{ "ignored, if it was ignored", sent_and_ignored, 0 },
	{ "installed and removed one by one", removed_and_hit_late, 0 },
	{ "declined when a thread blocks SIGTRAP", thread_blocks, 0 },
	{ "not when it is one of the tracer's", tracer_thread_blocks, 0 },
	{ "declined at the installation when a thread blocks it later", later_thread_blocks, 0 },
	{ "declined when a handler blocks it", handler_blocks, 0 },
	{ "declined in the C library", c_library, 0 },
	{ "declined under a debugger", debugger, 0 },
	{ "an injector that is attached is waited for", injector, 0 },
};

int main(void)
{
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int status;

		fflush(stdout);
		if (fork() == 0) {
			alarm(60);
			prctl(PR_SET_DUMPABLE, cases[i].signal == 0);
			status = cases[i].run();
			fflush(stdout);
			_exit(status);
		}
		wait(&status);
		if (cases[i].signal)
			ok(WIFSIGNALED(status) && WTERMSIG(status) == cases[i].signal, "%s", cases[i].what);
		else
			ok(status == 0, "%s", cases[i].what);
	}
	return done_testing();
}
