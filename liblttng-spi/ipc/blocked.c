/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Receives that are under way when the agent's hooks come: a server that waits for a message is blocked in the
 * kernel, and would return from there by no hook. Such a thread gets a SIGTRAP of the agent's. Its system call is
 * interrupted, and begins anew when the handler returns (SA_RESTART); in the handler the return address of libc's
 * function is replaced by a return slot's, so that the thread comes by here with the message.
 *
 * Only a call that begins anew by itself is interrupted: one with a time limit of the socket's (SO_RCVTIMEO) would
 * fail with EINTR, one that waits for all its bytes (MSG_WAITALL) would return those that it has, and where the
 * program's own handler of SIGTRAP is without SA_RESTART each call would fail. Its first message is then received
 * without a record.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/cfi/cfi.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/signals/signals.h"
#include "liblttng-spi/ipc/internal.h"

#define THREADS		64u		/* at a time */
#define ANSWER_MS	200u

struct blocked {
	uint32_t state;			/* a futex */
	int32_t tid;
	struct spi_ipc_receive receive;
};

enum { BLOCKED_FREE, BLOCKED_ASKED, BLOCKED_TAKEN, BLOCKED_NOT };

static struct blocked blocked[THREADS];
static struct spi_point point;		/* of their slots; it has no jump */

/* ---- the thread ---- */

static void receive_over(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct blocked *b = (struct blocked *) slot->cookie;
	const struct spi_ipc_receive receive = b->receive;
	const int64_t result = (int64_t) spi_frame_result(frame);

	(void) vec, (void) stride;
	__atomic_store_n(&b->state, BLOCKED_FREE, __ATOMIC_RELEASE);
	spi_slot_pop(&spi_thread, slot);
	spi_ipc_receive_over(&receive, (uint64_t) &frame->ra, result);
}

/* It was cancelled, or left by longjmp(). */
static void receive_left(struct spi_slot *slot, enum spi_left how)
{
	struct blocked *b = (struct blocked *) slot->cookie;

	(void) how;
	__atomic_store_n(&b->state, BLOCKED_FREE, __ATOMIC_RELEASE);
}

/* The slot in the place of the return address of the function that makes the system call. */
static int return_take(struct blocked *b, const void *context)
{
	struct spi_thread *t = &spi_thread;
	struct spi_registers regs;
	struct spi_frame *frame;
	struct spi_slot *slot;
	uint64_t code, at;

	spi_context_registers(context, &regs);
	if (spi_thread_is_foreign(t) || (!t->own && !spi_thread_has_own(t)) || spi_cfi_step(&regs, 0) < 0)
		return 0;
	at = regs.r[SPI_DWARF_SP] - 8;
	if (*(const uint64_t *) at != regs.r[SPI_DWARF_PC] || spi_slot_of_word(regs.r[SPI_DWARF_PC]))
		return 0;
	slot = spi_slot_ready(t, at);
	frame = (struct spi_frame *) (at - offsetof(struct spi_frame, ra));
	code = slot ? spi_slot_push(t, &slot, &point, frame) : 0;
	if (!code)
		return 0;
	slot->start = 0;
	slot->cookie = b;
	slot->aux = SPI_SLOT_APART;
	spi_barrier();
	spi_slot_chain_begin(frame, code);
	return 1;
}

/* In the handler of SIGTRAP: 1: it was ours. */
static int blocked_asked(const void *siginfo, void *context)
{
	const siginfo_t *info = siginfo;
	struct blocked *b = info->si_value.sival_ptr;
	uint64_t call[7];
	int is_taken;

	if (b < blocked || b >= blocked + THREADS)
		return 0;
	if (__atomic_load_n(&b->state, __ATOMIC_ACQUIRE) != BLOCKED_ASKED || b->tid != (int32_t) spi_raw3(SYS_gettid, 0, 0, 0))
		return 1;
	is_taken = !spi_ipc_thread_is_in_call() && spi_context_system_call(context, call) &&
		(int64_t) call[0] == b->receive.number && (int) call[1] == b->receive.fd &&
		!memcmp(&call[2], b->receive.arguments, sizeof(b->receive.arguments)) && return_take(b, context);
	if (is_taken)			/* nothing was received: what is queued now is what comes */
		spi_ipc_count_from_here(b->receive.fd);
	spi_word_set(&b->state, is_taken ? BLOCKED_TAKEN : BLOCKED_NOT);
	return 1;
}

/* ---- control side ---- */

static int is_receive(int64_t number)
{
	return number == SYS_read || number == SYS_readv || number == SYS_recvfrom || number == SYS_recvmsg;
}

