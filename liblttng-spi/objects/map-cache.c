/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Tree maps straight from spi-codemap's cache, so that a program whose objects were
 * analysed before waits for no process: a few system calls an object, and of the
 * map only the pages come in, and only the functions are checked, that are used.
 *
 * Only what spi-codemap itself would trust is taken: a directory and a file that are
 * this user's or root's and writable by nobody else, whose map is of the build that
 * runs, and whose witnesses (cache-key.h) are as they were. Anything else means that
 * spi-codemap is asked as ever.
 *
 * A sealed memfd cannot change under its reader, a file can: it may be cut off, or its
 * disk may fail. So the header is a copy, and behind the map lies a page of zeros,
 * where every string ends. What cannot be read any more raises SIGBUS, which the
 * agent has taken: the page then reads as zeros, and a function with such a record is
 * none that is good. For the same reason nothing is taken where SIGBUS may be the
 * program's (injected).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "codemap/map/cache-key.h"
#include "codemap/map/check.h"
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/signals/signals.h"
#include "liblttng-spi/objects/internal.h"

#define MAPS_MAX	256u
#define BYTES_MAX	(INT64_C(512) << 20)
#define UP(x)		(((x) + SPI_PAGE - 1) & ~(uint64_t) (SPI_PAGE - 1))

/* Where pages may fail to come: read by the handler of SIGBUS. */
static struct {
	uint64_t low, high;
} mapped[MAPS_MAX];
static uint32_t mapped_count;

static int fault(uint64_t address)
{
	uint32_t n = __atomic_load_n(&mapped_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++)
		if (address >= mapped[i].low && address < mapped[i].high)
			return spi_mmap(SPI_PAGE_OF(address), SPI_PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1) != 0;
	return 0;
}

/* ---- files ---- */

static int is_trusted(const struct stat *st)
{
	return (st->st_uid == (uid_t) spi_sys(SYS_geteuid) || !st->st_uid) && !(st->st_mode & 022);
}

/* Where spi-codemap, started by this process, would keep its maps. -1: nowhere that can be used. */
static int directory_open(void)
{
	char path[1024];
	struct stat st;
	long fd;

	if (spi_sys(SYS_geteuid) != spi_sys(SYS_getuid))
		return -1;
	if (spi_env.cache)
		spi_format(path, sizeof(path), "%s", spi_env.cache);
	else if (spi_env.cache_home && spi_env.cache_home[0] == '/')
		spi_format(path, sizeof(path), "%s/lttng-spi", spi_env.cache_home);
	else if (!spi_sys(SYS_geteuid))
		spi_format(path, sizeof(path), "/var/cache/lttng-spi");
	else if (spi_env.home && spi_env.home[0] == '/')
		spi_format(path, sizeof(path), "%s/.cache/lttng-spi", spi_env.home);
	else
		return -1;
	if (!path[0])
		return -1;
	fd = spi_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (spi_sys(SYS_fstat, fd, &st) < 0 || !is_trusted(&st)) {
		spi_sys(SYS_close, fd);
		return -1;
	}
	return (int) fd;
}

static uint64_t identity_of(const char *path)
{
	struct stat st;

	if (spi_sys(SYS_newfstatat, AT_FDCWD, path, &st, 0L) < 0 || !S_ISREG(st.st_mode))
		return 0;
	return spi_file_identity(0, &st);
}

