/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* ELF headers with pread(), nothing mapped, nothing trusted: see elf-file.h. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/functions/elf-file.h"

#define ELF_STRINGS_MAX	(UINT64_C(64) << 20)	/* bytes */

/* 0 when all n bytes were read, -ENOEXEC when the file ends before, else a negative errno. */
static int elf_read(int fd, void *to, size_t n, uint64_t offset)
{
	size_t done = 0;

	if (offset > INT64_MAX - n)
		return -ENOEXEC;
	while (done < n) {
		ssize_t got = pread(fd, (char *) to + done, n - done, (off_t) (offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -ENOEXEC;
		done += (size_t) got;
	}
	return 0;
}

static int elf_interp_read(int fd, const Elf64_Ehdr *head, struct elf_facts *facts)
{
	Elf64_Phdr segment;
	unsigned int i;
	int ret;

	for (i = 0; i < head->e_phnum; i++) {
		ret = elf_read(fd, &segment, sizeof(segment), head->e_phoff + (uint64_t) i * sizeof(segment));
		if (ret < 0)
			return ret;
		if (segment.p_type != PT_INTERP)
			continue;
		if (!segment.p_filesz || segment.p_filesz >= sizeof(facts->interp))
			return -ENOEXEC;
		ret = elf_read(fd, facts->interp, segment.p_filesz, segment.p_offset);
		facts->interp[segment.p_filesz] = '\0';
		return ret;
	}
	return 0;
}

/* Section headers are often cut off on purpose: without them the file simply has no symbol table. */
static void elf_symtab_look(int fd, const Elf64_Ehdr *head, struct elf_facts *facts)
{
	Elf64_Shdr section, names;
	char name[16];
	unsigned int i;

	if (!head->e_shoff || head->e_shentsize != sizeof(section) ||
	    elf_read(fd, &names, sizeof(names), head->e_shoff + (uint64_t) head->e_shstrndx * sizeof(names)) < 0)
		return;
	for (i = 0; i < head->e_shnum; i++) {
		if (elf_read(fd, &section, sizeof(section), head->e_shoff + (uint64_t) i * sizeof(section)) < 0)
			return;
		if (section.sh_type == SHT_SYMTAB && section.sh_size > sizeof(Elf64_Sym))
			facts->has_symtab = 1;
		if (section.sh_type == SHT_PROGBITS && section.sh_name < names.sh_size &&
		    elf_read(fd, name, sizeof(".gnu_debugdata"), names.sh_offset + section.sh_name) == 0 &&
		    !memcmp(name, ".gnu_debugdata", sizeof(".gnu_debugdata")))
			facts->has_symtab = 1;
	}
}

int elf_facts_read(int fd, struct elf_facts *facts)
{
	Elf64_Ehdr head;
	int ret;

	memset(facts, 0, sizeof(*facts));
	memset(&head, 0, sizeof(head));
	ret = elf_read(fd, &head, EI_NIDENT + 4, 0);
	if (ret < 0)
		return ret == -ENOEXEC ? 0 : ret;
	if (memcmp(head.e_ident, ELFMAG, SELFMAG))
		return 0;
	facts->is_elf = 1;
	facts->bits = head.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
	facts->type = head.e_type;
	facts->machine = head.e_machine;
	if (facts->bits != 64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
		return 0;
	ret = elf_read(fd, &head, sizeof(head), 0);
	if (ret == 0 && head.e_phentsize != sizeof(Elf64_Phdr))
		ret = -ENOEXEC;
	if (ret == 0)
		ret = elf_interp_read(fd, &head, facts);
	if (ret == -ENOEXEC) {
		facts->damaged = 1;
		return 0;
	}
	if (ret == 0)
		elf_symtab_look(fd, &head, facts);
	return ret;
}

int elf_is_static(int fd, const struct elf_facts *facts)
{
	Elf64_Ehdr head;
	Elf64_Phdr s;
	Elf64_Dyn d;
	unsigned int i;

	if (!facts->is_elf || facts->bits != 64 || facts->damaged || *facts->interp || elf_read(fd, &head, sizeof(head), 0) < 0)
		return 0;
	if (facts->type == ET_EXEC)
		return 1;
	for (i = 0; facts->type == ET_DYN && i < head.e_phnum; i++) {
		if (elf_read(fd, &s, sizeof(s), head.e_phoff + (uint64_t) i * sizeof(s)) < 0)
			break;
		for (uint64_t at = 0; s.p_type == PT_DYNAMIC && at + sizeof(d) <= s.p_filesz; at += sizeof(d)) {
			if (elf_read(fd, &d, sizeof(d), s.p_offset + at) < 0 || d.d_tag == DT_NULL)
				break;
			if (d.d_tag == DT_FLAGS_1)
				return (d.d_un.d_val & DF_1_PIE) != 0;
		}
	}
	return 0;
}

/* File offset of a link-time address; UINT64_MAX when no segment has it. */
static uint64_t elf_offset_of(int fd, const Elf64_Ehdr *head, uint64_t vaddr)
{
	Elf64_Phdr s;
	unsigned int i;

	for (i = 0; i < head->e_phnum; i++) {
		if (elf_read(fd, &s, sizeof(s), head->e_phoff + (uint64_t) i * sizeof(s)) < 0)
			break;
		if (s.p_type == PT_LOAD && vaddr >= s.p_vaddr && vaddr - s.p_vaddr < s.p_filesz)
			return s.p_offset + (vaddr - s.p_vaddr);
	}
	return UINT64_MAX;
}

/* Values of the dynamic section; 0 where it has none. */
static void elf_dynamic_read(int fd, const Elf64_Phdr *dynamic, uint64_t values[DT_SONAME + 1])
{
	Elf64_Dyn d;
	uint64_t at;

	memset(values, 0, (DT_SONAME + 1) * sizeof(*values));
	for (at = 0; at + sizeof(d) <= dynamic->p_filesz; at += sizeof(d)) {
		if (elf_read(fd, &d, sizeof(d), dynamic->p_offset + at) < 0 || d.d_tag == DT_NULL)
			break;
		if (d.d_tag > 0 && d.d_tag <= DT_SONAME)
			values[d.d_tag] = d.d_un.d_val;
	}
}

static int elf_soname_find(int fd, const Elf64_Ehdr *head, const Elf64_Phdr *dynamic, char *name, size_t size)
{
	uint64_t values[DT_SONAME + 1], at;

	elf_dynamic_read(fd, dynamic, values);
	if (!values[DT_STRTAB] || !values[DT_SONAME])
		return -ENOENT;
	at = elf_offset_of(fd, head, values[DT_STRTAB] + values[DT_SONAME]);
	if (at == UINT64_MAX || pread(fd, name, size, (off_t) at) <= 0 || !memchr(name, '\0', size) || !*name)
		return -ENOENT;
	return 0;
}

static int elf_dynamic_find(int fd, Elf64_Ehdr *head, Elf64_Phdr *dynamic)
{
	unsigned int i;

	if (elf_read(fd, head, sizeof(*head), 0) < 0 || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_phentsize != sizeof(*dynamic))
		return -ENOENT;
	for (i = 0; i < head->e_phnum; i++) {
		if (elf_read(fd, dynamic, sizeof(*dynamic), head->e_phoff + (uint64_t) i * sizeof(*dynamic)) < 0)
			break;
		if (dynamic->p_type == PT_DYNAMIC)
			return 0;
	}
	return -ENOENT;
}

int elf_soname_read(int fd, char *name, size_t size)
{
	Elf64_Ehdr head;
	Elf64_Phdr dynamic;

	memset(name, 1, size);
	return elf_dynamic_find(fd, &head, &dynamic) < 0 ? -ENOENT : elf_soname_find(fd, &head, &dynamic, name, size);
}

/* The linker lets a name begin within a longer one, so what stands before it does not count. */
int elf_executes(int fd)
{
	static const char *const names[] = { "execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve",
		"execveat", "posix_spawn", "posix_spawnp", "system", "popen" };
	uint64_t values[DT_SONAME + 1], at, size;
	Elf64_Ehdr head;
	Elf64_Phdr dynamic;
	char *strings;
	int found = 0;

	if (elf_dynamic_find(fd, &head, &dynamic) < 0)
		return 0;
	elf_dynamic_read(fd, &dynamic, values);
	at = elf_offset_of(fd, &head, values[DT_STRTAB]);
	size = values[DT_STRSZ] < ELF_STRINGS_MAX ? values[DT_STRSZ] : ELF_STRINGS_MAX;
	strings = at == UINT64_MAX || !size ? NULL : malloc(size);
	if (strings && elf_read(fd, strings, size, at) == 0)
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !found; i++)
			found = memmem(strings, size, names[i], strlen(names[i]) + 1) != NULL;
	free(strings);
	return found;
}
