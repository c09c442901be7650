/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A program that uses SIGTRAP, SIGSEGV and SIGBUS itself, and blocks signals in
 * all ways there are, while it calls functions that are traced by int3 and whose
 * arguments are strings. It prints what it sees: traced and not, that is the same.
 */
#define _GNU_SOURCE
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

/* No room for a jump: the next function begins within five bytes. */
int t_tiny(int x);
int t_tiny2(int x);
__asm__(".text\n"
	".globl t_tiny, t_tiny2\n"
	".type t_tiny, @function\n.type t_tiny2, @function\n"
	"t_tiny: lea 1(%rdi), %eax\n ret\n.size t_tiny, . - t_tiny\n"
	"t_tiny2: lea 2(%rdi), %eax\n ret\n.size t_tiny2, . - t_tiny2\n"
	"own_trap: int3\n ret\n");
void own_trap(void);

__attribute__((noipa)) size_t t_text(const char *text)
{
	return (uintptr_t) text > 4096 && *text == 'w' ? 0 : 1;
}

static void calls(void)
{
	long sum = 0;

	for (int i = 0; i < 100; i++)
		sum += t_tiny(i) + t_tiny2(i) + (long) t_text("some text") + (long) t_text((const char *) 8);
	printf("calls %ld\n", sum);
}

static void mask_show(const char *what)
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

static volatile int handled;
static sigjmp_buf away;
static char *page;

static void on_plain(int number)
{
	handled++;
	printf("plain %d\n", number);
	mask_show("in the handler");
	calls();
}

static void on_info(int number, siginfo_t *info, void *context)
{
	handled++;
	printf("info %d code %d errno %d context %d own %d value %d\n", number, info->si_code, info->si_errno,
		context != NULL, info->si_code <= 0 && info->si_pid == getpid(),
		info->si_code == SI_QUEUE ? info->si_value.sival_int : 0);
	mask_show("in the handler");
	calls();
}

static void on_fault(int number, siginfo_t *info, void *context)
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

static void on_calling(int number, siginfo_t *info, void *context);
int bsd_sigpause(int mask) __asm__("sigpause");
int xpg_sigpause(int number) __asm__("__xpg_sigpause");

static const char *handler_name(const struct sigaction *a)
{
	return a->sa_handler == SIG_DFL ? "default" : a->sa_handler == SIG_IGN ? "ignored" :
		a->sa_handler == on_plain ? "on_plain" : a->sa_sigaction == on_info ? "on_info" :
		a->sa_sigaction == on_fault ? "on_fault" : a->sa_sigaction == on_calling ? "on_calling" : "a stranger";
}

static void action_show(int number)
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

static void on_calling(int number, siginfo_t *info, void *context)
{
	(void) info;
	(void) context;
	printf("%d calls\n", number);
	calls();
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *), int flags, int fill)
{
	struct sigaction a = { .sa_sigaction = handler, .sa_flags = flags }, old;

	if (fill)
		sigfillset(&a.sa_mask);
	else
		sigaddset(&a.sa_mask, SIGTRAP);
	printf("sigaction %d", sigaction(number, &a, &old));
	printf(" was %s\n", handler_name(&old));
	action_show(number);
}

static void block_all(void)
{
	sigset_t all;

	sigfillset(&all);
	printf("block %d\n", pthread_sigmask(SIG_BLOCK, &all, NULL));
}

static const int numbers[] = { SIGTRAP, SIGSEGV, SIGBUS, SIGSTKFLT, SIGUSR1 };
#define EACH(n) for (const int *n = numbers; n < numbers + 5; n++)

static void *in_thread(void *arg)
{
	mask_show(arg);
	calls();
	return NULL;
}

static void thread_run(char *name)
{
	pthread_t thread;

	pthread_create(&thread, NULL, in_thread, name);
	pthread_join(thread, NULL);
}

static void case_look(void)
{
	printf("%02x %02x\n", *(volatile uint8_t *) t_tiny, *(volatile uint8_t *) t_tiny2);
}

static void case_block(void)
{
	sigset_t set, old;

	calls();
	block_all();
	mask_show("all");
	calls();
	thread_run("thread");
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_UNBLOCK, &set, &old);
	mask_show("without SIGINT");
	sigaddset(&set, SIGTRAP);
	sigaddset(&set, SIGSTKFLT);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	mask_show("without SIGTRAP");
	calls();
	sigprocmask(SIG_SETMASK, &old, &set);
	mask_show("as before");
	printf("%d %d\n", sigismember(&old, SIGTRAP), sigismember(&set, SIGTRAP));
	sigprocmask(SIG_SETMASK, &set, NULL);
	printf("%d", sigprocmask(77, &set, NULL));
	printf(" %d %d\n", errno, pthread_sigmask(77, &set, NULL));
	sighold(SIGUSR2);
	sigsetmask(~0);
	mask_show("sigsetmask");
	calls();
	sigrelse(SIGUSR2);
	mask_show("sigrelse");
}