static int file_open(const struct spi_object *object, uint64_t *size)
{
	char name[SPI_TREE_NAME_SIZE], room[SPI_PROC_PATH];
	uint64_t identity = identity_of(spi_object_file(object, room));
	struct stat st;
	int directory;
	long fd;

	if (!identity || !object->build_id_size || (directory = directory_open()) < 0)
		return -1;
	spi_tree_name(name, object->build_id, object->build_id_size, object->path, identity);
	fd = spi_sys(SYS_openat, directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	spi_sys(SYS_close, directory);
	if (fd < 0)
		return -1;
	if (spi_sys(SYS_fstat, fd, &st) < 0 || !S_ISREG(st.st_mode) || !is_trusted(&st) ||
			st.st_size < (off_t) sizeof(struct spi_map_header) || st.st_size > BYTES_MAX) {
		spi_sys(SYS_close, fd);
		return -1;
	}
	*size = (uint64_t) st.st_size;
	return (int) fd;
}

/* ---- witnesses ---- */

/* The program that maps are to be of, once and for all. */
static uint64_t wanted_program(void)
{
	static uint64_t identity;

	if (!identity)
		identity = identity_of(spi_env.codemap);
	return identity;
}

/* Is everything as it was when the map was made? The first is the program that made it. */
static int witnesses_agree(const uint8_t *bytes, uint32_t size)
{
	struct spi_witness_head head;
	uint32_t at = sizeof(head), count = 0;
	int is_program;

	memcpy(&head, bytes, sizeof(head));
	if (head.magic != SPI_WITNESS_MAGIC || head.bytes != size || !head.count)
		return 0;
	for (; at < size; count++) {
		const struct spi_witness *witness = (const struct spi_witness *) (bytes + at);
		uint32_t left = size - at;

		if (left < sizeof(*witness) || witness->size < sizeof(*witness) || witness->size > left || witness->size % 8 ||
				bytes[at + witness->size - 1])
			return 0;
		is_program = !count && spi_env.codemap;
		if (is_program && wanted_program() != witness->identity)
			return 0;
		if (!(is_program && !strcmp(witness->path, spi_env.codemap)) && identity_of(witness->path) != witness->identity)
			return 0;
		at += witness->size;
	}
	return count == head.count;
}

static int witnesses_read(int fd, uint64_t from, uint64_t end)
{
	uint64_t bytes[SPI_WITNESS_BYTES / 8];

	if (from >= end || end - from < sizeof(struct spi_witness_head) || end - from > sizeof(bytes))
		return 0;
	if (spi_sys(SYS_pread64, fd, bytes, end - from, from) != (long) (end - from))
		return 0;
	return witnesses_agree((const uint8_t *) bytes, (uint32_t) (end - from));
}

/* ---- the map ---- */

/* The file with its first page copied and a page of zeros behind. 0: no memory. */
static uint64_t pages_map(int fd, uint64_t size)
{
	uint64_t bytes = UP(size), base = spi_mmap(0, bytes + SPI_PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	uint64_t head = size < SPI_PAGE ? size : SPI_PAGE;

	if (!base)
		return 0;
	if (spi_mmap(base, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd) &&
			spi_mmap(base, SPI_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1) &&
			spi_sys(SYS_pread64, fd, base, head, 0L) == (long) head &&
			spi_sys(SYS_mprotect, base, (long) SPI_PAGE, PROT_READ) == 0)
		return base;
	spi_munmap(base, bytes + SPI_PAGE);
	return 0;
}

static int map_is_good(const struct spi_map_header *head, uint64_t size, const struct spi_object *object)
{
	return head->file_size <= size && spi_map_check_head(head, head->file_size, NULL) == 0 && (head->flags & SPI_MAP_IS_TREE) &&
		head->strings.count && head->build_id_size == object->build_id_size &&
		!memcmp(head->build_id, object->build_id, object->build_id_size);
}

int spi_map_is_in_cache(const struct spi_object *object)
{
	uint64_t size;
	int fd = spi_env.preloaded ? file_open(object, &size) : -1;

	if (fd >= 0)
		spi_sys(SYS_close, fd);
	return fd >= 0;
}

int spi_map_from_cache(const struct spi_object *object, struct spi_map *map)
{
	const struct spi_map_header *head;
	uint64_t size = 0, base = 0;
	uint32_t n = mapped_count;
	int fd;

	if (!spi_env.preloaded || n == MAPS_MAX || (fd = file_open(object, &size)) < 0)
		return -ENOENT;
	base = pages_map(fd, size);
	head = (const struct spi_map_header *) base;
	if (!base || !map_is_good(head, size, object) || !witnesses_read(fd, (head->file_size + 7) & ~UINT64_C(7), size)) {
		spi_sys(SYS_close, fd);
		if (base)
			spi_munmap(base, UP(size) + SPI_PAGE);
		return -ENOENT;
	}
	spi_sys(SYS_close, fd);
	mapped[n].low = base;
	mapped[n].high = base + UP(size);
	spi_fault_elsewhere = fault;
	__atomic_store_n(&mapped_count, n + 1, __ATOMIC_RELEASE);
	map->head = head;
	spi_map_note(map);
	map->size = head->file_size;
	map->in_parts = 1;
	return 0;
}

int spi_map_func_is_good(const struct spi_map *map, uint64_t index)
{
	return !map->in_parts || spi_map_check_func(map->head, map->size, (uint32_t) index, NULL) == 0;
}

/*
 * What asks where it was called from finds a return slot, which is the agent's: the dynamic linker would search and load
 * on the agent's behalf, profilers would count the wrong caller. A context that was saved can be entered twice.
 */
const char *spi_map_func_asks_caller(const struct spi_map *map, const struct spi_map_func *func)
{
	static const char *const names[] = { "dlopen", "dlmopen", "dlsym", "dlvsym", "dl_iterate_phdr", "dlclose", "__libc_dlopen_mode",
		"__libc_dlsym", "mcount", "_mcount", "__fentry__", "swapcontext", "getcontext", NULL };

	return spi_text_is_of(spi_map_string(map, func->name), names, 1) ? "it looks at where it is called from" : NULL;
}
