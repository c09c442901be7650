/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Handlers that change all the time, and signals that end the process: cases of the program `signals`. */
#define _GNU_SOURCE
#include "signals.h"

static volatile long storm_a, storm_b;

static void on_storm_a(int number)
{
	(void) number;
	storm_a += t_tiny(0);
}

static void on_storm_b(int number)
{
	(void) number;
	storm_b += t_tiny2(-1);
}

static void *storm_toggle(void *stop)
{
	while (!__atomic_load_n((int *) stop, __ATOMIC_ACQUIRE)) {
		signal(SIGTRAP, on_storm_b);
		signal(SIGTRAP, on_storm_a);
	}
	return NULL;
}

void case_storm(void)
{
	pthread_t thread;
	int stop = 0;
	sigset_t all;

	signal(SIGTRAP, on_storm_a);
	pthread_create(&thread, NULL, storm_toggle, &stop);
	sigfillset(&all);
	for (int i = 0; i < 20000; i++) {
		pthread_sigmask(SIG_BLOCK, &all, NULL);
		raise(SIGTRAP);
		t_tiny(i);
		pthread_sigmask(SIG_UNBLOCK, &all, NULL);
		raise(SIGTRAP);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	printf("handled %ld\n", storm_a + storm_b);
}

void die_raise(void) { calls(); raise(SIGTRAP); }
void die_stkflt(void) { calls(); block_all(); raise(SIGSTKFLT); calls(); sigsetmask(0); }
void die_trap(void) { block_all(); own_trap(); }
void die_trap_handled(void) { handle(SIGTRAP, on_info, SA_SIGINFO, 0); block_all(); own_trap(); }
void die_segv(void) { calls(); *(volatile char *) 8 = 1; }
void die_segv_ignored(void) { signal(SIGSEGV, SIG_IGN); raise(SIGSEGV); *(volatile char *) 8 = 1; }
void die_segv_blocked(void) { handle(SIGSEGV, on_info, SA_SIGINFO, 0); block_all(); *(volatile char *) 8 = 1; }
void die_pending(void) { block_all(); raise(SIGTRAP); calls(); sigsetmask(0); }
void die_reset(void) { sysv_signal(SIGTRAP, on_plain); raise(SIGTRAP); raise(SIGTRAP); }
