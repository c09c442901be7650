/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Maps on disk, so that a second request is answered at once. A file in the cache is the prototypes
 * of all functions of an object (made by `list`), one map, or marks (marks.h), which help to make
 * other maps.
 *
 * A file's key is the build-id, the format, the analysing program, and the identity of the object
 * and its debug files (device, inode, size, times). A build-id alone is whatever the file claims: a
 * file that claims libc's must not get its own map used for libc. Whoever can write to the
 * directory could crash a traced program. So only files that are the caller's or root's, and
 * writable by nobody else, are used; and they are checked like any map.
 *
 * The agent looks for maps of call trees as well (cache-key.h): their names hold only what the agent
 * can know, and the rest of the key is behind the map.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include "codemap/base/base.h"
#include "codemap/map/cache-key.h"
#include "codemap/map/cache.h"
#include "codemap/map/check.h"

#define CACHE_BYTES_MAX	(INT64_C(512) << 20)	/* of one file */
#define CACHE_FILES_MAX	2000u			/* then all that were not written today go */

static int cache_dir = -1;

/*
 * The next directory of a path, made where there is none. A link is followed that is the caller's or root's: another's may lead anywhere,
 * as to a directory of the caller's with other files in it. A descriptor, or -1.
 */
static int directory_step(int from, const char *name)
{
	struct stat st;
	int fd;

	mkdirat(from, name, 0700);
	fd = openat(from, name, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 && !fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode) && (st.st_uid == geteuid() || !st.st_uid))
		fd = openat(from, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd;
}

static int directory_make(const char *path)
{
	char *copy = mem_string(path, strlen(path)), *rest, *name;
	int fd = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	for (name = strtok_r(copy, "/", &rest); fd >= 0 && name; name = strtok_r(NULL, "/", &rest)) {
		int next = directory_step(fd, name);

		close(fd);
		fd = next;
	}
	if (fd >= 0 && (fstat(fd, &st) < 0 || (st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & 022))) {
		close(fd);
		return -1;
	}
	return fd;
}

void cache_open(void)
{
	const char *path = getenv("LTTNG_SPI_CACHE"), *home;

	if (path) {
		if (!path[0])
			return;
	} else if (geteuid() != getuid()) {
		return;
	} else if ((home = getenv("XDG_CACHE_HOME")) && home[0] == '/') {
		path = mem_format("%s/lttng-spi", home);
	} else if (!geteuid()) {
		path = "/var/cache/lttng-spi";
	} else if ((home = getenv("HOME")) && home[0] == '/') {
		path = mem_format("%s/.cache/lttng-spi", home);
	} else {
		return;
	}
	cache_dir = directory_make(path);
}

/* Another build of this program may give other answers. */
static uint64_t program_identity(void)
{
	struct stat st;
	uint64_t words[3];

	if (stat("/proc/self/exe", &st) < 0)
		return 0;
	words[0] = (uint64_t) st.st_size;
	words[1] = (uint64_t) st.st_mtim.tv_sec;
	words[2] = (uint64_t) st.st_mtim.tv_nsec;
	return hash_bytes(0, words, sizeof(words));
}

char *cache_name(const struct cache_key *key, const char *kind, uint64_t hash)
{
	struct text name = { 0 };
	uint64_t program = program_identity();
	uint32_t i;

	if (cache_dir < 0 || !key->build_id_size)
		return NULL;
	for (i = 0; i < key->build_id_size; i++)
		text_add(&name, mem_format("%02x", key->build_id[i]));
	hash = hash_bytes(hash, &key->identity, sizeof(key->identity));
	hash = hash_bytes(hash, &program, sizeof(program));
	text_add(&name, mem_format("-%u-%016llx-%s", SPI_MAP_VERSION, (unsigned long long) hash, kind));
	return mem_string(text_end(&name), name.count);
}

char *cache_tree_name(const struct cache_key *key)
{
	char name[SPI_TREE_NAME_SIZE];

	if (cache_dir < 0 || !key->build_id_size || key->witnesses.count > SPI_WITNESS_BYTES - sizeof(struct spi_witness_head))
		return NULL;
	spi_tree_name(name, key->build_id, key->build_id_size, key->name, key->file_identity);
	return mem_string(name, strlen(name));
}

int cache_open_file(const char *name, uint64_t *size)
{
	struct stat st;
	int fd;

	if (!name || cache_dir < 0)
		return -1;
	fd = openat(cache_dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_uid == geteuid() || !st.st_uid) &&
		!(st.st_mode & 022) && st.st_size > 0 && st.st_size <= CACHE_BYTES_MAX) {
		*size = (uint64_t) st.st_size;
		return fd;
	}
	close(fd);
	return -1;
}

