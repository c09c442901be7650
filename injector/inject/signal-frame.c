/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The frame of a signal's handler.
 *
 * A handler returns to code that makes the system call rt_sigreturn, with the stack pointer at the
 * struct ucontext that the kernel has put there (arch/x86/include/asm/sigframe.h). Debuggers and
 * libgcc know that place by its two instructions. Not every such place has call frame tables; the
 * agent's has none on purpose (liblttng-spi/signals/share.c). There libdwfl cannot unwind, and the
 * registers are read from the frame.
 */
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#include "injector/inject/signal-frame.h"
#include "injector/inject/target.h"

bool spi_signal_frame_at(pid_t pid, uint64_t pc)
{
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };	/* mov $15, %rax; syscall */
	uint8_t here[sizeof(code)];

	return !spi_memory_read(pid, pc, here, sizeof(here)) && !memcmp(here, code, sizeof(code));
}

bool spi_signal_frame_registers(uint64_t context, bool (*read)(uint64_t address, uint64_t *word, void *data), void *data,
				struct user_regs_struct *regs)
{
	struct user_regs_struct u = { 0 };
	const struct {
		int number;
		unsigned long long *to;
	} all[] = {
		{ REG_R8, &u.r8 }, { REG_R9, &u.r9 }, { REG_R10, &u.r10 }, { REG_R11, &u.r11 }, { REG_R12, &u.r12 },
		{ REG_R13, &u.r13 }, { REG_R14, &u.r14 }, { REG_R15, &u.r15 }, { REG_RDI, &u.rdi }, { REG_RSI, &u.rsi },
		{ REG_RBP, &u.rbp }, { REG_RBX, &u.rbx }, { REG_RDX, &u.rdx }, { REG_RAX, &u.rax }, { REG_RCX, &u.rcx },
		{ REG_RSP, &u.rsp }, { REG_RIP, &u.rip },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		uint64_t word;

		if (!read(context + offsetof(ucontext_t, uc_mcontext.gregs) + sizeof(greg_t) * all[i].number, &word, data))
			return false;
		*all[i].to = word;
	}
	*regs = u;
	return true;
}
