/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * dl_iterate_phdr() over fork(). libc holds a lock of its own while it goes through
 * the list of objects, and its fork() neither waits for that nor makes it anew in
 * the child: if another thread was inside, the child's next look at the list waits
 * for ever. Programs seldom meet that; lttng-ust's own thread looks at the list
 * soon after the start, and again in each child.
 *
 * So a preloaded agent stands before that function, and counts the threads that are inside. A fork waits until
 * nobody is, for no longer than FORK_MOST_MS: a callback may wait for a lock that the forking thread has. No
 * thread waits for a fork. The child has the count as it was when its memory was copied, and is left alone where
 * somebody was inside (process/fork.c).
 *
 * LeakSanitizer stops all threads from within a callback, and has a task look at the list that is none of them, and
 * borrows the thread-local memory of the one that waits in there. The task runs beside that thread, and a record of
 * both in one lttng-ust reader would leave the reader counting for ever: so where such a runtime is loaded, the
 * thread lends its words while it is in the list (base/lend.h), and what the task calls is not recorded.
 */
#include <link.h>
#include <signal.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/internal.h"

SPI_HOOK_DECLARE(dl_iterate_phdr)
extern const char __ehdr_start[] SPI_HIDDEN;

#define FORK_MOST_MS	1000

static SPI_FORK_DATA uint32_t inside;		/* threads */
/* How deep the calling thread is inside. */
static __thread uint32_t depth __attribute__((tls_model("initial-exec")));

static void list_enter(void)
{
	if (!depth)
		__atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
	spi_barrier();
	depth++;
}

static void list_leave(void)
{
	depth--;
	spi_barrier();
	if (!depth)
		__atomic_fetch_sub(&inside, 1, __ATOMIC_RELEASE);
}

/* A forking thread is inside itself where a callback forks. */
int spi_phdr_others_inside(void)
{
	return __atomic_load_n(&inside, __ATOMIC_SEQ_CST) != (depth > 0);
}

void spi_phdr_fork_wait(void)
{
	const uint64_t until = spi_now_ns() + FORK_MOST_MS * UINT64_C(1000000), moment[2] = { 0, 100000 };

	while (spi_phdr_others_inside() && spi_now_ns() < until)
		spi_sys(SYS_nanosleep, moment, NULL);
}

/* Others are not here. */
void spi_phdr_fork_child(void)
{
	inside = depth > 0;
}

/*
 * The agent's own object comes last. Whoever looks for the first library (AddressSanitizer's runtime, which ends the
 * program if that is another) does not find a preloaded one there.
 */
struct walk {
	int (*callback)(struct dl_phdr_info *, size_t, void *);
	void *data;
	struct dl_phdr_info own;
	size_t own_size;	/* 0: not met */
};

static int walk_one(struct dl_phdr_info *info, size_t size, void *data)
{
	struct walk *walk = data;

	if (info->dlpi_addr != (ElfW(Addr)) __ehdr_start || size > sizeof(walk->own))
		return walk->callback(info, size, walk->data);
	spi_bytes_copy(&walk->own, info, size);
	walk->own_size = size;
	return 0;
}

static int walk_all(struct walk *walk)
{
	int result = SPI_NEXT(dl_iterate_phdr)(walk_one, walk);

	return result || !walk->own_size ? result : walk->callback(&walk->own, walk->own_size, walk->data);
}

SPI_EXPORT int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	struct walk walk = { .callback = callback, .data = data };
	int is_lent = spi_leaks_are_checked && spi_lend_beside(SPI_LEND_WHILE);
	int is_counted = spi_env.preloaded && spi_may(SPI_MAY_ACT), result;

	if (is_counted)
		list_enter();
	result = walk_all(&walk);
	if (is_counted)
		list_leave();
	if (is_lent)
		spi_lend_over();
	return result;
}

static int leaks_are_checked(void)
{
	return spi_leaks_are_checked;
}

const struct spi_hook spi_phdr_hooks[] = {
	{ SPI_HOOK_ROW(dl_iterate_phdr), .ways = SPI_HOOK_ORDER | SPI_HOOK_POINTERS, .fits = leaks_are_checked },
	{ NULL },
};
