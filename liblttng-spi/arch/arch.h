/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What an architecture has to offer: the one contract between the agent and arch/<cpu>/. Only arch/<cpu>/ knows
 * registers, opcodes, the way into the kernel, thread-local storage, the clock, and the layout of code and frames.
 * arch/null/ offers all of it and declines every point: the list of what a new architecture has to have.
 *
 * arch/<cpu>/cpu.h defines the inline functions, the macros and the structures that are named here. Unless a comment
 * says otherwise, a function may be called by any thread in any state, in a signal's handler too: it takes no lock,
 * allocates nothing, makes no system call, leaves errno alone, and uses general registers only.
 *
 * What the agent offers to arch/<cpu>/ is little: arch/offsets.h, the structures of codemap's map format, and what each
 * group below names under "calls". arch/<cpu>/ itself calls no room above. What stands in arch/<cpu>/<room>/ is a part
 * of that room and may call what that room may.
 */
#ifndef SPI_ARCH_H
#define SPI_ARCH_H

#include <stddef.h>
#include <stdint.h>
#include "liblttng-spi/arch/offsets.h"
#include "liblttng-spi/arch/compiler.h"

struct spi_frame;
struct spi_map_insn;
struct spi_map_site;
struct spi_registers;
struct spi_signal_frame;

/* How code of the program's is read that may not be readable: `n` bytes from there; 0, or a negative errno. */
typedef int (*spi_copy_fn)(void *to, uint64_t from, size_t n);

/* ---- names ---- */

/*
 * cpu.h defines:
 *	SPI_ARCH_NAME		as users know the processor
 *	SPI_ELF_MACHINE		e_machine of its programs; SPI_ELF_MACHINE_32: of those that it runs beside them
 *	SPI_ELF_INTERPRETER	how the path of glibc's dynamic linker ends
 *	SPI_AUDIT_ARCH		how seccomp filters are told of it (linux/audit.h)
 *	SPI_RELOC_SLOT, SPI_RELOC_GLOBAL, SPI_RELOC_RELATIVE, SPI_RELOC_WORD
 *				relocations: a PLT's slot, a GOT's entry, a word of the object's own, of another's
 *	SPI_LIBUNWIND_STEP	a symbol that only the libunwind of nongnu.org defines
 *	SPI_SYMBOL(name)	behind a declaration: the symbol's name, where that is no name in C or another one's
 */

/* ---- system calls: a negative errno in the result ---- */

/*
 * function(data) in a process of its own, which shares the memory and no descriptors, and is over when this returns:
 * clone(2), CLONE_VM and CLONE_VFORK. No signal tells of its end. `stack_end` is aligned to 16. The process's id, which is
 * still to be waited for (__WCLONE), or a negative errno. All signals are blocked, and the function makes raw system
 * calls alone.
 */
