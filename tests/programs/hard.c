/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Habits of real programs that a tracer inside them could disturb: hard MODE.
 * Each mode calls the traced function t_step() before and after, and prints what
 * the program sees of its own process; the output is the same each time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noipa)) long t_step(const char *what, long n)
{
	(void) what;
	return n * 2 + 1;
}

static void steps(const char *what)
{
	long sum = 0;

	for (int i = 0; i < 100; i++)
		sum += t_step(what, i);
	printf("%s: %ld\n", what, sum);
	fflush(stdout);
}

#ifdef OWN_CLOSE
/* A program with its own: who calls close() from within the system call would never come back. */
int close(int fd)
{
	return (int) syscall(SYS_close, fd);
}
#endif

static void mode_descriptors(void)
{
	int first = open("/dev/null", O_RDONLY), open_count = 0;

	printf("first descriptor %d\n", first);
	for (int fd = 0; fd < 60; fd++)
		open_count += fcntl(fd, F_GETFD) >= 0;
	printf("descriptors below 60: %d\n", open_count);
	close_range(3, ~0u, 0);
	steps("after close_range");
	printf("first descriptor %d\n", open("/dev/null", O_RDONLY));
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	steps("after closing all");
	printf("%ld\n", syscall(SYS_close_range, 3u, ~0u, 0u));
	steps("after close_range by its number");
	for (int fd = 3; fd < 1024; fd++)
		syscall(SYS_close, fd);
	printf("%ld %d\n", syscall(SYS_close, 1000), errno);
	steps("after closing all by number");
}

extern char **environ;

static void mode_environment(void)
{
	int n = 0;

	for (char **e = environ; *e; e++)
		n += !strncmp(*e, "LTTNG_SPI", 9) || strstr(*e, "liblttng-spi") != NULL;
	printf("traces of the tracer: %d\n", n);
	printf("LD_PRELOAD: %s\n", getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "none");
	printf("register timeout: %s\n", getenv("LTTNG_UST_REGISTER_TIMEOUT") ? getenv("LTTNG_UST_REGISTER_TIMEOUT") : "none");
	fflush(stdout);
	if (system("env | grep -c LTTNG_SPI"))
		puts("a child sees nothing either");
}

static void mode_children(void)
{
	pid_t pid;

	steps("before");
	pid = wait(NULL);
	printf("wait for any child: %d, %s\n", (int) pid, strerror(errno));
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(t_step("child", 5) == 11 ? 9 : 1);
	for (int status; (pid = wait(&status)) > 0;)
		printf("one child ended with %d\n", WEXITSTATUS(status));
	steps("after");
}

static sigjmp_buf back;
static volatile sig_atomic_t hits;

static void on_fault(int sig)
{
	hits++;
	siglongjmp(back, sig);
}

static void on_trap(int sig)
{
	hits += sig == SIGTRAP;
}

