/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The stopped thread and its injector go first in line for a processor.
 *
 * On a machine with more to run than processors, each step of an injection waits for its turn
 * twice, for the thread's and the injector's, milliseconds each time. So both are made SCHED_RR
 * meanwhile, where that is permitted; threads that the library starts are not (RESET_ON_FORK).
 *
 * A step is also shorter when nobody has to be woken on another processor, 8 us instead of 30. So
 * for as long as no thread can be started, which would inherit it, both are kept on one processor,
 * and a sched_yield() of the injector is all that it takes to have the thread run to its next stop.
 * Without SCHED_RR the opposite holds: there the injector would wait for its turn on the thread's
 * processor, and stays away from it.
 *
 * The target must not keep any of that should the injector be killed. A guard, a process that only
 * waits for the injector's end, then puts it back. The guard shares the injector's memory (a fork
 * would cost a page fault for each page that is touched while the thread stands still), so it finds
 * there what is to be put back; and it makes bare system calls, because errno is the injector's.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "injector/inject/priority.h"
#include "injector/inject/target.h"

#define GUARD_STACK	16384u

/* struct sched_attr, in 32-bit words: size, policy, flags (2), nice, priority */
#define SCHED_SIZE		56u
#define SCHED_POLICY_WORD	1
#define SCHED_FLAG_WORD		2
#define SCHED_NICE_WORD		4
#define SCHED_PRIORITY_WORD	5
#define SCHED_RESET_FLAG	1u	/* SCHED_FLAG_RESET_ON_FORK */

static long bare4(long number, long a, long b, long c, long d)
{
	register long fourth __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall" : "=a" (result) : "a" (number), "D" (a), "S" (b), "d" (c), "r" (fourth) : "rcx", "r11", "memory");
	return result;
}

static long bare(long number, long a, long b, long c)
{
	return bare4(number, a, b, c, 0);
}

static void put_back_sched(struct spi_first *f)
{
	int tid = __atomic_load_n(&f->tid, __ATOMIC_ACQUIRE);

	if (tid)
		bare(SYS_sched_setattr, tid, (long) f->sched, 0);
}

/* Unless the program has chosen for itself meanwhile. */
static void put_back_cpus(struct spi_first *f)
{
	int tid = __atomic_load_n(&f->pinned, __ATOMIC_ACQUIRE);
	cpu_set_t now;
	long n;

	if (!tid)
		return;
	n = bare(SYS_sched_getaffinity, tid, sizeof(now), (long) &now);
	for (long i = 0; i < n; i++)
		if (((uint8_t *) &now)[i] != ((uint8_t *) &f->one)[i])
			return;
	if (n > 0)
		bare(SYS_sched_setaffinity, tid, f->cpus_size, (long) &f->cpus);
}

/* ---- the guard ------------------------------------------------------ */

__attribute__((no_sanitize("address", "undefined"))) static int guard_main(void *data)
{
	struct spi_first *f = data;
	char done;
	long n;

	/* nothing of ours may stay open because of the guard */
	if (f->pipe[0])
		bare(SYS_dup2, f->pipe[0], 0, 0);
	if (f->memory >= 0)
		bare(SYS_dup2, f->memory, 1, 0);
	bare(SYS_close_range, f->memory >= 0 ? 2 : 1, ~0u, 0);
	do
		n = bare(SYS_read, 0, (long) &done, 1);
	while (n == -EINTR);
	if (n != 1) {
		if (__atomic_load_n(&f->code_at, __ATOMIC_ACQUIRE))
			bare4(SYS_pwrite64, 1, (long) f->code, sizeof(f->code), (long) f->code_at);
		put_back_cpus(f);
		put_back_sched(f);
	}
	bare(SYS_exit, 0, 0, 0);
	return 0;
}