static void case_actions(void)
{
	EACH(n) {
		int number = *n;

		action_show(number);
		handle(number, on_info, SA_SIGINFO | SA_ONSTACK, 0);
		handle(number, on_info, (int) (SA_SIGINFO | SA_RESTART | SA_NODEFER | SA_RESETHAND), 1);
		printf("signal %d\n", signal(number, on_plain) == (sighandler_t) on_info);
		action_show(number);
		siginterrupt(number, 1);
		action_show(number);
		printf("sysv %d\n", sysv_signal(number, on_plain) == on_plain);
		action_show(number);
		printf("ignore %d\n", signal(number, SIG_IGN) == on_plain);
		action_show(number);
		printf("sigset %d\n", sigset(number, on_plain) == SIG_IGN);
		action_show(number);
		printf("sigset %d\n", sigset(number, SIG_HOLD) == on_plain);
		printf("sigset %d\n", sigset(number, SIG_DFL) == SIG_HOLD);
		action_show(number);
		errno = 0;
		printf("bad %d", signal(number, SIG_ERR) == SIG_ERR);
		printf(" %d\n", errno);
		sigignore(number);
		action_show(number);
		signal(number, SIG_DFL);
		calls();
	}
	printf("%d", sigaction(SIGKILL, &(struct sigaction) { 0 }, NULL));
	printf(" %d", errno);
	printf(" %d", sigaction(99, NULL, NULL));
	printf(" %d\n", errno);
}

static void on_timer(union sigval value)
{
	mask_show("timer");
	calls();
	sem_post(value.sival_ptr);
}

/* libc runs it in a thread with all signals blocked. */
static void timed(void)
{
	sem_t done;
	struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_timer,
		.sigev_value.sival_ptr = &done };
	struct itimerspec soon = { .it_value.tv_nsec = 1000000 };
	timer_t timer;

	sem_init(&done, 0, 0);
	printf("timer %d", timer_create(CLOCK_MONOTONIC, &event, &timer));
	printf(" %d\n", timer_settime(timer, 0, &soon, NULL));
	sem_wait(&done);
	timer_delete(timer);
}

/* A thread that begins with its own mask, and waits that take a mask. */
static void case_begin(void)
{
	sigset_t set, other;
	pthread_attr_t attr;
	pthread_t thread;

	sigfillset(&set);
	sigemptyset(&other);
	pthread_attr_init(&attr);
	printf("attr %d", pthread_attr_setsigmask_np(&attr, &set));
	printf(" %d", pthread_attr_getsigmask_np(&attr, &other));
	printf(" %d %d\n", sigismember(&other, SIGTRAP), sigismember(&other, SIGINT));
	pthread_create(&thread, &attr, in_thread, "its own");
	pthread_join(thread, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_attr_setsigmask_np(&attr, &set);
	pthread_create(&thread, &attr, in_thread, "another");
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);

	handle(SIGUSR1, on_calling, SA_SIGINFO, 0);
	handle(SIGTRAP, on_info, SA_SIGINFO, 0);
	timed();
	block_all();
	raise(SIGUSR1);
	printf("sigpause %d", bsd_sigpause(~(1 << (SIGUSR1 - 1))));
	printf(" %d\n", errno);
	raise(SIGTRAP);
	printf("sigpause %d", xpg_sigpause(SIGTRAP));
	printf(" %d\n", errno);
	mask_show("after sigpause");
	calls();
}

static void case_raise(void)
{
	EACH(n) {
		handle(*n, on_info, SA_SIGINFO, 0);
		raise(*n);
		kill(getpid(), *n);
		sigqueue(getpid(), *n, (union sigval) { .sival_int = 42 });
		signal(*n, on_plain);
		raise(*n);
		sysv_signal(*n, on_plain);
		raise(*n);
		action_show(*n);
		signal(*n, SIG_IGN);
		raise(*n);
		calls();
		handle(*n, on_info, SA_SIGINFO, 1);
		raise(*n);
		mask_show("after");
	}
	printf("handled %d\n", handled);
}

static void case_fault(void)
{
	static char stack[65536];
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };
	FILE *file = tmpfile();

	sigaltstack(&ss, NULL);
	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	handle(SIGSEGV, on_fault, SA_SIGINFO | SA_ONSTACK, 1);
	handle(SIGBUS, on_fault, SA_SIGINFO, 0);
	handle(SIGTRAP, on_info, SA_SIGINFO, 1);
	*(volatile char *) page = 1;
	printf("written %d\n", *page);
	if (!sigsetjmp(away, 1))
		*(volatile char *) (page + 8 - (uintptr_t) page) = 1;
	mask_show("after the jump");
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
	if (!sigsetjmp(away, 1))
		*(volatile char *) page = 1;
	mask_show("after the jump");
	own_trap();
	mask_show("after the trap");
	calls();
}

static void pending_show(void)
{
	sigset_t set;

	sigpending(&set);
	sigdelset(&set, SIGCHLD);	/* lttng-ust has a child while it starts */
	for (int i = 1; i <= 64; i++)
		if (sigismember(&set, i) == 1)
			printf("pending %d\n", i);
}

