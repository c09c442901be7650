/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The files that were added, in memory. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "codemap/prototypes/collect.h"
#include "codemap/prototypes/internal.h"

static struct vec_of(struct prototype_file) files;

struct prototype_file *prototypes_file(unsigned int file)
{
	return &files.at[file];
}

unsigned int prototypes_file_count(void)
{
	return (unsigned int) files.count;
}

static struct prototype_file *file_add(const char *name)
{
	struct prototype_file *file = vec_push(&files);

	*file = (struct prototype_file) { .name = mem_string(name, strlen(name)), .text = "" };
	return file;
}

void prototypes_add(const char *path)
{
	struct prototype_file *file = file_add(path);
	struct spi_prototypes_text text;

	spi_prototypes_read(path, &text);
	if (text.text) {
		file->text = text.text;
		file->size = text.size;
	} else {
		file->error = mem_format("%s: cannot be read: %s", path, text.why);
	}
}

static void directory_file_add(void *context, const char *path)
{
	unsigned int *count = context;

	if (++*count > SPI_PROTOTYPES_FILES_MAX)
		file_add(path)->error = mem_format("%s: not read: more than %u files", path, SPI_PROTOTYPES_FILES_MAX);
	else
		prototypes_add(path);
}

void prototypes_add_directory(const char *path)
{
	unsigned int count = 0;

	spi_prototypes_directory(path, directory_file_add, &count);
}

/* In the build tree they are in a directory beside this program's. */
void prototypes_add_installed(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);
	char *slash;

	if (n > 0) {
		path[n] = 0;
		slash = strrchr(path, '/');
		if (slash) {
			strcpy(slash, "/../prototypes");
			prototypes_add_directory(path);
		}
	}
	if (!files.count)
		prototypes_add_directory(SPI_PROTOTYPES_DIR);
}

void prototypes_add_users(void)
{
	char path[PATH_MAX];

	if (spi_prototypes_users_directory(path, sizeof(path)))
		prototypes_add_directory(path);
}

/* The next file of a bundle; 0: the rest is none. */
static int bundle_next(struct cursor *c)
{
	struct spi_prototypes_head head;
	struct prototype_file *file;
	const char *name, *text;

	if (c->end - c->p < (ptrdiff_t) sizeof(head))
		return 0;
	memcpy(&head, c->p, sizeof(head));
	cursor_skip(c, sizeof(head));
	name = (const char *) c->p;
	cursor_skip(c, head.name_size);
	text = (const char *) c->p;
	cursor_skip(c, head.text_size);
	if (c->bad || !head.name_size || name[head.name_size - 1] || (head.is_unread && (!head.text_size || text[head.text_size - 1])))
		return 0;
	file = file_add(name);
	if (head.is_unread)
		file->error = mem_format("%s: cannot be read: %s", name, text);
	file->text = head.is_unread ? "" : text;
	file->size = head.is_unread ? 0 : head.text_size;
	return 1;
}

void prototypes_add_bundle(int fd)
{
	struct stat st;
	struct cursor c = { 0 };
	uint8_t *data;
	ssize_t n = 1;
	size_t have = 0;

	if (fstat(fd, &st) < 0 || st.st_size <= 0 || st.st_size > (off_t) SPI_PROTOTYPES_BUNDLE_MAX)
		return;
	data = mem_alloc((size_t) st.st_size);
	while (have < (size_t) st.st_size && n > 0) {
		n = pread(fd, data + have, (size_t) st.st_size - have, (off_t) have);
		have += n > 0 ? (size_t) n : 0;
	}
	c = (struct cursor) { data, data + have, 0 };
	while (bundle_next(&c))
		;
}

uint64_t prototypes_digest(void)
{
	uint64_t hash = files.count;
	size_t i;

	for (i = 0; i < files.count; i++) {
		const struct prototype_file *file = &files.at[i];

		hash = hash_bytes(hash, file->name, strlen(file->name));
		hash = hash_bytes(hash + (file->error != NULL), file->text, file->size);
		hash = hash_bytes(hash, &file->size, sizeof(file->size));
	}
	return hash;
}
