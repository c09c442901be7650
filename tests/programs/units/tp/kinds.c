/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * One call for each kind of field, place and size, with known values.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "host.h"

#define GPR SPI_PLACE_GPR
#define INT SPI_KIND_INT

static const struct host_label colours[] = {
	{"RED", 0},
	{"GREEN", 1},
	{"BLUE", 2},
	{"ALSO_BLUE", 2},
	{"a\"b\\c", 7},
	{"RED", 9},
	{"RUN", 20},
	{"RUN", 21},
};
static const struct host_label temperatures[] = { { "COLD", -5 }, { "NONE", 0 } };
static struct host_label many[2000];

static const struct host_field integers[] = {
	{"u8", INT, GPR, RDI, 1, 0},
	{"s8", INT, GPR, RSI, 1, 1},
	{"u16", INT, GPR, RDX, 2, 0},
	{"s16", INT, GPR, RCX, 2, 1},
	{"u32", INT, GPR, R8, 4, 0},
	{"s32", INT, GPR, R9, 4, 1},
	{"u64", INT, SPI_PLACE_STACK, 0, 8, 0},
	{"s64", INT, SPI_PLACE_STACK, 0, 8, 1, .offset = 8},
	{"hex", INT, SPI_PLACE_STACK, 0, 4, 0, 16, .offset = 16},
	{"part", INT, SPI_PLACE_STACK, 0, 2, 1, .offset = 22},
	{"wide", INT, SPI_PLACE_STACK, 0, 16, 0, 16, .offset = 24},
	{"upper", INT, GPR, R8, 4, 0, 16, .offset = 4},
};
static const struct host_field others[] = {
	{"ptr", SPI_KIND_POINTER, GPR, RDI, 8},
	{"yes", SPI_KIND_BOOL, GPR, RSI, 1},
	{"ch", SPI_KIND_CHAR, GPR, RDX, 1},
	{"colour", SPI_KIND_ENUM, GPR, RCX, 4, .labels = colours, .label_count = COUNT(colours), .enum_name = "colour"},
	{"temperature", SPI_KIND_ENUM, GPR, R8, 1, 1, .labels = temperatures, .label_count = 2},
	{"many", SPI_KIND_ENUM, GPR, R9, 4, .labels = many, .label_count = COUNT(many)},
	{"f", SPI_KIND_FLOAT, SPI_PLACE_XMM, 0, 4},
	{"d", SPI_KIND_FLOAT, SPI_PLACE_XMM, 1, 8},
	{"f2", SPI_KIND_FLOAT, SPI_PLACE_XMM, 7, 4, .offset = 4},
	{"ld", SPI_KIND_LONG_DOUBLE, SPI_PLACE_STACK, 0, 16, .offset = 16},
	{"bits", INT, GPR, RBP, 4, 0, .bit_offset = 3, .bit_size = 5},
	{"sbits", INT, GPR, RBP, 4, 1, .bit_offset = 8, .bit_size = 4},
	{"wbits", INT, SPI_PLACE_STACK, 0, 8, 0, 16, .offset = 32, .bit_offset = 7, .bit_size = 63},
	{"none", INT, SPI_PLACE_NONE, 0, 4},
	{"seven", INT, SPI_PLACE_CONSTANT, 0, 4, 1, .offset = -7, .length = -1u},
	{"third", SPI_KIND_FLOAT, SPI_PLACE_CONSTANT, 0, 8, .length = 0x3fd00000},
	{"flag", SPI_KIND_BOOL, SPI_PLACE_CONSTANT, 0, 1, .offset = 1},
	{"mark", SPI_KIND_STRING, SPI_PLACE_CONSTANT, 0, 8},
	{"gone", SPI_KIND_FLOAT, SPI_PLACE_OPTIMISED_OUT, 0, 8},
};
static const struct host_field texts[] = {
	{"plain", SPI_KIND_STRING, GPR, RDI, 8},
	{"null", SPI_KIND_STRING, GPR, RSI, 8},
	{"wild", SPI_KIND_STRING, GPR, RDX, 8},
	{"lost", SPI_KIND_STRING, SPI_PLACE_NONE, 0, 8},
	{"longer", SPI_KIND_STRING, GPR, RCX, 8},
	{"edge", SPI_KIND_STRING, GPR, R8, 8},
	{"text", SPI_KIND_TEXT, SPI_PLACE_STACK, 0, 1, .length = 12},
	{"array", SPI_KIND_INT_ARRAY, SPI_PLACE_STACK, 0, 2, 1, .offset = 16, .length = 3},
	{"mem", INT, SPI_PLACE_MEMORY, R9, 4, 1, .offset = 4},
	{"bad", INT, SPI_PLACE_MEMORY, RSI, 4, 1},
	{"memtext", SPI_KIND_TEXT, SPI_PLACE_MEMORY, R9, 1, .offset = 8, .length = 6},
	{"memstr", SPI_KIND_STRING, SPI_PLACE_MEMORY, R9, 8, .offset = 16},
	{"end", INT, GPR, R10, 1},
};
#define LENGTH(place, reg, offset) ((place) | (reg) << 8 | (uint32_t) (offset) << 16)	/* struct spi_map_other */
static const struct host_field pointed[] = {
	{"stack", INT, SPI_PLACE_STACK_MEMORY, 2, 4, 1, .offset = 4},
	{"counted", SPI_KIND_COUNTED, GPR, RDI, 8, .length = LENGTH(GPR, RSI, 0)},
	{"fixed", SPI_KIND_COUNTED, SPI_PLACE_STACK, 0, 8, .offset = 24, .length = LENGTH(SPI_PLACE_NONE, 0, 3)},
	{"far", SPI_KIND_COUNTED, SPI_PLACE_STACK_MEMORY, 2, 8, .offset = 16, .length = LENGTH(SPI_PLACE_STACK, 0, 32)},
	{"nothing", SPI_KIND_COUNTED, GPR, RCX, 8, .length = LENGTH(GPR, RSI, 0)},
	{"wild", SPI_KIND_COUNTED, GPR, RDX, 8, .length = LENGTH(GPR, RSI, 0)},
	{"empty", SPI_KIND_COUNTED, GPR, RDI, 8, .length = LENGTH(GPR, RCX, 0)},
	{"long", SPI_KIND_COUNTED, GPR, R8, 8, .length = LENGTH(GPR, R9, 0)},
	{"apart", SPI_KIND_DIFFERENCE, SPI_PLACE_STACK, 0, 8, 1, .offset = 32, .bit_offset = 1, .length = LENGTH(GPR, R9, 0)},
	{"behind", INT, SPI_PLACE_STACK_MEMORY, 5, 4, 1},
	{"end", INT, GPR, R10, 1},
};
/* names that no reader would take as they are */
static const struct host_field odd[] = {
	{"a.b", INT, GPR, RDI, 4, 1},
	{"a b", INT, GPR, RSI, 4, 1},
	{"", INT, GPR, RDX, 4, 1},
	{"3rd", INT, GPR, RCX, 4, 1},
	{"operator<<", INT, GPR, R8, 4, 1},
	{"event", INT, GPR, R9, 4, 1},
};
static const struct host_field ret_ld[] = { { "ret", SPI_KIND_LONG_DOUBLE, SPI_PLACE_X87, 0, 16 } };
static const struct host_field ret_two[] = {
	{ "ret_a", INT, GPR, RAX, 8, 1 }, { "ret_b", INT, GPR, RDX, 8, 1 },
	{ "ret_t", SPI_KIND_TEXT, GPR, RAX, 1, .length = 12 },
};
static const struct host_field ret_float[] = { { "ret", SPI_KIND_FLOAT, SPI_PLACE_XMM, 0, 8 } };
static const struct host_field ret_mem[] = { { "ret_x", INT, SPI_PLACE_MEMORY, RAX, 4, 1 } };

