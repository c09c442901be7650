/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A program that single-steps itself: single-step WAY ROUNDS
 *	flag		sets the trap flag by popf around calls of its functions
 *	handler		a signal's handler sets it, another clears it, in the interrupted code
 *	fork		forks and waits while it is set, the child calls its functions
 *	threads		four threads step at once, each from its first call on
 *	late		handler by signal(), installed anew in each round
 *	alloc		calls malloc() and free() while it is set
 * Its handler of SIGTRAP calls a function, too. Prints what it computed, and whether steps outside of its own code
 * and libc's were seen. ROUNDS 0: until SIGTERM, after a line `ready`.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define FN	__attribute__((noipa))
#define TRAP	0x100

static struct {
	uintptr_t low, high;
} known[8];
static int known_count;
static volatile sig_atomic_t over;
static long steps, strange;
static const char *way = "flag";

FN long s_leaf(long x)
{
	return x * 3 + 1;
}

FN long s_middle(long x)
{
	long r = s_leaf(x);

	r += s_leaf(r);
	return r ^ 7;
}

/* What the handler calls. */
FN void s_seen(uintptr_t rip)
{
	int is_known = 0;

	for (int i = 0; i < known_count; i++)
		is_known |= rip >= known[i].low && rip < known[i].high;
	__atomic_fetch_add(&steps, 1, __ATOMIC_RELAXED);
	if (!is_known)
		__atomic_fetch_add(&strange, 1, __ATOMIC_RELAXED);
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void) number;
	(void) info;
	s_seen((uintptr_t) ((ucontext_t *) context)->uc_mcontext.gregs[REG_RIP]);
}

static void on_trap_plain(int number)
{
	(void) number;
	s_seen(known[0].low);
}

static void on_switch(int number, siginfo_t *info, void *context)
{
	greg_t *flags = &((ucontext_t *) context)->uc_mcontext.gregs[REG_EFL];

	(void) info;
	*flags = number == SIGUSR1 ? *flags | TRAP : *flags & ~(greg_t) TRAP;
}

static void on_term(int number)
{
	(void) number;
	over = 1;
}

/*
 * A step whose trap is told as a breakpoint's, as some hypervisors make of one in a million: whom the kernel calls for
 * SIGTRAP is called with one that lies in its own code. That is on_trap, or the tracer's, who keeps it to itself.
 */
FN static void step_untold(void)
{
	struct {
		uintptr_t handler, flags, restorer, mask;
	} action;
	siginfo_t info = { .si_signo = SIGTRAP, .si_code = TRAP_BRKPT };
	ucontext_t context;

	memset(&context, 0, sizeof(context));
	syscall(SYS_rt_sigaction, SIGTRAP, NULL, &action, 8);
	context.uc_mcontext.gregs[REG_RIP] = (greg_t) action.handler;
	context.uc_mcontext.gregs[REG_EFL] = TRAP;
	((void (*)(int, siginfo_t *, void *)) action.handler)(SIGTRAP, &info, &context);
}

static inline __attribute__((always_inline)) void trap_on(void)
{
	__asm__ __volatile__("sub $128, %%rsp; pushf; orl $0x100, (%%rsp); popf; add $128, %%rsp" ::: "memory", "cc");
}

static inline __attribute__((always_inline)) void trap_off(void)
{
	__asm__ __volatile__("sub $128, %%rsp; pushf; andl $~0x100, (%%rsp); popf; add $128, %%rsp" ::: "memory", "cc");
}

/* The program, the dynamic linker (it binds a call), libc, and what the kernel has put there. */
static int object(struct dl_phdr_info *info, size_t size, void *first)
{
	const char *name = strrchr(info->dlpi_name, '/');

	(void) size;
	if (known_count < 8 && (!known_count || !*info->dlpi_name || (name && (!strncmp(name, "/libc.", 6) || !strncmp(name, "/ld-", 4)))))
		for (int i = 0; i < info->dlpi_phnum; i++)
			if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X)) {
				known[known_count].low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
				known[known_count].high = known[known_count].low + info->dlpi_phdr[i].p_memsz;
				known_count += known_count < 7;
			}
	(void) first;
	return 0;
}

FN static long round_forks(long i)
{
	int status = 0;
	long sum;
	pid_t pid;

	trap_on();
	pid = fork();
	sum = s_middle(i);
	trap_off();
	if (!pid)
		_exit((int) (sum & 63));
	waitpid(pid, &status, 0);
	return sum * 1000 + (WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/* noipa: or the compiler makes neither of the two calls */
FN static void *allocated(size_t size)
{
	return malloc(size);
}

FN static long round_run(long i)
{
	long sum;

	step_untold();
	if (!strcmp(way, "fork"))
		return round_forks(i);
	if (!strcmp(way, "late"))
		signal(SIGTRAP, on_trap_plain);
	if (!strcmp(way, "handler"))
		kill(getpid(), SIGUSR1);
	else
		trap_on();
	sum = s_middle(i);
	if (!strcmp(way, "alloc"))
		free(allocated(2000));
	if (!strcmp(way, "handler"))
		syscall(SYS_tgkill, getpid(), getpid(), SIGUSR2);
	else
		trap_off();
	return sum + s_middle(i + 1);
}

static void *stepper(void *rounds)
{
	long sum = 0;

	for (long i = 0; i < (long) (intptr_t) rounds; i++)
		sum += round_run(i);
	return (void *) (intptr_t) sum;
}

int main(int argc, char **argv)
{
	struct sigaction trap = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	struct sigaction change = { .sa_sigaction = on_switch, .sa_flags = SA_SIGINFO };
	long rounds = argc > 2 ? atol(argv[2]) : 5, sum = 0, wanted;
	pthread_t threads[4];
	void *result;
	int right = 1;

	way = argc > 1 ? argv[1] : way;
	dl_iterate_phdr(object, NULL);
	sigaction(SIGTRAP, &trap, NULL);
	sigaction(SIGUSR1, &change, NULL);
	sigaction(SIGUSR2, &change, NULL);
	signal(SIGTERM, on_term);
	puts("ready");
	fflush(stdout);
	if (!strcmp(way, "threads")) {
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, stepper, (void *) (intptr_t) rounds);
		for (int i = 0; i < 4; i++) {
			pthread_join(threads[i], &result);
			sum += (long) (intptr_t) result;
		}
	} else if (rounds) {
		sum = (long) (intptr_t) stepper((void *) (intptr_t) rounds);
	} else {
		wanted = round_run(3);
		while (!over)
			right &= round_run(3) == wanted;
	}
	printf("%s: %ld, %s, steps %s, elsewhere %s\n", way, sum, right ? "right" : "wrong", steps > rounds * 10 ? "seen" : "not seen",
		strange ? "too" : "none");
	return 0;
}
