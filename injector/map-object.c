/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Open the object that an agent wants a map of, and make sure that it is the one
 * its process runs: by device and inode, or by the build id where file systems
 * show two faces of one file (overlays).
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "injector/control-internal.h"
#include "injector/target.h"

/* The build id of an ELF file by its program headers; returns its size, 0: none. Reads a few kilobytes at most. */
static unsigned int file_build_id(int fd, uint8_t id[32])
{
	union { uint8_t bytes[4096]; Elf64_Nhdr align; } notes;
	Elf64_Phdr ph[64];
	Elf64_Ehdr head;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head) || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(ph[0]) || head.e_phnum > 64 ||
	    pread(fd, ph, head.e_phnum * sizeof(ph[0]), head.e_phoff) != (ssize_t) (head.e_phnum * sizeof(ph[0])))
		return 0;
	for (unsigned int i = 0; i < head.e_phnum; i++) {
		size_t size = ph[i].p_filesz < sizeof(notes) ? ph[i].p_filesz : sizeof(notes), at = 0;

		if (ph[i].p_type != PT_NOTE || pread(fd, notes.bytes, size, ph[i].p_offset) != (ssize_t) size)
			continue;
		while (at + sizeof(Elf64_Nhdr) <= size) {
			const Elf64_Nhdr *note = (const void *) (notes.bytes + at);
			size_t name = (note->n_namesz + 3ul) & ~3ul, data = (note->n_descsz + 3ul) & ~3ul;

			at += sizeof(*note);
			if (name > size - at || data > size - at - name)
				break;
			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
			    !memcmp(notes.bytes + at, "GNU", 4) && note->n_descsz <= 32) {
				memcpy(id, notes.bytes + at + name, note->n_descsz);
				return note->n_descsz;
			}
			at += name + data;
		}
	}
	return 0;
}

static bool is_same_object(const struct spi_msg_map_request *request, int fd)
{
	uint8_t id[32];
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	if (request->inode && st.st_ino == request->inode && st.st_dev == request->device)
		return true;
	if (request->build_id_size && request->build_id_size <= sizeof(id))
		return file_build_id(fd, id) == request->build_id_size &&
		       !memcmp(id, request->build_id, request->build_id_size);
	return !request->inode;
}

/* The file behind a mapping of the target that is, or is named like, the object that was asked for. */
static int open_mapped(pid_t pid, const struct spi_msg_map_request *request, const char *path)
{
	struct spi_maps maps;
	int fd = -ENOENT, ret = spi_maps_read(&maps, pid);

	for (size_t i = 0; !ret && fd < 0 && i < maps.count; i++) {
		const struct spi_mapping *m = &maps.all[i];

		if (m->path[0] != '/' || m->offset || (m->inode != request->inode && strcmp(m->path, path)))
			continue;
		fd = spi_mapping_open(pid, m);
		if (fd >= 0 && !is_same_object(request, fd)) {
			close(fd);
			fd = -ESTALE;
		}
	}
	spi_maps_free(&maps);
	return ret ? ret : fd;
}

int spi_object_open(pid_t pid, const struct spi_msg_map_request *request, const char *path)
{
	char exe[64];
	int fd;

	if (!(request->flags & SPI_MAP_REQUEST_EXE))
		return open_mapped(pid, request, path);
	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int) spi_living_thread(pid));
	fd = open(exe, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0 && is_same_object(request, fd))
		return fd;
	if (fd >= 0)
		close(fd);
	return open_mapped(pid, request, path);
}

/* The target's root directory when it is not ours; -1 when it is. */
int spi_root_open(pid_t pid)
{
	char path[64], theirs[64] = "", ours[64] = "";
	struct stat root, own;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int) spi_living_thread(pid));
	if (readlink(path, theirs, sizeof(theirs) - 1) > 0 &&
	    readlink("/proc/self/ns/mnt", ours, sizeof(ours) - 1) > 0 &&
	    !strcmp(theirs, ours)) {
		snprintf(path, sizeof(path), "/proc/%d/root", (int) spi_living_thread(pid));
		if (!stat(path, &root) && !stat("/", &own) && root.st_ino == own.st_ino && root.st_dev == own.st_dev)
			return -1;
	}
	snprintf(path, sizeof(path), "/proc/%d/root", (int) spi_living_thread(pid));
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd;
}
