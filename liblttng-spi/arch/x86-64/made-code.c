/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Code of no function's own that leads to one: what compilers and libraries make at run time, and the program's first
 * instructions, which give main() to libc.
 */
#include "liblttng-spi/arch/arch.h"

#define PAGE		4096u
#define MADE_INSNS	12u	/* that are looked at */
#define INSN_MOST	10u

static int32_t int32_at(const uint8_t *p)
{
	int32_t value;

	spi_bytes_copy(&value, p, sizeof(value));
	return value;
}

static uint64_t word_at(const uint8_t *p)
{
	uint64_t value;

	spi_bytes_copy(&value, p, sizeof(value));
	return value;
}

static int begins_with(const uint8_t *code, const char *bytes, size_t n)
{
	return spi_bytes_equal(code, (const uint8_t *) bytes, n);
}

/* An instruction's bytes, zeros where no memory is. -1: there is none at all. */
static int insn_read(uint8_t insn[INSN_MOST], uint64_t at, spi_copy_fn copy)
{
	uint64_t in_page = PAGE - at % PAGE, n = in_page < INSN_MOST ? in_page : INSN_MOST;

	for (unsigned int i = 0; i < INSN_MOST; i++)
		insn[i] = 0;
	if (copy(insn, at, n) < 0)
		return -1;
	if (n < INSN_MOST)
		copy(insn + n, at + n, INSN_MOST - n);
	return 0;
}

/* 0: there is none. */
static uint64_t word_read(uint64_t at, spi_copy_fn copy)
{
	uint64_t value = 0;

	return copy(&value, at, sizeof(value)) < 0 ? 0 : value;
}

/* gcc's code for a nested function has that one's frame in r10. */
struct made {
	spi_copy_fn copy;
	uint64_t at, r[2];	/* r10, r11 */
	int pushed;
};

/* One instruction of those that come before the jump: 1, and m->at is behind it. */
static int made_step(struct made *m, const uint8_t *p)
{
	if (begins_with(p, "\xf3\x0f\x1e\xfa", 4)) {					/* endbr64 */
		m->at += 4;
	} else if ((*p == 0x49 || *p == 0x41) && (p[1] == 0xba || p[1] == 0xbb)) {	/* mov $word, %r10 or %r11 */
		m->r[p[1] & 1] = *p == 0x49 ? word_at(p + 2) : (uint32_t) int32_at(p + 2);
		m->at += *p == 0x49 ? 10 : 6;
	} else if (begins_with(p, "\x4c\x8d\x15", 3)) {					/* lea N(%rip), %r10 */
		m->at += 7;
	} else if (*p == 0x4c && p[1] == 0x8b && (p[2] == 0x15 || p[2] == 0x1d)) {	/* mov N(%rip), %r10 or %r11 */
		m->r[p[2] == 0x1d] = word_read(m->at + 7 + (uint64_t) (int64_t) int32_at(p + 3), m->copy);
		m->at += 7;
	} else if (*p == 0x48 && p[1] == 0x83 && (p[2] == 0xec || p[2] == 0xc4)) {	/* sub, add $N, %rsp */
		m->pushed += p[2] == 0xec ? (int8_t) p[3] : -(int8_t) p[3];
		m->at += 4;
	} else if (begins_with(p, "\x4c\x89\x14\x24", 4)) {				/* mov %r10, (%rsp) */
		m->at += 4;
	} else if (begins_with(p, "\x4c\x89\x54\x24", 4) || begins_with(p, "\x4c\x8b\x54\x24", 4)) {
		/* mov %r10, N(%rsp), or back */
		m->at += 5;
	} else {
		return 0;
	}
	return 1;
}

/* Where the jump at m->at leads; 0: it is none. */
static uint64_t made_jump(const struct made *m, const uint8_t *p)
{
	if ((*p == 0x49 || *p == 0x41) && p[1] == 0xff && (p[2] == 0xe2 || p[2] == 0xe3))	/* jmp *%r10 or *%r11 */
		return m->r[p[2] & 1];
	if (*p == 0xff && p[1] == 0x25)								/* jmp *N(%rip) */
		return word_read(m->at + 6 + (uint64_t) (int64_t) int32_at(p + 2), m->copy);
	return *p == 0xe9 ? m->at + 5 + (uint64_t) (int64_t) int32_at(p + 1) : 0;
}

uint64_t spi_code_made_target(uint64_t at, spi_copy_fn copy)
{
	struct made m = { copy, at, { 0, 0 }, 0 };
	uint8_t p[INSN_MOST];

	for (unsigned int i = 0; i < MADE_INSNS && insn_read(p, m.at, copy) == 0; i++) {
		uint64_t to;

		if (made_step(&m, p))
			continue;
		to = made_jump(&m, p);
		if (!m.pushed || !to)
			return to;
		m.at = to;
	}
	return 0;
}

/*
 * Instructions that put main() into %rdi: lea main(%rip) and mov $main (glibc's crt1.o), mov from the GOT (its Scrt1.o,
 * where the linker left it as it was), movabs $main (Free Pascal).
 */
enum spi_start_gives spi_code_start_gives(const uint8_t *code, int is_first, uint64_t *value)
{
	uint64_t after = (uint64_t) code + 7;
	int is_after_rex = !is_first && code[-1] == 0x48;

	if (begins_with(code, "\x48\x8d\x3d", 3)) {
		*value = after + (uint64_t) (int64_t) int32_at(code + 3);
		return SPI_START_VALUE;
	}
	if (begins_with(code, "\x48\x8b\x3d", 3)) {
		*value = after + (uint64_t) (int64_t) int32_at(code + 3);
		return SPI_START_WORD;
	}
	*value = 0;
	if (begins_with(code, "\x48\xc7\xc7", 3))
		*value = (uint64_t) (int64_t) int32_at(code + 3);
	else if (begins_with(code, "\x48\xbf", 2))
		*value = word_at(code + 2);
	else if (code[0] == 0xbf && !is_after_rex && (uint32_t) int32_at(code + 1) > 0x10000)
		*value = (uint32_t) int32_at(code + 1);
	return *value ? SPI_START_VALUE : SPI_START_NOTHING;
}
