/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Reading through wild pointers, in every state that a program can have its
 * signals in, and handing on every fault that is the program's own. Each case
 * runs in a child of its own, because it changes dispositions or dies.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "harness.h"

static struct spi_thread_own own;
static char buffer[512];

static long copy(const void *src, size_t max, int *truncated)
{
	int t;

	memset(buffer, 'x', sizeof(buffer));
	return spi_string_copy(buffer, (uint64_t) src, max, truncated ? truncated : &t);
}

/* Two pages, the second one with these rights. */
static char *pages(int second)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (second < 0)
		munmap(p + 4096, 4096);
	else
		mprotect(p + 4096, 4096, second);
	return p;
}

#define CHECK(x) do { if (!(x)) { printf("# line %d: %s\n", __LINE__, #x); fflush(stdout); return 1; } } while (0)

/* ---- what is copied ---- */

static int every_length(void)
{
	char *p = pages(PROT_READ | PROT_WRITE), want[512];
	int truncated;

	for (int place = 4096 - 80; place < 4096 + 9; place++)
		for (int length = 0; length < 90; length++)
			for (size_t max = 1; max < 96; max += length % 3 + 1) {
				memset(p, 'y', 8192);
				for (int i = 0; i < length; i++)
					want[i] = p[place + i] = (char) ((i & 1 ? 0x80 : 'a') + i % 26);
				p[place + length] = 0;
				long got = copy(p + place, max, &truncated);
				long kept = length < (long) max ? length : (long) max - 1;
				CHECK(got == kept && truncated == (length >= (long) max));
				CHECK(!memcmp(buffer, want, (size_t) kept) && !buffer[kept]);
				CHECK(buffer[max] == 'x');
			}
	return 0;
}

static int page_ends(void)
{
	int truncated;

	for (int what = -1; what <= PROT_NONE; what++) {
		char *p = pages(what);

		memset(p, 'a', 4096);
		CHECK(copy(p + 4096 - 10, 64, &truncated) == 10 && truncated && !buffer[10]);
		p[4095] = 0;
		CHECK(copy(p + 4096 - 10, 64, &truncated) == 9 && !truncated);
		CHECK(copy(p + 4095, 64, &truncated) == 0 && !truncated);
		CHECK(copy(p + 4096, 64, &truncated) == -EFAULT && !buffer[0]);
		CHECK(spi_memory_copy(buffer, (uint64_t) p + 4086, 10) == 0);
		CHECK(spi_memory_copy(buffer, (uint64_t) p + 4086, 11) == -EFAULT);
		CHECK(spi_memory_copy(buffer, (uint64_t) p + 4095, 0) == 0);
	}
	return 0;
}

static int wild_pointers(void)
{
	static const uint64_t wild[] = { 0, 1, 8, 4095, 65536, 0x7ffffffff000, 0x7fffffffefff, 0x800000000000,
		0x8000000000000000, 0xdeadbeefdeadbeef, 0xffff800000000000, 0xffffffffff600000, 0xffffffffffffffff,
		0xfffffffffffffff8, 0x5a5a5a5a5a5a5a5a };
	int truncated;

	for (unsigned int round = 0; round < 3; round++)
		for (unsigned int i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
			CHECK(copy((void *) wild[i], 64, &truncated) == -EFAULT && !buffer[0]);
			CHECK(spi_memory_copy(buffer, wild[i], 16) == -EFAULT);
		}
	errno = 77;
	copy((void *) 8, 64, NULL);
	CHECK(errno == 77);
	return 0;
}

/* ---- pages that go away while they are remembered ---- */

static int unmapped_between(void)
{
	for (int i = 0; i < 200; i++) {
		char *p = pages(PROT_READ);

		strcpy(p, "here");
		CHECK(copy(p, 64, NULL) == 4 && !strcmp(buffer, "here"));
		if (i & 1)
			munmap(p, 8192);
		else
			mprotect(p, 8192, PROT_NONE);
		CHECK(copy(p, 64, NULL) == -EFAULT);
		CHECK(spi_memory_copy(buffer, (uint64_t) p, 8) == -EFAULT);
	}
	return 0;
}

static int file_truncated(void)
{
	for (int i = 0; i < 50; i++) {
		int fd = memfd_create("truncated", 0);

		CHECK(ftruncate(fd, 4096) == 0);
		char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		strcpy(p, "here");
		CHECK(copy(p, 64, NULL) == 4);
		CHECK(copy(p + 4096, 64, NULL) == -EFAULT);
		CHECK(ftruncate(fd, 0) == 0);
		CHECK(copy(p, 64, NULL) == -EFAULT);
		munmap(p, 8192);
		close(fd);
	}
	return 0;
}

