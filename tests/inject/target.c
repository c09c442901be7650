/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What tests inject into. target MODE: says "ready", does one kind of thing
 * until its stdin ends or has a byte, and says what came of it in one line:
 * "MODE: result=R errno=E ms=M", or "MODE: ok" and "MODE: wrong WHAT".
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile int stop, signals, poll_myself;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* Set `stop` when stdin ends: a thread, so that the others can compute. */
static void *watch_stdin(void *unused)
{
	char c;

	while (read(0, &c, 1) < 0 && errno == EINTR)
		;
	stop = 1;
	return NULL;
}

/* The same without a thread, for what has to be single-threaded. */
static void poll_stdin(void)
{
	struct pollfd p = { 0, POLLIN, 0 };

	if (poll(&p, 1, 0) > 0)
		stop = 1;
}

static void count_signal(int sig)
{
	signals++;
}

/* ---- one blocking system call, from ready to its return ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void deadline_in(struct timespec *t, clockid_t clock, int ms)
{
	clock_gettime(clock, t);
	t->tv_nsec += ms * 1000000L;
	t->tv_sec += t->tv_nsec / 1000000000;
	t->tv_nsec %= 1000000000;
}

static long block(const char *how)
{
	struct timespec half = { 0, 600000000 }, at;
	struct epoll_event event;
	struct sembuf operation = { 0, -1, 0 };
	struct pollfd p = { 0, POLLIN, 0 };
	sigset_t set;
	fd_set fds;
	char c;
	int fd[2];

	errno = 0;
	if (!strcmp(how, "nanosleep"))
		return nanosleep(&half, NULL);
	if (!strcmp(how, "clock_nanosleep")) {
		deadline_in(&at, CLOCK_MONOTONIC, 600);
		return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	}
	if (!strcmp(how, "read"))
		return read(0, &c, 1);
	if (!strcmp(how, "poll"))
		return poll(&p, 1, -1);
	if (!strcmp(how, "poll_timeout"))
		return poll(NULL, 0, 600);
	if (!strcmp(how, "ppoll")) {
		sigfillset(&set);
		return ppoll(&p, 1, NULL, &set);
	}
	if (!strcmp(how, "select")) {
		FD_ZERO(&fds);
		FD_SET(0, &fds);
		return select(1, &fds, NULL, NULL, NULL);
	}
	if (!strcmp(how, "epoll_wait")) {
		int e = epoll_create1(0);

		event.events = EPOLLIN;
		epoll_ctl(e, EPOLL_CTL_ADD, 0, &event);
		return epoll_wait(e, &event, 1, -1);
	}
	if (!strcmp(how, "cond_timedwait")) {
		int r;

		deadline_in(&at, CLOCK_REALTIME, 600);
		pthread_mutex_lock(&mutex);
		do
			r = pthread_cond_timedwait(&condition, &mutex, &at);
		while (!r);
		return r == ETIMEDOUT ? 0 : r;
	}
	if (!strcmp(how, "sem_timedwait")) {
		sem_t s;

		sem_init(&s, 0, 0);
		deadline_in(&at, CLOCK_REALTIME, 600);
		return sem_timedwait(&s, &at) && errno == ETIMEDOUT ? (errno = 0) : -1;
	}
	if (!strcmp(how, "join")) {
		pthread_t thread;

		pthread_create(&thread, NULL, watch_stdin, NULL);
		return pthread_join(thread, NULL);
	}
	if (!strcmp(how, "recv")) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
			return -1;
		if (!fork()) {
			char d;
			long n = read(0, &d, 1);

			_exit(n < 0 || write(fd[1], "x", 1) != 1);
		}
		return recv(fd[0], &c, 1, 0);
	}
	if (!strcmp(how, "wait4")) {
		if (!fork())
			_exit(read(0, &c, 1) < 0);
		return wait(NULL) > 0 ? 0 : -1;
	}
	if (!strcmp(how, "semop")) {
		int id = semget(IPC_PRIVATE, 1, 0600);
		struct timespec limit = { 0, 600000000 };
		long r = semtimedop(id, &operation, 1, &limit);
		int e = errno;

		semctl(id, 0, IPC_RMID);
		errno = e == EAGAIN ? 0 : e;
		return r && e == EAGAIN ? 0 : -1;
	}
	if (!strcmp(how, "sigtimedwait")) {
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigprocmask(SIG_BLOCK, &set, NULL);
		if (sigtimedwait(&set, NULL, &half) < 0 && errno == EAGAIN)
			return errno = 0;
		return -1;
	}
	if (!strcmp(how, "interrupted")) {
		/* A handler without SA_RESTART must still end the read with EINTR. */
		struct sigaction action = { .sa_handler = count_signal };

		sigaction(SIGUSR1, &action, NULL);
		return read(0, &c, 1);
	}
	errno = EINVAL;
	return -2;
}