void spi_first_open(struct spi_first *f, int memory, bool together)
{
	memset(f, 0, sizeof(*f));
	f->memory = memory;
	f->together = together;
	f->stack = mmap(NULL, GUARD_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (f->stack == MAP_FAILED || pipe2(f->pipe, O_CLOEXEC)) {
		f->guard = -1;
		return;
	}
	/* No exit signal: our program's SIGCHLD handler, and whoever waits for any child, see nothing of it. */
	f->guard = clone(guard_main, f->stack + GUARD_STACK, CLONE_VM, f);
	close(f->pipe[0]);
	if (f->guard < 0)
		close(f->pipe[1]);
}

void spi_first_close(struct spi_first *f)
{
	spi_first_give_back(f);
	if (f->guard > 0) {
		if (write(f->pipe[1], "", 1) != 1)
			kill(f->guard, SIGKILL);
		close(f->pipe[1]);
		waitpid(f->guard, NULL, __WALL);
	}
	if (f->stack && f->stack != MAP_FAILED)
		munmap(f->stack, GUARD_STACK);
}

/* ---- taking and giving back ----------------------------------------- */

/* The processor that the thread ran on last; -1 when that is not known. */
static int last_cpu(pid_t pid, pid_t tid)
{
	char *stat = spi_proc_read(NULL, "%d/task/%d/stat", (int) pid, (int) tid);
	const char *last = stat ? spi_stat_field(stat, 39) : NULL;
	int cpu = last ? atoi(last) : -1;

	free(stat);
	return cpu < CPU_SETSIZE ? cpu : -1;
}

/* Run on another processor than the thread, when there is one. The mask is this thread's, which ends with the injection. */
static void keep_apart(int cpu)
{
	cpu_set_t set;

	if (cpu < 0 || sched_getaffinity(getpid(), sizeof(set), &set))
		return;
	CPU_CLR(cpu, &set);
	if (CPU_COUNT(&set))
		sched_setaffinity(0, sizeof(set), &set);
}

/*
 * Both on one processor: ours, where the thread may run there, since one that sleeps, as most do, is moved by nothing more than a
 * note, and we only by waking another processor (90 us). Else on its: us first, so that we get it although it may be running
 * there.
 */
static int keep_together(struct spi_first *f, int cpu, pid_t tid)
{
	long n = bare(SYS_sched_getaffinity, tid, sizeof(f->cpus), (long) &f->cpus);
	int ours = sched_getcpu();

	if (n > 0 && ours >= 0 && ours < CPU_SETSIZE && CPU_ISSET(ours, &f->cpus))
		cpu = ours;
	if (n <= 0 || cpu < 0 || !CPU_ISSET(cpu, &f->cpus))
		return -EINVAL;
	f->cpus_size = n;
	CPU_ZERO(&f->one);
	CPU_SET(cpu, &f->one);
	if (sched_setaffinity(0, sizeof(f->one), &f->one))
		return -errno;
	__atomic_store_n(&f->pinned, tid, __ATOMIC_RELEASE);
	if (!sched_setaffinity(tid, sizeof(f->one), &f->one))
		return 0;
	__atomic_store_n(&f->pinned, 0, __ATOMIC_RELEASE);
	return -errno;
}

void spi_first_take(struct spi_first *f, pid_t pid, pid_t tid)
{
	struct sched_param first = { .sched_priority = 1 };
	int cpu = last_cpu(pid, tid);
	uint32_t attr[16];

	if (f->guard <= 0 || syscall(SYS_sched_getattr, tid, f->sched, SCHED_SIZE, 0u) ||
	    f->sched[SCHED_POLICY_WORD] != SCHED_OTHER ||
	    sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &first)) {
		keep_apart(cpu);
		return;
	}
	f->ahead = true;
	if (!f->together || keep_together(f, cpu, tid))
		keep_apart(cpu);
	memcpy(attr, f->sched, sizeof(attr));
	attr[SCHED_POLICY_WORD] = SCHED_RR;
	attr[SCHED_FLAG_WORD] |= SCHED_RESET_FLAG;
	attr[SCHED_NICE_WORD] = 0;
	attr[SCHED_PRIORITY_WORD] = 1;
	__atomic_store_n(&f->tid, tid, __ATOMIC_RELEASE);
	if (bare(SYS_sched_setattr, tid, (long) attr, 0))
		spi_first_give_back(f);
}

void spi_first_part(struct spi_first *f)
{
	put_back_cpus(f);
	__atomic_store_n(&f->pinned, 0, __ATOMIC_RELEASE);
}

void spi_first_give_back(struct spi_first *f)
{
	struct sched_param usual = { 0 };

	spi_first_part(f);
	if (f->tid)
		put_back_sched(f);
	__atomic_store_n(&f->tid, 0, __ATOMIC_RELEASE);
	if (f->ahead && !f->stays) {
		sched_setscheduler(0, SCHED_OTHER, &usual);
		f->ahead = false;
	}
}