static volatile int finish;
static char *volatile flickering;

static void *flicker(void *arg)
{
	while (!finish) {
		mprotect(flickering, 4096, PROT_NONE);
		mprotect(flickering, 4096, PROT_READ | PROT_WRITE);
	}
	return NULL;
}

static int unmapped_meanwhile(void)
{
	long seen = 0, missed = 0, torn = 0;
	pthread_t thread;
	double end = now() + 1;
	int truncated;

	flickering = pages(-1);
	strcpy(flickering, "a string of thirty characters.");
	pthread_create(&thread, NULL, flicker, NULL);
	while (now() < end)
		for (int i = 0; i < 1000; i++) {
			long got = copy(flickering, 64, &truncated);

			if (got == 30)
				seen++;
			else if (got == -EFAULT)
				missed++;
			else
				torn += !truncated;
		}
	finish = 1;
	pthread_join(thread, NULL);
	printf("# %ld read, %ld unreadable\n", seen, missed);
	CHECK(seen && missed && !torn);
	return 0;
}

/* ---- the program's own signals ---- */

static volatile char *volatile nothing = (char *) 8;
static sigjmp_buf back;
static volatile int handled;
static volatile uint64_t handled_at, handled_mask;
static volatile void *handled_stack;

static void on_fault(int number, siginfo_t *info, void *context)
{
	sigset_t mask;
	int here;

	handled++;
	handled_at = (uint64_t) info->si_addr;
	handled_stack = &here;
	sigprocmask(SIG_BLOCK, NULL, &mask);
	memcpy((void *) &handled_mask, &mask, 8);
	siglongjmp(back, number);
}

static void program_handles(int flags, int also_blocked)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | flags };

	if (also_blocked)
		sigaddset(&action.sa_mask, also_blocked);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

static int touch(volatile char *p)
{
	handled = 0;
	handled_at = 1;
	if (sigsetjmp(back, 1) == 0)
		*p = 1;
	return handled;
}

static int reads_are_safe(void)
{
	return wild_pointers() || page_ends() || unmapped_between() || file_truncated();
}

/* Long enough for the next look at the dispositions to be due. */
static void let_time_pass(void)
{
	for (double end = now() + 0.005; now() < end;)
		;
}

static int handler_before(void)
{
	program_handles(0, SIGUSR1);
	spi_fault_install();
	CHECK(!reads_are_safe());
	for (int i = 0; i < 3; i++) {
		CHECK(touch((char *) 0x1234) == 1 && handled_at == 0x1234);
		CHECK(handled_mask == (1ul << (SIGSEGV - 1) | 1ul << (SIGUSR1 - 1)));
		CHECK(!reads_are_safe());
	}
	return 0;
}

static int handler_flags(void)
{
	static char stack[65536];
	stack_t alternative = { .ss_sp = stack, .ss_size = sizeof(stack) };

	sigaltstack(&alternative, NULL);
	program_handles(SA_NODEFER | SA_RESETHAND | SA_ONSTACK, 0);
	spi_fault_install();
	CHECK(touch((char *) 8) == 1 && handled_mask == 0);
	CHECK((char *) handled_stack > stack && (char *) handled_stack < stack + sizeof(stack));
	if (fork() == 0) {
		prctl(PR_SET_DUMPABLE, 0);
		_exit(touch((char *) 8));	/* reset to the default by SA_RESETHAND: dies */
	}
	int status;
	wait(&status);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	return 0;
}

static int handler_after(void)
{
	spi_fault_install();
	CHECK(!reads_are_safe());
	program_handles(0, 0);
	let_time_pass();
	CHECK(!reads_are_safe());
	CHECK(touch((char *) 0x1234) == 1 && handled_at == 0x1234);
	CHECK(!reads_are_safe());
	return 0;
}

static struct sigaction chained;

static void on_fault_chaining(int number, siginfo_t *info, void *context)
{
	if ((uint64_t) info->si_addr == 0x1234)
		on_fault(number, info, context);
	chained.sa_sigaction(number, info, context);
}

/* Its handler is installed over ours and calls ours for what it does not know: that must end in the default. */
static int handler_chains(void)
{
	struct sigaction action = { .sa_sigaction = on_fault_chaining, .sa_flags = SA_SIGINFO };

	spi_fault_install();
	sigaction(SIGSEGV, &action, &chained);
	CHECK(touch((char *) 0x1234) == 1);
	*nothing = 1;
	return 1;
}

