/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * No processor: the functions and places that arch.h promises and cpu.h does not define. Code that is to run on one
 * ends the process.
 */
#include "liblttng-spi/arch/arch.h"

/* ---- memory ---- */

const uint8_t spi_read_begin[1], spi_read_end[1], spi_read_fixup[1];

uint64_t spi_read_string(void *to, uint64_t from, uint64_t n)
{
	(void) to, (void) from, (void) n;
	return UINT64_C(1) << 63;
}

uint64_t spi_read_bytes(void *to, uint64_t from, uint64_t n)
{
	return spi_read_string(to, from, n);
}

/* ---- thunks and slots ---- */

const struct spi_payload_call spi_payload_calls[1], spi_payload_calls_end[1];
void *spi_payload_personality_to, *spi_slot_personality_to;
uint8_t spi_slot_code_base[SPI_SLOT_HALF] SPI_EXPORT, spi_slot_data_base[SPI_SLOT_HALF] SPI_EXPORT;

void spi_thunks_init(void)
{
}

void spi_thunks_full(int uses_wide, int uses_widest, struct spi_thunks *thunks)
{
	(void) uses_wide, (void) uses_widest;
	*thunks = (struct spi_thunks) { 0, 0, 0 };
}

void spi_slot_code_write(uint8_t code[SPI_SLOT_SIZE])
{
	spi_bytes_set(code, SPI_CODE_TRAP, SPI_SLOT_SIZE);
}

uint8_t *spi_slot_rule_find(uint8_t *fde)
{
	(void) fde;
	return NULL;
}

int spi_slot_rule_is_usual(const uint8_t *cie)
{
	(void) cie;
	return 0;
}

void spi_slot_rule_exact(uint8_t *cie, uint8_t *rule)
{
	(void) cie, (void) rule;
}

/* ---- signals ---- */

int spi_code_is_restorer(const uint8_t code[])
{
	(void) code;
	return 0;
}

void spi_signal_frame_registers(const struct spi_signal_frame *frame, struct spi_registers *regs)
{
	(void) frame;
	*regs = (struct spi_registers) { { 0 } };
}

uint64_t spi_context_pc(const void *context)
{
	(void) context;
	return 0;
}

void spi_context_pc_set(void *context, uint64_t pc)
{
	(void) context, (void) pc;
}

uint64_t spi_context_trap(const void *context)
{
	(void) context;
	return 0;
}

int spi_context_steps(const void *context)
{
	(void) context;
	return 0;
}

uint64_t spi_payload_call_point(const void *context, const struct spi_payload_call *call)
{
	(void) context, (void) call;
	return 0;
}

void spi_payload_call_make(void *context, uint64_t to)
{
	(void) context, (void) to;
}

/* ---- code that is written ---- */

void spi_displacement_bytes(uint64_t after, uint64_t to, uint8_t *bytes)
{
	(void) after, (void) to, (void) bytes;
}

void spi_jump_bytes(uint64_t place, uint64_t to, uint8_t *bytes)
{
	(void) place, (void) to, (void) bytes;
}

int spi_jump_short_reaches(uint64_t place, uint64_t to)
{
	(void) place, (void) to;
	return 0;
}

void spi_jump_short_bytes(uint64_t place, uint64_t to, uint8_t *bytes)
{
	(void) place, (void) to, (void) bytes;
}

int spi_store_wide_works(void)
{
	return 0;
}

void spi_emit_jump(struct spi_emit *e, uint64_t target)
{
	(void) target;
	e->failed = SPI_NOT_SUPPORTED;
}

void spi_emit_finish(struct spi_emit *e)
{
	e->failed = SPI_NOT_SUPPORTED;
}

void spi_stub_emit(struct spi_emit *e, struct spi_stub *stub, const uint8_t *bytes, const struct spi_map_insn *insns,
	unsigned int count, unsigned int undo, uint64_t *moved)
{
	(void) stub, (void) bytes, (void) insns, (void) count, (void) undo, (void) moved;
	e->failed = SPI_NOT_SUPPORTED;
}

void spi_site_emit(struct spi_emit *e, struct spi_stub *stub, const struct spi_map_site *site, uint32_t moved,
	uint64_t push, enum spi_site_way way, uint64_t to, uint64_t *entries)
{
	(void) stub, (void) site, (void) moved, (void) push, (void) way, (void) to, (void) entries;
	e->failed = SPI_NOT_SUPPORTED;
}

uint16_t spi_site_frame(const struct spi_map_site *site, uint32_t moved)
{
	(void) site, (void) moved;
	return 0;
}

uint32_t spi_trampoline_size(uint64_t place, uint64_t to)
{
	(void) place, (void) to;
	return SPI_TRAMPOLINE_MAX;
}

void spi_trampoline_bytes(uint64_t place, uint64_t to, uint16_t frame, uint8_t bytes[SPI_TRAMPOLINE_MAX])
{
	(void) place, (void) to, (void) frame;
	spi_bytes_set(bytes, SPI_CODE_TRAP, SPI_TRAMPOLINE_MAX);
}

int spi_site_has_displacement(const struct spi_map_site *site)
{
	(void) site;
	return 0;
}

void spi_site_whole_bytes(const struct spi_map_site *site, uint64_t after, uint64_t stub, uint8_t *to)
{
	(void) site, (void) after, (void) stub, (void) to;
}

int spi_site_has_word(const struct spi_map_site *site)
{
	(void) site;
	return 0;
}

void spi_site_word_bytes(const struct spi_map_site *site, uint64_t after, uint64_t word, uint8_t *to)
{
	(void) site, (void) after, (void) word, (void) to;
}

int spi_site_is_short_jump(const struct spi_map_site *site)
{
	(void) site;
	return 0;
}

/* ---- code that is recognised ---- */

uint64_t spi_code_jump_target(uint64_t at, spi_copy_fn copy)
{
	(void) at, (void) copy;
	return 0;
}

uint64_t spi_code_made_target(uint64_t at, spi_copy_fn copy)
{
	(void) at, (void) copy;
	return 0;
}

int spi_code_is_empty_function(const uint8_t *code)
{
	(void) code;
	return 0;
}

enum spi_start_gives spi_code_start_gives(const uint8_t *code, int is_first, uint64_t *value)
{
	(void) code, (void) is_first;
	*value = 0;
	return SPI_START_NOTHING;
}

/* ---- functions that C cannot be ---- */

#define MISSING(name) void name(void) { __builtin_trap(); }
MISSING(spi_thunk_entry_general)
MISSING(spi_thunk_entry_words)
MISSING(spi_thunk_entry_words_any)
MISSING(spi_thunk_exit_words)
MISSING(spi_thunk_exit_plain)
MISSING(spi_thunk_entry_lent)
MISSING(spi_hook_thunk)
MISSING(spi_slot_landing)
MISSING(spi_signal_return)
MISSING(spi_leave_again)
MISSING(spi_leave_personality)
MISSING(spi_thread_start)
MISSING(spi_own_longjmp)
MISSING(spi_own_longjmp_chk)
MISSING(spi_own_libc_exit)
MISSING(spi_own_vfork)
MISSING(spi_own_clone)
MISSING(spi_own_syscall)

void spi_own_exit(int status)
{
	(void) status;
	__builtin_trap();
}

#define MISSING_EXEC(name) int name(const char *path, const char *first, ...) { __builtin_trap(); }
MISSING_EXEC(own_execl)
MISSING_EXEC(own_execlp)
MISSING_EXEC(own_execle)
