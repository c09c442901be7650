/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A walk of the calling thread's stack, by .eh_frame where an object has it, else by frame pointers.
 *
 * Decoding the rules for one address takes a microsecond, so they are kept as a word each (cfi/cfi.h) in one table for
 * the process. An entry is two words that any thread reads and writes at any time, without order: the rules, and the
 * address and the table's age, mixed with the rules. Halves of two writers do not fit together, and so are not found.
 *
 * Registers other than the stack pointer and the frame pointer are known behind a signal frame only. Compilers describe
 * frames by these two; where code is described by another register the walk is lost.
 *
 * Words between the stack pointer and the end of the thread's own stack can be read. All else is read as memory that
 * may not be there: a handler's own stack, a coroutine's.
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/cfi/cfi.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/unwind/stack.h"

extern const char __ehdr_start[] SPI_HIDDEN, _end[] SPI_HIDDEN;	/* the agent's own object */

#define KNOWN		8192u			/* entries; 128 KB, of which untouched pages take nothing */
#define AGE_SHIFT	48			/* user space has 47 bits */
#define CODE_LEAST	4096u

static struct known {
	uint64_t check, rules;
} known[KNOWN];
static uint64_t age;				/* in the bits above an address; control side writes it */

struct walk {
	struct spi_registers *regs;
	uint64_t low, high;			/* words there can be read */
	int is_call;				/* else the registers are those of interrupted code */
};

void spi_stack_forget(void)
{
	__atomic_fetch_add(&age, UINT64_C(1) << AGE_SHIFT, __ATOMIC_RELAXED);
}

/* Of near code, which a signal has interrupted; nothing is called from there. */
static uint64_t near_word(uint64_t pc)
{
	unsigned int words, fp_words;

	if (spi_frames_of(pc, &words, &fp_words) < 0 || !words)
		return SPI_CFI_NONE;
	return SPI_CFI_WORD | (uint64_t) words << (8 + 3) | (uint64_t) fp_words << 32 | UINT64_C(1) << 48;
}

void spi_stack_look(const struct dl_phdr_info *info)
{
	(void) info;
	spi_stack_forget();
}

static __attribute__((noinline)) uint64_t rules_look(struct known *entry, uint64_t mark, uint64_t pc, int is_call)
{
	uint64_t rules = is_call && spi_restorer_of(pc) ? SPI_CFI_SIGNAL : spi_cfi_word(pc - (uint64_t) is_call);

	if (rules == SPI_CFI_NONE && !is_call)
		rules = near_word(pc);
	__atomic_store_n(&entry->rules, rules, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->check, mark ^ rules, __ATOMIC_RELAXED);
	return rules;
}

SPI_INLINE uint64_t rules_of(uint64_t pc, int is_call)
{
	uint64_t at = pc - (uint64_t) is_call, mark = at ^ __atomic_load_n(&age, __ATOMIC_RELAXED);
	struct known *entry = &known[(at ^ at >> 13) % KNOWN];
	uint64_t rules = __atomic_load_n(&entry->rules, __ATOMIC_RELAXED);

	if (spi_likely((__atomic_load_n(&entry->check, __ATOMIC_RELAXED) ^ rules) == mark) && spi_likely(rules != 0))
		return rules;
	return rules_look(entry, mark, pc, is_call);
}

SPI_INLINE int word_read(const struct walk *w, uint64_t address, uint64_t *value)
{
	if (spi_likely(address >= w->low && address < w->high)) {
		*value = *(const uint64_t *) address;
		return 0;
	}
	return spi_memory_copy(value, address, sizeof(*value));
}

/* 0, or -1: the stack does not go on that way. */
SPI_INLINE int step_word(struct walk *w, uint64_t rules)
{
	struct spi_registers *regs = w->regs;
	uint64_t cfa = regs->r[rules & SPI_CFI_BY_FP ? SPI_DWARF_FP : SPI_DWARF_SP] + (rules >> 8 & 0xffffff);
	uint64_t fp_below = rules >> 32 & 0xffff;

	if (spi_unlikely(cfa <= regs->r[SPI_DWARF_SP]) || spi_unlikely(cfa & 7))
		return -1;
	if (spi_unlikely(word_read(w, cfa - 8 * (rules >> 48), &regs->r[SPI_DWARF_PC]) < 0) ||
			(fp_below && spi_unlikely(word_read(w, cfa - 8 * fp_below, &regs->r[SPI_DWARF_FP]) < 0)))
		return -1;
	regs->r[SPI_DWARF_SP] = cfa;
	return 0;
}

static int step_full(struct walk *w)
{
	uint64_t sp = w->regs->r[SPI_DWARF_SP];

	return spi_cfi_step(w->regs, w->is_call) < 0 || w->regs->r[SPI_DWARF_SP] <= sp ? -1 : 0;
}

