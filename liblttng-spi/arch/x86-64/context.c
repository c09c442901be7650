/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What a signal has interrupted: the frame that the kernel makes for a handler. */
#include <sched.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include "liblttng-spi/arch/arch.h"

long spi_call_apart(void (*function)(void *), void *data, void *stack_end)
{
	register void (*entry)(void *) __asm__("r12") = function;
	register void *argument __asm__("r13") = data;
	long r;

	/* what the child may overwrite, the parent goes on without: its registers are its own */
	__asm__ volatile("xor %%edx, %%edx\n\txor %%r10d, %%r10d\n\txor %%r8d, %%r8d\n\tsyscall\n\t"
		"test %%rax, %%rax\n\tjnz 1f\n\t"
		"xor %%ebp, %%ebp\n\tmov %%r13, %%rdi\n\tcall *%%r12\n\txor %%edi, %%edi\n\tmov %[exit], %%eax\n\tsyscall\n"
		"1:"
		: "=a" (r)
		: "0" ((long) SYS_clone), "D" ((long) (CLONE_VM | CLONE_VFORK)), "S" (stack_end), "r" (entry), "r" (argument),
		  [exit] "i" (SYS_exit)
		: "rcx", "rdx", "r8", "r10", "r11", "memory", "cc");
	return r;
}

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

void spi_context_registers(const void *context, struct spi_registers *regs)
{
	const greg_t *r = registers(context);

	*regs = (struct spi_registers) { {
		(uint64_t) r[REG_RAX], (uint64_t) r[REG_RDX], (uint64_t) r[REG_RCX], (uint64_t) r[REG_RBX],
		(uint64_t) r[REG_RSI], (uint64_t) r[REG_RDI], (uint64_t) r[REG_RBP], (uint64_t) r[REG_RSP],
		(uint64_t) r[REG_R8], (uint64_t) r[REG_R9], (uint64_t) r[REG_R10], (uint64_t) r[REG_R11],
		(uint64_t) r[REG_R12], (uint64_t) r[REG_R13], (uint64_t) r[REG_R14], (uint64_t) r[REG_R15],
		(uint64_t) r[REG_RIP] } };
}

/* The kernel has set the instruction pointer back to the system call that begins anew: signal(7), SA_RESTART. */
int spi_context_system_call(const void *context, uint64_t call[7])
{
	const greg_t *r = registers(context);

	if (!spi_bytes_equal((const uint8_t *) r[REG_RIP], (const uint8_t *) "\x0f\x05", 2))
		return 0;
	call[0] = (uint64_t) r[REG_RAX];
	call[1] = (uint64_t) r[REG_RDI];
	call[2] = (uint64_t) r[REG_RSI];
	call[3] = (uint64_t) r[REG_RDX];
	call[4] = (uint64_t) r[REG_R10];
	call[5] = (uint64_t) r[REG_R8];
	call[6] = (uint64_t) r[REG_R9];
	return 1;
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
