/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * No processor: the functions and places that arch.h promises and cpu.h does not define. Stubs decline their points,
 * what recognises code or asks the processor finds nothing, and the rest ends the process.
 */
#include "liblttng-spi/arch/arch.h"

const uint8_t spi_read_begin[1], spi_read_end[1], spi_read_fixup[1];
const int32_t spi_payload_calls[1], spi_payload_calls_end[1];
void *spi_payload_personality_to, *spi_slot_personality_to;
uint8_t spi_slot_code_base[SPI_SLOT_HALF] SPI_EXPORT, spi_slot_data_base[SPI_SLOT_HALF] SPI_EXPORT;

void spi_stub_emit(struct spi_emit *e, struct spi_stub *stub, const uint8_t *bytes, const struct spi_map_insn *insns,
	unsigned int count, unsigned int undo, uint64_t *moved)
{
	e->failed = SPI_NOT_SUPPORTED;
}

void spi_site_emit(struct spi_emit *e, struct spi_stub *stub, const struct spi_map_site *site, uint32_t moved,
	uint64_t push, enum spi_site_way way, uint64_t to)
{
	e->failed = SPI_NOT_SUPPORTED;
}

const char *spi_code_made_call(const uint8_t *bytes, uint32_t size, uint64_t address, struct spi_map_site *site)
{
	return SPI_NOT_SUPPORTED;
}

/* Each name below is one more symbol of one of these two functions, whatever its type. */
__attribute__((used)) static uint64_t finds_nothing(void)
{
	return 0;
}

__attribute__((used)) static void is_missing(void)
{
	__builtin_trap();
}

#define SYMBOL(name, function) __asm__(".globl " #name "\n.hidden " #name "\n.set " #name ", " #function);
#define NOTHING(name) SYMBOL(name, finds_nothing)
#define MISSING(name) SYMBOL(name, is_missing)

NOTHING(spi_thunks_init)
NOTHING(spi_slot_rule_find)
NOTHING(spi_slot_rule_is_usual)
NOTHING(spi_code_is_restorer)
NOTHING(spi_context_pc)
NOTHING(spi_call_apart)
NOTHING(spi_context_registers)
NOTHING(spi_context_sp)
NOTHING(spi_context_system_call)
NOTHING(spi_context_trap)
NOTHING(spi_context_steps)
NOTHING(spi_site_has_displacement)
NOTHING(spi_site_has_word)
NOTHING(spi_code_jump_target)
NOTHING(spi_code_pushed)
NOTHING(spi_code_made_target)
NOTHING(spi_code_is_empty_function)
NOTHING(spi_code_ends_in_call)
NOTHING(spi_code_start_gives)

MISSING(spi_read_string)
MISSING(spi_read_bytes)
MISSING(spi_thunks_full)
MISSING(spi_thunk_entry_general)
MISSING(spi_thunk_entry_words)
MISSING(spi_thunk_entry_words_any)
MISSING(spi_thunk_exit_words)
MISSING(spi_thunk_exit_general)
MISSING(spi_thunk_exit_plain)
MISSING(spi_thunk_entry_lent)
MISSING(spi_hook_thunk)
MISSING(spi_slot_code_write)
MISSING(spi_slot_rule_exact)
MISSING(spi_slot_landing)
MISSING(spi_signal_return)
MISSING(spi_signal_frame_registers)
MISSING(spi_context_pc_set)
MISSING(spi_context_argument_set)
MISSING(spi_guarded_call)
MISSING(spi_guarded_landing)
MISSING(spi_guarded_fault)
MISSING(spi_clients_entry_fast)
MISSING(spi_client_call_fast)
MISSING(spi_client_returns_fast)
MISSING(spi_displacement_bytes)
MISSING(spi_jump_bytes)
MISSING(spi_emit_jump)
MISSING(spi_emit_finish)
MISSING(spi_site_whole_bytes)
MISSING(spi_site_word_bytes)
MISSING(spi_code_made_far)
MISSING(spi_leave_again)
MISSING(spi_leave_personality)
MISSING(spi_thread_start)
MISSING(spi_own_longjmp)
MISSING(spi_own_longjmp_chk)
MISSING(spi_own_libc_exit)
MISSING(spi_own_exit)
MISSING(spi_own_vfork)
MISSING(spi_own_clone)
MISSING(spi_own_syscall)
