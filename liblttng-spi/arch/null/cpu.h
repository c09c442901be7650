/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * No processor: what arch.h promises, so that the agent compiles, links, and declines every point. A new architecture
 * begins with a copy of this directory. tests/agent/arch/arch-null.t builds with it (-DSPI_ARCH_NULL).
 */
#ifndef SPI_ARCH_CPU_H
#define SPI_ARCH_CPU_H

#include <errno.h>

#define SPI_NOT_SUPPORTED	"this processor is not supported"

/* ---- names ---- */

#define SPI_ARCH_NAME		"unknown"
#define SPI_ELF_MACHINE		EM_NONE
#define SPI_ELF_MACHINE_32	EM_NONE
#define SPI_ELF_INTERPRETER	"/ld.so"
#define SPI_AUDIT_ARCH		0u
#define SPI_RELOC_SLOT		1u
#define SPI_RELOC_GLOBAL	2u
#define SPI_RELOC_RELATIVE	3u
#define SPI_RELOC_WORD		4u
#define SPI_LIBUNWIND_STEP	"_UL_step"
#define SPI_SYMBOL(name)	__asm__(name)

/* ---- system calls ---- */

SPI_INLINE long spi_raw6(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	return -ENOSYS;
}

SPI_INLINE long spi_raw4(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return spi_raw6(nr, a, b, c, d, 0, 0);
}

/* ---- memory ---- */

SPI_INLINE void spi_bytes_copy(void *to, const void *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((volatile uint8_t *) to)[i] = ((const volatile uint8_t *) from)[i];
}

SPI_INLINE void spi_bytes_set(void *to, int value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((volatile uint8_t *) to)[i] = (uint8_t) value;
}

SPI_INLINE int spi_local_move(void **place, void *from, void *to)
{
	return __atomic_compare_exchange_n(place, &from, to, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

SPI_INLINE uint32_t spi_local_add(uint32_t *place, uint32_t n)
{
	return __atomic_fetch_add(place, n, __ATOMIC_RELAXED);
}

SPI_INLINE void spi_pause(void)
{
}

/* ---- the clock ---- */

#define SPI_TICKS_CLOCK			""
#define SPI_TICKS_CLOCKS_VIRTUAL	""

SPI_INLINE uint64_t spi_ticks(void)
{
	return 0;
}

SPI_INLINE uint32_t spi_ticks_halves(uint32_t *high)
{
	return *high = 0;
}

/* ---- thread-local storage ---- */

#define SPI_JUMP_BUFFER_SP	0u

SPI_INLINE uint64_t spi_thread_pointer(void)
{
	return (uint64_t) __builtin_thread_pointer();
}

SPI_INLINE const uint64_t *spi_thread_blocks(void)
{
	static const uint64_t none[4];

	return none + 2;
}

SPI_INLINE uint64_t spi_pointer_clear(uint64_t word)
{
	return word;
}

/* ---- a thread that single-steps itself ---- */

SPI_INLINE uint64_t spi_steps_pause(void)
{
	return 0;
}

SPI_INLINE void spi_steps_resume(uint64_t paused)
{
}

/* ---- unwinding ---- */

enum { SPI_DWARF_FP, SPI_DWARF_SP, SPI_DWARF_PC, SPI_REGISTERS };

struct spi_registers {
	uint64_t r[SPI_REGISTERS];
};

#define SPI_KEPT		3u
#define SPI_DWARF_KEPT		{ 0, 1, 2 }
#define SPI_DWARF_KEPT_AT	{ 0, 1, 2 }
#define SPI_LANDING_EXCEPTION	0
#define SPI_LANDING_RETURN	1

/* ---- registers of a call ---- */

struct spi_frame {
	uint64_t argument;
	uint64_t ra;
	uint64_t stack[];
};

#define SPI_FRAME_NOWHERE	255u

SPI_INLINE uint64_t *spi_frame_argument_at(struct spi_frame *frame, unsigned int n)
{
	return &frame->argument;
}

SPI_INLINE uint64_t spi_frame_result(const struct spi_frame *frame)
{
	return 0;
}

SPI_INLINE uint64_t spi_frame_callee(const struct spi_frame *frame)
{
	return frame->argument;
}

SPI_INLINE uint8_t spi_frame_register(unsigned int number)
{
	return SPI_FRAME_NOWHERE;
}

SPI_INLINE unsigned int spi_frame_next(unsigned int offset)
{
	return offset;
}

SPI_INLINE void spi_function_caller(const uint64_t *address, struct spi_registers *regs)
{
	*regs = (struct spi_registers) { { 0 } };
}

SPI_INLINE void spi_frame_caller(const struct spi_frame *frame, struct spi_registers *regs)
{
	*regs = (struct spi_registers) { { 0 } };
}

SPI_INLINE void spi_long_double_result(uint8_t to[10])
{
	spi_bytes_set(to, 0, 10);
}

SPI_INLINE int spi_has_long_double_result(void)
{
	return 0;
}

/* ---- thunks and slots ---- */

#define SPI_PAYLOAD_CALL_SIZE	4u
#define SPI_SLOT_RETURN		4u

SPI_INLINE uint64_t spi_thunk_frame(const struct spi_registers *regs)
{
	return regs->r[SPI_DWARF_FP];
}

/* ---- signals ---- */

struct spi_signal_frame {
	uint64_t mask;
	int32_t number;
};

#define SPI_RESTORER_SIZE	8u

SPI_INLINE int spi_signal_frame_may_be(const struct spi_signal_frame *frame, uint64_t at, uint64_t high)
{
	return 0;
}

SPI_INLINE int spi_signal_words_may_be(const uint64_t words[2])
{
	return 0;
}

/* ---- code that is written ---- */

#define SPI_JUMP_SIZE		5u
#define SPI_JUMP_SHORT_SIZE	2u
#define SPI_DISPLACEMENT_SIZE	4u
#define SPI_SITE_WORD_SIZE	5u
#define SPI_CODE_TRAP		0u
#define SPI_CODE_PREFIX		0u
#define SPI_CODE_SPIN		{ 0, 0 }

SPI_INLINE int spi_store_wide(uint64_t *block, uint64_t was[2], const uint64_t to[2])
{
	return 1;
}

SPI_INLINE void spi_store_line(uint64_t address, uint64_t word)
{
}

/* ---- code that is recognised ---- */

#define SPI_CALL_MOST		1u
#define SPI_START_BYTES		0u
#define SPI_START_INSN_SIZE	0u

#endif /* SPI_ARCH_CPU_H */