static const struct host_func funcs[] = {
	{ "integers", integers, ret_two, COUNT(integers), COUNT(ret_two) },
	{ "others", others, ret_float, COUNT(others), 1 },
	{ "texts", texts, ret_ld, COUNT(texts), 1 },
	{ "pointed", pointed, NULL, COUNT(pointed), 0 },
	{ "ns::Odd<int, 3>::operator()", odd, ret_mem, COUNT(odd), 1 },
	{ "operator\"\" _km", NULL, NULL, 0, 0 },
};

static void call(struct spi_point *point, struct host_frame *frame, uint64_t rax, uint64_t rdx)
{
	struct spi_slot *slot = host_enter(point, frame);

	frame->f.rax = rax;
	frame->f.rdx = rdx;
	host_leave(slot, frame);
}

static void put(uint8_t *to, const void *from, size_t n)
{
	memcpy(to, from, n);
}

int main(int argc, char **argv)
{
	struct spi_point *p[COUNT(funcs)];
	struct host_frame *f = host_frame(0);
	uint32_t flags = argc > 1 && !strcmp(argv[1], "one") ? SPI_POINT_ONE_EVENT : 0;
	float f0 = 3.25f, f7 = -0.5f;
	double d1 = 2.718281828459045;
	long double ld = 1.0L / 3.0L;
	struct {
		int32_t a, b;
		char text[8];
		const char *s;
	} memory = { 1, -77, "memory!", "behind" };
	char longer[600], *edge;
	uint64_t ret[2] = { 0 };

	for (size_t i = 0; i < COUNT(many); i++)
		many[i] = (struct host_label) { "M", (int64_t) i * 2 };
	memset(longer, 'x', sizeof(longer) - 1);
	longer[599] = '\0';
	edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(edge + 4096, 4096, PROT_NONE);
	memcpy(edge + 4091, "edge!", 5);	/* no NUL before the hole */

	host_start();
	host_bind(funcs, COUNT(funcs), flags, p);

	f->f.rdi = 250 | 0xdead00;
	f->f.rsi = 0xfd;
	f->f.rdx = 65000;
	f->f.rcx = 0xfed4;
	f->f.r8 = 0x1234567800000000 | 4000000000;
	f->f.r9 = 0xfffffffffffffffc;
	f->stack[0] = 1ull << 63;
	f->stack[1] = -1ull;
	f->stack[2] = 0xfffe0000deadbeef;
	f->stack[3] = 0x1122334455667788;
	memcpy(ret, "twelve chars", 12);
	call(p[0], f, ret[0], ret[1]);

	f->f.rdi = 0xabcdef;
	f->f.rsi = 1;
	f->f.rdx = 'Q';
	f->f.rcx = 21;
	f->f.r8 = (uint8_t) -5;
	f->f.r9 = 4;
	f->f.rbp = 21 << 3 | 0xd << 8;
	put(host_vectors[0], &f0, 4);
	put(host_vectors[1], &d1, 8);
	put(host_vectors[7] + 4, &f7, 4);
	memcpy(&f->stack[2], &ld, 10);
	f->stack[4] = 0x123456789abcdefull << 7;
	f->stack[5] = 0x40;
	struct spi_slot *slot = host_enter(p[1], f);
	put(host_vectors[0], &d1, 8);
	host_leave(slot, f);

	f->f.rdi = (uint64_t) "hello, world";
	f->f.rsi = 0;
	f->f.rdx = 0x10;
	f->f.rcx = (uint64_t) longer;
	f->f.r8 = (uint64_t) edge + 4091;
	f->f.r9 = (uint64_t) &memory;
	f->f.r10 = 99;
	memcpy(&f->stack[0], "twelve chars", 12);
	int16_t array[3] = { 1, -2, 3 };
	memcpy(&f->stack[2], array, 6);
	slot = host_enter(p[2], f);
	__asm__ __volatile__("fldt %0" : : "m" (ld));
	host_leave(slot, f);
	__asm__ __volatile__("fstpt %0" : "=m" (ld));
	printf("st0 kept: %d\n", ld == 1.0L / 3.0L);

	f->f.rsi = 5;
	f->f.rcx = 0;
	f->f.r8 = (uint64_t) longer;
	f->f.r9 = 599;
	f->stack[2] = (uint64_t) &memory;
	f->stack[3] = (uint64_t) "abcdef";
	f->stack[4] = 4;
	f->stack[5] = 0x10;
	call(p[3], f, 0, 0);

	f->f.rdi = 1, f->f.rsi = 2, f->f.rdx = 3, f->f.rcx = 4, f->f.r8 = 5, f->f.r9 = 6;
	call(p[4], f, (uint64_t) &memory.b, 0);
	call(p[5], f, 0, 0);
	printf("unreadable: %lu\n", (unsigned long) host_count().strings_unreadable);
	return 0;
}
