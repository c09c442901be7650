/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Stream files that are cut off, as a full disk leaves them. libbabeltrace2 reads nothing of such a trace. LTTng's
 * index of each stream (index/STREAM.idx) says where its packets are.
 */
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "reader/calls/salvage.h"

#define INDEX_MAGIC	0xc1f1dcc1u

struct index_head {
	uint32_t magic, major, minor, entry_size;	/* big endian, as all of it */
};

/* The bytes of whole packets in a stream of `size` bytes; -1: it has no index, or is whole. */
static int64_t whole_of(const char *trace, const char *stream, uint64_t size)
{
	char path[4400];
	struct index_head head;
	uint64_t entry[2], whole = 0, end;
	FILE *file;
	int is_cut = 0;

	snprintf(path, sizeof(path), "%s/index/%s.idx", trace, stream);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fread(&head, sizeof(head), 1, file) == 1 && be32toh(head.magic) == INDEX_MAGIC &&
			be32toh(head.entry_size) >= sizeof(entry))
		while (fread(entry, sizeof(entry), 1, file) == 1) {
			end = be64toh(entry[0]) + be64toh(entry[1]) / 8;
			if (end > size || end < whole)
				is_cut = 1;
			else
				whole = end;
			if (is_cut || fseek(file, (long) (be32toh(head.entry_size) - sizeof(entry)), SEEK_CUR) < 0)
				break;
		}
	fclose(file);
	return is_cut ? (int64_t) whole : -1;
}

static int copy(const char *from, const char *to, uint64_t size)
{
	char buffer[65536];
	const int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r = in < 0 || out < 0;

	while (!r && size) {
		ssize_t n = read(in, buffer, size < sizeof(buffer) ? size : sizeof(buffer));

		r = n <= 0 || write(out, buffer, (size_t) n) != n;
		size -= r ? 0 : (uint64_t) n;
	}
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return r ? -1 : 0;
}

/* One file of the trace: 1: it was cut, 0: it is whole, -1 */
static int file_take(const char *trace, const char *name, const char *directory)
{
	char from[4400], to[4400];
	struct stat st;
	int64_t whole;

	snprintf(from, sizeof(from), "%s/%s", trace, name);
	snprintf(to, sizeof(to), "%s/%s", directory, name);
	if (stat(from, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	whole = whole_of(trace, name, (uint64_t) st.st_size);
	if (whole < 0)
		return symlink(from, to) < 0 ? -1 : 0;
	if (whole > 0 && copy(from, to, (uint64_t) whole) < 0)
		return -1;
	return 1;
}

char *salvage_make(const char *trace, char *why, size_t size)
{
	const char *place = getenv("TMPDIR");
	char real[4096], *directory = NULL;
	const struct dirent *entry;
	int cut = 0, r = 0;
	DIR *list;

	if (!realpath(trace, real) || asprintf(&directory, "%s/lttng-spi-XXXXXX", place && *place ? place : "/tmp") < 0)
		return NULL;
	list = opendir(real);
	if (!list || !mkdtemp(directory)) {
		if (list)
			closedir(list);
		free(directory);
		return NULL;
	}
	snprintf(why, size, "cut off in the middle of a packet:");
	while (r >= 0 && (entry = readdir(list))) {
		r = file_take(real, entry->d_name, directory);
		if (r > 0)
			snprintf(why + strlen(why), size - strlen(why), "%s %s", cut++ ? "," : "", entry->d_name);
	}
	closedir(list);
	if (r >= 0 && cut)
		return directory;
	salvage_remove(directory);
	return NULL;
}

void salvage_remove(char *directory)
{
	const struct dirent *entry;
	DIR *list = directory ? opendir(directory) : NULL;

	while (list && (entry = readdir(list)))
		if (*entry->d_name != '.')
			unlinkat(dirfd(list), entry->d_name, 0);
	if (list)
		closedir(list);
	if (directory)
		rmdir(directory);
	free(directory);
}
