/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What an unwinder asks of a return slot's frame. The slot arena's FDE names this
 * personality routine (slots.S); it never handles anything, but in the second
 * phase, when frames are really left, it records the end of the slot's call. That
 * covers C++ and Rust exceptions and the forced unwinding behind pthread_exit()
 * and pthread_cancel().
 *
 * Which slot it is could be asked with _Unwind_GetIP(), but of the right
 * unwinder: a program may have several, linked in statically, and their contexts
 * differ. The stack tells as well: frames are left from the inside out, so it is
 * the live slot nearest above the stack pointer. Should that be one which longjmp
 * abandoned, it is over as well, and the other is found the same way later. Only where frames
 * are copied off the stack and back (calls/slots.c), and where a signal's handler unwinds a thunk that it interrupted, which may
 * have given its slot back, the unwinder is asked, by the function beside the one that called us.
 *
 * The slot is marked, not taken off: the unwinder reads its return address again
 * after this returns.
 *
 * LLVM's unwinder knows the frame that handles the exception by its stack pointer,
 * and a slot's is the same as that of the frame which the slot returns to. So it
 * takes the slot for the handler, and gives up when that does not handle. There
 * the slot does: it is entered in a few instructions of ours that put its return
 * address back on the stack and go on unwinding as a cleanup does, now from a frame
 * like any other. (libgcc's tells them apart: slots.S.)
 *
 * The other libunwind (nongnu.org) takes a frame with augmentation 'S' for a ucontext on the stack: unw_backtrace() goes on
 * wherever that leads, and who handles an exception above such a frame is entered by sigreturn. And what is to be another
 * address it writes where the return address came from. So in a process that has it the letter goes, the return address is
 * the slot's word, and libgcc's unwinder finds slots as LLVM's does. (Where that is linked in statically there is no way
 * to help it: so in other processes the letter is there.)
 */
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unwind.h>
#include "liblttng-spi/arch/offsets.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/cfi/cfi.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/unwind/internal.h"

#define NEARER_MOST	4

int spi_unwind_exact;
void (*spi_unwind_resume)(struct _Unwind_Exception *exception) SPI_HIDDEN;

static int frames_change(void)
{
	uint8_t *fde = (uint8_t *) spi_cfi_find((uint64_t) spi_slot_code_base), *cie = fde ? fde + 4 - *(const uint32_t *) (fde + 4) : NULL;
	uint8_t *rule = fde ? spi_slot_rule_find(fde) : NULL;
	uint64_t low = SPI_PAGE_OF((uint64_t) cie), high = SPI_PAGE_OF((uint64_t) rule + SPI_SLOT_RULE_SIZE - 1) + SPI_PAGE;

	if (!rule || !spi_slot_rule_is_usual(cie) ||
			spi_sys(SYS_mprotect, low, (long) (high - low), (long) (PROT_READ | PROT_WRITE)) < 0)
		return -1;
	spi_slot_rule_exact(cie, rule);
	spi_sys(SYS_mprotect, low, (long) (high - low), (long) PROT_READ);
	spi_unwind_exact = 1;
	return 0;
}

/* Before any slot is used where the object is there from the beginning. Control lock; the loader's, too, where it was just loaded. */
void spi_unwind_look(const struct dl_phdr_info *info)
{
	static int done;

	if (done || !spi_object_defines(info, SPI_LIBUNWIND_STEP))
		return;
	done = 1;
	if (frames_change() < 0)
		spi_note("the frames of traced calls cannot be told to libunwind as it needs it");
}

/* The slot whose frame this is. NULL: the unwinder does not tell. */
static struct spi_slot *slot_of(struct _Unwind_Context *context, uint64_t caller)
{
	_Unwind_Ptr (*get_ip)(struct _Unwind_Context *) = spi_symbol_beside("_Unwind_GetIP", caller);
	uint64_t at = get_ip ? get_ip(context) - (uint64_t) spi_slot_code_base : UINT64_MAX;

	return at < (uint64_t) SPI_SLOT_COUNT * SPI_SLOT_SIZE ? &spi_slot_data_base[at / SPI_SLOT_SIZE] : NULL;
}

/* Those that lie nearer go before it: a call that was about to be made when a signal came has a slot already. */
static void unwound_asked(struct _Unwind_Context *context, uint64_t caller)
{
	const uint64_t sp = (uint64_t) __builtin_frame_address(0);
	struct spi_slot *slot = slot_of(context, caller);

	if (!slot || slot->p == SPI_SLOT_DEAD || !slot->target)
		return;
	for (int i = 0; i < NEARER_MOST && slot->state == SPI_SLOT_LIVE; i++)
		if (!spi_thread_unwound(sp))
			break;
	spi_slot_unwound(slot);
}

/* Is it to be asked? */
static int is_unsure(void)
{
	struct spi_thread_own *own = spi_thread.own;

	if (!own || !own->slot_unsure)
		return 0;
	own->slot_unsure = 0;
	return 1;
}

/* This unwinder takes the slot's frame for the handler's: let it be that. */
static _Unwind_Reason_Code handle(struct _Unwind_Exception *exception, struct _Unwind_Context *context, uint64_t caller)
{
	void (*set_ip)(struct _Unwind_Context *, _Unwind_Ptr) = spi_symbol_beside("_Unwind_SetIP", caller);
	void (*set_gr)(struct _Unwind_Context *, int, _Unwind_Word) = spi_symbol_beside("_Unwind_SetGR", caller);
	struct spi_slot *slot = slot_of(context, caller);

	*(void **) &spi_unwind_resume = spi_symbol_beside("_Unwind_Resume", caller);
	if (!slot || !set_ip || !set_gr || !spi_unwind_resume)
		return _URC_CONTINUE_UNWIND;
	set_gr(context, SPI_LANDING_EXCEPTION, (_Unwind_Word) exception);
	set_gr(context, SPI_LANDING_RETURN, slot->ra);
	set_ip(context, (_Unwind_Ptr) spi_slot_landing);
	return _URC_INSTALL_CONTEXT;
}

static _Unwind_Reason_Code personality(int version, _Unwind_Action actions, _Unwind_Exception_Class exception_class,
	struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
	if (!(actions & _UA_CLEANUP_PHASE))
		return _URC_CONTINUE_UNWIND;
	if (is_unsure() || !spi_thread_unwound((uint64_t) __builtin_frame_address(0)))
		unwound_asked(context, (uint64_t) __builtin_return_address(0));
	if (actions & _UA_HANDLER_FRAME)
		return handle(exception, context, (uint64_t) __builtin_return_address(0));
	return _URC_CONTINUE_UNWIND;
}

void spi_unwind_init(void)
{
	spi_slot_personality_to = (void *) personality;
}