/* ---- computing, with every register checked ---- */

/* One round with values in all vector registers, rsp-relative memory below rsp (the red zone), and the general ones. */
static int registers_hold(uint64_t seed)
{
	uint64_t in[4] = { seed, ~seed, seed * 3, seed ^ 0x5555 }, bad = 0;
	uint32_t mxcsr = 0x3f80, after = 0;

	__asm__ volatile(
		"ldmxcsr %[mxcsr]\n"
		"mov %[seed], -8(%%rsp)\n mov %[seed], -120(%%rsp)\n"
		"mov %[seed], %%r8\n mov %[seed], %%r9\n mov %[seed], %%r10\n mov %[seed], %%r11\n"
		"mov %[seed], %%r12\n mov %[seed], %%r13\n mov %[seed], %%r14\n mov %[seed], %%r15\n"
		"vmovdqu (%[in]), %%ymm0\n vmovdqu (%[in]), %%ymm7\n"
		"vmovdqu (%[in]), %%ymm8\n vmovdqu (%[in]), %%ymm15\n"
		"fldpi\n"
		"mov $20000, %%rcx\n"
		"1: dec %%rcx\n jnz 1b\n"
		"fldpi\n fcomip %%st(1), %%st\n fstp %%st(0)\n setne %%cl\n movzbl %%cl, %%ecx\n or %%rcx, %[bad]\n"
		"cmp %[seed], -8(%%rsp)\n setne %%cl\n or %%rcx, %[bad]\n"
		"cmp %[seed], -120(%%rsp)\n setne %%cl\n or %%rcx, %[bad]\n"
		"xor %[seed], %%r8\n or %%r8, %[bad]\n xor %[seed], %%r9\n or %%r9, %[bad]\n"
		"xor %[seed], %%r10\n or %%r10, %[bad]\n xor %[seed], %%r11\n or %%r11, %[bad]\n"
		"xor %[seed], %%r12\n or %%r12, %[bad]\n xor %[seed], %%r13\n or %%r13, %[bad]\n"
		"xor %[seed], %%r14\n or %%r14, %[bad]\n xor %[seed], %%r15\n or %%r15, %[bad]\n"
		"vpxor %%xmm1, %%xmm1, %%xmm1\n"
		"vmovdqu (%[in]), %%ymm2\n vxorps %%ymm2, %%ymm0, %%ymm3\n vorps %%ymm3, %%ymm1, %%ymm1\n"
		"vxorps %%ymm2, %%ymm7, %%ymm3\n vorps %%ymm3, %%ymm1, %%ymm1\n"
		"vxorps %%ymm2, %%ymm8, %%ymm3\n vorps %%ymm3, %%ymm1, %%ymm1\n"
		"vxorps %%ymm2, %%ymm15, %%ymm3\n vorps %%ymm3, %%ymm1, %%ymm1\n"
		"vptest %%ymm1, %%ymm1\n setnz %%cl\n movzbl %%cl, %%ecx\n or %%rcx, %[bad]\n"
		"stmxcsr %[after]\n vzeroupper\n"
		: [bad] "+r" (bad), [after] "+m" (after)
		: [seed] "r" (seed), [in] "r" (in), [mxcsr] "m" (mxcsr)
		: "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0", "xmm1", "xmm2",
		  "xmm3", "xmm7", "xmm8", "xmm15");
	return bad || (after & ~0x3fu) != (mxcsr & ~0x3fu);
}

