/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What a signal has interrupted: the frame that the kernel makes for a handler. */
#include <ucontext.h>
#include "liblttng-spi/arch/arch.h"

static greg_t *registers(const void *context)
{
	return ((ucontext_t *) context)->uc_mcontext.gregs;
}

uint64_t spi_context_pc(const void *context)
{
	return (uint64_t) registers(context)[REG_RIP];
}

uint64_t spi_context_sp(const void *context)
{
	return (uint64_t) registers(context)[REG_RSP];
}

void spi_context_pc_set(void *context, uint64_t pc)
{
	registers(context)[REG_RIP] = (greg_t) pc;
}

void spi_context_argument_set(void *context, uint64_t value)
{
	registers(context)[REG_RDI] = (greg_t) value;
}

uint64_t spi_context_trap(const void *context)
{
	return spi_context_pc(context) - 1;
}

int spi_context_steps(const void *context)
{
	return (registers(context)[REG_EFL] & (greg_t) SPI_FLAGS_TRAP) != 0;
}

/*
 * mov $SYS_rt_sigreturn, %rax or %eax; syscall. Unwinders know them by that, too (libgcc, config/i386/linux-unwind.h).
 */
int spi_code_is_restorer(const uint8_t code[])
{
	return spi_bytes_equal(code, (const uint8_t *) "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9) ||
		spi_bytes_equal(code, (const uint8_t *) "\xb8\x0f\0\0\0\x0f\x05", 7);
}

void spi_signal_frame_registers(const struct spi_signal_frame *f, struct spi_registers *regs)
{
	*regs = (struct spi_registers) { { f->rax, f->rdx, f->rcx, f->rbx, f->rsi, f->rdi, f->rbp, f->rsp,
		f->r8_to_r15[0], f->r8_to_r15[1], f->r8_to_r15[2], f->r8_to_r15[3], f->r8_to_r15[4], f->r8_to_r15[5],
		f->r8_to_r15[6], f->r8_to_r15[7], f->rip } };
}
