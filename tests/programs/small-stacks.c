/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Handlers on alternate stacks of so many bytes (argument) beside what the kernel's frame takes: in the first thread, in threads
 * with stacks of 16 KB and in a child; and what sigaltstack() tells about them. Prints how often h_on() ran.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096u

static volatile int runs;
static size_t size;

__attribute__((noinline)) int h_on(int sig)
{
	__asm__ __volatile__("");
	return sig + 1;
}

static void handler(int sig)
{
	stack_t now;

	runs += h_on(sig) > 0;
	if (sigaltstack(NULL, &now) || !(now.ss_flags & SS_ONSTACK) || now.ss_size != size)
		runs += 1000000;
}

/* With a page below it that cannot be written to. */
static void *stack_set(void)
{
	uint8_t *memory = mmap(NULL, 65536 + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = memory + PAGE, .ss_size = size }, old;

	mprotect(memory, PAGE, PROT_NONE);
	if (sigaltstack(&stack, &old) || !(old.ss_flags & SS_DISABLE))
		puts("refused");
	if (sigaltstack(NULL, &old) || old.ss_sp != stack.ss_sp || old.ss_size != size || old.ss_flags)
		puts("another one is told");
	return memory;
}

static void stack_drop(void *memory)
{
	stack_t none = { .ss_flags = SS_DISABLE }, old;

	if (sigaltstack(&none, &old) || old.ss_sp != (uint8_t *) memory + PAGE || old.ss_size != size)
		puts("another one was there");
	if (sigaltstack(NULL, &old) || !(old.ss_flags & SS_DISABLE))
		puts("it is still there");
	munmap(memory, 65536 + PAGE);
}

static void *thread(void *unused)
{
	void *memory = stack_set();

	for (int i = 0; i < 10; i++)
		raise(SIGUSR1);
	stack_drop(memory);
	return unused;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	size_t frame = getauxval(51 /* AT_MINSIGSTKSZ */);
	pthread_attr_t attr;
	pthread_t one;
	void *memory;
	int status = 0;

	size = (argc > 1 ? strtoul(argv[1], NULL, 0) : 1024) + (frame > 2048 ? frame : 2048);
	sigaction(SIGUSR1, &action, NULL);
	memory = stack_set();
	for (int i = 0; i < 100; i++)
		raise(SIGUSR1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	for (int i = 0; i < 20; i++)
		if (!pthread_create(&one, &attr, thread, NULL))
			pthread_join(one, NULL);
	if (!fork()) {
		raise(SIGUSR1);
		stack_drop(memory);
		_exit(runs == 301 ? 7 : 8);
	}
	wait(&status);
	stack_drop(memory);
	printf("%d %d\n", runs, WEXITSTATUS(status));
	return 4;
}