static const char *compute(void)
{
	errno = 42;
	for (uint64_t seed = 1; !stop; seed += 0x123456789) {
		if (registers_hold(seed))
			return "registers";
		if (errno != 42)
			return "errno";
		if (poll_myself)
			poll_stdin();
	}
	return NULL;
}

/* ---- memory and the loader, busily ---- */

static void *allocate(void *unused)
{
	unsigned int seed = 1;

	while (!stop) {
		void *p[64];

		for (int i = 0; i < 64; i++)
			p[i] = malloc(rand_r(&seed) % 50000);
		for (int i = 0; i < 64; i++)
			free(p[i]);
		if (unused)
			poll_stdin();
	}
	return NULL;
}

static const char *allocate_threads(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, allocate, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return NULL;
}

static const char *load_libraries(void)
{
	while (!stop) {
		void *m = dlopen("libm.so.6", RTLD_NOW), *z = dlopen("libutil.so.1", RTLD_NOW);

		if (z)
			dlclose(z);
		if (m)
			dlclose(m);
		poll_stdin();
	}
	return NULL;
}

static const char *start_threads(void)
{
	while (!stop) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, (void *(*)(void *)) getpid, NULL))
			return "pthread_create";
		pthread_join(thread, NULL);
	}
	return NULL;
}

/* ---- odd stacks ---- */

static ucontext_t main_context, coroutine;
static const char *verdict;

static void coroutine_body(void)
{
	verdict = compute();
}

/* 12 KB from malloc, with a wall of known bytes below it. */
static const char *compute_on_coroutine(void)
{
	const size_t size = 12288;
	uint8_t *memory = malloc(65536 + size);

	memset(memory, 0xa5, 65536);
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = memory + 65536;
	coroutine.uc_stack.ss_size = size;
	coroutine.uc_link = &main_context;
	makecontext(&coroutine, coroutine_body, 0);
	swapcontext(&main_context, &coroutine);
	for (int i = 0; i < 65536; i++)
		if (memory[i] != 0xa5)
			return "memory below the coroutine's stack";
	return verdict;
}

static int full_pipe[2];

static void *compute_thread(void *unused)
{
	char drain[4096];
	const char *wrong = compute();

	while (read(full_pipe[0], drain, sizeof(drain)) == sizeof(drain))
		;
	return (void *) wrong;
}

/* The main thread is not to be had: it is in the middle of a long write. */
static const char *compute_on_small_stack(void)
{
	static char much[200 * 1024 + 1];
	pthread_attr_t attributes;
	pthread_t thread;
	void *what;

	poll_myself = 1;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 16384);
	if (pipe(full_pipe) || pthread_create(&thread, &attributes, compute_thread, NULL))
		return "thread";
	if (write(full_pipe[1], much, sizeof(much)) != sizeof(much))
		return "short write";
	pthread_join(thread, &what);
	return what;
}

static void handler(int sig)
{
	verdict = compute();
}

static const char *compute_in_handler(void)
{
	static char stack[16384];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
	sigaltstack(NULL, &alternate);
	return alternate.ss_sp == stack && alternate.ss_size == sizeof(stack) ? verdict : "sigaltstack";
}

static const char *recurse(int depth)
{
	volatile char pad[64];

	pad[0] = depth;
	if (depth)
		return recurse(depth - 1) ? "recursion" : pad[0] == (char) depth ? NULL : "stack";
	return compute();
}

/* ---- signals ---- */

static const char *signals_kept(int how)
{
	struct sigaction before[32], after;
	sigset_t mask, mask_after;
	const char *wrong;

	sigfillset(&mask);
	if (how == 'i')
		for (int sig = 1; sig < 32; sig++)
			signal(sig, SIG_IGN);
	if (how == 'b')
		sigprocmask(SIG_SETMASK, &mask, NULL);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int sig = 1; sig < 32; sig++)
		sigaction(sig, NULL, &before[sig]);
	wrong = compute();
	sigprocmask(SIG_SETMASK, NULL, &mask_after);
	if (memcmp(&mask, &mask_after, 8))
		return "signal mask";
	for (int sig = 1; sig < 32; sig++) {
		sigaction(sig, NULL, &after);
		if (after.sa_handler != before[sig].sa_handler)
			return "signal action";
	}
	return wrong;
}

