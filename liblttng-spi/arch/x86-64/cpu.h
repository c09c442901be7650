/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* x86-64: what arch.h promises, as far as it is inline. */
#ifndef SPI_ARCH_CPU_H
#define SPI_ARCH_CPU_H

/* ---- names ---- */

#define SPI_ARCH_NAME		"x86-64"
#define SPI_ELF_MACHINE		EM_X86_64
#define SPI_ELF_MACHINE_32	EM_386
#define SPI_ELF_INTERPRETER	"/ld-linux-x86-64.so.2"
#define SPI_AUDIT_ARCH		AUDIT_ARCH_X86_64
#define SPI_RELOC_SLOT		R_X86_64_JUMP_SLOT
#define SPI_RELOC_GLOBAL	R_X86_64_GLOB_DAT
#define SPI_RELOC_RELATIVE	R_X86_64_RELATIVE
#define SPI_RELOC_WORD		R_X86_64_64
#define SPI_LIBUNWIND_STEP	"_ULx86_64_step"
#define SPI_SYMBOL(name)	__asm__(name)

/* ---- system calls ---- */

SPI_INLINE long spi_raw6(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	register uint64_t r10 __asm__("r10") = d;
	register uint64_t r8 __asm__("r8") = e;
	register uint64_t r9 __asm__("r9") = f;
	long ret;

	__asm__ __volatile__("syscall"
		: "=a"(ret)
		: "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
		: "rcx", "r11", "memory");
	return ret;
}

SPI_INLINE long spi_raw4(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	register uint64_t r10 __asm__("r10") = d;
	long ret;

	__asm__ __volatile__("syscall"
		: "=a"(ret)
		: "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
		: "rcx", "r11", "memory");
	return ret;
}

/* ---- memory ---- */

