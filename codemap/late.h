/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Libraries that only an analysis needs, loaded when there is one. */
#ifndef CODEMAP_LATE_H
#define CODEMAP_LATE_H

#include <capstone/capstone.h>

/* NULL until late_load(); then none of them is. */
extern struct late {
	cs_err (*open)(cs_arch arch, cs_mode mode, csh *handle);
	size_t (*disasm)(csh handle, const uint8_t *code, size_t size, uint64_t address, size_t count, cs_insn **insn);
	void (*free)(cs_insn *insn, size_t count);
	cs_err (*option)(csh handle, cs_opt_type type, size_t value);
	cs_err (*regs_access)(csh handle, const cs_insn *insn, cs_regs read, uint8_t *read_count, cs_regs written,
		uint8_t *written_count);
	char *(*demangle)(const char *linkage, char *room, size_t *size, int *status);
} late;

/* Before the sandbox. Ends the process when one of them is missing. */
void late_load(void);

#endif /* CODEMAP_LATE_H */