/* A timer signal every millisecond: none may be lost for good, none may disturb. */
static const char *compute_under_timer(void)
{
	struct itimerspec often = { { 0, 1000000 }, { 0, 1000000 } };
	struct sigaction action = { .sa_handler = count_signal, .sa_flags = SA_RESTART };
	timer_t timer;
	const char *wrong;
	int had;

	sigaction(SIGALRM, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, NULL, &timer) || timer_settime(timer, 0, &often, NULL))
		return "timer";
	wrong = compute();
	had = signals;
	for (double until = now_ms() + 500; signals < had + 20 && now_ms() < until;)
		;
	return wrong ? wrong : signals < had + 20 ? "no more signals" : NULL;
}

/* ---- who cannot be injected ---- */

static void confine(void)
{
	prctl(PR_SET_SECCOMP, 1);	/* read, write, _exit only */
	char c;

	syscall(SYS_exit, write(1, "ready\n", 6) != 6 || read(0, &c, 1) < 0);	/* exit_group() is not allowed */
}

static void vfork_parent(void)
{
	char c;

	if (!vfork()) {
		ready();
		_exit(read(0, &c, 1) < 0);
	}
}

/* "ready", then on a line of its own the pid of a child that has ended and is not collected. */
static void keep_zombie(void)
{
	siginfo_t info;
	pid_t child = fork();
	char c;

	if (!child)
		_exit(0);
	waitid(P_PID, child, &info, WEXITED | WNOWAIT);
	printf("ready\n%d\n", (int) child);
	fflush(stdout);
	if (read(0, &c, 1) < 0)
		exit(1);
}

int main(int argc, char **argv)
{
	static const struct { const char *name; const char *(*run)(void); int watch; } modes[] = {
		{ "compute", compute, 1 }, { "threads", allocate_threads, 1 }, { "dlopen", load_libraries, 0 },
		{ "pthread_create", start_threads, 1 }, { "coroutine", compute_on_coroutine, 1 },
		{ "small-stack", compute_on_small_stack, 0 }, { "handler", compute_in_handler, 1 },
		{ "timer", compute_under_timer, 1 },
	};
	const char *mode = argc > 1 ? argv[1] : "compute", *wrong = NULL;
	int known = 0;

	if (!strcmp(mode, "seccomp"))
		confine();
	if (!strcmp(mode, "zombie")) {
		keep_zombie();
		return 0;
	}
	if (!strcmp(mode, "vfork")) {
		vfork_parent();
		return 0;
	}
	if (!strcmp(mode, "block") && argc > 2) {
		double begun;
		long result;

		ready();
		begun = now_ms();
		result = block(argv[2]);
		printf("%s: result=%ld errno=%d ms=%.0f signals=%d\n", argv[2], result, errno, now_ms() - begun,
				signals);
		return 0;
	}
	ready();
	if (!strcmp(mode, "malloc")) {
		allocate((void *) 1);
		known = 1;
	}
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		pthread_t thread;

		if (strcmp(mode, modes[i].name))
			continue;
		known = 1;
		if (modes[i].watch)
			pthread_create(&thread, NULL, watch_stdin, NULL);
		wrong = modes[i].run();
	}
	if (!strncmp(mode, "signals", 7) || !strcmp(mode, "deep")) {
		pthread_t thread;

		known = 1;
		pthread_create(&thread, NULL, watch_stdin, NULL);
		wrong = !strcmp(mode, "deep") ? recurse(20000) : signals_kept(mode[7] ? mode[8] : 0);
	}
	printf("%s: %s%s\n", mode, !known ? "unknown mode" : wrong ? "wrong " : "ok", wrong ? wrong : "");
	return 0;
}
