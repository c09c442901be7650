/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A library's file, before dlopen() has it. dlopen() does not look at how long the file is: one that was cut off ends
 * the process by SIGBUS. Of a file for another machine dlopen() says that there is none. Whoever loads a file into a
 * process that does not expect that (payload/file.c, the injector) asks here first.
 */
#ifndef SPI_BASE_LIBRARY_FILE_H
#define SPI_BASE_LIBRARY_FILE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#define SPI_LIBRARY_BEGIN	4096u	/* bytes that are looked at */

/*
 * Why the file cannot be loaded, of its first `size` bytes, which are aligned as an Elf64_Ehdr is, and its length;
 * `machine`: this one's e_machine. NULL: nothing is known against the file; what is no ELF file at all dlopen() names
 * itself. Calls nothing.
 */
static inline const char *spi_library_refusal(const void *begin, size_t size, uint64_t length, unsigned int machine)
{
	const Elf64_Ehdr *head = begin;
	const unsigned char *ident = begin;

	if (size < EI_NIDENT || ident[0] != ELFMAG0 || ident[1] != 'E' || ident[2] != 'L' || ident[3] != 'F')
		return NULL;
	if (ident[EI_CLASS] != ELFCLASS64 || size < sizeof(*head) || head->e_machine != machine)
		return ident[EI_CLASS] == ELFCLASS64 && size < sizeof(*head) ? "it was cut off: build or copy it again" :
			"it is built for another machine: build it for this one";
	if (head->e_phentsize != sizeof(Elf64_Phdr) || head->e_phoff % 8 || head->e_phoff > SPI_LIBRARY_BEGIN)
		return NULL;
	for (size_t i = 0; i < head->e_phnum; i++) {
		const uint64_t at = head->e_phoff + i * sizeof(Elf64_Phdr);
		const Elf64_Phdr *segment = (const void *) (ident + at);

		if (at + sizeof(*segment) > size)
			return at + sizeof(*segment) > length ? "it was cut off: build or copy it again" : NULL;
		if (segment->p_type == PT_LOAD && (segment->p_offset > length || segment->p_filesz > length - segment->p_offset))
			return "it was cut off: build or copy it again";
	}
	return NULL;
}

#endif /* SPI_BASE_LIBRARY_FILE_H */