static int blocked(void)
{
	sigset_t set;

	spi_fault_install();
	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	sigaddset(&set, SIGBUS);
	CHECK(!reads_are_safe());
	sigprocmask(SIG_BLOCK, &set, NULL);
	let_time_pass();
	CHECK(!reads_are_safe());
	return 0;
}

static int ignored(void)
{
	struct sigaction now_set;

	signal(SIGSEGV, SIG_IGN);
	spi_fault_install();
	sigaction(SIGSEGV, NULL, &now_set);
	CHECK(now_set.sa_handler == SIG_IGN);
	CHECK(!reads_are_safe());
	raise(SIGSEGV);
	return 0;
}

static int default_fault(void)
{
	spi_fault_install();
	*nothing = 1;
	return 1;
}

static int default_bus(void)
{
	int fd = memfd_create("empty", 0);

	spi_fault_install();
	*(volatile char *) mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) = 1;
	return 1;
}

static int default_general_protection(void)
{
	spi_fault_install();
	*(volatile char *) 0xdeadbeefdeadbeef = 1;
	return 1;
}

static int default_sent(void)
{
	spi_fault_install();
	kill(getpid(), SIGSEGV);
	return 1;
}

static int stack_overflow(volatile char *above)
{
	volatile char space[4096];

	space[0] = 1;
	return above ? stack_overflow(space) + space[0] : 0;
}

static int default_overflow(void)
{
	spi_fault_install();
	return stack_overflow((char *) &nothing);
}

static int sent_with_handler(void)
{
	program_handles(0, 0);
	spi_fault_install();
	handled = 0;
	if (sigsetjmp(back, 1) == 0)
		kill(getpid(), SIGSEGV);
	CHECK(handled == 1);
	return 0;
}

static int with_net(int (*f)(void))
{
	spi_fault_install();
	return f();
}

static int net_every_length(void) { return with_net(every_length); }
static int net_wild(void) { return with_net(wild_pointers); }
static int net_ends(void) { return with_net(page_ends); }
static int net_unmapped(void) { return with_net(unmapped_between); }
static int net_truncated(void) { return with_net(file_truncated); }
static int net_meanwhile(void) { return with_net(unmapped_meanwhile); }
static int no_record(void)
{
	spi_thread.own = NULL;
	return reads_are_safe();
}

static double speed_of(int tsc_is_known)
{
	static char text[64] = "thirty characters of a string!";
	double best = 1;
	int truncated;

	for (int round = 0; round < 20; round++) {
		double start = now();

		spi_thread.tsc = tsc_is_known ? __builtin_ia32_rdtsc() : 0;

		for (int i = 0; i < 100000; i++) {
			__asm__ __volatile__("" : : "r"(text) : "memory");
			spi_string_copy(buffer, (uint64_t) text, 256, &truncated);
		}
		best = (now() - start) / 1e5 < best ? (now() - start) / 1e5 : best;
	}
	spi_thread.tsc = 0;
	return best * 1e9;
}

static int speed(void)
{
	spi_fault_install();
	printf("# a 30-character string: %.1f ns, with the TSC given %.1f ns\n", speed_of(0), speed_of(1));
	return 0;
}

static const struct {
	const char *what;
	int (*run)(void);
	int signal;
} cases[] = {
	{ "strings of every length, place and limit", net_every_length, 0 },
	{ "pointers to nothing", net_wild, 0 },
	{ "a readable page before an unreadable one", net_ends, 0 },
	{ "a page is unmapped between two reads", net_unmapped, 0 },
	{ "a mapped file is truncated", net_truncated, 0 },
	{ "a page comes and goes while it is read", net_meanwhile, 0 },
	{ "without handlers", reads_are_safe, 0 },
	{ "without a thread record", no_record, 0 },
	{ "the program's handler was there before", handler_before, 0 },
	{ "SA_NODEFER, SA_RESETHAND, SA_ONSTACK are honoured", handler_flags, 0 },
	{ "the program installs its handler later", handler_after, 0 },
	{ "the program's later handler calls ours", handler_chains, SIGSEGV },
	{ "the program blocks the signals", blocked, 0 },
	{ "the program ignores SIGSEGV", ignored, 0 },
	{ "a fault of the program's with no handler kills it", default_fault, SIGSEGV },
	{ "SIGBUS likewise", default_bus, SIGBUS },
	{ "a non-canonical address likewise", default_general_protection, SIGSEGV },
	{ "a SIGSEGV that was sent likewise", default_sent, SIGSEGV },
	{ "a stack overflow likewise", default_overflow, SIGSEGV },
	{ "a SIGSEGV that was sent reaches the program's handler", sent_with_handler, 0 },
	{ "speed", speed, 0 },
};

int main(void)
{
	spi_thread.own = &own;
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
