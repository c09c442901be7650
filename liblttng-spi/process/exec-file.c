/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Can the agent be preloaded into a program that is about to be executed? Looked at
 * as the kernel will: `#!` lines down to an ELF file, which has to be a 64-bit one
 * that glibc's dynamic linker starts without secure mode. Into any other the agent
 * cannot come, and where the dynamic linker cannot open it, it would say so on the
 * program's stderr.
 *
 * What the kernel is going to refuse gets no reason: the program sees the error
 * itself, and execvp() provokes one in each directory of PATH.
 *
 * Runs in vforked children: reads files, and writes nothing but its stack, of which
 * posix_spawn() gives its child 32 KB.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/process/internal.h"

#define SCRIPTS_MAX	5		/* as the kernel */
#define PHDRS_MAX	64u

/* Where the dynamic linker is, in Debian's and in other systems' words. */
static int interpreter_is_glibc(int fd, const Elf64_Phdr *p)
{
	static const char name[] = SPI_ELF_INTERPRETER;
	char text[128];
	long n = (long) p->p_filesz;

	if (n <= (long) sizeof(name) || n > (long) sizeof(text) || spi_sys(SYS_pread64, (long) fd, text, n, (long) p->p_offset) != n)
		return 0;
	return spi_bytes_equal((const uint8_t *) text + n - sizeof(name), (const uint8_t *) name, sizeof(name));
}

static enum spi_exec_kind look_elf(int fd, const Elf64_Ehdr *head, const char **reason)
{
	Elf64_Phdr p;

	if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_machine != SPI_ELF_MACHINE) {
		*reason = head->e_machine == SPI_ELF_MACHINE_32 || head->e_machine == SPI_ELF_MACHINE ? "it is a 32-bit program" :
			"it is not an " SPI_ARCH_NAME " program";
		return SPI_EXEC_UNFIT;
	}
	if (head->e_phentsize != sizeof(p) || (head->e_type != ET_EXEC && head->e_type != ET_DYN))
		return SPI_EXEC_FAILS;
	for (unsigned int i = 0; i < head->e_phnum && i < PHDRS_MAX; i++) {
		if (spi_sys(SYS_pread64, (long) fd, &p, sizeof(p), (long) (head->e_phoff + i * sizeof(p))) != (long) sizeof(p))
			return SPI_EXEC_FAILS;
		if (p.p_type != PT_INTERP)
			continue;
		*reason = "it is not linked with glibc";
		return interpreter_is_glibc(fd, &p) ? SPI_EXEC_FITS : SPI_EXEC_UNFIT;
	}
	*reason = "it is statically linked";
	return SPI_EXEC_UNFIT;
}

/* The name in a `#!` line, cut out in place; NULL: there is none. */
static const char *script_interpreter(char *text, long n)
{
	char *at = text + 2, *end = text + n;
	char *name;

	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	name = at;
	while (at < end && *at != ' ' && *at != '\t' && *at != '\n' && *at)
		at++;
	if (at == end || at == name)
		return NULL;
	*at = 0;
	return name;
}

/* What makes the dynamic linker leave LD_PRELOAD alone. NULL: nothing does. */
static const char *secure_because(int fd, const struct stat *st)
{
	if (st->st_mode & S_ISUID)
		return "it is setuid";
	if ((st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		return "it is setgid";
	if (spi_sys(SYS_fgetxattr, (long) fd, "security.capability", NULL, 0L) > 0)
		return "it has file capabilities";
	if (spi_sys(SYS_getuid) != spi_sys(SYS_geteuid) || spi_sys(SYS_getgid) != spi_sys(SYS_getegid))
		return "its user is not the one that it acts for";
	return NULL;
}

static const char *limit_because(void)
{
	const char *reason = spi_limits_because(1);

	if (reason)
		return reason;
	if (spi_sys(SYS_faccessat, (long) AT_FDCWD, spi_exec_agent(), (long) R_OK) < 0)
		return "the agent's files cannot be reached from it: install them where its user may read them, or trace it with -p or --exec";
	return NULL;
}

/* An open file. *next: the interpreter that comes after it, in `text`. */
static enum spi_exec_kind look_file(int fd, char *text, size_t size, const char **next, const char **reason)
{
	Elf64_Ehdr head;
	struct stat st;
	long n;

	*next = NULL;
	if (spi_sys(SYS_fstat, (long) fd, &st) < 0 || !S_ISREG(st.st_mode))
		return SPI_EXEC_FAILS;
	n = spi_sys(SYS_pread64, (long) fd, text, (long) size, 0L);
	if (n > 2 && text[0] == '#' && text[1] == '!') {
		*next = script_interpreter(text, n);
		return SPI_EXEC_FAILS;
	}
	if (n < (long) sizeof(head) || !spi_bytes_equal((const uint8_t *) text, (const uint8_t *) ELFMAG, SELFMAG))
		return SPI_EXEC_FAILS;
	spi_bytes_copy(&head, text, sizeof(head));
	*reason = secure_because(fd, &st);
	if (!*reason)
		*reason = limit_because();
	return *reason ? SPI_EXEC_UNFIT : look_elf(fd, &head, reason);
}

enum spi_exec_kind spi_exec_look(int directory, const char *path, int flags, const char **reason)
{
	enum spi_exec_kind kind = SPI_EXEC_FAILS;
	char text[256], self[SPI_PROC_PATH], file[16];

	*reason = NULL;
	if (flags & AT_EMPTY_PATH) {
		spi_format(file, sizeof(file), "fd/%d", directory);
		directory = AT_FDCWD;
		path = spi_proc_path(self, file);
	}
	for (int depth = 0; path && depth <= SCRIPTS_MAX; depth++) {
		long open_flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, fd;

		/* as this process's effective user */
		if (spi_sys(SYS_faccessat2, (long) directory, path, (long) X_OK, (long) AT_EACCESS) < 0)
			return SPI_EXEC_FAILS;
		fd = spi_sys(SYS_openat, (long) directory, path, open_flags, 0L);
		if (fd < 0) {
			*reason = "it cannot be read";
			return fd == -EACCES ? SPI_EXEC_UNFIT : SPI_EXEC_FAILS;
		}
		kind = look_file((int) fd, text, sizeof(text), &path, reason);
		spi_sys(SYS_close, fd);
		directory = AT_FDCWD;
	}
	return path ? SPI_EXEC_FAILS : kind;
}
