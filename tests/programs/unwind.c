/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Walks its own stack, 150 calls deep, through a pointer and a comparator that
 * libc calls, and prints whom it met: function and offset of each return address.
 * unwind backtrace|lists|unwind|info|signal|bottom. Build it with -rdynamic.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unwind.h>

#define FN __attribute__((noipa))

static const char *mode;
static unsigned long sum, samples, lost;
static int printed;
static char *lost_at[8];

static FN void meet(void *address)
{
	Dl_info info;

	if (!address)
		return;
	if (!dladdr((char *) address - 1, &info) || !info.dli_fname) {
		puts("?");
		return;
	}
	printf("%s+%ld\n", info.dli_sname ? info.dli_sname : "-", info.dli_saddr ? (char *) address - (char *) info.dli_saddr : 0L);
}

static _Unwind_Reason_Code each(struct _Unwind_Context *context, void *data)
{
	(void) data;
	meet((void *) _Unwind_GetIP(context));
	return _URC_NO_REASON;
}

static _Unwind_Reason_Code each_info(struct _Unwind_Context *context, void *data)
{
	int is_before = 7;

	(void) data;
	meet((void *) _Unwind_GetIPInfo(context, &is_before));
	printf("  before %d, cfa %d\n", is_before, (char *) _Unwind_GetCFA(context) > (char *) &is_before);
	return _URC_NO_REASON;
}

/* Lists that are too short, and such as just are not. */
FN void lists(void)
{
	void *frames[1100];

	for (int size = 0; size < 1100; size += size < 12 ? 1 : 31) {
		int n = backtrace(frames, size);

		printf("%d of %d\n", n, size);
		if (n)
			meet(frames[n - 1]);
	}
}

FN void bottom(void)
{
	void *frames[800];
	int n;

	if (!strcmp(mode, "backtrace")) {
		n = backtrace(frames, 800);
		for (int i = 0; i < n; i++)
			meet(frames[i]);
	} else if (!strcmp(mode, "unwind")) {
		_Unwind_Backtrace(each, NULL);
	} else if (!strcmp(mode, "info")) {
		_Unwind_Backtrace(each_info, NULL);
	} else if (!strcmp(mode, "lists")) {
		lists();
	}
	printed++;
}

FN int compares(const void *a, const void *b)
{
	if (!printed)
		bottom();
	return *(const int *) a - *(const int *) b;
}

FN int sorts(int n)
{
	int all[] = { 3, 2, n };

	qsort(all, 3, sizeof(int), compares);
	return all[0];
}

static int (*volatile pointer)(int) = sorts;

FN int down(int n)
{
	return n ? down(n - 1) + 1 : pointer(7);
}

static FN _Unwind_Reason_Code finds_main(struct _Unwind_Context *context, void *data)
{
	Dl_info info;

	if (dladdr((void *) (_Unwind_GetIP(context) - 1), &info) && info.dli_sname && !strcmp(info.dli_sname, "main"))
		*(int *) data = 1;
	return _URC_NO_REASON;
}

/* Interrupts anything, and must find main() from everywhere. */
FN void on_timer(int number, siginfo_t *info, void *context)
{
	int found = 0;

	(void) info;
	sum += number & 1;
	_Unwind_Backtrace(finds_main, &found);
	samples++;
	if (!found && lost < 8)
		lost_at[lost] = (char *) ((ucontext_t *) context)->uc_mcontext.gregs[REG_RIP];
	lost += !found;
}

FN int leaf(int n)
{
	return n * 3;
}

FN int some(int n)
{
	return n ? leaf(n) + some(n - 1) : 0;
}

int main(int argc, char **argv)
{
	struct itimerspec every = { { 0, 500000 }, { 0, 500000 } };
	struct sigaction action = { .sa_sigaction = on_timer, .sa_flags = SA_RESTART | SA_SIGINFO };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF };
	timer_t timer;

	mode = argc > 1 ? argv[1] : "backtrace";
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	printf("%d\n", down(150));
	if (strcmp(mode, "signal"))
		return 0;
	sigaction(SIGPROF, &action, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &every, NULL);
	for (int i = 0; samples < 400 && i < 40000000; i++)
		sum += (unsigned long) some(12);
	timer_delete(timer);
	for (unsigned long i = 0; i < lost && i < 8; i++) {
		Dl_info info = { 0 };

		dladdr(lost_at[i], &info);
		fprintf(stderr, "lost at %p: %s+0x%lx %s\n", lost_at[i], info.dli_fname, lost_at[i] - (char *) info.dli_fbase,
			info.dli_sname);
	}
	printf("lost %lu of %s\n", lost, samples >= 400 ? "400" : "too few");
	return lost != 0;
}
