/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * This process in /proc, and its memory map.
 *
 * When a process's first thread has ended, /proc/self shows neither memory nor
 * descriptors nor the executable any more, while /proc/thread-self shows all of
 * them. A program that is confined may be allowed to read the former only, which
 * is therefore asked first.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "liblttng-spi/base/internal.h"

#define OPENED_AGAIN	8u

const char *spi_proc_path(char path[SPI_PROC_PATH], const char *name)
{
	struct stat st;

	spi_format(path, SPI_PROC_PATH, "/proc/%s/%s", spi_sys(SYS_newfstatat, AT_FDCWD, "/proc/self/exe", &st, 0L) == -ENOENT ?
		"thread-self" : "self", name);
	return path;
}

long spi_proc_text_at(long dir, const char *path, char *text, size_t size)
{
	long fd = spi_sys(SYS_openat, dir, path, O_RDONLY | O_CLOEXEC), got;

	if (fd < 0)
		return fd;
	got = spi_proc_read(fd, text, size - 1);
	spi_proc_close(fd);
	text[got > 0 ? got : 0] = 0;
	return got;
}

SPI_EXPORT int spi_proc_text(const char *path, char *text, size_t size)
{
	return spi_proc_text_at(AT_FDCWD, path, text, size) > 0 ? 0 : -1;
}

/* ---- directories of numbers ---- */

