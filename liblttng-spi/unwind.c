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
 * abandoned, it is over as well, and the other is found the same way later.
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
 */
#include <unwind.h>
#include "liblttng-spi/core.h"

_Unwind_Reason_Code spi_slot_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class exception_class,
	struct _Unwind_Exception *exception, struct _Unwind_Context *context);

#define REG_RAX	0	/* DWARF numbers */
#define REG_RDX	1

void (*spi_unwind_resume)(struct _Unwind_Exception *exception) SPI_HIDDEN;
void spi_slot_landing(void) SPI_HIDDEN;

/* rax = the exception, rdx = the slot's return address, rsp as the called function would have left it. */
__asm__(".text\n"
	"	.p2align 4\n"
	"	.globl spi_slot_landing\n"
	"	.hidden spi_slot_landing\n"
	"	.type spi_slot_landing, @function\n"
	"spi_slot_landing:\n"
	"	.cfi_startproc\n"
	"	.cfi_def_cfa %rsp, 0\n"
	"	push %rdx\n"
	"	.cfi_def_cfa_offset 8\n"
	"	sub $8, %rsp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	mov %rax, %rdi\n"
	"	call *spi_unwind_resume(%rip)\n"
	"	ud2\n"
	"	.cfi_endproc\n"
	"	.size spi_slot_landing, . - spi_slot_landing\n");

/* This unwinder takes the slot's frame for the handler's: let it be that. */
static _Unwind_Reason_Code handle(struct _Unwind_Exception *exception, struct _Unwind_Context *context, uint64_t caller)
{
	_Unwind_Ptr (*get_ip)(struct _Unwind_Context *) = spi_symbol_beside("_Unwind_GetIP", caller);
	void (*set_ip)(struct _Unwind_Context *, _Unwind_Ptr) = spi_symbol_beside("_Unwind_SetIP", caller);
	void (*set_gr)(struct _Unwind_Context *, int, _Unwind_Word) = spi_symbol_beside("_Unwind_SetGR", caller);
	uint64_t at;

	*(void **) &spi_unwind_resume = spi_symbol_beside("_Unwind_Resume", caller);
	if (!get_ip || !set_ip || !set_gr || !spi_unwind_resume)
		return _URC_CONTINUE_UNWIND;
	at = get_ip(context) - (uint64_t) spi_slot_code_base;
	if (at >= (uint64_t) SPI_SLOT_COUNT * SPI_SLOT_SIZE)
		return _URC_CONTINUE_UNWIND;
	set_gr(context, REG_RAX, (_Unwind_Word) exception);
	set_gr(context, REG_RDX, spi_slot_data_base[at / SPI_SLOT_SIZE].ra);
	set_ip(context, (_Unwind_Ptr) spi_slot_landing);
	return _URC_INSTALL_CONTEXT;
}

_Unwind_Reason_Code spi_slot_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class exception_class,
	struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
	if (!(actions & _UA_CLEANUP_PHASE))
		return _URC_CONTINUE_UNWIND;
	spi_thread_unwound((uint64_t) __builtin_frame_address(0));
	if (actions & _UA_HANDLER_FRAME)
		return handle(exception, context, (uint64_t) __builtin_return_address(0));
	return _URC_CONTINUE_UNWIND;
}
