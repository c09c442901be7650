/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Getting the library to where the target can load it.
 *
 * A path names a file only together with a root directory and a user: the target may live in a
 * container or a chroot, or not be allowed to read the file. When the path means the very same file
 * to the target, the target gets the path. Otherwise the file's bytes are put into a memfd that the
 * target makes for them, which needs nothing from the target's file system, not even a writable
 * directory.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injector/inject/carry.h"
#include "liblttng-spi/base/library-file.h"

/* ---- the library ---------------------------------------------------- */

/* Of a caller who may read it and becomes somebody who perhaps may not. */
static struct {
	char *path, *real;
	int fd;
} kept = { .fd = -1 };

void spi_carry_keep_open(const char *library)
{
	kept.path = strchr(library, '/') ? strdup(library) : NULL;
	kept.real = kept.path ? realpath(library, NULL) : NULL;
	kept.fd = kept.real ? open(library, O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1;
}

static bool is_kept(const char *library)
{
	return kept.fd >= 0 && (!strcmp(library, kept.path) || !strcmp(library, kept.real));
}

int spi_carry_library_open(const char *library)
{
	return is_kept(library) ? fcntl(kept.fd, F_DUPFD_CLOEXEC, 3) : open(library, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

int spi_carry_library_stat(const char *library, struct stat *st)
{
	return is_kept(library) ? fstat(kept.fd, st) : stat(library, st);
}

/*
 * Open `path` as the target would: in its root and with its file system rights.
 * The rights are those of the calling thread alone (raw system calls), and only
 * root can, and needs to, take others.
 */
static int open_as_target(const struct spi_target *t, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
		.resolve = RESOLVE_IN_ROOT,
	};
	bool change = !geteuid() && t->uid;
	char root[64];
	int dir, fd;

	snprintf(root, sizeof(root), "/proc/%d/root", (int) spi_living_thread(t->pid));
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	if (change) {
		syscall(SYS_setfsgid, t->gid);
		syscall(SYS_setfsuid, t->uid);
	}
	fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	if (fd < 0)
		fd = -errno;
	if (change) {
		syscall(SYS_setfsuid, geteuid());
		syscall(SYS_setfsgid, getegid());
	}
	close(dir);
	return fd;
}

static int carry_read(struct spi_carry *c, const struct spi_target *t, const char *path)
{
	int fd = spi_carry_library_open(path);
	struct stat st;
	ssize_t n = 0;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		int error = fd < 0 ? errno : EINVAL;

		if (fd >= 0)
			close(fd);
		return spi_inject_fail(t->result, error, "%s: cannot be read: %s", path, strerror(error));
	}
	c->copy = malloc(st.st_size ? st.st_size : 1);
	while (c->copy && c->copy_size < (size_t) st.st_size &&
	       (n = pread(fd, c->copy + c->copy_size, st.st_size - c->copy_size, (off_t) c->copy_size)) > 0)
		c->copy_size += n;
	close(fd);
	if (!c->copy || n < 0)
		return spi_inject_fail(t->result, ENOMEM, "%s: cannot be read", path);
	c->in_memory = true;
	return 0;
}

/* 0, or why dlopen() must not have the file: it would wait for ever, or end the process. */
static int file_check(const struct spi_target *t, const char *library, const struct stat *st)
{
	uint64_t begin[SPI_LIBRARY_BEGIN / 8];
	const char *why = NULL;
	ssize_t n;
	int fd;

	if (!S_ISREG(st->st_mode))
		return spi_inject_fail(t->result, EINVAL, "%s: it is no regular file", library);
	fd = spi_carry_library_open(library);
	if (fd < 0)
		return 0;		/* the process may read it */
	n = pread(fd, begin, sizeof(begin), 0);
	close(fd);
	if (n >= 0)
		why = spi_library_refusal(begin, (size_t) n, (uint64_t) st->st_size, EM_X86_64);
	return why ? spi_inject_fail(t->result, ENOEXEC, "%s: %s", library, why) : 0;
}

int spi_carry_plan(struct spi_carry *c, const struct spi_target *t, const char *library)
{
	const char *slash = strrchr(library, '/');
	char *real = NULL;
	struct stat here, there;
	int fd, ret = 0;

	memset(c, 0, sizeof(*c));
	snprintf(c->name, sizeof(c->name), "%s", slash ? slash + 1 : library);
	if (!slash) {		/* the target's own search path decides */
		if (strlen(library) >= sizeof(c->path))
			return spi_inject_fail(t->result, ENAMETOOLONG, "%s: name too long", library);
		strcpy(c->path, library);
		return 0;
	}
	real = is_kept(library) ? strdup(kept.real) : realpath(library, NULL);
	fd = open_as_target(t, real ? real : library);
	if (!real) {
		/* Not here; when it is not there either, dlopen() will say so in its own words. */
		if (*library != '/' || strlen(library) >= sizeof(c->path))
			ret = spi_inject_fail(t->result, ENOENT, "%s: there is no such file here; in the target's "
					      "root, name it by an absolute path", library);
		else
			strcpy(c->path, library);
	} else if (spi_carry_library_stat(real, &here)) {
		ret = spi_inject_fail(t->result, errno, "%s: %s", real, strerror(errno));
	} else if (!(ret = file_check(t, real, &here))) {
		c->device = here.st_dev;
		c->inode = here.st_ino;
		if (fd >= 0 && !fstat(fd, &there) && there.st_dev == here.st_dev && there.st_ino == here.st_ino &&
		    strlen(real) < sizeof(c->path))
			strcpy(c->path, real);
		else
			ret = carry_read(c, t, real);
	}
	if (fd >= 0)
		close(fd);
	free(real);
	return ret;
}

void spi_carry_free(struct spi_carry *c)
{
	free(c->copy);
	c->copy = NULL;
}

void spi_carry_trim(struct spi_carry *c)
{
	Elf64_Ehdr *head = (Elf64_Ehdr *) c->copy;
	const Elf64_Phdr *ph;
	uint64_t end;

	if (c->copy_size < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_phentsize != sizeof(*ph) || head->e_phoff % 8 ||
	    head->e_phoff > c->copy_size || head->e_phnum > (c->copy_size - head->e_phoff) / sizeof(*ph))
		return;
	ph = (const Elf64_Phdr *) (c->copy + head->e_phoff);
	end = head->e_phoff + head->e_phnum * sizeof(*ph);
	for (unsigned int i = 0; i < head->e_phnum; i++)
		if (ph[i].p_filesz <= c->copy_size && ph[i].p_offset <= c->copy_size - ph[i].p_filesz &&
		    ph[i].p_offset + ph[i].p_filesz > end)
			end = ph[i].p_offset + ph[i].p_filesz;
	head->e_shoff = 0;
	head->e_shnum = head->e_shstrndx = 0;
	c->copy_size = end;
}

void spi_carry_memfd_path(struct spi_carry *c, pid_t pid, int fd)
{
	uint32_t unique = 0;
	/* The first thread's descriptors end with it: liblttng-spi/base/proc.c. */
	char *to = c->path + sprintf(c->path, spi_living_thread(pid) == pid ? "/proc/self/fd" : "/proc/thread-self/fd");

	/* 32 random bits spelt in characters that mean nothing in a path: "/" and "/." */
	if (getrandom(&unique, sizeof(unique), GRND_NONBLOCK) < 0)
		unique = (uint32_t) getpid() * 2654435761u;
	for (int bit = 0; bit < 32; bit++)
		to += sprintf(to, unique >> bit & 1 ? "/." : "/");
	sprintf(to, "/%d", fd);
}

/* Where its directory of descriptors is root's: a process that may trace it gets one all the same. */
static int descriptor_of(pid_t pid, int fd)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0), got = pidfd < 0 ? -1 : (int) syscall(SYS_pidfd_getfd, pidfd, fd, 0), error = errno;

	if (pidfd >= 0)
		close(pidfd);
	return got < 0 ? -error : got;
}

