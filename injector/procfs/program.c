/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Which of the mapped files is the program, and by which names people know the process.
 *
 * Mostly the program is the file that the kernel executed. In `ld.so PROGRAM`, by which bundles with
 * a C library of their own are started, the kernel has executed the dynamic linker; the program is
 * then the first one in the linker's list of what it has loaded.
 */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "injector/procfs/procfs.h"
#include "injector/procfs/timed-reader.h"
#include "rules/glob.h"

static bool is_same_file(const struct spi_mapping *a, const struct spi_mapping *b)
{
	return a->inode == b->inode && a->device == b->device && !strcmp(a->path, b->path);
}

static const struct spi_mapping *first_of_file(const struct spi_maps *maps, const struct spi_mapping *any)
{
	for (size_t i = 0; any && any->inode && i < maps->count; i++)
		if (is_same_file(&maps->all[i], any))
			return &maps->all[i];
	return NULL;
}

/* By its path; a layered file system may show another inode in the map than in its directories. */
static const struct spi_mapping *executed(const struct spi_maps *maps, pid_t pid)
{
	char link[64], path[PATH_MAX] = "";
	struct stat st = { 0 };
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int) spi_living_thread(pid));
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = 0;
	if (n <= 0 || stat(link, &st))
		return NULL;
	for (size_t i = 0; i < maps->count; i++)
		if (!strcmp(maps->all[i].path, path) || (maps->all[i].inode == st.st_ino && maps->all[i].device == st.st_dev))
			return &maps->all[i];
	return NULL;
}

/* Nothing that is read here is believed: it is an address that lies in a file's mapping, or it does not. */
static const struct spi_mapping *first_loaded(const struct spi_maps *maps, pid_t pid, const struct spi_mapping *linker)
{
	struct spi_image image;
	struct link_map map;
	struct r_debug list;
	uint64_t at;

	if (spi_image_read(&image, pid, maps, linker, false))
		return NULL;
	at = spi_image_symbol(&image, "_r_debug", NULL);
	spi_image_free(&image);
	if (!at || spi_memory_read(pid, at, &list, sizeof(list)) ||
	    spi_memory_read(pid, (uint64_t) (uintptr_t) list.r_map, &map, sizeof(map)))
		return NULL;
	return first_of_file(maps, spi_maps_find(maps, (uint64_t) (uintptr_t) map.l_ld));
}

const struct spi_mapping *spi_maps_find_program(const struct spi_maps *maps, pid_t pid)
{
	const struct spi_mapping *program = executed(maps, pid), *linker = spi_maps_find_file(maps, "ld-linux-x86-64.so.2");

	if (!linker)
		linker = spi_maps_find_file(maps, "ld-2.");
	return program && linker && is_same_file(program, linker) ? first_loaded(maps, pid, linker) : program;
}

bool spi_name_is_linker(const char *name)
{
	return !strncmp(name, "ld-linux-x86-64.so", 18) || !strncmp(name, "ld-2.", 5);
}

int spi_linker_program(char *const *argv)
{
	static const char *const with_value[] = { "--library-path", "--inhibit-rpath", "--audit", "--preload", "--argv0",
		"--glibc-hwcaps-prepend", "--glibc-hwcaps-mask" };
	unsigned int k, n = sizeof(with_value) / sizeof(with_value[0]);
	int i;

	for (i = 1; argv[i] && !strncmp(argv[i], "--", 2); i++) {
		for (k = 0; k < n && strcmp(argv[i], with_value[k]); k++)
			;
		if (k < n && argv[i + 1])
			i++;
		else if (strcmp(argv[i], "--inhibit-cache"))
			return 0;
	}
	return argv[i] ? i : 0;
}

/* ---- names ---- */

void spi_file_name(char *to, size_t size, const char *path)
{
	static const char deleted[] = " (deleted)";
	const char *slash = strrchr(path, '/');
	size_t n;

	path = slash ? slash + 1 : path;
	n = strlen(path);
	if (n >= sizeof(deleted) && !strcmp(path + n - (sizeof(deleted) - 1), deleted))
		n -= sizeof(deleted) - 1;
	if (n >= size)
		n = size - 1;
	memcpy(to, path, n);
	to[n] = 0;
}

