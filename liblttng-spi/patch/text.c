/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Changing code that other threads run, without stopping them.
 *
 * What the processors guarantee is little: a store to one aligned 8-byte word is
 * seen whole or not at all by a core that fetches instructions from it. So what
 * fits is written by one store (STORE). What does not is written behind a
 * transient: first the head becomes something that keeps threads out, then the
 * rest is written, then the head; and between two steps every core that runs
 * this process passes a serialising instruction: membarrier's SYNC_CORE. Leaving
 * those out crashes.
 *
 *	SPIN	the head is a jump to itself: threads wait a few microseconds
 *	WIDE	one locked 16-byte exchange, for what fits an aligned block of that size
 *	LINE	one store across the end of such a block, inside a cache line: held
 *		on every machine that was tried, promised by none; where nothing else
 *		is left
 *	CC	the head is int3: threads go by SIGTRAP (one instruction, of which two bytes
 *		do not fit a word). Where several instructions are overwritten, a thread may
 *		be about to run any of them, now or when it comes back from a signal. Every byte
 *		that an instruction begins at is int3 whenever bytes around it are in
 *		flux, and stays int3 while the jump is there: the displacement was
 *		chosen so. The trap table leads each to its copy.
 *
 * Meanwhile this thread takes no signal (a handler could run into a transient and
 * wait for itself) and calls nothing outside the agent (libc may be what is being
 * changed).
 *
 * The pages are made writable for the moment and then get back the rights that
 * /proc/self/maps said they had. Neighbours share one mprotect(), so a thousand
 * points take a few milliseconds.
 */
#include <fcntl.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/patch/internal.h"

#define GAP_PAGES	128u	/* untouched pages between two points that one mprotect() still spans */
#define TRANSIENTS_MAX	32u	/* points that are in a transient at the same time */

static int can_sync;	/* 0: not asked yet; 1: yes; -1: no */

static long sync_now(void)
{
	return spi_raw3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
}

