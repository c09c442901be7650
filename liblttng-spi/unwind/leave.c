/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Handlers that leave what they interrupted, where that is a record being made.
 *
 * Room that was taken in LTTng's ring for a record, and that nobody fills, makes the whole sub-buffer unreadable, and whoever
 * leaves lttng-ust in the middle leaves its locks taken. So longjmp() and its like out of a handler, and exit() in one,
 * wait until the record is complete, which is a matter of microseconds:
 *
 *	the handler calls siglongjmp(): leave.S, in a thread that is recording
 *	the stack is unwound from there (cfi/unwind-step.c) to the signal's frame, and on to where the payload that was interrupted returns to
 *	that return address leads to spi_leave_again, and the handler returns (rt_sigreturn()), with signals blocked
 *	the record is made; spi_leave_again gives the return address and the handler's mask back and calls siglongjmp(),
 *		which may find another record, of what that handler's handler interrupted
 *
 * The handler's frames are gone by then, so it is not done where somebody may want them: where the target is not
 * on the thread's own stack, above the interrupted call. What is passed is copied, as it may be in these frames.
 *
 * What unwinds the stack out of a handler is put off in the same way: leave-unwind.c.
 *
 * Where it cannot be done (no unwind information for the handler, an attached program's libraries that call libc by themselves,
 * a longjmp() that is not libc's) the record is left as it is.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include "liblttng-spi/arch/offsets.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/cfi/cfi.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/unwind/internal.h"

#define FRAMES_MOST	200u
#define RECORD_MOST	16384u	/* of the stack, for a record */
/* While a record is completed: faults are how it finds out that the program's memory cannot be read. */
#define HELD		(~(SPI_SIGNAL_BIT(SIGSEGV) | SPI_SIGNAL_BIT(SIGBUS) | SPI_SIGNAL_BIT(SIGTRAP) | SPI_SIGNAL_BIT(SIGFPE) | \
			   SPI_SIGNAL_BIT(SIGILL)))

typedef void (*leave_fn)(uint64_t a, uint64_t b);

/* What leave.S goes on to: before the rows of hooks are known these, which ask libc. */
#define FIRST(variable, name) \
	static void first_##variable(uint64_t a, uint64_t b); \
	void *variable SPI_HIDDEN = (void *) first_##variable; \
	static void first_##variable(uint64_t a, uint64_t b) \
	{ \
		variable = spi_find_in_libc(name); \
		((leave_fn) variable)(a, b); \
	}
FIRST(spi_leave_longjmp, "siglongjmp")
FIRST(spi_leave_longjmp_chk, "__longjmp_chk")
FIRST(spi_leave_exit, "exit")

/* _exit(), also of a constructor that runs before the agent's: then there is nothing to end. */
static __attribute__((noreturn)) void exit_now(int status)
{
	if (spi_process_ends && spi_may(SPI_MAY_ACT | SPI_MAY_HERE)) {
		spi_exit_status = status & 0xff;
		spi_process_ends();
	}
	for (;;)
		spi_sys(SYS_exit_group, (long) status);
}
void *spi_leave_exit_now SPI_HIDDEN = (void *) exit_now;

/* _exit() goes on to nothing of libc's. Within libc daemon() and quick_exit() call it. */
#define WAYS	.ways = SPI_HOOK_ORDER | SPI_HOOK_POINTERS
const struct spi_hook spi_leave_hooks[] = {
	{ "longjmp", (void *) spi_own_longjmp, WAYS },
	{ "_longjmp", (void *) spi_own_longjmp, WAYS },
	{ "siglongjmp", (void *) spi_own_longjmp, &spi_leave_longjmp, WAYS },
	{ "__longjmp_chk", (void *) spi_own_longjmp_chk, &spi_leave_longjmp_chk, WAYS },
	{ "exit", (void *) spi_own_libc_exit, &spi_leave_exit, WAYS },
	{ "_Exit", (void *) spi_own_exit, WAYS },
	{ "_exit", (void *) spi_own_exit, WAYS | SPI_HOOK_ENTRY, .set = SPI_HOOKS_PROGRAMS,
		.lost = "calls that are open when it is called have no exits" },
	{ NULL },
};