int spi_carry_fill(const struct spi_carry *c, pid_t pid, int fd)
{
	char path[64];
	size_t done = 0;
	int to;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int) spi_living_thread(pid), fd);
	to = open(path, O_WRONLY | O_CLOEXEC);
	if (to < 0 && (to = descriptor_of(pid, fd)) < 0)
		return to;
	while (done < c->copy_size) {
		ssize_t n = write(to, c->copy + done, c->copy_size - done);

		if (n <= 0) {
			int error = n ? errno : EIO;

			close(to);
			return -error;
		}
		done += n;
	}
	close(to);
	return 0;
}

static uint64_t elf_symbol(int fd, const char *name)
{
	Elf *elf = elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	Elf_Scn *section = NULL;
	uint64_t value = 0;

	while (elf && !value && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		Elf_Data *data;
		GElf_Sym symbol;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
			const char *symbol_name = elf_strptr(elf, header.sh_link, symbol.st_name);

			if (symbol.st_shndx != SHN_UNDEF && symbol_name && !strcmp(symbol_name, name))
				value = symbol.st_value;
		}
	}
	if (elf)
		elf_end(elf);
	return value;
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       !memcmp(&a->st_mtim, &b->st_mtim, sizeof(a->st_mtim)) && !memcmp(&a->st_ctim, &b->st_ctim, sizeof(a->st_ctim));
}

/* The latest answer is kept: who injects many asks for the same each time, and one of them may wait for it before its main(). */
uint64_t spi_file_symbol(const char *path, const char *name)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct stat known;
	static const char *known_name;
	static uint64_t known_value;
	int fd = spi_carry_library_open(path);
	uint64_t value = 0;
	struct stat st;

	pthread_mutex_lock(&lock);
	if (fd >= 0 && !fstat(fd, &st)) {
		if (!known_value || strcmp(name, known_name) || !is_unchanged(&st, &known)) {
			known = st;
			known_name = name;
			known_value = elf_symbol(fd, name);
		}
		value = known_value;
	}
	pthread_mutex_unlock(&lock);
	if (fd >= 0)
		close(fd);
	return value;
}
