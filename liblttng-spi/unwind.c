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
 */
#include <unwind.h>
#include "liblttng-spi/core.h"

_Unwind_Reason_Code spi_slot_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class exception_class,
	struct _Unwind_Exception *exception, struct _Unwind_Context *context);

_Unwind_Reason_Code spi_slot_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class exception_class,
	struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
	if (actions & _UA_CLEANUP_PHASE)
		spi_thread_unwound((uint64_t) __builtin_frame_address(0));
	return _URC_CONTINUE_UNWIND;
}
