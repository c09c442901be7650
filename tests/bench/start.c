/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * How long any program, unmodified, takes to its main(), and what memory it has
 * then and at its end: start FILE PROGRAM [ARGUMENT]...
 *
 * The program runs under ptrace() and stops three times: when execve() is done, at
 * its entry point (an int3, as not all virtual machines have breakpoints of the
 * processor's; nobody traces that function), where the dynamic linker and the constructors of all libraries are through and only libc's
 * few instructions before main() are left, and when it has ended and still has its
 * memory. Between the stops it runs by itself; its threads and children always do.
 * Into FILE goes one line: microseconds from the first stop to the second, by the
 * clock and in CPU time of its first thread; then, at the second and at the third,
 * its resident memory, its proportional share of that, what is its own alone, in KB;
 * and the most that it or a process that it waited for ever had.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t pid;

static void fail(const char *what)
{
	perror(what);
	if (pid > 0)
		kill(pid, SIGKILL);
	exit(99);
}

static FILE *proc(const char *name)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, name);
	file = fopen(path, "re");
	if (!file)
		fail(path);
	return file;
}

static double clock_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static double cpu_us(void)
{
	FILE *file = proc("schedstat");
	unsigned long ns = 0;

	if (fscanf(file, "%lu", &ns) != 1)
		fail("schedstat");
	fclose(file);
	return ns / 1e3;
}

static uint64_t entry_point(void)
{
	FILE *file = proc("auxv");
	Elf64_auxv_t a;

	while (fread(&a, sizeof(a), 1, file) == 1)
		if (a.a_type == AT_ENTRY) {
			fclose(file);
			return a.a_un.a_val;
		}
	fail("auxv");
	return 0;
}

/* At the end, when other threads are on their way out, too, it may be gone already: zeros then. */
static void memory(long kb[3])
{
	static const char *const names[] = { "Rss:", "Pss:", "Private_" };
	char line[256];
	FILE *file = proc("smaps_rollup");

	memset(kb, 0, 3 * sizeof(*kb));
	while (fgets(line, sizeof(line), file))
		for (int i = 0; i < 3; i++)
			if (!strncmp(line, names[i], strlen(names[i])))
				kb[i] += atol(strchr(line, ':') + 1);
	fclose(file);
}

/* Let it run until it stops for the event; signals go where they were going. -1: it has ended. */
static int run_to(int event, int *status)
{
	int deliver = 0;

	for (;;) {
		if (ptrace(PTRACE_CONT, pid, 0, deliver) < 0)
			fail("ptrace");
		if (waitpid(pid, status, 0) < 0)
			fail("waitpid");
		if (!WIFSTOPPED(*status))
			return -1;
		if (*status >> 8 == (SIGTRAP | event << 8))
			return 0;
		if (*status >> 16)
			deliver = 0;	/* another event */
		else
			deliver = WSTOPSIG(*status);
	}
}

/* Returns the word that was there. */
static long breakpoint_set(uint64_t address)
{
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, pid, address, 0);
	if (errno || ptrace(PTRACE_POKETEXT, pid, address, (word & ~0xffl) | 0xcc) < 0)
		fail("a breakpoint");
	return word;
}

static void breakpoint_over(uint64_t address, long word)
{
	if (ptrace(PTRACE_POKETEXT, pid, address, word) < 0 ||
	    ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rip), address) < 0)
		fail("a breakpoint");
}

int main(int argc, char **argv)
{
	const char *preload = getenv("START_PRELOAD");
	long at_entry[3], at_end[3];
	double clock, cpu;
	struct rusage usage;
	uint64_t entry;
	int status;
	long word;
	FILE *out;

	if (argc < 3) {
		fputs("usage: start FILE PROGRAM [ARGUMENT]...\n", stderr);
		return 98;
	}
	pid = fork();
	if (!pid) {
		if (preload)
			setenv("LD_PRELOAD", preload, 1);
		unsetenv("START_PRELOAD");
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
		fail(argv[2]);
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL);
	if (run_to(PTRACE_EVENT_EXEC, &status) < 0)
		fail(argv[2]);
	entry = entry_point();
	word = breakpoint_set(entry);
	cpu = cpu_us();
	clock = clock_us();
	if (run_to(0, &status) < 0)
		fail("it ended before main()");
	clock = clock_us() - clock;
	cpu = cpu_us() - cpu;
	breakpoint_over(entry, word);
	memory(at_entry);
	if (run_to(PTRACE_EVENT_EXIT, &status) < 0)
		fail("it ended without telling");
	memory(at_end);
	ptrace(PTRACE_DETACH, pid, 0, 0);
	waitpid(pid, &status, 0);
	out = fopen(argv[1], "we");
	if (!out)
		fail(argv[1]);
	getrusage(RUSAGE_CHILDREN, &usage);
	fprintf(out, "%.1f %.1f %ld %ld %ld %ld %ld %ld %ld\n", clock, cpu, at_entry[0], at_entry[1], at_entry[2], at_end[0], at_end[1],
		at_end[2], usage.ru_maxrss);
	fclose(out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