void spi_leave_calls_begin(void)
{
	spi_payload_personality_to = (void *) spi_leave_personality;
}

static int is_payload_return(uint64_t address)
{
	for (const int32_t *c = spi_payload_calls; c < spi_payload_calls_end; c++)
		if (address == (uint64_t) c + (uint64_t) (int64_t) *c + SPI_PAYLOAD_CALL_SIZE)
			return 1;
	return 0;
}

/*
 * A payload's call, of a thunk's whose frame is at or above the place `at` of what is being recorded: that is
 * where the return address of the traced call stands, of an exit what is behind it, or, of what the payload does beside that, a
 * place within its own frames.
 */
static int is_recorder(const struct spi_registers *regs, uint64_t at)
{
	uint64_t p = spi_thunk_frame(regs) + offsetof(struct spi_frame, ra);

	return p + 8 >= at && p - at + 8 < RECORD_MOST;
}

/*
 * In a slot's code the frame is that of who gets the call's return: 1. Before the call, and where it has returned to, the stack is as
 * behind it. Then the return address is pushed again, for the exit's thunk (slots.S), which gives the slot back: what that says may be
 * another call's by now.
 */
static int slot_step(struct spi_registers *regs)
{
	uint64_t at = regs->r[SPI_DWARF_PC] - (uint64_t) spi_slot_code_base, ra;

	if (at >= SLOT_HALF)
		return 0;
	if (at % SPI_SLOT_SIZE > SPI_SLOT_RETURN && spi_memory_copy(&ra, regs->r[SPI_DWARF_SP], sizeof(ra)) == 0) {
		regs->r[SPI_DWARF_PC] = ra;
		regs->r[SPI_DWARF_SP] += 8;
	}
	return 1;
}

/*
 * From these registers, of a function's caller, up to the payload that records the call at `at`. *back: where the
 * payload's return address stands; returns the innermost signal frame below it, which interrupted it, or 0.
 */
static uint64_t record_find(struct spi_registers *regs, uint64_t at, uint64_t *back)
{
	uint64_t frame = 0;
	int is_call = 1;

	for (unsigned int i = 0; i < FRAMES_MOST; i++) {
		is_call |= slot_step(regs);
		if (spi_restorer_of(regs->r[SPI_DWARF_PC])) {
			frame = regs->r[SPI_DWARF_SP];
			is_call = 0;
			if (spi_frame_load(regs, frame) < 0)
				return 0;
			continue;
		}
		regs->r[SPI_DWARF_PC] = spi_behind_slots(regs->r[SPI_DWARF_PC]);
		if (spi_cfi_step(regs, is_call) < 0)
			return 0;
		is_call = 1;
		*back = regs->r[SPI_DWARF_SP] - 8;
		if (is_payload_return(regs->r[SPI_DWARF_PC]) && is_recorder(regs, at))
			return frame;
	}
	return 0;
}

/* Where longjmp() is to lead; 0: the buffer cannot be read. */
static uint64_t jump_target(uint64_t buffer)
{
	uint64_t word;

	if (spi_memory_copy(&word, buffer + SPI_JUMP_BUFFER_SP * 8, sizeof(word)) < 0)
		return 0;
	return spi_pointer_clear(word);
}

/* The buffer, which may end with what its use of masks makes of it (struct __jmp_buf_tag). */
static void jump_copy(struct spi_leave *leave, uint64_t from)
{
	if (from == (uint64_t) leave->jump)
		return;
	spi_bytes_set(leave->jump, 0, sizeof(leave->jump));
	if (spi_memory_copy(leave->jump, from, sizeof(leave->jump)) < 0)
		spi_memory_copy(leave->jump, from, 72);
}

static int is_jump(void *const *by)
{
	return by == &spi_leave_longjmp || by == &spi_leave_longjmp_chk;
}

static enum spi_left left_by(void *const *by)
{
	if (by == &spi_leave_exit || by == &spi_leave_exit_now)
		return SPI_LEFT_PROCESS_END;
	return is_jump(by) ? SPI_LEFT_JUMPED : SPI_LEFT_UNWOUND;
}

