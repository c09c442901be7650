/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of the program `signals` share (signals.c). */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

int t_tiny(int x);
int t_tiny2(int x);
void own_trap(void);

extern volatile int handled;
extern sigjmp_buf away;
extern char *page;
extern const int numbers[5];
#define EACH(n) for (const int *n = numbers; n < numbers + 5; n++)

int bsd_sigpause(int mask) __asm__("sigpause");
int xpg_sigpause(int number) __asm__("__xpg_sigpause");

/* ---- signals.c ---- */
void calls(void);				/* of all that is traced */
void mask_show(const char *what);
void action_show(int number);
void on_plain(int number);
void on_info(int number, siginfo_t *info, void *context);
void on_fault(int number, siginfo_t *info, void *context);
void on_calling(int number, siginfo_t *info, void *context);
const char *handler_name(const struct sigaction *a);
void handle(int number, void (*handler)(int, siginfo_t *, void *), int flags, int fill);
void block_all(void);
void *in_thread(void *name);
void thread_run(char *name);

/* ---- signals-masks.c, signals-taken.c, signals-ends.c: what can be named on the command line ---- */
void case_block(void);
void case_actions(void);
void case_begin(void);
void case_raise(void);
void case_fault(void);
void case_pending(void);
void case_wait(void);
void case_children(void);
void case_storm(void);
void die_raise(void);
void die_stkflt(void);
void die_trap(void);
void die_trap_handled(void);
void die_segv(void);
void die_segv_ignored(void);
void die_segv_blocked(void);
void die_pending(void);
void die_reset(void);

#endif /* SIGNALS_H */
