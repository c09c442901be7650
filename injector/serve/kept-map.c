/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Code maps that were made a moment ago.
 *
 * A controller that sees many processes of one program, the session daemon's plugin above all, is
 * asked for the same map again and again, while a program waits to begin. A map is sealed, so the
 * next process can have the same memory, and gets it without a child being started: some 10 ms less.
 *
 * The same map means: of the same file (device, inode, size, times), asked for in the same words, by
 * a process of the same user in the same root directory. A map was made with that user's rights and
 * may hold what only that user can read. The agent tells which file it is: looking at the file could
 * mean to wait for the server of its file system, and an agent that lies is given another map of its
 * own user's. Debug files may come or go, so no map is kept for longer than a minute. It is kept,
 * too, that nothing in an object matches: most objects are asked in vain.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "injector/control/internal.h"
#include "injector/procfs/procfs.h"
#include "injector/serve/kept-map.h"

#define KEPT_MAX	160u		/* a session of many rules is one map each */
#define KEPT_NONE_MAX	4000u		/* of those that say that nothing matches */
#define KEPT_TOTAL	(96 << 20)	/* of all of them */
#define KEPT_SECONDS	60

struct spi_kept_map {
	struct spi_kept_map *next;
	struct spi_map_key key;
	time_t made;		/* CLOCK_MONOTONIC */
	off_t bytes;
	int fd;			/* -1: there is none, because nothing matches */
	char why[256];
};

/* What the caller has found out of one file: for all users, but in our own root directory alone. */
struct spi_known_file {
	struct spi_known_file *next;
	struct spi_map_file file;
	time_t made;
	unsigned int count;
	uint64_t lacks[];	/* spi_pattern_hash() */
};

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return t.tv_sec;
}

static void copy_identity(struct spi_map_file *file, const struct stat *st)
{
	file->device = st->st_dev;
	file->inode = st->st_ino;
	file->size = st->st_size;
	file->modified_s = st->st_mtim.tv_sec;
	file->modified_ns = st->st_mtim.tv_nsec;
	file->changed_s = st->st_ctim.tv_sec;
	file->changed_ns = st->st_ctim.tv_nsec;
}

/* The same object, asked about in other words. */
int spi_map_key_other(struct spi_map_key *other, const struct spi_map_key *key, const char *path, const char *patterns)
{
	size_t path_size = strlen(path) + 1, patterns_size = strlen(patterns) + 1;

	other->same = key->same;
	other->words_size = path_size + patterns_size;
	other->words = malloc(other->words_size);
	if (!other->words)
		return -1;
	memcpy(other->words, path, path_size);
	memcpy(other->words + path_size, patterns, patterns_size);
	return 0;
}

int spi_map_key_make(struct spi_map_key *key, const struct spi_root *root, uid_t uid, gid_t gid,
		     const struct spi_msg_map_request *request, const struct spi_msg_map_file *file, const char *path, const char *patterns)
{
	memset(key, 0, sizeof(*key));
	if (!request->inode || !file)
		return -1;
	key->same.object = (struct spi_map_file) { request->device, request->inode, file->size, file->modified_s, file->modified_ns,
						   file->changed_s, file->changed_ns };
	if (root->fd >= 0) {
		key->same.root_namespace = root->name_space;
		key->same.root_device = root->device;
		key->same.root_inode = root->inode;
	}
	key->same.uid = uid;
	key->same.gid = gid;
	key->same.limit = request->limit;
	key->same.flags = request->flags;
	return spi_map_key_other(key, key, path, patterns);
}

void spi_map_key_free(struct spi_map_key *key)
{
	free(key->words);
	key->words = NULL;
}

bool spi_map_key_same(const struct spi_map_key *a, const struct spi_map_key *b)
{
	return a->words && b->words && !memcmp(&a->same, &b->same, sizeof(a->same)) && a->words_size == b->words_size &&
	       !memcmp(a->words, b->words, a->words_size);
}