void spi_executable_name(char *to, size_t size, pid_t pid)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int) spi_living_thread(pid));
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = 0;
	spi_file_name(to, size, path);
}

/* The kernel keeps the path that was executed behind the environment, where hardly a program writes. */
static void read_run_as(struct spi_names *names, pid_t pid)
{
	size_t size = 0, n = 0;
	char *text = spi_proc_read(&size, "%d/auxv", (int) pid), path[PATH_MAX + 1];
	const ElfW(auxv_t) *vector = (const ElfW(auxv_t) *) text;
	uint64_t at = 0;

	for (size_t i = 0; text && i < size / sizeof(*vector); i++)
		if (vector[i].a_type == AT_EXECFN)
			at = vector[i].a_un.a_val;
	free(text);
	while (at && n < PATH_MAX && !memchr(path, 0, n)) {
		size_t step = PATH_MAX - (at + n) % PATH_MAX;	/* to the end of a page: the next may not be there */

		step = step < PATH_MAX - n ? step : PATH_MAX - n;
		if (spi_memory_read(pid, at + n, path + n, step))
			break;
		n += step;
	}
	path[n] = 0;
	spi_file_name(names->run_as, sizeof(names->run_as), path);
}

void spi_names_comm(struct spi_names *names, pid_t pid)
{
	char *text = spi_proc_read(NULL, "%d/comm", (int) pid);

	memset(names, 0, sizeof(*names));
	snprintf(names->comm, sizeof(names->comm), "%.*s", text ? (int) strcspn(text, "\n") : 0, text ? text : "");
	free(text);
}

void spi_names_read(struct spi_names *names, pid_t pid, const char *file)
{
	pid_t living = spi_living_thread(pid);
	bool is_linker = spi_name_is_linker(file);
	char *words[64], *text, *at;
	unsigned int n = 0;
	size_t size = 0;

	spi_names_comm(names, pid);
	text = spi_proc_read(&size, "%d/cmdline", (int) living);
	for (at = text; at && at < text + size && n + 1 < sizeof(words) / sizeof(words[0]); at += strlen(at) + 1)
		words[n++] = at;
	words[n] = NULL;
	if (n) {
		at = words[is_linker ? spi_linker_program(words) : 0];
		snprintf(names->title, sizeof(names->title), "%s", at);
		if (is_linker)
			spi_file_name(names->run_as, sizeof(names->run_as), at);
	}
	free(text);
	if (!is_linker)
		read_run_as(names, living);
}

bool spi_names_match(const struct spi_names *names, const char *pattern)
{
	return (*names->comm && spi_glob_match(pattern, names->comm)) || (*names->run_as && spi_glob_match(pattern, names->run_as)) ||
	       spi_glob_match_title(pattern, names->title);
}

static uid_t process_user(pid_t pid)
{
	char path[32];
	struct stat st = { .st_uid = (uid_t) -1 };

	snprintf(path, sizeof(path), "/proc/%d", (int) pid);
	return stat(path, &st) ? (uid_t) -1 : st.st_uid;
}

int spi_names_find(const char *pattern, pid_t **pids)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int n = 0;

	*pids = NULL;
	while (dir && (entry = readdir(dir))) {
		pid_t pid = isdigit((unsigned char) *entry->d_name) ? atoi(entry->d_name) : 0, *more;
		struct spi_names names;
		char file[64];
		bool found;

		if (!pid || pid == getpid())
			continue;
		spi_executable_name(file, sizeof(file), pid);
		found = *file && spi_glob_match(pattern, file);
		if (!found) {
			spi_reader_names(&names, pid, process_user(pid), file);
			/* A zombie and a kernel thread have neither. */
			found = (*file || *names.title) && spi_names_match(&names, pattern);
		}
		if (!found)
			continue;
		more = realloc(*pids, (size_t) (n + 1) * sizeof(*more));
		if (!more)
			break;
		*pids = more;
		more[n++] = pid;
	}
	if (dir)
		closedir(dir);
	return n;
}