/* Can a record that this thread is making be completed? */
static int leave_may(const struct spi_thread *t)
{
	return !spi_thread_is_foreign(t) && t->busy < SPI_BUSY_ALWAYS && t->own && !spi_stacks_copied &&
		spi_may(SPI_MAY_ACT | SPI_MAY_HERE);
}

/* May it be done, and is there anything to do? The record's place on the stack, or 0. */
static uint64_t record_left(const struct spi_thread *t, void *const *by, uint64_t buffer)
{
	uint64_t at, target;

	if (!leave_may(t) || !(at = spi_thread_busy_at(t)))
		return 0;
	if (is_jump(by)) {
		target = jump_target(buffer);
		if (target <= at || !spi_on_own_stack(t, at) || !spi_on_own_stack(t, target))
			return 0;
	}
	return at;
}

/*
 * It cannot be completed, or there is none: an earlier one was left by other means. The thread is not recording any more then; where it counts
 * as busy over a whole call (tree/callee.c) that has its slot, which ends that. 1: it was one.
 */
static int record_lose(struct spi_thread *t, uint64_t at)
{
	uint64_t word;

	if (spi_memory_copy(&word, at, sizeof(word)) < 0 || spi_behind_slots(word) != word)
		return 0;
	t->busy--;
	spi_call_missed(SPI_LOST_LEFT);
	return 1;
}

/* leave.S. 0: go on to the function; else a struct ucontext to go on with. */
uint64_t spi_leave_look(uint64_t a, uint64_t b, void *const *by, struct spi_registers *regs)
	SPI_HIDDEN __attribute__((used));
uint64_t spi_leave_look(uint64_t a, uint64_t b, void *const *by, struct spi_registers *regs)
{
	struct spi_thread *t = &spi_thread;
	uint64_t at, back, frame, caller = regs->r[SPI_DWARF_PC];
	struct spi_leave *leave;

	if (by == &spi_leave_unwind_again)
		return 0;		/* whether it leaves another one, too, is seen when it gets there */
	do {
		struct spi_registers here = *regs;

		at = record_left(t, by, a);
		frame = at ? record_find(&here, at, &back) : 0;
	} while (!frame && at && is_jump(by) && record_lose(t, at));
	if (frame && by == &spi_leave_unwound)
		by = spi_leave_unwinder(a, b, caller, back, &b);
	if (!frame || !by)
		return 0;
	leave = &t->own->leave;
	leave->mask = spi_signals_hold(HELD) & ~SPI_MASK_STEPPED;
	leave->arguments[0] = a;
	leave->arguments[1] = b;
	leave->by = by;
	if (is_jump(by))
		jump_copy(leave, a);
	spi_slots_leave_handler(t, at, left_by(by));
	leave->back = back;
	leave->ra = *(uint64_t *) back;
	*(uint64_t *) back = (uint64_t) spi_leave_again;
	((struct spi_signal_frame *) frame)->mask = HELD;
	return frame;
}

/* On the stack of what is called then. */
struct call {
	uint64_t arguments[2];
	void *const *by;
	uint8_t jump[200];
};
_Static_assert(sizeof(struct call) <= SPI_LEAVE_CALL_SIZE && offsetof(struct call, by) == SPI_AT_LEAVE_CALL_BY &&
	sizeof(struct spi_registers) <= SPI_REGISTERS_SIZE, "arch/offsets.h");

/* leave.S, signals blocked: the record is complete. Returns the return address that it had. */
uint64_t spi_leave_take(struct call *call) SPI_HIDDEN __attribute__((used));
uint64_t spi_leave_take(struct call *call)
{
	const struct spi_leave *leave = &spi_thread.own->leave;
	uint64_t ra = leave->ra, mask = leave->mask;

	call->arguments[0] = leave->arguments[0];
	call->arguments[1] = leave->arguments[1];
	call->by = leave->by;
	if (is_jump(call->by)) {
		spi_bytes_copy(call->jump, leave->jump, sizeof(call->jump));
		call->arguments[0] = (uint64_t) call->jump;
	}
	spi_signals_release(mask);
	return ra;
}