SPI_INLINE void spi_bytes_copy(void *to, const void *from, size_t n)
{
	__asm__ __volatile__("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

SPI_INLINE void spi_bytes_set(void *to, int value, size_t n)
{
	__asm__ __volatile__("rep stosb" : "+D"(to), "+c"(n) : "a"(value) : "memory");
}

SPI_INLINE int spi_local_move(void **place, void *from, void *to)
{
	int is_moved;

	__asm__ __volatile__("cmpxchg %3, %1" : "=@ccz"(is_moved), "+m"(*place), "+a"(from) : "r"(to) : "memory");
	return is_moved;
}

SPI_INLINE uint32_t spi_local_add(uint32_t *place, uint32_t n)
{
	__asm__ __volatile__("xaddl %0, %1" : "+r"(n), "+m"(*place) : : "memory");
	return n;
}

SPI_INLINE void spi_pause(void)
{
	__builtin_ia32_pause();
}

/* ---- the clock: the TSC ---- */

#define SPI_TICKS_CLOCK			"tsc\n"
#define SPI_TICKS_CLOCKS_VIRTUAL	"kvm-clock\n", "hyperv_clocksource_tsc_page\n", "xen\n"

SPI_INLINE uint64_t spi_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

SPI_INLINE uint32_t spi_ticks_halves(uint32_t *high)
{
	uint32_t low;

	__asm__ __volatile__("rdtsc" : "=a"(low), "=d"(*high));
	return low;
}

/* ---- thread-local storage ---- */

#define SPI_JUMP_BUFFER_SP	6u	/* glibc, sysdeps/x86_64/jmpbuf-offsets.h */

SPI_INLINE uint64_t spi_thread_pointer(void)
{
	return (uint64_t) __builtin_thread_pointer();
}

/* glibc, sysdeps/x86_64/nptl/tls.h: tcbhead_t.dtv */
SPI_INLINE const uint64_t *spi_thread_blocks(void)
{
	const uint64_t *blocks;

	__asm__("mov %%fs:8, %0" : "=r"(blocks));
	return blocks;
}

/* glibc, sysdeps/unix/sysv/linux/x86_64/pointer_guard.h */
SPI_INLINE uint64_t spi_pointer_clear(uint64_t word)
{
	uint64_t guard;

	__asm__("mov %%fs:0x30, %0" : "=r"(guard));
	return (word >> 17 | word << 47) ^ guard;
}

/* ---- a thread that single-steps itself: the trap flag ---- */

#define SPI_FLAGS_TRAP		UINT64_C(0x100)

SPI_INLINE uint64_t spi_steps_pause(void)
{
	uint64_t flags = __builtin_ia32_readeflags_u64();

	if (spi_likely(!(flags & SPI_FLAGS_TRAP)))
		return 0;
	__builtin_ia32_writeeflags_u64(flags & ~SPI_FLAGS_TRAP);
	return 1;
}

SPI_INLINE void spi_steps_resume(uint64_t paused)
{
	if (spi_unlikely(paused))
		__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | SPI_FLAGS_TRAP);
}

/* ---- unwinding: psABI, 3.6.2: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8-r15, the instruction ---- */

enum { SPI_DWARF_FP = 6, SPI_DWARF_SP = 7, SPI_DWARF_PC = 16, SPI_REGISTERS = 17 };

struct spi_registers {
	uint64_t r[SPI_REGISTERS];
};

#define SPI_KEPT		8u	/* rbx, rbp, rsp, r12-r15, the instruction */
#define SPI_DWARF_KEPT		{ 3, 6, 7, 12, 13, 14, 15, 16 }
#define SPI_DWARF_KEPT_AT	{ -1, -1, -1, 0, -1, -1, 1, 2, -1, -1, -1, -1, 3, 4, 5, 6, 7 }
#define SPI_LANDING_EXCEPTION	0	/* rax */
#define SPI_LANDING_RETURN	1	/* rdx */

/* ---- registers of a call ---- */

/* As thunks.S pushes them. At an exit rax and rdx hold the return value. */
struct spi_frame {
	uint64_t rbp, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax;
	uint64_t ra;
	uint64_t stack[];
};
_Static_assert(offsetof(struct spi_frame, ra) == SPI_AT_FRAME_RA, "arch/offsets.h");

#define SPI_FRAME_NOWHERE	255u

/* psABI, 3.2.3: rdi, rsi, rdx, rcx, r8, r9. */
SPI_INLINE uint64_t *spi_frame_argument_at(struct spi_frame *frame, unsigned int n)
{
	switch (n) {
	case 0: return &frame->rdi;
	case 1: return &frame->rsi;
	case 2: return &frame->rdx;
	case 3: return &frame->rcx;
	case 4: return &frame->r8;
	default: return &frame->r9;
	}
}

SPI_INLINE uint64_t spi_frame_result(const struct spi_frame *frame)
{
	return frame->rax;
}

SPI_INLINE uint64_t spi_frame_callee(const struct spi_frame *frame)
{
	return frame->r11;
}

SPI_INLINE uint8_t spi_frame_register(unsigned int number)
{
	switch (number) {
	case 0: return offsetof(struct spi_frame, rax);
	case 1: return offsetof(struct spi_frame, rdx);
	case 2: return offsetof(struct spi_frame, rcx);
	case 4: return offsetof(struct spi_frame, rsi);
	case 5: return offsetof(struct spi_frame, rdi);
	case 6: return offsetof(struct spi_frame, rbp);
	case 8: return offsetof(struct spi_frame, r8);
	case 9: return offsetof(struct spi_frame, r9);
	case 10: return offsetof(struct spi_frame, r10);
	case 11: return offsetof(struct spi_frame, r11);
	default: return SPI_FRAME_NOWHERE;
	}
}

SPI_INLINE unsigned int spi_frame_next(unsigned int offset)
{
#define AT(field)	offsetof(struct spi_frame, field)
	static const uint8_t next[] = {
		[AT(rdi) / 8] = AT(rsi), [AT(rsi) / 8] = AT(rdx), [AT(rax) / 8] = AT(rdx), [AT(rdx) / 8] = AT(rcx),
		[AT(rcx) / 8] = AT(r8), [AT(r8) / 8] = AT(r9), [AT(r9) / 8] = AT(r9),
		[AT(rbp) / 8] = AT(rbp), [AT(r10) / 8] = AT(r10), [AT(r11) / 8] = AT(r11),
	};
#undef AT

	return offset / 8 < sizeof(next) ? next[offset / 8] : offset;
}

SPI_INLINE void spi_function_caller(const uint64_t *address, struct spi_registers *regs)
{
	*regs = (struct spi_registers) { { 0 } };
	regs->r[SPI_DWARF_FP] = address[0];
	regs->r[SPI_DWARF_SP] = (uint64_t) (address + 2);
	regs->r[SPI_DWARF_PC] = address[1];
}

SPI_INLINE void spi_frame_caller(const struct spi_frame *frame, struct spi_registers *regs)
{
	*regs = (struct spi_registers) { { 0 } };
	regs->r[SPI_DWARF_FP] = frame->rbp;
	regs->r[SPI_DWARF_SP] = (uint64_t) frame->stack;
	regs->r[SPI_DWARF_PC] = frame->ra;
}

/* The x87's top. */
SPI_INLINE void spi_long_double_result(uint8_t to[10])
{
	__asm__ __volatile__("fstpt %0\n\tfldt %0" : "=m"(*(uint8_t (*)[10]) to));
}

SPI_INLINE int spi_has_long_double_result(void)
{
	uint16_t status;

	__asm__ __volatile__("fxam\n\tfnstsw %0" : "=a"(status));
	return (status & 0x4500) != 0x4100;		/* C3, C2, C0: the register is empty */
}

/* ---- thunks and slots ---- */

#define SPI_PAYLOAD_CALL_SIZE	3u	/* call *offset(%register) */
#define SPI_SLOT_RETURN		6u

SPI_INLINE uint64_t spi_thunk_frame(const struct spi_registers *regs)
{
	return regs->r[SPI_DWARF_FP];
}

/* ---- signals ---- */

/* Behind the restorer's word: struct rt_sigframe (arch/x86/include/asm/sigframe.h of Linux). */
struct spi_signal_frame {
	uint64_t flags, link, stack[3];
	uint64_t r8_to_r15[8], rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
	uint8_t cs, other_segments[7];
	uint64_t rest[13], mask;
	int32_t number;			/* siginfo_t.si_signo; filled in with SA_SIGINFO only */
};
_Static_assert(offsetof(struct spi_signal_frame, rsp) == 160 && offsetof(struct spi_signal_frame, cs) == 184 &&
	offsetof(struct spi_signal_frame, mask) == 296 && offsetof(struct spi_signal_frame, number) == 304,
	"Linux, x86-64");

#define SPI_RESTORER_SIZE	9u
#define SPI_USER_CS		0x33u	/* the lower half of it: of 64-bit programs, Xen's as well */
/* From the restorer's word up to the stack pointer that the signal interrupted: all vector state, AMX's too. */
#define SPI_SIGNAL_FRAME_MOST	20480u
#define SPI_SIGNAL_FLAGS_MOST	0xffu	/* uc_flags: three bits (x86-64, asm/ucontext.h) */

SPI_INLINE int spi_signal_frame_may_be(const struct spi_signal_frame *frame, uint64_t at, uint64_t high)
{
	return frame->rsp > at && frame->rsp <= high && frame->rsp - at <= SPI_SIGNAL_FRAME_MOST && !frame->link &&
		frame->cs == SPI_USER_CS;
}

SPI_INLINE int spi_signal_words_may_be(const uint64_t words[2])
{
	return words[0] <= SPI_SIGNAL_FLAGS_MOST && !words[1];
}

/* ---- code that is written ---- */

#define SPI_JUMP_SIZE		5u
#define SPI_JUMP_SHORT_SIZE	2u
#define SPI_DISPLACEMENT_SIZE	4u
#define SPI_SITE_WORD_SIZE	5u		/* ModRM and a displacement */
#define SPI_CODE_TRAP		0xccu		/* int3 */
#define SPI_CODE_PREFIX		0x2eu		/* cs */
#define SPI_CODE_SPIN		{ 0xeb, 0xfe }

SPI_INLINE int spi_store_wide(uint64_t *block, uint64_t was[2], const uint64_t to[2])
{
	uint8_t done;

	__asm__ __volatile__("lock cmpxchg16b %1\n\tsetz %0"
		: "=q"(done), "+m"(*(__int128 *) block), "+a"(was[0]), "+d"(was[1])
		: "b"(to[0]), "c"(to[1])
		: "cc", "memory");
	return done;
}

SPI_INLINE void spi_store_line(uint64_t address, uint64_t word)
{
	__asm__ __volatile__("movq %1, (%0)" : : "r"(address), "r"(word) : "memory");
}

/* ---- code that is recognised ---- */

#define SPI_CALL_MOST		7u
#define SPI_START_BYTES		80u
#define SPI_START_INSN_SIZE	10u

#endif /* SPI_ARCH_CPU_H */