/* Does the kernel begin the call anew when a signal's handler returns? signal(7) */
static int begins_anew(const struct spi_ipc_receive *receive)
{
	const uint64_t flags = receive->number == SYS_recvfrom ? receive->arguments[2] :
		receive->number == SYS_recvmsg ? receive->arguments[1] : 0;
	struct { int64_t s, us; } limit = { 0, 0 };
	socklen_t size = sizeof(limit);

	if (flags & MSG_WAITALL)
		return 0;
	return spi_raw6(SYS_getsockopt, (uint64_t) receive->fd, SOL_SOCKET, SO_RCVTIMEO, (uint64_t) &limit, (uint64_t) &size, 0) < 0 ||
		(!limit.s && !limit.us);
}

/* Of "NUMBER 0xARGUMENT ... SP PC": what the thread waits in, where that is a receive from a channel. */
static int receive_read(const struct spi_numbers *task, struct spi_ipc_receive *receive)
{
	char text[256];
	const char *at = text;
	uint64_t fd;

	if (spi_task_text(task, "syscall", text, sizeof(text)) <= 0 || *text < '0' || *text > '9')
		return 0;
	receive->number = (int64_t) spi_parse_number(at, &at);
	fd = spi_parse_number(at + (*at == ' '), &at);
	for (unsigned int i = 0; i < 5; i++)
		receive->arguments[i] = spi_parse_number(at + (*at == ' '), &at);
	receive->fd = (int) fd;
	return is_receive(receive->number) && begins_anew(receive) && spi_ipc_receives(receive->fd);
}

static struct blocked *blocked_claim(int32_t tid)
{
	for (uint32_t i = 0; i < THREADS; i++)
		if (blocked[i].state == BLOCKED_TAKEN && blocked[i].tid == tid)
			return NULL;		/* since the last time */
	for (uint32_t i = 0; i < THREADS; i++)
		if (blocked[i].state == BLOCKED_FREE || blocked[i].state == BLOCKED_NOT)
			return &blocked[i];
	return NULL;
}

static void thread_ask(const struct spi_numbers *task)
{
	siginfo_t info = { .si_code = SI_QUEUE };
	struct spi_ipc_receive receive;
	struct blocked *b;

	if (!receive_read(task, &receive))
		return;
	b = blocked_claim(task->number);
	if (!b)
		return;
	b->tid = task->number;
	b->receive = receive;
	info.si_value.sival_ptr = b;
	__atomic_store_n(&b->state, BLOCKED_ASKED, __ATOMIC_RELEASE);
	if (spi_raw4(SYS_rt_tgsigqueueinfo, (uint64_t) spi_raw3(SYS_getpid, 0, 0, 0), (uint64_t) task->number, SIGTRAP, (uint64_t) &info) < 0)
		b->state = BLOCKED_NOT;
	spi_word_wait(&b->state, BLOCKED_ASKED, ANSWER_MS);
}

/* The agent's handler of SIGTRAP interrupts as the program's does (signals/share.c). */
static const char *restarts_look(void)
{
	struct spi_sigaction action;

	return spi_signal_query(SIGTRAP, &action) == 0 && action.flags & SA_RESTART ? NULL :
		"the program's handler of SIGTRAP lets system calls fail (it is without SA_RESTART)";
}

static void blocked_take(void)
{
	const char *reason = NULL;
	struct spi_numbers task;

	if (spi_env.preloaded || spi_numbers_open(&task, "/proc/self/task") < 0)	/* a preloaded agent's hooks were there before */
		return;
	while (spi_numbers_next(&task)) {
		struct spi_ipc_receive receive;

		if (task.number == (int) spi_sys(SYS_gettid) || !receive_read(&task, &receive) || spi_thread_is_tracer_task(&task) > 0)
			continue;
		if (!point.exit) {
			reason = spi_trap_timer_ready();
			if (reason)
				break;
			point.flags = SPI_POINT_APART;
			point.left = receive_left;
			point.exit = receive_over;
			spi_thread_thunks(&point, 1, 1);
			spi_trap_asked = blocked_asked;
		}
		reason = restarts_look();
		if (reason)
			break;
		thread_ask(&task);
	}
	spi_numbers_close(&task);
	if (reason)
		spi_note("a message that is waited for already is received without a record: %s", reason);
}

void spi_ipc_blocked_look(void)
{
	static uint32_t was_on;
	const uint32_t is_on = spi_ipc_is_on;

	if (is_on && !was_on)
		blocked_take();
	was_on = is_on;
}

/* In the child: its parent's threads are not here. */
void spi_ipc_blocked_fork_child(void)
{
	memset(blocked, 0, sizeof(blocked));
}
