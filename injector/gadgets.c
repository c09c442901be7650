/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The instruction sequences that a remote call returns through.
 *
 * A called function must return to something that (1) keeps its result, (2)
 * tells the injector that it is over, and (3) puts the thread back to what it
 * did, should the injector be dead by then. No code is written into the target
 * for that; a few instruction sequences that any libc contains are strung
 * together by return addresses on the stack:
 *
 *	store	  the result goes to memory (rbx is preserved by every function)
 *	pop ...	  tkill(own thread, SIGURG)
 *	syscall	  a traced thread stops here, before the signal does anything; for
 *		  an untraced one SIGURG is ignored by default
 *	sigreturn the kernel restores all registers from a signal frame
 *
 * Addresses come from the copy of libc's text that is really in memory.
 */
#include <cpuid.h>
#include <string.h>

#include "injector/remote.h"

static uint64_t find_bytes(const struct spi_image *image, const struct spi_maps *maps, const void *bytes, size_t size)
{
	for (size_t i = 0; i < maps->count; i++) {
		const struct spi_mapping *m = &maps->all[i];
		const uint8_t *at;

		if (!m->exec || m->start < image->low || m->end > image->low + image->copy_size)
			continue;
		at = memmem(image->copy + (m->start - image->low), m->end - m->start, bytes, size);
		if (at)
			return image->low + (at - image->copy);
	}
	return 0;
}

/*
 * errno's offset from the thread pointer, as __errno_location() finds it: mov
 * disp(%rip),%rax; add %fs:0,%rax; ret. 0 when this libc does it another way.
 */
static int64_t find_errno_offset(const struct spi_target *t)
{
	const struct spi_image *libc = &t->libc;
	int64_t value;
	static const uint8_t tail[] = { 0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0, 0xc3 };
	uint64_t at = spi_image_symbol(libc, "__errno_location", NULL);
	const uint8_t *code;
	int32_t offset;

	if (!at || at - libc->low + 32 > libc->copy_size)
		return 0;
	code = libc->copy + (at - libc->low);
	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4)) {	/* endbr64 */
		code += 4;
		at += 4;
	}
	if (memcmp(code, "\x48\x8b\x05", 3) || memcmp(code + 7, tail, sizeof(tail)))
		return 0;
	memcpy(&offset, code + 3, 4);
	return spi_memory_read(t->pid, at + 7 + (int64_t) offset, &value, sizeof(value)) ? 0 : value;
}

/* cpuid is slow in virtual machines: ask beforehand. */
static void find_xstate_layout(struct spi_gadgets *g)
{
	uint32_t size, offset, flags, unused, low, high;

	__cpuid_count(0xd, 0, low, size, offset, high);
	for (unsigned int i = 2; i < 63; i++) {
		if (!((i < 32 ? low >> i : high >> (i - 32)) & 1))
			continue;
		__cpuid_count(0xd, i, size, offset, flags, unused);
		if (!(flags & 1))
			g->xstate_end[i] = offset + size;
	}
}

void spi_gadgets_find(struct spi_gadgets *g, const struct spi_target *t)
{
#define FIND(bytes) find_bytes(&t->libc, &t->maps, bytes, sizeof(bytes) - 1)
	g->store = FIND("\x48\x89\x03\x5b\xc3");
	g->pop_rdi = FIND("\x5f\xc3");
	g->pop_rsi = FIND("\x5e\xc3");
	g->pop_rax = FIND("\x58\xc3");
	g->syscall = FIND("\x0f\x05\x48\x3d\x01\xf0\xff\xff\x73\x01\xc3");
	g->sigreturn = FIND("\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05");
#undef FIND
	find_xstate_layout(g);
	g->errno_offset = find_errno_offset(t);
	g->complete = g->store && g->pop_rdi && g->pop_rsi && g->pop_rax && g->syscall && g->sigreturn;
}
