/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Finding and reading files of prototypes: see collect.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#include "codemap/prototypes/collect.h"

void spi_prototypes_read(const char *path, struct spi_prototypes_text *to)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	ssize_t n = 1;

	*to = (struct spi_prototypes_text) { NULL, 0, NULL };
	if (fd < 0 || fstat(fd, &st) < 0)
		to->why = strerror(errno);
	else if (!S_ISREG(st.st_mode))
		to->why = "not a regular file";
	else if (st.st_size > (off_t) SPI_PROTOTYPES_FILE_MAX)
		to->why = "more than 1 MB: no file of prototypes";
	else if (!(to->text = malloc((size_t) st.st_size + 1)))
		to->why = strerror(ENOMEM);
	while (to->text && to->size < (size_t) st.st_size && n > 0) {
		n = read(fd, to->text + to->size, (size_t) st.st_size - to->size);
		if (n > 0)
			to->size += (size_t) n;
	}
	if (n < 0) {
		to->why = strerror(errno);
		free(to->text);
		to->text = NULL;
	}
	if (fd >= 0)
		close(fd);
}

static int is_text_file(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > 4 && *entry->d_name != '.' && !strcmp(entry->d_name + n - 4, ".txt");
}

static int name_compare(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

void spi_prototypes_directory(const char *path, void (*add)(void *context, const char *path), void *context)
{
	struct dirent **list = NULL;
	char *file;
	int i, n = scandir(path, &list, is_text_file, name_compare);

	for (i = 0; i < n; i++) {
		if (i <= (int) SPI_PROTOTYPES_FILES_MAX && asprintf(&file, "%s/%s", path, list[i]->d_name) >= 0) {
			add(context, file);
			free(file);
		}
		free(list[i]);
	}
	free(list);
}

int spi_prototypes_users_directory(char *path, size_t size)
{
	const char *home;
	int n;

	if (getauxval(AT_SECURE) || geteuid() != getuid())
		return 0;
	if ((home = getenv("XDG_CONFIG_HOME")) && *home == '/')
		n = snprintf(path, size, "%s/lttng-spi/prototypes", home);
	else if ((home = getenv("HOME")) && *home == '/')
		n = snprintf(path, size, "%s/.config/lttng-spi/prototypes", home);
	else
		return 0;
	return n > 0 && (size_t) n < size;
}
