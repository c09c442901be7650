/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The disassembler (capstone) and the C++ demangler, which only the analysing process loads. */
#ifndef CODEMAP_BASE_LIBRARIES_H
#define CODEMAP_BASE_LIBRARIES_H

#include <capstone/capstone.h>

/* All members are NULL before libraries_load(), and none of them is NULL afterwards. */
extern struct libraries {
	cs_err (*cs_open)(cs_arch arch, cs_mode mode, csh *handle);
	size_t (*cs_disasm)(csh handle, const uint8_t *code, size_t size, uint64_t address, size_t count, cs_insn **insn);
	void (*cs_free)(cs_insn *insn, size_t count);
	cs_err (*cs_option)(csh handle, cs_opt_type type, size_t value);
	cs_err (*cs_regs_access)(csh handle, const cs_insn *insn, cs_regs read, uint8_t *read_count, cs_regs written,
		uint8_t *written_count);
	char *(*demangle)(const char *linkage, char *room, size_t *size, int *status);
} libraries;

/* To be called before sandbox_enter(). Ends the process when a library or a symbol is missing. */
void libraries_load(void);

#endif /* CODEMAP_BASE_LIBRARIES_H */
