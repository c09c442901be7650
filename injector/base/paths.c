/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Finding the project's files. The build tree mirrors the source tree, so from BUILD/cli/lttng or
 * BUILD/injector/spi-inject the other parts are one directory up. A file that is not there must be
 * installed, in the directories that configure was given.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "injector/base/paths.h"

static const char *environment(const char *name)
{
	const char *value = !name || getauxval(AT_SECURE) ? NULL : getenv(name);

	return value && *value ? value : NULL;
}

/* The directory above the one this program is in: the build tree's top, when there is one. */
static const char *build_top(void)
{
	static char top[PATH_MAX];
	ssize_t n;

	if (*top)
		return top;
	n = readlink("/proc/self/exe", top, sizeof(top) - 1);
	if (n <= 0)
		return "/nonexistent";
	top[n] = 0;
	for (int level = 0; level < 2; level++) {
		char *slash = strrchr(top, '/');

		if (slash)
			*slash = 0;
		/* libtool keeps the real program in .libs when it wraps it in a script. */
		if (level == 0 && (slash = strrchr(top, '/')) && !strcmp(slash, "/.libs"))
			*slash = 0;
	}
	return top;
}

struct place {
	const char *variable, *built, *installed;
	char path[PATH_MAX];
};

static const char *place_find(struct place *p)
{
	const char *value = environment(p->variable);

	if (*p->path)
		return p->path;
	if (value && realpath(value, p->path) && !access(p->path, R_OK))
		return p->path;
	*p->path = 0;
	if (value)
		return NULL;	/* who names a file wants that file or none */
	if (snprintf(p->path, sizeof(p->path), "%s/%s", build_top(), p->built) < (int) sizeof(p->path) &&
	    !access(p->path, R_OK))
		return p->path;
	snprintf(p->path, sizeof(p->path), "%s", p->installed);
	if (!access(p->path, R_OK))
		return p->path;
	*p->path = 0;
	return NULL;
}

const char *spi_path_agent(void)
{
	static struct place place = { "LTTNG_SPI_AGENT", "liblttng-spi/.libs/liblttng-spi.so.0",
				      SPI_LIBDIR "/liblttng-spi.so.0", "" };

	return place_find(&place);
}

const char *spi_path_tp(void)
{
	static struct place place = { "LTTNG_SPI_TP", "tp/.libs/liblttng-spi-tp.so",
				      SPI_PKGLIBDIR "/liblttng-spi-tp.so", "" };

	return place_find(&place);
}

const char *spi_path_codemap(void)
{
	static struct place place = { "LTTNG_SPI_CODEMAP", "codemap/spi-codemap",
				      SPI_PKGLIBEXECDIR "/spi-codemap", "" };

	return place_find(&place);
}

const char *spi_path_broker(void)
{
	static struct place place = { NULL, "broker/spi-broker", SPI_PKGLIBEXECDIR "/spi-broker", "" };

	return place_find(&place);
}

const char *spi_path_bt2(void)
{
	static struct place place = { NULL, "bt2/.libs", SPI_LIBDIR "/babeltrace2/plugins", "" };

	return place_find(&place);
}

const char *spi_path_reader(void)
{
	static struct place place = { NULL, "reader/lttng-spi", SPI_BINDIR "/lttng-spi", "" };

	return place_find(&place);
}

const char *spi_path_relay_guard(void)
{
	static struct place place = { NULL, "cli/.libs/lttng-spi-relay.so", SPI_PKGLIBDIR "/lttng-spi-relay.so", "" };

	return place_find(&place);
}

/* ---- libraries ------------------------------------------------------ */

static int is_library(const char *path)
{
	Elf64_Ehdr head;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), good;

	if (fd < 0)
		return 0;
	good = pread(fd, &head, sizeof(head), 0) == sizeof(head) && !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
	       head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_machine == EM_X86_64 && head.e_type == ET_DYN;
	close(fd);
	return good;
}

static int try_directories(const char *list, const char *name, char *path, size_t size)
{
	while (list && *list) {
		size_t n = strcspn(list, ":;");

		if (n && snprintf(path, size, "%.*s/%s", (int) n, list, name) < (int) size && *path == '/' &&
		    is_library(path))
			return 0;
		list += n + (list[n] != 0);
	}
	return -ENOENT;
}

/*
 * The linker's cache, new format: a header of 48 bytes with the number of
 * entries at 20, entries of 24 bytes with the name's and the path's offset at 4
 * and 8, counted from the header. An old-format cache may precede it.
 */
static int try_cache(const char *name, char *path, size_t size)
{
	static const char magic[] = "glibc-ld.so.cache1.1";
	int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC), ret = -ENOENT;
	const char *map, *head;
	struct stat st;
	size_t length;
	uint32_t count;

	if (fd < 0 || fstat(fd, &st) || st.st_size < 48) {
		if (fd >= 0)
			close(fd);
		return -ENOENT;
	}
	map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return -ENOENT;
	head = memmem(map, st.st_size, magic, sizeof(magic) - 1);
	length = head ? map + st.st_size - head : 0;
	if (length < 48)
		goto out;
	memcpy(&count, head + 20, 4);
	for (size_t i = 0; ret && i < count && 48 + (i + 1) * 24 <= length; i++) {
		uint32_t key, value;

		memcpy(&key, head + 48 + i * 24 + 4, 4);
		memcpy(&value, head + 48 + i * 24 + 8, 4);
		if (key >= length || value >= length || strncmp(head + key, name, length - key))
			continue;
		if (snprintf(path, size, "%.*s", (int) (length - value), head + value) < (int) size && is_library(path))
			ret = 0;
	}
out:
	munmap((void *) map, st.st_size);
	return ret;
}

int spi_path_library(const char *name, char *path, size_t size)
{
	if (!try_directories(environment("LD_LIBRARY_PATH"), name, path, size) || !try_cache(name, path, size))
		return 0;
	return try_directories("/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/usr/local/lib:"
			       "/lib:/usr/lib", name, path, size);
}

/* ---- session daemon ------------------------------------------------- */

static int has_app_socket(const char *directory)
{
	char pattern[PATH_MAX];
	int found = 0;
	glob_t all;

	snprintf(pattern, sizeof(pattern), "%s/lttng-ust-sock-*", directory);
	if (glob(pattern, GLOB_NOSORT, NULL, &all))
		return 0;
	for (size_t i = 0; i < all.gl_pathc; i++) {
		struct stat st;

		found |= !stat(all.gl_pathv[i], &st) && S_ISSOCK(st.st_mode);
	}
	globfree(&all);
	return found;
}

int spi_path_daemon_directory(char *path, size_t size)
{
	const char *run = environment("LTTNG_RUNDIR"), *home = environment("LTTNG_HOME");

	if (run && snprintf(path, size, "%s", run) < (int) size && has_app_socket(path))
		return 0;
	if (snprintf(path, size, "/var/run/lttng") < (int) size && has_app_socket(path))
		return 0;
	if (!home)
		home = environment("HOME");
	if (!home) {
		const struct passwd *user = getpwuid(geteuid());

		home = user ? user->pw_dir : "/";
	}
	if (snprintf(path, size, "%s/.lttng", home) < (int) size && has_app_socket(path))
		return 0;
	return -ENOENT;
}