/* Registering takes a process with threads 10 ms and more (an RCU grace period), and most points need no membarrier. */
int spi_text_can_sync(void)
{
	if (!can_sync)
		can_sync = spi_raw3(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0 &&
			sync_now() == 0 ? 1 : -1;
	return can_sync > 0;
}

/* In the child of a fork(), alone: what the parent could, it may have to do for its points. */
void spi_text_fork_child(void)
{
	if (!can_sync)
		return;
	can_sync = 0;
	spi_text_can_sync();
}

void spi_text_sync(void)
{
	if (spi_text_can_sync())
		sync_now();
}

/* ---- stores ---- */

static void store_byte(uint64_t address, uint8_t value)
{
	__atomic_store_n((uint8_t *) address, value, __ATOMIC_RELEASE);
}

/* n bytes inside one aligned 8-byte word, by one store. */
static void store_word(uint64_t address, const uint8_t *bytes, uint32_t n)
{
	uint64_t *word = (uint64_t *) (address & ~UINT64_C(7));
	union {
		uint64_t word;
		uint8_t bytes[8];
	} u;

	if (n == 1) {
		store_byte(address, bytes[0]);
		return;
	}
	u.word = *word;
	for (uint32_t i = 0; i < n; i++)
		u.bytes[(address & 7) + i] = bytes[i];
	__atomic_store_n(word, u.word, __ATOMIC_RELEASE);
}

/* n bytes inside one aligned block of 16, by one locked exchange. */
static void store_wide(uint64_t address, const uint8_t *bytes, uint32_t n)
{
	uint64_t *block = (uint64_t *) (address & ~UINT64_C(15));
	union {
		uint64_t word[2];
		uint8_t bytes[16];
	} u;
	uint64_t was[2] = { block[0], block[1] };

	do {
		u.word[0] = was[0];
		u.word[1] = was[1];
		for (uint32_t i = 0; i < n; i++)
			u.bytes[(address & 15) + i] = bytes[i];
	} while (!spi_store_wide(block, was, u.word));
}

/* n bytes by one 8-byte store that stays inside the cache line. */
static void store_line(uint64_t address, const uint8_t *bytes, uint32_t n)
{
	uint64_t at = (address & 63) > 56 ? (address & ~UINT64_C(63)) + 56 : address;
	union {
		uint64_t word;
		uint8_t bytes[8];
	} u;

	spi_bytes_copy(u.bytes, (const void *) at, 8);
	for (uint32_t i = 0; i < n; i++)
		u.bytes[address - at + i] = bytes[i];
	spi_store_line(at, u.word);
}

/* How many bytes at the head the transient takes, and what is in them. */
static uint32_t transient_head(const struct spi_text_op *op)
{
	return op->how == SPI_TEXT_SPIN ? 2 : 1;
}

static int is_bound(const struct spi_text_op *op, uint32_t byte)
{
	return op->bounds >> byte & 1;
}

enum step { STEP_HEAD, STEP_BOUNDS, STEP_REST, STEP_FINAL };

static void transient_step(const struct spi_text_op *op, enum step step)
{
	static const uint8_t spin[SPI_JUMP_SHORT_SIZE] = SPI_CODE_SPIN;
	uint32_t head = transient_head(op);

	switch (step) {
	case STEP_HEAD:
		if (op->how == SPI_TEXT_SPIN)
			store_word(op->address, spin, sizeof(spin));
		else
			store_byte(op->address, SPI_CODE_TRAP);
		break;
	case STEP_BOUNDS:
		for (uint32_t i = head; i < op->size; i++)
			if (is_bound(op, i))
				store_byte(op->address + i, SPI_CODE_TRAP);
		break;
	case STEP_REST:
		for (uint32_t i = head; i < op->size; i++)
			if (!is_bound(op, i))
				store_byte(op->address + i, op->to[i]);
		break;
	case STEP_FINAL:
		for (uint32_t i = head; i < op->size; i++)
			if (is_bound(op, i))
				store_byte(op->address + i, op->to[i]);
		store_word(op->address, op->to, head);
		break;
	}
}

/* All steps for up to TRANSIENTS_MAX points whose pages are writable. */
static void transients_write(struct spi_text_op **ops, unsigned int n)
{
	unsigned int bounds = 0;

	for (unsigned int i = 0; i < n; i++)
		bounds |= ops[i]->bounds;
	for (enum step step = STEP_HEAD; n && step <= STEP_FINAL; step++) {
		if (step == STEP_BOUNDS && !bounds)
			continue;
		for (unsigned int i = 0; i < n; i++)
			transient_step(ops[i], step);
		spi_text_sync();
	}
}

/* ---- a batch ---- */

/* Shell's sort: they are in order already in most cases, as code maps are. */
static void ops_sort(struct spi_text_op *ops, unsigned int n)
{
	struct spi_text_op op;

	for (unsigned int gap = n / 2; gap; gap = gap == 2 ? 1 : gap * 5 / 11)
		for (unsigned int i = gap; i < n; i++) {
			unsigned int k = i;

			if (ops[k - gap].address <= ops[k].address)
				continue;
			spi_bytes_copy(&op, &ops[i], sizeof(op));
			for (; k >= gap && ops[k - gap].address > op.address; k -= gap)
				spi_bytes_copy(&ops[k], &ops[k - gap], sizeof(op));
			spi_bytes_copy(&ops[k], &op, sizeof(op));
		}
}

static uint64_t op_end(const struct spi_text_op *op)
{
	return op->address + op->size;
}

/* Points 0 to n - 1 lie in pages [low, high) of one mapping. */
static void group_write(struct spi_text_op *ops, unsigned int n, uint64_t low, uint64_t high, int prot)
{
	struct spi_text_op *transients[TRANSIENTS_MAX];
	unsigned int waiting = 0;
	long ret = 0;

	if (!(prot & PROT_WRITE))
		ret = spi_raw3(SYS_mprotect, low, high - low, (uint64_t) (prot | PROT_READ | PROT_WRITE));
	for (unsigned int i = 0; i < n; i++) {
		struct spi_text_op *op = &ops[i];

		if (ret < 0) {
			op->error = "the system does not let its code be written (mprotect)";
			continue;
		}
		if (!spi_bytes_equal((const uint8_t *) op->address, op->from, op->size)) {
			op->error = "something else than lttng-spi has changed its code";
			continue;
		}
		if (op->how == SPI_TEXT_STORE) {
			store_word(op->address, op->to, op->size);
			continue;
		}
		if (op->how == SPI_TEXT_WIDE || op->how == SPI_TEXT_LINE) {
			(op->how == SPI_TEXT_WIDE ? store_wide : store_line)(op->address, op->to, op->size);
			continue;
		}
		transients[waiting++] = op;
		if (waiting == TRANSIENTS_MAX) {
			transients_write(transients, waiting);
			waiting = 0;
		}
	}
	transients_write(transients, waiting);
	if (ret == 0 && !(prot & PROT_WRITE))
		spi_raw3(SYS_mprotect, low, high - low, (uint64_t) prot);
}

/* Points in order, in one mapping. */
static void mapping_write(struct spi_text_op *ops, unsigned int n, const struct spi_vma *vma)
{
	for (unsigned int i = 0, k; i < n; i = k) {
		uint64_t low = SPI_PAGE_OF(ops[i].address), high = SPI_PAGE_OF(op_end(&ops[i]) - 1) + SPI_PAGE;

		k = i + 1;
		if (ops[i].address < vma->start || op_end(&ops[i]) > vma->end || !(vma->prot & PROT_EXEC)) {
			ops[i].error = "its code is no longer in memory";
			continue;
		}
		while (k < n && ops[k].address < high + GAP_PAGES * SPI_PAGE && op_end(&ops[k]) <= vma->end) {
			high = SPI_PAGE_OF(op_end(&ops[k]) - 1) + SPI_PAGE;
			k++;
		}
		group_write(ops + i, k - i, low, high, vma->prot);
	}
}

/* The mapping that the operation ends in, going forward from *vma; without /proc: its pages, as code usually is. */
static void mapping_find(struct spi_maps *maps, struct spi_vma *vma, const struct spi_text_op *op)
{
	if (maps->fd < 0)
		*vma = (struct spi_vma) { SPI_PAGE_OF(op->address), SPI_PAGE_OF(op_end(op) - 1) + SPI_PAGE, PROT_READ | PROT_EXEC };
	while (vma->end < op_end(op) && spi_maps_next(maps, vma))
		;
}

void spi_text_write(struct spi_text_op *ops, unsigned int n)
{
	struct spi_vma vma = { 0, 0, 0 };
	struct spi_maps maps;
	uint64_t before;

	ops_sort(ops, n);
	before = spi_signals_hold(~UINT64_C(0));
	if (spi_maps_open(&maps) < 0)
		maps.fd = -1;
	for (unsigned int i = 0, k; i < n; i = k) {
		mapping_find(&maps, &vma, &ops[i]);
		for (k = i + 1; k < n && op_end(&ops[k]) <= vma.end; k++)
			;
		mapping_write(ops + i, k - i, &vma);
	}
	if (maps.fd >= 0)
		spi_maps_close(&maps);
	spi_signals_release(before);
}

void spi_text_write_in(struct spi_text_op *ops, unsigned int n, uint64_t low, uint64_t high, int prot)
{
	const struct spi_vma vma = { low, high, prot };

	ops_sort(ops, n);
	mapping_write(ops, n, &vma);
}
