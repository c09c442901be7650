/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A point's stub, where its jump leads:
 *
 *		cmpl	$0, gate0(%rip)
 *		jne	record
 *		cmpl	$0, gate1(%rip)		only when there are two
 *		je	body
 *	record:	push	%rax
 *		lea	point(%rip), %rax
 *		jmp	*16(%rax)		point->thunk: [rsp] = rax, [rsp + 8] = return address
 *	body:	the moved instructions
 *		jmp	back
 *
 * The flags are dead at a function's first instruction: nothing passes a value
 * in them, and a loop that goes back there finds what a call would. Gates and
 * point are data in near memory, so while nothing records, a call costs a load, a
 * compare and three jumps.
 *
 * A trampoline is what stands where a constrained jump can reach: a jump on to
 * the stub, 5 bytes within 2 GB, else 14.
 */
#include "liblttng-spi/patch-internal.h"

/* cmpl $0, gate(%rip) */
static void emit_gate_test(struct spi_emit *e, const volatile int *gate)
{
	spi_emit_bytes(e, "\x83\x3d", 2);
	spi_emit_rel32(e, (uint64_t) gate, 1);
	spi_emit_u8(e, 0);
}

/* A short jump whose distance emit_short_land() fills in. */
static uint32_t emit_short_jump(struct spi_emit *e, uint8_t opcode)
{
	spi_emit_u8(e, opcode);
	spi_emit_u8(e, 0);
	return e->used;
}

static void emit_short_land(struct spi_emit *e, uint32_t from)
{
	if (!e->failed)
		e->rw[from - 1] = (uint8_t) (e->used - from);
}

static void emit_record(struct spi_emit *e, struct spi_point *point)
{
	int64_t distance = (int64_t) ((uint64_t) point - (e->rx + e->used + 8));

	spi_emit_u8(e, 0x50);				/* push %rax */
	if (distance == (int32_t) distance) {
		spi_emit_bytes(e, "\x48\x8d\x05", 3);	/* lea point(%rip), %rax */
		spi_emit_rel32(e, (uint64_t) point, 0);
	} else {
		spi_emit_bytes(e, "\x48\xb8", 2);	/* movabs $point, %rax */
		spi_emit_bytes(e, &point, 8);
	}
	spi_emit_u8(e, 0xff);				/* jmp *thunk(%rax) */
	spi_emit_u8(e, 0x60);
	spi_emit_u8(e, offsetof(struct spi_point, thunk));
}

void spi_stub_emit(struct spi_emit *e, struct spi_point *point, const uint8_t *bytes, const struct spi_map_insn *insns,
	unsigned int count, uint64_t moved[SPI_MAP_ENTRY_INSNS])
{
	const volatile int *first = point->gate[0], *second = point->gate[1];
	uint32_t to_record = 0, to_body = 0;

	if (!first || first == second) {
		first = second;
		second = NULL;
	}
	if (first) {
		emit_gate_test(e, first);
		if (second) {
			to_record = emit_short_jump(e, 0x75);
			emit_gate_test(e, second);
		}
		to_body = emit_short_jump(e, 0x74);
	}
	if (to_record)
		emit_short_land(e, to_record);
	emit_record(e, point);
	if (to_body)
		emit_short_land(e, to_body);
	point->body = e->rx + e->used;
	spi_relocate(e, point->address, point->object->bias, bytes, insns, count, moved);
	spi_emit_finish(e);
}

uint32_t spi_trampoline_size(uint64_t place, uint64_t to)
{
	int64_t distance = (int64_t) (to - (place + 5));

	return distance == (int32_t) distance ? 5 : SPI_TRAMPOLINE_MAX;
}

void spi_trampoline_bytes(uint64_t place, uint64_t to, uint8_t bytes[SPI_TRAMPOLINE_MAX])
{
	if (spi_trampoline_size(place, to) == 5) {
		int32_t distance = (int32_t) (to - (place + 5));

		bytes[0] = 0xe9;
		spi_bytes_copy(bytes + 1, &distance, 4);
	} else {
		spi_bytes_copy(bytes, "\xff\x25\0\0\0\0", 6);	/* jmp *(%rip), the address behind it */
		spi_bytes_copy(bytes + 6, &to, 8);
	}
}