bool spi_map_key_same_object(const struct spi_map_key *a, const struct spi_map_key *b, const char *path)
{
	return a->words && b->words && !memcmp(&a->same, &b->same, sizeof(a->same)) && !strcmp(a->words, path);
}

static void drop(struct spi_kept_map **at)
{
	struct spi_kept_map *kept = *at;

	*at = kept->next;
	if (kept->fd >= 0)
		close(kept->fd);
	spi_map_key_free(&kept->key);
	free(kept);
}

static bool is_lacking(const struct spi_control *control, const struct spi_map_key *key)
{
	uint64_t hash = key->words ? spi_pattern_hash(key->words + strlen(key->words) + 1) : 0;

	if (!key->words || key->same.root_inode || key->same.flags & SPI_MAP_REQUEST_TREE)
		return false;
	for (const struct spi_known_file *known = control->known_files; known; known = known->next)
		if (known->made >= now() - KEPT_SECONDS && !memcmp(&known->file, &key->same.object, sizeof(known->file)))
			for (unsigned int i = 0; i < known->count; i++)
				if (known->lacks[i] == hash)
					return true;
	return false;
}

bool spi_kept_map_find(struct spi_control *control, const struct spi_map_key *key, int *fd, const char **why)
{
	time_t oldest = now() - KEPT_SECONDS;

	for (struct spi_kept_map **at = &control->kept_maps; *at;) {
		if ((*at)->made < oldest) {
			drop(at);
			continue;
		}
		if (spi_map_key_same(&(*at)->key, key)) {
			*why = (*at)->why;
			*fd = (*at)->fd < 0 ? -1 : fcntl((*at)->fd, F_DUPFD_CLOEXEC, 3);
			return *fd >= 0 || (*at)->fd < 0;
		}
		at = &(*at)->next;
	}
	*why = "no function matches";
	*fd = -1;
	return is_lacking(control, key);
}

int spi_control_lacks(struct spi_control *control, const struct stat *st, const char *const *patterns, unsigned int count)
{
	struct spi_known_file *known;
	struct spi_map_file file = { 0 };

	copy_identity(&file, st);
	for (known = control->known_files; known; known = known->next)
		if (!memcmp(&known->file, &file, sizeof(file)))
			return 0;
	known = calloc(1, sizeof(*known) + count * sizeof(known->lacks[0]));
	if (!known)
		return -ENOMEM;
	known->file = file;
	known->made = now();
	for (known->count = 0; known->count < count; known->count++)
		known->lacks[known->count] = spi_pattern_hash(patterns[known->count]);
	known->next = control->known_files;
	control->known_files = known;
	return 0;
}

void spi_kept_map_add(struct spi_control *control, struct spi_map_key *key, int fd, const char *why)
{
	struct spi_kept_map *kept, **at = &control->kept_maps;
	struct stat st = { 0 };
	off_t bytes = 0;

	if (!key->words || (fd >= 0 && (fstat(fd, &st) || st.st_size > SPI_KEPT_BYTES)) ||
	    !(kept = calloc(1, sizeof(*kept))))
		return;
	kept->fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (fd >= 0 && kept->fd < 0) {
		free(kept);
		return;
	}
	snprintf(kept->why, sizeof(kept->why), "%s", why);
	kept->key = *key;
	key->words = NULL;	/* ours now */
	kept->made = now();
	kept->bytes = st.st_size;
	kept->next = control->kept_maps;
	control->kept_maps = kept;
	for (unsigned int n = 0, none = 0; *at;) {
		bytes += (*at)->bytes;
		n += (*at)->fd >= 0;
		none += (*at)->fd < 0;
		if (((*at)->fd < 0 ? none <= KEPT_NONE_MAX : n <= KEPT_MAX) && bytes <= KEPT_TOTAL) {
			at = &(*at)->next;
		} else {
			bytes -= (*at)->bytes;
			drop(at);
		}
	}
}

void spi_kept_maps_free(struct spi_control *control)
{
	while (control->kept_maps)
		drop(&control->kept_maps);
	while (control->known_files) {
		struct spi_known_file *known = control->known_files;

		control->known_files = known->next;
		free(known);
	}
}