/* What stands behind a tree's map. */
static const struct spi_witness_head *witnesses_make(const struct cache_key *key)
{
	const struct text *records = &key->witnesses;
	struct spi_witness_head *head = mem_alloc(sizeof(*head) + records->count);
	const struct spi_witness *at = (const struct spi_witness *) (head + 1);

	head->magic = SPI_WITNESS_MAGIC;
	head->bytes = (uint32_t) (sizeof(*head) + records->count);
	memcpy(head + 1, records->at, records->count);
	for (; (const char *) at < (const char *) head + head->bytes; at = (const void *) ((const char *) at + at->size))
		head->count++;
	return head;
}

static uint64_t witnesses_offset(uint64_t map_size)
{
	return (map_size + 7) & ~UINT64_C(7);
}

/* The size of the map at the front of a file of `length` bytes; 0: something has changed since. */
static uint64_t map_size(const struct cache_key *key, const struct spi_map_header *head, uint64_t length, int is_tree)
{
	uint64_t size = head->file_size, offset = witnesses_offset(size);
	const struct spi_witness_head *now;

	if (!is_tree)
		return length;
	now = witnesses_make(key);
	return size <= length && offset <= length && length - offset == now->bytes &&
		!memcmp((const char *) head + offset, now, now->bytes) ? size : 0;
}

const struct spi_map_header *cache_read(const struct cache_key *key, const char *name, int is_tree, uint64_t *size)
{
	const struct spi_map_header *head;
	uint64_t length;
	void *p;
	int fd = cache_open_file(name, &length);

	if (fd < 0)
		return NULL;
	p = MAP_FAILED;
	if (length >= sizeof(*head))
		p = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return NULL;
	head = p;
	*size = map_size(key, head, length, is_tree);
	if (!*size || spi_map_check(p, *size, NULL) || head->build_id_size != key->build_id_size ||
	    memcmp(head->build_id, key->build_id, head->build_id_size)) {
		munmap(p, length);
		cache_remove(name);
		return NULL;
	}
	return head;
}

void cache_remove(const char *name)
{
	if (name && cache_dir >= 0)
		unlinkat(cache_dir, name, 0);
}

/* As cache_name() and cache_tree_name() make them, and write_parts() for the time of writing. */
static int is_of_cache(const char *name)
{
	static const char *const kinds[] = { "list", "map", "marks", "types", "tree", "detail" };
	size_t hex;

	name += *name == '.';
	hex = strspn(name, "0123456789abcdef");
	if (hex < 2 || name[hex] != '-')
		return 0;
	name = strrchr(name, '-') + 1;
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strncmp(name, kinds[i], strlen(kinds[i])) && (!name[strlen(kinds[i])] || name[strlen(kinds[i])] == '.'))
			return 1;
	return 0;
}

/* Keep the directory from growing for ever: maps of programs that were updated are never asked for again. Whatever else lies there stays. */
static void cache_prune(void)
{
	int fd = openat(cache_dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	time_t old = time(NULL) - 24 * 3600;
	const struct dirent *entry;
	unsigned int count = 0;
	struct stat st;

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		count += (unsigned int) is_of_cache(entry->d_name);
	rewinddir(dir);
	while (count > CACHE_FILES_MAX && (entry = readdir(dir)))
		if (is_of_cache(entry->d_name) && !fstatat(cache_dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
			st.st_mtime < old)
			unlinkat(cache_dir, entry->d_name, 0);
	closedir(dir);
}

/* Whole or not at all: written under another name first. A cache that cannot be written is no error. */
static void write_parts(const char *name, const struct iovec *parts, unsigned int count)
{
	unsigned int failed = 0;
	char *temporary;
	int fd;

	if (!name || cache_dir < 0)
		return;
	temporary = mem_format(".%s.%d", name, (int) getpid());
	fd = openat(cache_dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	for (unsigned int i = 0; i < count && !failed; i++)
		failed = write_whole(fd, parts[i].iov_base, parts[i].iov_len) != 0;
	if (close(fd) < 0 || failed || renameat(cache_dir, temporary, cache_dir, name) < 0)
		unlinkat(cache_dir, temporary, 0);
	cache_prune();
}

void cache_write(const char *name, const void *data, uint64_t size)
{
	struct iovec part = { (void *) data, size };

	if (size <= (uint64_t) CACHE_BYTES_MAX)
		write_parts(name, &part, 1);
}

void cache_write_tree(const struct cache_key *key, const char *name, const void *data, uint64_t size)
{
	const struct spi_witness_head *witnesses = witnesses_make(key);
	struct iovec parts[] = {
		{ (void *) data, size }, { (void *) "\0\0\0\0\0\0\0", witnesses_offset(size) - size },
		{ (void *) witnesses, witnesses->bytes },
	};

	if (size <= (uint64_t) CACHE_BYTES_MAX - SPI_WITNESS_BYTES)
		write_parts(name, parts, 3);
}