static void case_pending(void)
{
	siginfo_t info;
	sigset_t all, trap;
	int number = 0;

	handle(SIGTRAP, on_info, SA_SIGINFO, 1);
	block_all();
	raise(SIGTRAP);
	calls();
	pending_show();
	sigfillset(&all);
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	printf("handled %d\n", handled);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	printf("handled %d\n", handled);
	block_all();
	kill(getpid(), SIGTRAP);
	pending_show();
	printf("sigwait %d", sigwait(&all, &number));
	printf(" %d\n", number);
	sigqueue(getpid(), SIGTRAP, (union sigval) { .sival_int = 7 });
	printf("sigwaitinfo %d", sigwaitinfo(&trap, &info));
	printf(" %d %d %d %d\n", info.si_signo, info.si_code, info.si_errno, info.si_value.sival_int);
	printf("sigtimedwait %d", sigtimedwait(&trap, NULL, &(struct timespec) { 0, 1000 }));
	printf(" %d\n", errno);
	kill(getpid(), SIGTRAP);
	signal(SIGTRAP, SIG_IGN);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	printf("handled %d\n", handled);
}

static void case_wait(void)
{
	struct timespec soon = { 5, 0 };
	struct epoll_event event;
	sigset_t almost;
	int fd = epoll_create1(0);

	for (const int *n = (const int[]) { SIGUSR1, SIGTRAP, 0 }; *n; n++) {
		handle(*n, on_info, SA_SIGINFO, 1);
		block_all();
		sigfillset(&almost);
		sigdelset(&almost, *n);
		sigdelset(&almost, *n == SIGTRAP ? SIGSTKFLT : *n);
		kill(getpid(), *n);
		printf("sigsuspend %d", sigsuspend(&almost));
		printf(" %d\n", errno);
		kill(getpid(), *n);
		printf("ppoll %d", ppoll(NULL, 0, &soon, &almost));
		printf(" %d\n", errno);
		kill(getpid(), *n);
		printf("pselect %d", pselect(0, NULL, NULL, NULL, &soon, &almost));
		printf(" %d\n", errno);
		kill(getpid(), *n);
		printf("epoll_pwait %d", epoll_pwait(fd, &event, 1, 5000, &almost));
		printf(" %d\n", errno);
		mask_show("after");
	}
}

static void case_children(void)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	int status;
	pid_t pid;

	handle(SIGSEGV, on_info, SA_SIGINFO, 1);
	handle(SIGTRAP, on_info, SA_SIGINFO, 1);
	block_all();
	fflush(stdout);
	pid = vfork();
	if (!pid) {
		sigset_t none;

		for (int i = 1; i < 32; i++)
			sigaction(i, &plain, NULL);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		t_tiny(t_tiny2(1));
		/* libc takes these two when a first thread is made: what was inherited for them is no matter */
		for (long own = 32; own <= 33; own++) {
			unsigned long action[4] = { 0 };

			syscall(SYS_rt_sigaction, own, action, NULL, 8L);
		}
		/* Not what it catches: a traced program has threads, for which libc takes a signal. */
		execve("/usr/bin/grep", (char *[]) { "grep", "-E", "Sig(Blk|Ign)", "/proc/self/status", NULL },
			(char *[]) { NULL });
		_exit(1);
	}
	waitpid(pid, &status, 0);
	printf("vforked %d\n", status);
	EACH(n)
		action_show(*n);
	mask_show("parent");
	calls();
	fflush(stdout);
	pid = fork();
	if (!pid) {
		mask_show("child");
		EACH(n)
			action_show(*n);
		signal(SIGTRAP, on_plain);
		signal(SIGSEGV, SIG_DFL);
		calls();
		sigsetmask(0);
		raise(SIGTRAP);
		exit(3);
	}
	waitpid(pid, &status, 0);
	printf("forked %d\n", status);
	EACH(n)
		action_show(*n);
}

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

static void case_storm(void)
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

static void die_raise(void) { calls(); raise(SIGTRAP); }
static void die_stkflt(void) { calls(); block_all(); raise(SIGSTKFLT); calls(); sigsetmask(0); }
static void die_trap(void) { block_all(); own_trap(); }
static void die_trap_handled(void) { handle(SIGTRAP, on_info, SA_SIGINFO, 0); block_all(); own_trap(); }
static void die_segv(void) { calls(); *(volatile char *) 8 = 1; }
static void die_segv_ignored(void) { signal(SIGSEGV, SIG_IGN); raise(SIGSEGV); *(volatile char *) 8 = 1; }
static void die_segv_blocked(void) { handle(SIGSEGV, on_info, SA_SIGINFO, 0); block_all(); *(volatile char *) 8 = 1; }
static void die_pending(void) { block_all(); raise(SIGTRAP); calls(); sigsetmask(0); }
static void die_reset(void) { sysv_signal(SIGTRAP, on_plain); raise(SIGTRAP); raise(SIGTRAP); }

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
