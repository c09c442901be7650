/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A call that comes while its thread is recording another: a signal handler's, to
 * be recorded, or the recording's own, which must not be, or it would never end.
 */
#include <signal.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"

#define CHAIN_MOST	256u	/* slots of tail calls in each other's place: slots.c */

/* An sa_restorer, which a signal frame begins with, by what every one does. */
static int is_restorer(uint64_t address)
{
	uint8_t code[SPI_RESTORER_SIZE];

	return spi_memory_copy(code, address, sizeof(code)) == 0 && spi_code_is_restorer(code);
}

uint64_t spi_behind_slots(uint64_t address)
{
	for (unsigned int i = 0; i < CHAIN_MOST; i++) {
		const struct spi_slot *slot = spi_slot_of_word(address);

		if (!slot)
			break;
		address = slot->ra;
	}
	return address;
}

/* A traced handler's own slot stands in the frame's place; where two points record it, the one's in the other's. */
uint64_t spi_restorer_of(uint64_t word)
{
	word = spi_behind_slots(word);
	return word == (uint64_t) spi_signal_return || is_restorer(word) ? word : 0;
}

#define CODE_LEAST	65536u	/* vm.mmap_min_addr, as it usually is */
#define FAULTS		(SPI_SIGNAL_BIT(SIGILL) | SPI_SIGNAL_BIT(SIGTRAP) | SPI_SIGNAL_BIT(SIGBUS) | SPI_SIGNAL_BIT(SIGFPE) | \
			 SPI_SIGNAL_BIT(SIGSEGV) | SPI_SIGNAL_BIT(SIGSTKFLT))

/*
 * Is it a frame of the stack up to `high`, the restorer's word of which is at `at`? What an earlier handler left below the
 * stack pointer looks the same; most of that is of traps and faults that the agent takes, with its own restorer:
 * these call nothing of the program's while it records. And the record of a handler's call has that word in it.
 */
static int is_signal_frame(uint64_t at, uint64_t high)
{
	struct spi_signal_frame frame;
	uint64_t word, restorer;

	if (spi_memory_copy(&word, at, sizeof(word)) < 0 || spi_memory_copy(&frame, at + 8, sizeof(frame)) < 0)
		return 0;
	if (!spi_signal_frame_may_be(&frame, at, high))
		return 0;
	restorer = spi_restorer_of(word);
	if (restorer != (uint64_t) spi_signal_return)
		return restorer != 0;
	return frame.number > 0 && frame.number <= 64 && !(FAULTS & SPI_SIGNAL_BIT(frame.number));
}

/* Also where there is something between the two that cannot be read: they are on different stacks. */
int spi_has_signal_frame(uint64_t low, uint64_t high)
{
	uint64_t words[64];

	for (; low < high; low += sizeof(words) - 16) {		/* a frame begins with three words that tell most of what is none */
		size_t size = high - low < sizeof(words) ? high - low : sizeof(words);

		if (spi_memory_copy(words, low, size) < 0)
			return 1;
		for (size_t w = 0; w + 2 < size / 8; w++)
			if (words[w] >= CODE_LEAST && spi_signal_words_may_be(words + w + 1) && is_signal_frame(low + w * 8, high))
				return 1;
	}
	return 0;
}

/* The stack position of the innermost call that the thread is recording; 0: none, or not known. */
uint64_t spi_thread_busy_at(const struct spi_thread *t)
{
	if (t->busy == 1)
		return t->busy_p;
	return t->own && t->busy && t->busy <= SPI_BUSY_LEVELS ? t->own->busy_p[t->busy - 1] : 0;
}

/* The thread records nothing any more, or never did. What lttng-ust calls at an end is the tracer's. */
static void apart_count(uint32_t why, uint64_t p)
{
	if (why && !spi_within_lttng(p))
		spi_call_missed((enum spi_lost) (why - 1));
}

/* Is the call made by lttng-ust or the event module itself? Not by this library, whose hooks call for the program. */
static int is_by_recorder(uint64_t p)
{
	extern const uint8_t __ehdr_start[] SPI_HIDDEN, _end[] SPI_HIDDEN;
	uint64_t ra;

	return spi_memory_copy(&ra, p, sizeof(ra)) == 0 && (ra < (uint64_t) __ehdr_start || ra >= (uint64_t) _end) &&
		spi_tracer_code_has(ra);
}

/*
 * A call came while the thread was recording one. Either a signal handler made
 * it: a call of the program's, to be recorded; or the recording itself did, with
 * a function of libc's that is instrumented too. Between the two calls' stack
 * positions a handler has left a signal frame, which begins with the address of
 * the program's sigreturn stub. A handler on its own signal stack is as far away
 * as another stack is. Where handlers' calls are being recorded, too, it is the innermost
 * that counts. A frame of an earlier signal may lie there still, so what the recording itself calls is known by its caller, too.
 */
SPI_EXPORT int spi_thread_nested(uint64_t p)
{
	struct spi_thread *t = &spi_thread;
	uint64_t at = spi_thread_busy_at(t);

	if (t->busy >= SPI_BUSY_ALWAYS) {
		apart_count(t->busy >> SPI_BUSY_APART_SHIFT, p);
		return 0;
	}
	if (at && (p > at || at - p > 65536 || spi_has_signal_frame(p, at)) && !is_by_recorder(p))
		return 1;
	if (t->record)
		t->record->count.nested_skipped++;
	return 0;
}
