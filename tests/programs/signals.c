/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A program that uses SIGTRAP, SIGSEGV and SIGBUS itself, and blocks signals in
 * all ways there are, while it calls functions that are traced by int3 and whose
 * arguments are strings. It prints what it sees: traced and not, that is the same.
 * The cases are in signals-masks.c, signals-taken.c and signals-ends.c.
 */
#define _GNU_SOURCE
#include "signals.h"

/* No room for a jump: the next function begins within five bytes. */
__asm__(".text\n"
	".globl t_tiny, t_tiny2, own_trap\n"
	".type t_tiny, @function\n.type t_tiny2, @function\n"
	"t_tiny: lea 1(%rdi), %eax\n ret\n.size t_tiny, . - t_tiny\n"
	"t_tiny2: lea 2(%rdi), %eax\n ret\n.size t_tiny2, . - t_tiny2\n"
	"own_trap: int3\n ret\n");

__attribute__((noipa)) size_t t_text(const char *text)
{
	return (uintptr_t) text > 4096 && *text == 'w' ? 0 : 1;
}

void calls(void)
{
	long sum = 0;

	for (int i = 0; i < 100; i++)
		sum += t_tiny(i) + t_tiny2(i) + (long) t_text("some text") + (long) t_text((const char *) 8);
	printf("calls %ld\n", sum);
}

void mask_show(const char *what)
{
	sigset_t set;

	sigemptyset(&set);
	printf("%s: mask %d", what, sigprocmask(SIG_SETMASK, NULL, &set));
	/* the one thing that may differ: these two are blocked together */
	if (sigismember(&set, SIGTRAP))
		sigaddset(&set, SIGSTKFLT);
	else if (sigismember(&set, SIGSTKFLT))
		sigaddset(&set, SIGTRAP);
	for (int i = 1; i <= 64; i++)
		if (sigismember(&set, i) == 1)
			printf(" %d", i);
	printf("\n");
}

volatile int handled;
sigjmp_buf away;
char *page;

void on_plain(int number)
{
	handled++;
	printf("plain %d\n", number);
	mask_show("in the handler");
	calls();
}

void on_info(int number, siginfo_t *info, void *context)
{
	handled++;
	printf("info %d code %d errno %d context %d own %d value %d\n", number, info->si_code, info->si_errno,
		context != NULL, info->si_code <= 0 && info->si_pid == getpid(),
		info->si_code == SI_QUEUE ? info->si_value.sival_int : 0);
	mask_show("in the handler");
	calls();
}

void on_fault(int number, siginfo_t *info, void *context)
{
	(void) context;
	printf("fault %d code %d at %ld\n", number, info->si_code,
		(uintptr_t) info->si_addr < 4096 ? -1 : (long) ((char *) info->si_addr - page));
	calls();
	if (number == SIGSEGV && info->si_addr == page)
		mprotect(page, 4096, PROT_READ | PROT_WRITE);
	else if (number != SIGTRAP)
		siglongjmp(away, 1);
}


const char *handler_name(const struct sigaction *a)
{
	return a->sa_handler == SIG_DFL ? "default" : a->sa_handler == SIG_IGN ? "ignored" :
		a->sa_handler == on_plain ? "on_plain" : a->sa_sigaction == on_info ? "on_info" :
		a->sa_sigaction == on_fault ? "on_fault" : a->sa_sigaction == on_calling ? "on_calling" : "a stranger";
}

void action_show(int number)
{
	struct sigaction a;
	int ret;

	memset(&a, 0, sizeof(a));
	ret = sigaction(number, NULL, &a);
	printf("  %d: %d %s %x", number, ret, handler_name(&a), (unsigned int) a.sa_flags);
	for (int i = 1; i <= 64; i++)
		if (sigismember(&a.sa_mask, i) == 1)
			printf(" %d", i);
	printf("\n");
}

void on_calling(int number, siginfo_t *info, void *context)
{
	(void) info;
	(void) context;
	printf("%d calls\n", number);
	calls();
}

void handle(int number, void (*handler)(int, siginfo_t *, void *), int flags, int fill)
{
	struct sigaction a = { .sa_sigaction = handler, .sa_flags = flags }, old;

	if (fill) {
		sigfillset(&a.sa_mask);
	} else {
		sigaddset(&a.sa_mask, SIGTRAP);
		sigaddset(&a.sa_mask, SIGSTKFLT);	/* a program that blocks one of the pair is told both */
	}
	printf("sigaction %d", sigaction(number, &a, &old));
	printf(" was %s\n", handler_name(&old));
	action_show(number);
}

void block_all(void)
{
	sigset_t all;

	sigfillset(&all);
	printf("block %d\n", pthread_sigmask(SIG_BLOCK, &all, NULL));
}

const int numbers[5] = { SIGTRAP, SIGSEGV, SIGBUS, SIGSTKFLT, SIGUSR1 };

void *in_thread(void *arg)
{
	mask_show(arg);
	calls();
	return NULL;
}

void thread_run(char *name)
{
	pthread_t thread;

	pthread_create(&thread, NULL, in_thread, name);
	pthread_join(thread, NULL);
}

static void case_look(void)
{
	printf("%02x %02x\n", *(volatile uint8_t *) t_tiny, *(volatile uint8_t *) t_tiny2);
}
static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "look", case_look }, { "block", case_block }, { "actions", case_actions }, { "raise", case_raise }, { "begin", case_begin },
	{ "fault", case_fault }, { "pending", case_pending }, { "wait", case_wait }, { "children", case_children },
	{ "storm", case_storm }, { "die_raise", die_raise }, { "die_stkflt", die_stkflt }, { "die_trap", die_trap },
	{ "die_trap_handled", die_trap_handled }, { "die_segv", die_segv }, { "die_segv_ignored", die_segv_ignored },
	{ "die_segv_blocked", die_segv_blocked }, { "die_pending", die_pending }, { "die_reset", die_reset },
};

/* Until somebody who came later has changed our code. */
static void wait_for_int3(void)
{
	const volatile unsigned char *code = (const volatile unsigned char *) (void *) t_tiny;

	fputs("ready\n", stderr);
	while (*code != 0xcc)
		usleep(1000);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 4096);
	if (getenv("SIGNALS_ATTACH"))
		wait_for_int3();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc < 2)
			puts(cases[i].name);
		else if (!strcmp(argv[1], cases[i].name))
			cases[i].run();
	return 0;
}
