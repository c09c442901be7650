/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A call that comes while its thread is recording another: a signal handler's, to
 * be recorded, or the recording's own, which must not be, or it would never end.
 */
#include <sys/syscall.h>
#include "liblttng-spi/threads-internal.h"

static uint64_t restorers[4];		/* sa_restorer values seen: what a signal frame begins with */

static void learn_restorers(void)
{
	unsigned int n = 0;

	for (long sig = 1; sig <= 64 && n < 4; sig++) {
		struct {
			uint64_t handler, flags, restorer, mask;
		} act;
		unsigned int i = 0;

		if (spi_sys(SYS_rt_sigaction, sig, NULL, &act, 8L) < 0 || !(act.flags & 0x04000000) || !act.restorer)
			continue;
		while (i < n && restorers[i] != act.restorer)
			i++;
		if (i == n)
			restorers[n++] = act.restorer;
	}
}

static int is_restorer(uint64_t word)
{
	uint64_t at = word - (uint64_t) spi_slot_code_base;

	/* a traced handler's own slot stands in the frame's place */
	if (at < SLOT_HALF)
		word = spi_slot_data_base[at / SPI_SLOT_SIZE].ra;
	for (int i = 0; i < 4 && restorers[i]; i++)
		if (word == restorers[i])
			return 1;
	return 0;
}

/* -1 when there is something between the two that cannot be read: they are on different stacks. */
static int count_signal_frames(uint64_t low, uint64_t high)
{
	uint64_t words[64];
	int n = 0;

	for (; low < high; low += sizeof(words)) {
		size_t size = high - low < sizeof(words) ? high - low : sizeof(words);

		if (spi_memory_copy(words, low, size) < 0)
			return -1;
		for (size_t w = 0; w < size / 8; w++)
			n += is_restorer(words[w]);
	}
	return n;
}

/*
 * A call came while the thread was recording one. Either a signal handler made
 * it: a call of the program's, to be recorded; or the recording itself did, with
 * a function of libc's that is instrumented too. Between the two calls' stack
 * positions a handler has left a signal frame, which begins with the address of
 * the program's sigreturn stub. A handler on its own signal stack is as far away
 * as another stack is.
 */
SPI_EXPORT int spi_thread_nested(uint64_t p)
{
	struct spi_thread *t = &spi_thread;
	int frames;

	if (t->busy >= SPI_BUSY_ALWAYS)
		return 0;
	if (t->busy < 8 && t->record) {
		if (p > t->busy_p || t->busy_p - p > 65536) {
			if (t->busy == 1)
				return 1;
		} else {
			if (!restorers[0])
				learn_restorers();
			frames = count_signal_frames(p, t->busy_p);
			if (frames < 0 ? t->busy == 1 : frames >= (int) t->busy)
				return 1;
		}
	}
	if (t->record)
		t->record->count.nested_skipped++;
	return 0;
}
