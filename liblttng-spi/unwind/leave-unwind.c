/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Handlers that leave the record they interrupted by an unwinder: pthread_exit(), a cancellation point, an exception.
 *
 * The unwinder asks the personality routine of each thunk's frame (thunks.S; leave.S) when the frames below it have been left, the
 * handler's, with its cleanups, among them. All of it still stands on the stack then. So the record is completed as it is
 * for siglongjmp() (leave.c), and who unwinds is called anew from where its payload has returned to. An exception is
 * looked for a handler once more that way, a forced unwinding goes on with the function that stops it, as
 * _Unwind_Resume() would do it: both are in the exception (Itanium C++ ABI, exception handling, 1.3 and 1.6: private_1 is
 * the function that stops it, or 0, private_2 what that gets; libgcc, LLVM's and the other libunwind keep to that).
 */
#include <stdlib.h>
#include <unwind.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/unwind/internal.h"

/*
 * What leave.S goes on to where there is nothing to complete: the personality's answer. The slot that a thunk's frame returns to may not be a
 * call's any more.
 */
static uint64_t goes_on(void)
{
	if (spi_thread.own)
		spi_thread.own->slot_unsure = 1;
	return _URC_CONTINUE_UNWIND;
}

void *spi_leave_unwound SPI_HIDDEN = (void *) goes_on;

static void unwind_again(uint64_t exception, uint64_t function)
{
	struct _Unwind_Exception *e = (struct _Unwind_Exception *) exception;

	if (e->private_1)
		((_Unwind_Reason_Code (*)(struct _Unwind_Exception *, _Unwind_Stop_Fn, void *)) function)(
			e, (_Unwind_Stop_Fn) e->private_1, (void *) e->private_2);
	else
		((_Unwind_Reason_Code (*)(struct _Unwind_Exception *)) function)(e);
	abort();			/* as who was unwinding does: nobody takes it any more */
}

void *const spi_leave_unwind_again SPI_HIDDEN = (void *) unwind_again;

void *const *spi_leave_unwinder(uint64_t exception, uint64_t context, uint64_t caller, uint64_t back, uint64_t *function)
{
	const struct _Unwind_Exception *e = (const struct _Unwind_Exception *) exception;
	_Unwind_Word (*get_cfa)(struct _Unwind_Context *) = spi_symbol_beside("_Unwind_GetCFA", caller);

	/* the stack pointer of the frame that is left, as it is once what it called has returned */
	if (!get_cfa || get_cfa((struct _Unwind_Context *) context) != back + 8)
		return NULL;
	*function = (uint64_t) spi_symbol_beside(e->private_1 ? "_Unwind_ForcedUnwind" : "_Unwind_RaiseException", caller);
	return *function ? &spi_leave_unwind_again : NULL;
}
