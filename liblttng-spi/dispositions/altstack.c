/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Alternate signal stacks (sigaltstack(2)) that are too small for two.
 *
 * What a handler calls is recorded on the stack that it runs on, which takes some 5 KB beside the kernel's frame (base/point.h).
 * A program that gives its handlers a page, or SIGSTKSZ, has the room that it needs itself. So a preloaded agent stands before
 * sigaltstack(): where the program's stack is small, the kernel is given a larger one in its place, and the
 * program, when it asks, is told its own. The kernel has accepted the program's before; one in which not even the kernel's
 * frame has room stays.
 *
 * A larger stack belongs to one thread, and to one stack of the program's there: coroutines may be made on one signal stack after the
 * other, and go on on it. It is used again when the thread has ended, which is asked when another one is wanted.
 *
 * Not followed: stacks that were set by the bare system call, or before an agent was injected.
 */
#include <errno.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/dispositions/dispositions.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ	51
#endif
#define FRAME_LEAST	2048u			/* the kernel's frame, where it does not tell */
#define ROOM		(16u << 10)		/* for the handler and the tracer, beside the kernel's frame */
#define BYTES		(64u << 10)		/* of a stack of ours, beside the kernel's frame */
#define LOOKS		64u			/* at others' stacks, before there is another one */
#define MINE_MOST	32u			/* of a thread; further ones stay as they are */

struct larger {
	struct larger *next, *mine;
	uint64_t low, size;
	stack_t program;			/* what it stands for */
	int32_t tid;
};

static struct larger *all;
static __thread struct larger *mine __attribute__((tls_model("initial-exec")));	/* the calling thread's */

SPI_HOOK_DECLARE(sigaltstack)

static uint64_t frame_size(void)
{
	uint64_t size = getauxval(AT_MINSIGSTKSZ);

	return size > FRAME_LEAST ? size : FRAME_LEAST;
}

static int larger_take(struct larger *l, int32_t self)
{
	int32_t tid = __atomic_load_n(&l->tid, __ATOMIC_RELAXED);

	if (tid == self || spi_sys(SYS_tgkill, spi_sys(SYS_getpid), (long) tid, 0L) != -ESRCH)
		return 0;
	return __atomic_compare_exchange_n(&l->tid, &tid, self, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* With a page below it that nobody can write to. NULL: no memory. */
static struct larger *larger_get(void)
{
	int32_t self = (int32_t) spi_sys(SYS_gettid);
	uint64_t size = (BYTES + frame_size() + SPI_PAGE - 1) & ~(uint64_t) (SPI_PAGE - 1), at;
	struct larger *l = __atomic_load_n(&all, __ATOMIC_ACQUIRE);

	for (unsigned int looks = 0; l && looks < LOOKS; looks++, l = l->next)
		if (larger_take(l, self))
			return l;
	l = spi_alloc(sizeof(*l));
	at = l ? spi_mmap(0, size + SPI_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1) : 0;
	if (!at)
		return NULL;
	if (spi_sys(SYS_mprotect, at + SPI_PAGE, size, (long) (PROT_READ | PROT_WRITE)) < 0) {
		spi_munmap(at, size + SPI_PAGE);
		return NULL;
	}
	l->low = at + SPI_PAGE;
	l->size = size;
	l->tid = self;
	l->next = __atomic_load_n(&all, __ATOMIC_ACQUIRE);
	while (!__atomic_compare_exchange_n(&all, &l->next, l, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	return l;
}

/* The program has set `stack`, which the kernel took. */
static void stack_enlarge(const stack_t *stack)
{
	stack_t ours = *stack;
	struct larger *l = mine;
	unsigned int n = 0;

	if ((stack->ss_flags & SS_DISABLE) || stack->ss_size < getauxval(AT_MINSIGSTKSZ) || stack->ss_size >= frame_size() + ROOM ||
			!spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
		return;
	for (; l && l->program.ss_sp != stack->ss_sp; l = l->mine)
		n++;
	if (!l) {
		l = n < MINE_MOST ? larger_get() : NULL;
		if (!l)
			return;
		l->mine = mine;
		mine = l;
	}
	ours.ss_sp = (void *) l->low;
	ours.ss_size = l->size;
	l->program = *stack;
	spi_raw3(SYS_sigaltstack, (uint64_t) &ours, 0, 0);
}

/* What the kernel says of the stack that it had. */
static void stack_to_program(stack_t *stack)
{
	for (const struct larger *l = mine; l; l = l->mine)
		if ((uint64_t) stack->ss_sp == l->low) {
			stack->ss_sp = l->program.ss_sp;
			stack->ss_size = l->program.ss_size;
			return;
		}
}

SPI_EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
	int ret = SPI_NEXT(sigaltstack)(stack, old), is_set = stack != NULL;
	stack_t set;

	if (ret || spi_thread_is_foreign(&spi_thread))
		return ret;
	/* `old` may be `stack`: what was set is asked for, not read again */
	is_set = is_set && spi_signals_interposed && spi_raw3(SYS_sigaltstack, 0, (uint64_t) &set, 0) == 0;
	if (old)
		stack_to_program(old);
	if (is_set)
		stack_enlarge(&set);
	return 0;
}

const struct spi_hook spi_altstack_hooks[] = {
	{ SPI_HOOK_ROW(sigaltstack), .ways = SPI_HOOK_ORDER },
	{ NULL },
};

/* The forking thread, which has another id now. */
void spi_altstack_fork_child(void)
{
	for (struct larger *l = mine; l; l = l->mine)
		l->tid = (int32_t) spi_sys(SYS_gettid);
}