/* May a function return there? */
static int is_return_address(uint64_t pc)
{
	uint8_t code[SPI_CALL_MOST];

	if (spi_slot_of_word(pc) || spi_cfi_find(pc - 1) || spi_restorer_of(pc))
		return 1;
	return spi_memory_copy(code, pc - sizeof(code), sizeof(code)) == 0 && spi_code_ends_in_call(code);
}

/* Code that nothing describes: a frame pointer leads to the caller's, and the return address is above. */
static int step_pointer(struct walk *w)
{
	struct spi_registers *regs = w->regs;
	uint64_t fp = regs->r[SPI_DWARF_FP], pc;

	if (fp < regs->r[SPI_DWARF_SP] || (fp & 7) || word_read(w, fp + 8, &pc) < 0 ||
			word_read(w, fp, &regs->r[SPI_DWARF_FP]) < 0)
		return -1;
	if (pc && (pc < CODE_LEAST || !is_return_address(pc)))
		return -1;
	regs->r[SPI_DWARF_PC] = pc;
	regs->r[SPI_DWARF_SP] = fp + 16;
	return 0;
}

/* What the signal has interrupted may be on another stack. */
static int step_signal(struct walk *w)
{
	uint64_t sp = w->regs->r[SPI_DWARF_SP];

	if (spi_frame_load(w->regs, sp) < 0)
		return -1;
	if (w->regs->r[SPI_DWARF_SP] < w->low || w->regs->r[SPI_DWARF_SP] >= w->high) {
		w->low = w->high;
		if (spi_on_own_stack(&spi_thread, w->regs->r[SPI_DWARF_SP])) {
			w->low = w->regs->r[SPI_DWARF_SP];
			w->high = spi_thread.stack_high;
		}
	}
	return 0;
}

/*
 * A slot's address is the one that the slot has replaced. Behind the call that the slot makes, where the exit's thunk
 * returns to or a signal comes, the replaced address stands on the stack (slots.S).
 */
static void slot_leave(struct walk *w)
{
	struct spi_registers *regs = w->regs;
	const uint64_t at = regs->r[SPI_DWARF_PC] - (uint64_t) spi_slot_code_base;
	uint64_t pc;

	if (at >= SLOT_HALF)
		return;
	if (at % SPI_SLOT_SIZE > SPI_SLOT_RETURN && word_read(w, regs->r[SPI_DWARF_SP], &pc) == 0) {
		regs->r[SPI_DWARF_PC] = pc;
		regs->r[SPI_DWARF_SP] += 8;
	}
	regs->r[SPI_DWARF_PC] = spi_behind_slots(regs->r[SPI_DWARF_PC]);
	w->is_call = 1;
}

static int step_rare(struct walk *w, uint64_t rules)
{
	int r = -1;

	if (SPI_CFI_KIND(rules) == SPI_CFI_SIGNAL) {
		r = step_signal(w);
		w->is_call = 0;
		return r;
	}
	if (SPI_CFI_KIND(rules) == SPI_CFI_STEP)
		r = step_full(w);
	else if (SPI_CFI_KIND(rules) == SPI_CFI_NONE)
		r = step_pointer(w);
	w->is_call = 1;
	return r;
}

/* The agent stands before some functions of libc's that call back (objects/phdr.c): the program does not call it. */
SPI_INLINE int is_own(uint64_t pc)
{
	return pc - (uint64_t) __ehdr_start < (uint64_t) (_end - __ehdr_start);
}

unsigned int spi_stack_walk(struct spi_registers *regs, uint64_t *to, unsigned int most, enum spi_stack_end *end)
{
	const struct spi_thread *t = &spi_thread;
	const uint64_t sp = regs->r[SPI_DWARF_SP];
	struct walk w = { .regs = regs, .is_call = 1 };
	unsigned int n = 0;

	if (spi_on_own_stack(t, sp)) {
		w.low = sp;
		w.high = t->stack_high;
	}
	for (;;) {
		uint64_t rules;
		int r;

		slot_leave(&w);
		*end = SPI_STACK_COMPLETE;
		if (spi_unlikely(!regs->r[SPI_DWARF_PC]))
			return n;
		*end = SPI_STACK_LIMIT;
		if (n == most)
			return n;
		to[n] = regs->r[SPI_DWARF_PC];
		n += !is_own(regs->r[SPI_DWARF_PC]);
		rules = rules_of(regs->r[SPI_DWARF_PC], w.is_call);
		if (spi_likely(SPI_CFI_KIND(rules) == SPI_CFI_WORD)) {
			r = step_word(&w, rules);
			w.is_call = 1;
		} else if (SPI_CFI_KIND(rules) == SPI_CFI_END) {
			*end = SPI_STACK_COMPLETE;
			return n;
		} else {
			r = step_rare(&w, rules);
		}
		*end = SPI_STACK_LOST;
		if (spi_unlikely(r < 0))
			return n;
	}
}

unsigned int spi_stack_callers(const struct spi_frame *frame, uint64_t *to, unsigned int most, enum spi_stack_end *end)
{
	struct spi_registers regs;

	spi_frame_caller(frame, &regs);
	return spi_stack_walk(&regs, to, most, end);
}