struct entry {		/* getdents64(2) */
	uint64_t inode, offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

int spi_numbers_open(struct spi_numbers *n, const char *path)
{
	n->dir = spi_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	n->at = n->have = 0;
	return n->dir < 0 ? (int) n->dir : 0;
}

int spi_numbers_next(struct spi_numbers *n)
{
	do {
		const struct entry *e;

		if (n->at >= n->have) {
			n->have = spi_sys(SYS_getdents64, n->dir, n->buffer, sizeof(n->buffer));
			n->at = 0;
			if (n->have <= 0)
				return 0;
		}
		e = (const struct entry *) (n->buffer + n->at);
		n->at += e->size;
		n->name = e->name;
	} while (n->name[0] < '0' || n->name[0] > '9');
	n->number = (int) spi_parse_number(n->name, NULL);
	return 1;
}

void spi_numbers_again(struct spi_numbers *n)
{
	spi_sys(SYS_lseek, n->dir, 0L, SEEK_SET);
	n->at = n->have = 0;
}

void spi_numbers_close(struct spi_numbers *n)
{
	spi_proc_close(n->dir);
}

long spi_task_text(const struct spi_numbers *task, const char *file, char *text, size_t size)
{
	char path[40];

	spi_format(path, sizeof(path), "%s/%s", task->name, file);
	return spi_proc_text_at(task->dir, path, text, size);
}

uint64_t spi_task_stack_pointer(const struct spi_numbers *task, uint64_t *pc)
{
	char text[256];
	const char *at;

	if (spi_task_text(task, "syscall", text, sizeof(text)) <= 0 || text[0] == 'r')	/* "running" */
		return 0;
	/* the last two of its numbers */
	at = strrchr(text, ' ');
	if (!at)
		return 0;
	*pc = spi_parse_number(at + 1, NULL);
	while (at > text && at[-1] != ' ')
		at--;
	return spi_parse_number(at, NULL);
}

int spi_path_is_descriptor(const char *path)
{
	return !strncmp(path, "/proc/self/fd/", 14) || !strncmp(path, "/proc/thread-self/fd/", 21);
}

/* ---- the memory map: any context, nothing of libc's is called ---- */

static int maps_file(const struct spi_maps *maps)
{
	const char *path = maps->is_thread ? "/proc/thread-self/maps" : "/proc/self/maps";

	return (int) spi_raw4(SYS_openat, (uint64_t) AT_FDCWD, (uint64_t) path, O_RDONLY | O_CLOEXEC, 0);
}

int spi_maps_open(struct spi_maps *maps)
{
	maps->is_thread = 0;
	maps->fd = maps_file(maps);
	maps->at = maps->have = maps->ended = maps->again = maps->in_line = 0;
	maps->offset = 0;
	return maps->fd < 0 ? maps->fd : 0;
}

/* A program that closed our number (base.h) may have it itself by now: there is another. */
static long maps_read(struct spi_maps *maps)
{
	for (;;) {
		long got = spi_raw4(SYS_pread64, (uint64_t) maps->fd, (uint64_t) maps->buffer, sizeof(maps->buffer), maps->offset);

		if (!got && !maps->offset && !maps->is_thread) {	/* the first thread has ended */
			spi_maps_close(maps);
			maps->is_thread = 1;
		} else if ((got != -EBADF && got != -ESPIPE) || maps->again++ >= OPENED_AGAIN) {
			return got;
		}
		maps->fd = maps_file(maps);
	}
}

void spi_maps_close(struct spi_maps *maps)
{
	spi_proc_close(maps->fd);
}

/* A path may hold any byte; -1: the end. */
static int maps_byte(struct spi_maps *maps)
{
	if (maps->at == maps->have) {
		long got = maps->ended ? 0 : maps_read(maps);

		if (got <= 0) {
			maps->ended = 1;
			return -1;
		}
		maps->have = (uint32_t) got;
		maps->offset += (uint64_t) got;
		maps->at = 0;
	}
	return (unsigned char) maps->buffer[maps->at++];
}

static uint64_t maps_hex(struct spi_maps *maps, int *c)
{
	uint64_t value = 0;

	while ((*c = maps_byte(maps)) >= 0) {
		if (*c >= '0' && *c <= '9')
			value = value << 4 | (uint64_t) (*c - '0');
		else if (*c >= 'a' && *c <= 'f')
			value = value << 4 | (uint64_t) (*c - 'a' + 10);
		else
			break;
	}
	return value;
}

int spi_maps_next(struct spi_maps *maps, struct spi_vma *vma)
{
	int c = 0;

	while (maps->in_line && c >= 0 && c != '\n')
		c = maps_byte(maps);
	maps->in_line = 0;
	vma->start = maps_hex(maps, &c);
	if (c != '-')
		return 0;
	vma->end = maps_hex(maps, &c);
	vma->prot = (maps_byte(maps) == 'r' ? PROT_READ : 0);
	vma->prot |= (maps_byte(maps) == 'w' ? PROT_WRITE : 0);
	vma->prot |= (maps_byte(maps) == 'x' ? PROT_EXEC : 0);
	maps->in_line = 1;
	return 1;
}

/* Behind the rights: "p OFFSET DEVICE INODE   PATH", where the kernel writes a newline of the path as \012. */
uint32_t spi_maps_path(struct spi_maps *maps, char *path, uint32_t size)
{
	uint32_t n = 0, blanks = 0;
	int c;

	while ((c = maps_byte(maps)) >= 0 && c != '\n' && (blanks < 4 || c == ' '))
		blanks += c == ' ';
	for (; c >= 0 && c != '\n'; c = maps_byte(maps)) {
		if (n + 1 < size)
			path[n++] = (char) c;
		if (n >= 4 && path[n - 4] == '\\' && path[n - 3] == '0' && path[n - 2] == '1' && path[n - 1] == '2') {
			n -= 3;
			path[n - 1] = '\n';
		}
	}
	maps->in_line = 0;
	path[n] = 0;
	return n;
}

int spi_maps_find(uint64_t address, struct spi_vma *vma, char *path, uint32_t size)
{
	struct spi_maps maps;
	int found = 0;

	if (spi_maps_open(&maps) < 0)
		return 0;
	while (!found && spi_maps_next(&maps, vma))
		found = address >= vma->start && address < vma->end;
	if (found && path)
		spi_maps_path(&maps, path, size);
	spi_maps_close(&maps);
	return found;
}