static void mode_faults(void)
{
	struct sigaction old, action = { .sa_handler = on_fault };
	struct rlimit none = { 0, 0 };
	int status;
	volatile int *volatile nowhere = NULL;

	steps("before");
	sigaction(SIGSEGV, &action, &old);
	for (int i = 0; i < 5; i++)
		if (!sigsetjmp(back, 1))
			*nowhere = 1;
	printf("faults caught: %d\n", (int) hits);
	/* A wild string while the program's own handler is in place is the tracer's to survive. */
	t_step((char *) 0x123456789abcul, 1);
	printf("still: %d\n", (int) hits);
	signal(SIGTRAP, on_trap);
	raise(SIGTRAP);
	__asm__ volatile("int3");
	printf("and traps: %d\n", (int) hits);
	steps("after");
	/* Put back what was there before: a fault kills, as it would have. */
	sigaction(SIGSEGV, &old, NULL);
	setrlimit(RLIMIT_CORE, &none);
	if (fork() == 0)
		*nowhere = 1;
	wait(&status);
	printf("killed by signal %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static void mode_crash(void)
{
	volatile int *volatile nowhere = NULL;
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	steps("before");
	*nowhere = 1;
}

static void mode_blocked(void)
{
	sigset_t all, got;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	steps("all signals blocked");
	t_step((char *) 0x123456789abcul, 1);
	sigprocmask(SIG_BLOCK, NULL, &got);
	printf("SIGUSR1 blocked: %d, SIGSEGV blocked: %d\n", sigismember(&got, SIGUSR1), sigismember(&got, SIGSEGV));
	sigpending(&got);
	printf("pending: %d\n", sigismember(&got, SIGSEGV) || sigismember(&got, SIGTRAP) || sigismember(&got, SIGCHLD));
}

static void *small_main(void *arg)
{
	long sum = 0;

	for (int i = 0; i < 100; i++)
		sum += t_step("small", i);
	return (void *) sum;
}

static void mode_small_stacks(void)
{
	pthread_attr_t attr;
	long sum = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	for (int i = 0; i < 50; i++) {
		pthread_t thread;
		void *value;

		pthread_create(&thread, &attr, small_main, NULL);
		pthread_join(thread, &value);
		sum += (long) value;
	}
	printf("sum %ld\n", sum);
}

static void mode_errno(void)
{
	int bad = 0;

	for (int i = 0; i < 1000; i++) {
		errno = 1000 + i;
		t_step(i & 1 ? (char *) 8 : "errno", i);
		bad += errno != 1000 + i;
	}
	printf("errno changed %d times\n", bad);
}

static void mode_limit(void)
{
	struct rlimit limit = { 3ul << 30, 3ul << 30 };

	printf("limit set: %d\n", setrlimit(RLIMIT_AS, &limit));
	steps("with little address space");
	printf("fits: %d, does not fit: %d\n", mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED,
		mmap(NULL, 4ul << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
}

static void mode_daemon(void)
{
	int fds[2], n;
	char c;

	steps("before");
	if (pipe(fds) || (n = fork()) < 0)
		exit(1);
	if (n > 0) {
		close(fds[1]);
		printf("told %d\n", (int) read(fds[0], &c, 1));
		fflush(stdout);
		_exit(0);
	}
	setsid();
	for (int i = 0; i < 50; i++)
		t_step("daemon", i);
	if (write(fds[1], "x", 1) != 1)
		_exit(1);
	_exit(0);
}

static void mode_seccomp(void)
{
	/* Only what a program that computes and prints needs; anything else kills it. */
	static const int allowed[] = { SYS_write, SYS_exit_group, SYS_exit, SYS_fstat, SYS_newfstatat, SYS_brk, SYS_futex, SYS_rt_sigprocmask,
		SYS_mmap, SYS_munmap, SYS_close, SYS_rt_sigreturn, SYS_madvise, SYS_getpid, SYS_gettid, SYS_membarrier };
	struct sock_filter code[64];
	struct sock_fprog program = { 0, code };
	unsigned short n = 0, count = sizeof(allowed) / sizeof(*allowed);

	steps("before");
	code[n++] = (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
	for (unsigned short i = 0; i < count; i++)
		code[n++] = (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int) allowed[i],
			(unsigned char) (count - i), 0);
	code[n++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD);
	code[n++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = n;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	printf("seccomp: %d\n", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	steps("under seccomp");
	fflush(stdout);
	_exit(0);
}

/* ---- a program with its own malloc ------------------------------------------- */

static unsigned long own_mallocs;

#ifdef OWN_MALLOC
static char heap[64 << 20];
static size_t heap_used;

__attribute__((noipa)) void *malloc(size_t n)
{
	size_t at = __atomic_fetch_add(&heap_used, (n + 31) & ~15ul, __ATOMIC_RELAXED);

	own_mallocs++;
	if (at + n + 16 > sizeof(heap))
		return NULL;
	*(size_t *) (heap + at) = n;
	return heap + at + 16;
}

__attribute__((noipa)) void free(void *p)
{
	(void) p;
}

__attribute__((noipa)) void *calloc(size_t n, size_t m)
{
	return malloc(n * m);
}

__attribute__((noipa)) void *realloc(void *p, size_t n)
{
	void *q = malloc(n);

	if (p && q)
		memcpy(q, p, ((size_t *) p)[-2] < n ? ((size_t *) p)[-2] : n);
	return q;
}
#endif

static void mode_malloc(void)
{
	unsigned long before;
	char *p[100];

	steps("before");
	before = own_mallocs;
	for (int i = 0; i < 100; i++)
		p[i] = strdup("a string");
	steps("between");
	printf("mallocs between: %lu, last %s\n", own_mallocs - before, p[99]);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {
		{ "descriptors", mode_descriptors }, { "environment", mode_environment }, { "children", mode_children },
		{ "faults", mode_faults }, { "crash", mode_crash }, { "blocked", mode_blocked },
		{ "small-stacks", mode_small_stacks }, { "errno", mode_errno }, { "limit", mode_limit },
		{ "daemon", mode_daemon }, { "seccomp", mode_seccomp }, { "malloc", mode_malloc },
	};

	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(modes[i].name, argv[1])) {
			modes[i].run();
			return 0;
		}
	return 2;
}