long spi_call_apart(void (*function)(void *), void *data, void *stack_end) SPI_HIDDEN;
SPI_INLINE long spi_raw6(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f);
SPI_INLINE long spi_raw4(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
SPI_INLINE long spi_raw3(long nr, uint64_t a, uint64_t b, uint64_t c);

/* ---- memory ---- */

/* memcpy and memset may be instrumented, and gcc turns loops into calls of them. */
SPI_INLINE void spi_bytes_copy(void *to, const void *from, size_t n);
SPI_INLINE void spi_bytes_set(void *to, int value, size_t n);
/* The same on every processor. */
SPI_INLINE int spi_bytes_equal(const volatile uint8_t *a, const volatile uint8_t *b, size_t n)
{
	while (n--)
		if (*a++ != *b++)
			return 0;
	return 1;
}

/* What follows in a text that begins with this; NULL: it does not. strcmp() may be instrumented, too. */
SPI_INLINE const char *spi_text_behind(const char *text, const char *begin)
{
	while (*begin && *text == *begin) {
		text++;
		begin++;
	}
	return *begin ? NULL : text;
}

/* Is it one of these, up to a NULL? whole: or does it begin with one? */
SPI_INLINE int spi_text_is_of(const char *text, const char *const *names, int whole)
{
	for (; *names; names++) {
		const char *rest = spi_text_behind(text, *names);

		if (rest && !(whole && *rest))
			return 1;
	}
	return 0;
}

/*
 * One instruction each: whole to the thread's own signal handlers, not to other threads.
 * spi_local_move(): *place becomes `to` if it is `from`; 1: it was. spi_local_add(): returns what *place was before.
 */
SPI_INLINE int spi_local_move(void **place, void *from, void *to);
SPI_INLINE uint32_t spi_local_add(uint32_t *place, uint32_t n);

/* Between two tries of a lock that is held for a few instructions. */
SPI_INLINE void spi_pause(void);

/*
 * Reading through the program's pointers, at most n bytes, all in one page. spi_read_string() ends behind a NUL and
 * returns the string's length, or n. spi_read_bytes() returns n. A fault at an instruction in [spi_read_begin,
 * spi_read_end) may go on at spi_read_fixup (spi_context_pc_set()): then the function returns the bytes that it has
 * copied, with the top bit set.
 */
uint64_t spi_read_string(void *to, uint64_t from, uint64_t n) SPI_HIDDEN;
uint64_t spi_read_bytes(void *to, uint64_t from, uint64_t n) SPI_HIDDEN;
extern const uint8_t spi_read_begin[] SPI_HIDDEN, spi_read_end[] SPI_HIDDEN, spi_read_fixup[] SPI_HIDDEN;

/* ---- the clock ---- */

/*
 * Ticks of a counter that goes on at one rate, of an unknown frequency. SPI_TICKS_CLOCK is the kernel's clock source
 * that is this counter, SPI_TICKS_CLOCKS_VIRTUAL those that a hypervisor makes of it: lines as in sysfs, a list of
 * strings.
 */
SPI_INLINE uint64_t spi_ticks(void);
/* The same: the lower half; *high: the upper half. */
SPI_INLINE uint32_t spi_ticks_halves(uint32_t *high);

/* ---- thread-local storage ---- */

/* The thread's descriptor: libc's, at the thread pointer. */
SPI_INLINE uint64_t spi_thread_pointer(void);
/* The thread's vector of blocks of thread-local variables: glibc's dtv_t, two words each. */
SPI_INLINE const uint64_t *spi_thread_blocks(void);
/*
 * A word as glibc keeps pointers in a jmp_buf: what it stands for. The stack pointer is word SPI_JUMP_BUFFER_SP there.
 */
SPI_INLINE uint64_t spi_pointer_clear(uint64_t word);

/* ---- a thread that single-steps itself ---- */

/* Stop that; nonzero: it did. And go on with it, by what the other one returned. */
SPI_INLINE uint64_t spi_steps_pause(void);
SPI_INLINE void spi_steps_resume(uint64_t paused);

/* ---- registers of a call: what a thunk saves, and payloads read ---- */

/*
 * cpu.h defines struct spi_frame: the caller's registers as a thunk has saved them, with the members
 *	ra	the return address; where that stands is the call's stack position
 *	stack[]	at an entry the words of the stack behind it, where further arguments are
 *
 * The vector registers: the low `stride` bytes of register n (16, 32, 64) are at vec + n * stride; vec may be NULL.
 */

/* The n-th argument in a general register at an entry, from 0 on; and its place, to change it. */
SPI_INLINE uint64_t spi_frame_argument(const struct spi_frame *frame, unsigned int n);
SPI_INLINE uint64_t *spi_frame_argument_at(struct spi_frame *frame, unsigned int n);
/* At an entry from a call site with changing callees: the function that is called. */
SPI_INLINE uint64_t spi_frame_callee(const struct spi_frame *frame);
/* The offset in the frame of a general register, by its DWARF number; SPI_FRAME_NOWHERE: it is not saved. */
SPI_INLINE uint8_t spi_frame_register(unsigned int number);
/*
 * Behind the register at that offset: the one that has the next eight bytes of an argument, or of a result, of several.
 */
SPI_INLINE unsigned int spi_frame_next(unsigned int offset);
/* What an unwinder begins with at the call: the caller's registers, as far as they are needed. */
SPI_INLINE void spi_frame_caller(const struct spi_frame *frame, struct spi_registers *regs);
/* The same at the call of the function whose __builtin_frame_address(0) this is. */
SPI_INLINE void spi_function_caller(const uint64_t *address, struct spi_registers *regs);
/* In an exit payload: the function's result in a general register. */
SPI_INLINE uint64_t spi_frame_result(const struct spi_frame *frame);
/* In an exit payload: the function's result of type long double, 10 bytes, which stays where it is. */
SPI_INLINE void spi_long_double_result(uint8_t to[10]);
SPI_INLINE int spi_has_long_double_result(void);	/* is anything there? */

/* ---- thunks: from a stub or a slot into a payload written in C, and back ---- */

/*
 * A point's stub jumps to the thunk that stands in the point; a slot's code calls the exit thunk that stands in the
 * slot. thunks.S says how a payload is called.
 */
struct spi_thunks {
	uint64_t entry, exit;
	uint32_t vectors;	/* for point->vectors: vector state that makes this point's thunks save more */
};
/* Once, before the first thunk is asked for: what the processor has. */
void spi_thunks_init(void) SPI_HIDDEN;
/* Those that save all that an object may keep in wide, or in the widest, vector registers across calls. */
void spi_thunks_full(int uses_wide, int uses_widest, struct spi_thunks *thunks) SPI_HIDDEN;
/*
 * general: saves no vector register. words, words_any: and makes a compact record itself where all is as usual
 * (words.S).
 */
void spi_thunk_entry_general(void) SPI_HIDDEN;
void spi_thunk_entry_words(void) SPI_HIDDEN;
void spi_thunk_entry_words_any(void) SPI_HIDDEN;
void spi_thunk_exit_words(void) SPI_HIDDEN;
void spi_thunk_exit_general(void) SPI_HIDDEN;
/* For a payload that uses general registers only. */
void spi_thunk_exit_plain(void) SPI_HIDDEN;
/* The thunk of the point that this point's stub is lent to. */
void spi_thunk_entry_lent(void) SPI_HIDDEN;
/* What point->payload names, called in the function's place, with its registers and stack. */
void spi_hook_thunk(void) SPI_HIDDEN;

/* Where thunks call payloads: instructions of SPI_PAYLOAD_CALL_SIZE bytes, each relative to its word here. */
extern const int32_t spi_payload_calls[] SPI_HIDDEN, spi_payload_calls_end[] SPI_HIDDEN;
/* In the frame of a payload's caller: the address of the struct spi_frame. */
SPI_INLINE uint64_t spi_thunk_frame(const struct spi_registers *regs);

/*
 * The personality routine of the thunks' frames goes on to *spi_payload_personality_to, that of slots' frames to
 * *spi_slot_personality_to: _Unwind_Personality_Fn. The unwinding room fills them before the first call is recorded;
 * until then unwinding goes on.
 */
extern void *spi_payload_personality_to SPI_HIDDEN, *spi_slot_personality_to SPI_HIDDEN;

/* ---- slots: code that calls a function, so that its return comes by an exit thunk ---- */

/*
 * spi_slot_code_base and spi_slot_data_base (base/point.h): SPI_SLOT_SIZE bytes of code each, whose data is SPI_SLOT_HALF
 * bytes behind it; in the agent's own image, so that every unwinder and debugger finds the one unwind table of all
 * slots there.
 */
/*
 * Write one slot's code. It calls *target, puts `ra` back where it stood, and calls *exit. SPI_SLOT_RETURN: the return
 * address that the called function sees is that far into it; up to there the return address is in the slot only.
 */
void spi_slot_code_write(uint8_t code[SPI_SLOT_SIZE]) SPI_HIDDEN;

/*
 * The unwind table of all slots (its FDE): the end of the rule for the return address, NULL where that is not found;
 * and the change of both CIE and rule that lets nongnu.org's libunwind go on: the return address as it is, no signal
 * frame.
 */
uint8_t *spi_slot_rule_find(uint8_t *fde) SPI_HIDDEN;
#define SPI_SLOT_RULE_SIZE	31u
int spi_slot_rule_is_usual(const uint8_t *cie) SPI_HIDDEN;
void spi_slot_rule_exact(uint8_t *cie, uint8_t *rule) SPI_HIDDEN;
/*
 * An unwinder that takes a slot for the frame that handles the exception is to go on there, with the exception and the
 * slot's return address in the registers SPI_LANDING_EXCEPTION and SPI_LANDING_RETURN (DWARF numbers). Calls
 * *spi_unwind_resume.
 */
void spi_slot_landing(void) SPI_HIDDEN;

/* ---- unwinding ---- */

/*
 * cpu.h defines struct spi_registers: r[SPI_REGISTERS], by their DWARF numbers, SPI_DWARF_FP (frame pointer),
 * SPI_DWARF_SP and SPI_DWARF_PC (the instruction) among them; SPI_DWARF_KEPT, a list of the SPI_KEPT registers that a
 * function keeps for its caller, the last one SPI_DWARF_PC, and SPI_DWARF_KEPT_AT, by number: where in that list, or
 * -1.
 */

/* ---- signals ---- */

/*
 * cpu.h defines struct spi_signal_frame: what the kernel puts on the stack for a handler, which is its ucontext too,
 * with
 *	mask	of the interrupted code
 *	number	the signal's, where the action has SA_SIGINFO
 */

/* sa_restorer of the agent's actions. */
void spi_signal_return(void) SPI_HIDDEN;
/* Is this the code of any sa_restorer? SPI_RESTORER_SIZE bytes of it. */
int spi_code_is_restorer(const uint8_t code[]) SPI_HIDDEN;
/*
 * The restorer's word stands at `at`, of a stack up to `high`: may that be the frame behind it? And may these be its
 * first words?
 */
SPI_INLINE int spi_signal_frame_may_be(const struct spi_signal_frame *frame, uint64_t at, uint64_t high);
SPI_INLINE int spi_signal_words_may_be(const uint64_t words[2]);
void spi_signal_frame_registers(const struct spi_signal_frame *frame, struct spi_registers *regs) SPI_HIDDEN;

/* A handler's third argument: where the interrupted code stands; and is to go on. */
uint64_t spi_context_pc(const void *context) SPI_HIDDEN;
uint64_t spi_context_sp(const void *context) SPI_HIDDEN;
void spi_context_pc_set(void *context, uint64_t pc) SPI_HIDDEN;
void spi_context_argument_set(void *context, uint64_t value) SPI_HIDDEN;	/* the first argument of the function at the pc */
void spi_context_registers(const void *context, struct spi_registers *regs) SPI_HIDDEN;
/* Does the interrupted code make a system call as it goes on? 1: call[] has its number, and six arguments. */
int spi_context_system_call(const void *context, uint64_t call[7]) SPI_HIDDEN;
/* A trap instruction (SPI_CODE_TRAP) was run: where it stands. */
uint64_t spi_context_trap(const void *context) SPI_HIDDEN;
/* Does the interrupted code single-step itself? */
int spi_context_steps(const void *context) SPI_HIDDEN;

/* ---- code that is written ---- */

/*
 * cpu.h defines:
 *	SPI_JUMP_SIZE		bytes of a jump within 2 GB: an opcode, and the displacement from behind it
 *	SPI_DISPLACEMENT_SIZE	of that displacement
 *	SPI_JUMP_SHORT_SIZE	of one to nearby
 *	SPI_CALL_MOST		bytes of the longest call
 *	SPI_CODE_TRAP		a one-byte instruction that raises SIGTRAP
 *	SPI_CODE_PREFIX		a byte before a jump that means nothing there
 *	SPI_CODE_SPIN		{ two bytes }: a jump to itself
 */
void spi_displacement_bytes(uint64_t after, uint64_t to, uint8_t *bytes) SPI_HIDDEN;
void spi_jump_bytes(uint64_t place, uint64_t to, uint8_t *bytes) SPI_HIDDEN;

/*
 * Stores into code that other threads run. Aligned words are stored by the compiler's atomics. spi_store_wide():
 * *block, 16 aligned bytes, becomes `to` if it is *was, by one locked exchange; 1: it was, else *was is what it is.
 * spi_store_line(): one store of 8 bytes at any address inside a cache line.
 */
SPI_INLINE int spi_store_wide(uint64_t *block, uint64_t was[2], const uint64_t to[2]);
SPI_INLINE void spi_store_line(uint64_t address, uint64_t word);

#define SPI_LITERALS 8u

/*
 * Code under construction: bytes go to rw, and will run at rx. `failed` sticks. For each byte unwinders need to know,
 * in near code: how far the frame's end is from the stack pointer, in words (12 bits), and how far below that end the
 * frame pointer was saved, in words (4 bits; 0: it is what it was).
 */
struct spi_emit {
	uint8_t *rw;
	uint64_t rx;
	uint16_t *frames;		/* of each byte */
	uint16_t frame;			/* of the next byte */
	uint16_t fp_slot;		/* where the moved instructions pushed the frame pointer, or 0 */
	uint32_t used, size;
	uint64_t (*site_stub)(uint64_t address);	/* of the call site there; 0: none. NULL: no call trees */
	const char *failed;		/* first thing that did not work: a reason */
	uint32_t literals;
	struct {
		uint32_t at;		/* the displacement that wants its address, at the instruction's end */
		uint64_t value;
	} literal[SPI_LITERALS];
};
#define SPI_FRAME_WORDS		0x0fffu
#define SPI_FRAME_FP(words)	((uint16_t) ((words) << 12))

/* A jump to any address; and the end of the code, with its literals. */
void spi_emit_jump(struct spi_emit *e, uint64_t target) SPI_HIDDEN;
void spi_emit_finish(struct spi_emit *e) SPI_HIDDEN;

/*
 * What a stub is made for: while one of its gates is not 0, the thunk that stands in the point is entered. A gate is
 * NULL or in near memory. Without the first two it is always entered; the third one counts beside one of these only.
 */
struct spi_stub {
	void *point;
	const volatile int *gate[3];
	uint64_t address, bias;		/* of the function, and of its object */
	uint64_t body;			/* out: where the function goes on unrecorded */
};

#define SPI_STUB_MAX	448u	/* bytes: undoing, gates, record part, SPI_MAP_ENTRY_INSNS instructions, literals */

/*
 * A function's stub: gates, the way into the thunk, and as its body the first `count` instructions, which do there what
 * they did at their own place (`bytes` are the original ones), with a jump to the instruction behind them. moved[i]
 * becomes the address of instruction i's copy. The first `undo` of them were run before the stub was reached; the stub
 * takes their effect back first. e->failed: it cannot.
 */
void spi_stub_emit(struct spi_emit *e, struct spi_stub *stub, const uint8_t *bytes, const struct spi_map_insn *insns,
	unsigned int count, unsigned int undo, uint64_t *moved) SPI_HIDDEN;

#define SPI_SITE_STUB_MAX	192u
enum spi_site_way {
	SPI_SITE_TO,		/* to the callee `to` */
	SPI_SITE_TO_SLOT,	/* to what stands in the word at `to` */
	SPI_SITE_TO_CALLEE,	/* to what the site's code has found: spi_frame_callee() */
};
/*
 * The stub of a call site, with its latest `moved` instructions moved along. push: 0, or the return address, where the
 * site was replaced by a jump.
 */
void spi_site_emit(struct spi_emit *e, struct spi_stub *stub, const struct spi_map_site *site, uint32_t moved,
	uint64_t push, enum spi_site_way way, uint64_t to) SPI_HIDDEN;

/*
 * A call site's own instruction, changed in place so that it leads to the site's stub.
 * displacement: a direct call or jump, of which the last SPI_DISPLACEMENT_SIZE bytes say where it goes.
 * whole: any call or jump of SPI_JUMP_SIZE bytes or more; to[]: all of it.
 * word: one through memory, made to go through a word of the agent's; to[]: its last SPI_SITE_WORD_SIZE bytes.
 */
int spi_site_has_displacement(const struct spi_map_site *site) SPI_HIDDEN;
void spi_site_whole_bytes(const struct spi_map_site *site, uint64_t after, uint64_t stub, uint8_t *to) SPI_HIDDEN;
int spi_site_has_word(const struct spi_map_site *site) SPI_HIDDEN;
void spi_site_word_bytes(const struct spi_map_site *site, uint64_t after, uint64_t word, uint8_t *to) SPI_HIDDEN;

/* ---- code that is recognised ---- */

/* Where a jump leads that the agent wrote; 0: it is none. */
uint64_t spi_code_jump_target(uint64_t at, spi_copy_fn copy) SPI_HIDDEN;
/*
 * The function that a few instructions made at run time lead to: gcc's for nested functions, libffi's closures. 0: it
 * is other code, or no code at all. Where the function is entered the stack is as the caller has left it.
 */
uint64_t spi_code_made_target(uint64_t at, spi_copy_fn copy) SPI_HIDDEN;
/* Do the SPI_CALL_MOST bytes before a return address end with a call? */
int spi_code_ends_in_call(const uint8_t *code) SPI_HIDDEN;
/*
 * A call instruction that a user's parser has found at `address`, of these `size` bytes, as the code map of a file
 * would have the site. NULL, or why the call cannot be redirected.
 */
#define SPI_MADE_CALL_MOST	20u
const char *spi_code_made_call(const uint8_t *bytes, uint32_t size, uint64_t address, struct spi_map_site *site)
	SPI_HIDDEN;
/* The site of a direct call whose target is in another object: its stub is given the target as if that might change. */
void spi_code_made_far(struct spi_map_site *site) SPI_HIDDEN;
/*
 * A function that only returns, and has room behind that for a jump which one store puts there? SPI_JUMP_SIZE bytes are
 * read.
 */
int spi_code_is_empty_function(const uint8_t *code) SPI_HIDDEN;
/*
 * An instruction of the program's first function (of SPI_START_BYTES at most, each of SPI_START_INSN_SIZE at most) that
 * gives main() to libc's start: *value is main(), or where a word stands that has it.
 */
enum spi_start_gives { SPI_START_NOTHING, SPI_START_VALUE, SPI_START_WORD };
enum spi_start_gives spi_code_start_gives(const uint8_t *code, int is_first, uint64_t *value) SPI_HIDDEN;

/* ---- functions that C cannot be: they leave no frame, or keep all registers ---- */

/* Where payloads return to in another's place. Calls spi_leave_look() and spi_leave_take(). */
void spi_leave_again(void) SPI_HIDDEN;
/* The thunks' personality routine while a record is being made. Calls spi_leave_look() and *spi_leave_unwound. */
void spi_leave_personality(void) SPI_HIDDEN;
/*
 * The start routine of a thread that is made in a tree, with a note: goes on to what spi_thread_begin_made() returns.
 */
void spi_thread_start(void) SPI_HIDDEN;

/*
 * Before libc's functions, called as these are: longjmp(), __longjmp_chk(), exit(), _exit() (leave.S); vfork(),
 * clone(), syscall() (hooks.S). Each calls a function in C first, and jumps to libc's.
 * They are also the symbols of these names that the agent exports.
 */
void spi_own_longjmp(void) SPI_HIDDEN;
void spi_own_longjmp_chk(void) SPI_HIDDEN;
void spi_own_libc_exit(void) SPI_HIDDEN;
void spi_own_exit(int status) SPI_HIDDEN __attribute__((noreturn));
void spi_own_vfork(void) SPI_HIDDEN;
void spi_own_clone(void) SPI_HIDDEN;
void spi_own_syscall(void) SPI_HIDDEN;

#if defined(SPI_ARCH_NULL)
#include "liblttng-spi/arch/null/cpu.h"
#elif defined(__x86_64__)
#include "liblttng-spi/arch/x86-64/cpu.h"
#else
#error "no directory of arch/ is for this processor: arch/null has all that is to be written"
#endif

/* The same on every processor. */

SPI_INLINE long spi_raw3(long nr, uint64_t a, uint64_t b, uint64_t c)
{
	return spi_raw4(nr, a, b, c, 0);
}

SPI_INLINE uint64_t spi_frame_argument(const struct spi_frame *frame, unsigned int n)
{
	return *spi_frame_argument_at((struct spi_frame *) frame, n);
}

#endif /* SPI_ARCH_H */
