/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The few facts about an ELF file that decide whether it can be traced at all,
 * read from its headers with bounds checked. Everything deeper is spi-codemap's.
 */
#ifndef SPI_CLI_FUNCTIONS_ELF_FILE_H
#define SPI_CLI_FUNCTIONS_ELF_FILE_H

#include <stddef.h>
#include <stdint.h>

struct elf_facts {
	int is_elf;		/* 0: nothing below is set */
	int bits;		/* 32 or 64 */
	uint16_t machine;	/* e_machine */
	uint16_t type;		/* e_type */
	int damaged;		/* headers point outside the file */
	int has_symtab;		/* .symtab, or a .gnu_debugdata with the same */
	char interp[256];	/* PT_INTERP, "" when there is none */
};

/* elf_facts_read() - look at an open file. Returns 0, or a negative errno when it cannot be read. */
int elf_facts_read(int fd, struct elf_facts *facts);

/* elf_is_static() - a program without a dynamic loader, and no library? */
int elf_is_static(int fd, const struct elf_facts *facts);

/* elf_executes() - does it use, or offer, one of libc's functions that execute a program? */
int elf_executes(int fd);

/* elf_soname_read() - DT_SONAME of a 64-bit library into `name`. Returns 0, or -ENOENT when it has none. */
int elf_soname_read(int fd, char *name, size_t size);

#endif /* SPI_CLI_FUNCTIONS_ELF_FILE_H */
