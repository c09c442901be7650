/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A signal at each instruction of the path of a call: step N M. The program steps
 * through its own calls (the trap flag), and after each instruction sends itself a
 * signal whose handler makes calls, too. N calls so; then M calls where it does that
 * in the event module only, as what comes at each instruction otherwise fills the
 * buffers before the calls that are stepped through can do it.
 * Prints how many calls there were of functions t_*.
 */
#define _GNU_SOURCE
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define T __attribute__((noipa))
#define PLAIN __attribute__((always_inline)) static inline
#define TRAP_FLAG	0x100

static volatile long called, handled, sink;
static volatile int stepping;
static uint64_t low, high;		/* where a signal is sent */
static pid_t pid;

T long t_leaf(long a)
{
	return a + 1;
}

T long t_twice(long a)
{
	return t_leaf(a) + t_leaf(a + 1);
}

T long t_tail(long a)
{
	return t_leaf(a + 2);
}

static long (*volatile t_pointer)(long) = t_leaf;

T void t_handler(int number, siginfo_t *info, void *context)
{
	(void) info;
	handled = handled + 1;
	sink = t_leaf(number);
	if (stepping)
		((ucontext_t *) context)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

PLAIN long raw(long number, long a, long b, long c)
{
	__asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return number;
}

/*
 * No call is made here, and it is in no tree. Where signals are blocked, this one may be, too, a little later, and to
 * step on there ends a program: it goes on when the blocked one comes.
 */
static void stepped(int number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;
	uint64_t rip = (uint64_t) at->uc_mcontext.gregs[REG_RIP];
	int is_blocked = at->uc_sigmask.__val[0] >> (SIGUSR1 - 1) & 1;

	(void) number;
	(void) info;
	if (is_blocked)
		at->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	if (is_blocked || (rip >= low && rip < high))
		raw(SYS_tgkill, pid, pid, SIGUSR1);
}

PLAIN void step(int on)
{
	stepping = on;
	if (on)
		__asm__ volatile("pushf; orl $0x100, (%%rsp); popf" : : : "memory", "cc");
	else
		__asm__ volatile("pushf; andl $~0x100, (%%rsp); popf" : : : "memory", "cc");
}

static int find(struct dl_phdr_info *info, size_t size, void *data)
{
	(void) size;
	(void) data;
	if (!strstr(info->dlpi_name, "liblttng-spi-tp.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X)) {
			low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			high = low + info->dlpi_phdr[i].p_memsz;
		}
	return 1;
}

/* Some kinds of calls; on: step through them. */
T void t_kinds(long n, int on)
{
	for (long i = 0; i < n; i++) {
		step(on);
		sink += t_twice(i) + t_tail(i) + t_pointer(i);
		step(0);
	}
	called = called + 6 * n + 1;
}

T void t_leaves(long n, int on)
{
	for (long i = 0; i < n; i++) {
		step(on);
		sink += t_leaf(i);
		step(0);
	}
	called = called + n + 1;
}

T void t_main(long n, long m)
{
	t_kinds(100, 0);		/* what is done at a first call is done */
	t_leaves(100, 0);
	high = ~UINT64_C(0);
	t_kinds(n, 1);
	low = high = 0;
	dl_iterate_phdr(find, NULL);
	t_leaves(m, 1);
}

int main(int argc, char **argv)
{
	struct sigaction by_step = { .sa_sigaction = stepped, .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct sigaction by_signal = { .sa_sigaction = t_handler, .sa_flags = SA_SIGINFO };

	if (argc < 3)
		return 2;
	pid = getpid();
	sigaddset(&by_step.sa_mask, SIGUSR1);	/* it comes where the stepped code goes on */
	sigaction(SIGUSR1, &by_signal, NULL);
	sigaction(SIGTRAP, &by_step, NULL);
	t_main(atol(argv[1]), atol(argv[2]));
	printf("calls %ld\n", called + 2 * handled + 1);
	fprintf(stderr, "%ld handled\n", handled);
	return high == 0;
}
