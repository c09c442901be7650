/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Holding a program that was executed just now at its first instruction: the dynamic linker is done
 * with the program then, and the program has made no call of its own.
 *
 * The thread is stopped as the very first thing, wherever it is in the dynamic linker, and runs on
 * to the entry that the kernel tells in the auxiliary vector (psABI 3.4.3, AT_ENTRY). A jump to
 * itself is put there, in which the thread loops until it is found, a fraction of a millisecond
 * later. Nothing of that could end the program should the injector be killed meanwhile: the guard
 * (priority.c) then puts the code back.
 *
 * Whether the program has begun before is seen on its stack. glibc's _start calls
 * __libc_start_main() with nothing but two words between the arguments and the return address,
 * which stays there for as long as the program runs.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sys/ptrace.h>
#include <time.h>

#include "injector/inject/remote-internal.h"
#include "injector/inject/session.h"

#define START_NS	UINT64_C(500000000)	/* for the dynamic linker to be done */
#define LOOK_NS		UINT64_C(5000000)	/* until it is seen whether the thread waits in lttng-ust's constructor */
#define STOP_NS		UINT64_C(1000000000)
#define PAUSE_NS	200000			/* between looks where the thread is */
#define START_BYTES	64u			/* of _start, more or less */
#define RETURN_AT	24u			/* bytes below the arguments */

static uint64_t auxiliary(pid_t pid, uint64_t type)
{
	uint64_t value = 0;
	size_t size = 0;
	char *text = spi_proc_read(&size, "%d/auxv", (int) pid);
	const Elf64_auxv_t *vector = (const Elf64_auxv_t *) text;

	for (size_t i = 0; text && !value && i < size / sizeof(*vector); i++)
		if (vector[i].a_type == type)
			value = vector[i].a_un.a_val;
	free(text);
	return value;
}

static bool has_begun(const struct spi_session *s, uint64_t entry)
{
	uint64_t arguments = s->target.layout[1], word;

	return !arguments || spi_memory_read(s->pid, arguments - RETURN_AT, &word, sizeof(word)) ||
	       (word > entry && word <= entry + START_BYTES);
}

/* Then the session daemon is to hear of it before the program can begin. */
static bool has_ust(pid_t pid)
{
	struct spi_maps maps;
	bool found = !spi_maps_read(&maps, pid) && spi_maps_find_file(&maps, "liblttng-ust.so");

	spi_maps_free(&maps);
	return found;
}

/* The thread runs: stop it again. 0, with its registers. On failure it is not stopped, or gone. */
static int stop_again(struct spi_remote *r)
{
	int status, ret = ptrace(PTRACE_INTERRUPT, r->tid, NULL, NULL) ? -ESRCH : 0;

	while (!ret && !(ret = spi_stop_wait(r->tid, &status, spi_now() + STOP_NS)) && status >> 16 != PTRACE_EVENT_STOP) {
		if (status >> 16 == PTRACE_EVENT_EXEC) {
			r->first->code_at = 0;		/* it went with the old program */
			spi_remote_let_go(r);
			return -ESRCH;
		}
		if (ptrace(PTRACE_CONT, r->tid, NULL, (void *) (long) WSTOPSIG(status)))
			ret = -ESRCH;
	}
	if (!ret)
		ret = spi_regs_get(r->tid, &r->regs);
	r->stopped = r->in_signal_stop = !ret;
	r->stopped_at = spi_now();
	return ret;
}

/* 0: the thread stands there. -EAGAIN: not by then, and it stands elsewhere. Anything else: it is not stopped, or gone. */
static int run_to_entry(struct spi_session *s, uint64_t entry, uint64_t until)
{
	static const uint8_t jump_to_itself[2] = { 0xeb, 0xfe };
	const struct timespec pause = { 0, PAUSE_NS };
	struct spi_first *first = &s->first;
	int ret = first->guard > 0 ? spi_memory_read(s->pid, entry, first->code, sizeof(first->code)) : -ENOTSUP;

	if (ret)
		return -EAGAIN;
	spi_first_give_back(first);		/* a thread that loops at that priority would have the processor for itself */
	__atomic_store_n(&first->code_at, entry, __ATOMIC_RELEASE);
	ret = spi_target_write(&s->target, entry, jump_to_itself, sizeof(jump_to_itself));
	while (!ret) {
		ret = spi_remote_resume(&s->remote);
		nanosleep(&pause, NULL);
		if (!ret)
			ret = stop_again(&s->remote);
		if (ret || s->remote.regs.rip == entry)
			break;
		ret = spi_now() < until ? 0 : -EAGAIN;
	}
	if (first->code_at)
		spi_target_write(&s->target, entry, first->code, sizeof(first->code));
	__atomic_store_n(&first->code_at, 0, __ATOMIC_RELEASE);
	if (!ret)
		spi_first_take(first, s->pid, s->pid);
	return ret;
}

void spi_start_hold(struct spi_session *s)
{
	uint64_t until = spi_now() + START_NS, entry;
	int ret = spi_remote_stop(&s->remote, &s->target, &s->gadgets, &s->first, s->pid, until);

	entry = ret || !auxiliary(s->pid, AT_BASE) ? 0 : auxiliary(s->pid, AT_ENTRY);	/* 0: or it has no dynamic linker */
	if (!ret && entry && !has_begun(s, entry)) {
		do {
			ret = run_to_entry(s, entry, spi_now() + LOOK_NS);
			s->registers = ret == -EAGAIN && has_ust(s->pid);
		} while (ret == -EAGAIN && spi_now() < until && !s->registers);
	} else if (!ret) {
		ret = -EAGAIN;
	}
	s->held = !ret;
	if (ret == -EAGAIN)
		spi_remote_release(&s->remote);
	s->result->text[0] = 0;		/* what failed is met again, with its reason, as in any other program */
}
