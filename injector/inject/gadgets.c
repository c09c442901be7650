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
 * Addresses come from the libc that is really in the target's memory.
 */
#include <cpuid.h>
#include <stddef.h>
#include <string.h>

#include "injector/inject/remote.h"

/*
 * What is looked for, and where it was in the last libc, bytes from its start:
 * most processes of a machine have the same, and its code need not be copied.
 */
static struct {
	const char *bytes;
	size_t size;
	size_t member;		/* of struct spi_gadgets */
	uint64_t hint;
} wanted[] = {
#define WANTED(member, bytes)	{ bytes, sizeof(bytes) - 1, offsetof(struct spi_gadgets, member), 0 }
	WANTED(store, "\x48\x89\x03\x5b\xc3"),
	WANTED(pop_rdi, "\x5f\xc3"),
	WANTED(pop_rsi, "\x5e\xc3"),
	WANTED(pop_rax, "\x58\xc3"),
	WANTED(syscall, "\x0f\x05\x48\x3d\x01\xf0\xff\xff\x73\x01\xc3"),
	WANTED(sigreturn, "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"),
};
#define WANTED_COUNT	(sizeof(wanted) / sizeof(wanted[0]))

static bool is_at(const struct spi_target *t, uint64_t at, const char *bytes, size_t size)
{
	const struct spi_mapping *m = spi_maps_find(&t->maps, at);
	char found[16];

	return m && m->exec && at >= t->libc.low && at + size <= m->end && m->end <= t->libc.high &&
	       !spi_memory_read(t->pid, at, found, size) && !memcmp(found, bytes, size);
}

static uint64_t find_bytes(const struct spi_image *image, const struct spi_maps *maps, const char *bytes, size_t size)
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

static void find_all(struct spi_gadgets *g, const struct spi_target *t)
{
	const struct spi_mapping *first = spi_maps_find(&t->maps, t->libc.low);
	struct spi_image code;
	bool copied = false;

	for (size_t i = 0; i < WANTED_COUNT; i++) {
		uint64_t hint = __atomic_load_n(&wanted[i].hint, __ATOMIC_RELAXED), at = t->libc.low + hint;

		if (!hint || !is_at(t, at, wanted[i].bytes, wanted[i].size)) {
			if (!copied && spi_image_read(&code, t->pid, &t->maps, first, true))
				break;
			copied = true;
			at = find_bytes(&code, &t->maps, wanted[i].bytes, wanted[i].size);
			if (at)
				__atomic_store_n(&wanted[i].hint, at - t->libc.low, __ATOMIC_RELAXED);
		}
		*(uint64_t *) ((char *) g + wanted[i].member) = at;
	}
	if (copied)
		spi_image_free(&code);
}

/*
 * errno's offset from the thread pointer, as __errno_location() finds it: mov
 * disp(%rip),%rax; add %fs:0,%rax; ret. 0 when this libc does it another way.
 */
static int64_t find_errno_offset(const struct spi_target *t)
{
	int64_t value;
	static const uint8_t tail[] = { 0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0, 0xc3 };
	uint64_t at = spi_image_symbol(&t->libc, "__errno_location", NULL);
	uint8_t bytes[32];
	const uint8_t *code = bytes;
	int32_t offset;

	if (!at || spi_memory_read(t->pid, at, bytes, sizeof(bytes)))
		return 0;
	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4)) {	/* endbr64 */
		code += 4;
		at += 4;
	}
	if (memcmp(code, "\x48\x8b\x05", 3) || memcmp(code + 7, tail, sizeof(tail)))
		return 0;
	memcpy(&offset, code + 3, 4);
	return spi_memory_read(t->pid, at + 7 + (int64_t) offset, &value, sizeof(value)) ? 0 : value;
}

/* cpuid is slow in virtual machines: ask beforehand, and once. */
static void find_xstate_layout(struct spi_gadgets *g)
{
	static uint32_t ends[64];
	static int known;
	uint32_t size, offset, flags, unused, low, high;

	if (!__atomic_load_n(&known, __ATOMIC_ACQUIRE)) {
		__cpuid_count(0xd, 0, low, size, offset, high);
		for (unsigned int i = 2; i < 63; i++) {
			if (!((i < 32 ? low >> i : high >> (i - 32)) & 1))
				continue;
			__cpuid_count(0xd, i, size, offset, flags, unused);
			if (!(flags & 1))
				__atomic_store_n(&ends[i], offset + size, __ATOMIC_RELAXED);
		}
		__atomic_store_n(&known, 1, __ATOMIC_RELEASE);
	}
	memcpy(g->xstate_end, ends, sizeof(ends));
}

void spi_gadgets_find(struct spi_gadgets *g, const struct spi_target *t)
{
	find_all(g, t);
	find_xstate_layout(g);
	g->errno_offset = find_errno_offset(t);
	g->complete = g->store && g->pop_rdi && g->pop_rsi && g->pop_rax && g->syscall && g->sigreturn;
}
