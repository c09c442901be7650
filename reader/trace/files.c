/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The file of an object, wherever it is where the trace is read: below another root, at its path, or in a directory of
 * debug files, by its build-id. A file of another build-id than the trace's is not used. libdwfl finds separate debug
 * files, and asks debuginfod where DEBUGINFOD_URLS is set. Files may be anything: libelf looks into them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "reader/trace/symbols.h"

#define DEBUG_DEFAULT	"/usr/lib/debug"

static const char *root;			/* NULL: this one */
static const char *const *debug_directories;	/* NULL: none but the usual ones */
static char *debug_path;			/* of libdwfl; NULL: its own */

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debug_path,
};

int symbols_places(const char *below, const char *const *directories)
{
	size_t size = sizeof(":.debug:" DEBUG_DEFAULT) + (below ? strlen(below) + sizeof(":" DEBUG_DEFAULT) : 0);

	root = below;
	debug_directories = directories;
	if (below && strchr(below, ':'))
		return -EINVAL;
	for (const char *const *d = directories; d && *d; d++) {
		if (strchr(*d, ':'))
			return -EINVAL;
		size += strlen(*d) + 1;
	}
	free(debug_path);
	debug_path = malloc(size);
	if (!debug_path)
		return -ENOMEM;
	*debug_path = 0;
	for (const char *const *d = directories; d && *d; d++)
		strcat(strcat(debug_path, *d), ":");
	if (below)
		strcat(strcat(debug_path, below), DEBUG_DEFAULT ":");
	strcat(debug_path, ":.debug:" DEBUG_DEFAULT);
	return 0;
}

/* ---- one file ---- */

static int is_build(Dwfl_Module *module, const struct object *o)
{
	const unsigned char *bits;
	GElf_Addr where;
	const int n = dwfl_module_build_id(module, &bits, &where);
	uint64_t begin = 0;

	if (!o->build_id)
		return 1;		/* its path is all that is known of it */
	if (n < 8)
		return 0;
	for (int i = 0; i < 8; i++)
		begin = begin << 8 | bits[i];
	return begin == o->build_id && (!o->id_size || ((unsigned int) n == o->id_size && !memcmp(bits, o->id, (size_t) n)));
}

static uint64_t low_of(Dwfl_Module *module)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	size_t n = 0;
	GElf_Phdr segment;

	if (!elf || elf_getphdrnum(elf, &n) < 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, (int) i, &segment) && segment.p_type == PT_LOAD)
			return (segment.p_vaddr & ~UINT64_C(4095)) + bias;
	return 0;
}

/* The descriptor is taken. 1: it is the file. */
static int file_use(struct symbols *s, int fd, const char *path, const struct object *o)
{
	struct stat st;
	Dwfl *dwfl = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? dwfl_begin(&callbacks) : NULL;
	Dwfl_Module *module = NULL;

	if (dwfl) {
		dwfl_report_begin(dwfl);
		module = dwfl_report_elf(dwfl, "object", path, fd, 0, true);
		dwfl_report_end(dwfl, NULL, NULL);
	}
	if (!module) {
		close(fd);
	} else if (!is_build(module, o)) {
		s->state = SYMBOLS_OTHER_FILE;
		module = NULL;
	}
	if (!module) {
		dwfl_end(dwfl);
		return 0;
	}
	s->dwfl = dwfl;
	s->module = module;
	s->low = low_of(module);
	s->state = SYMBOLS_HERE;
	return 1;
}

static int path_use(struct symbols *s, const char *below, const char *path, const struct object *o)
{
	char all[4200];
	int fd = -1;

	if ((size_t) snprintf(all, sizeof(all), "%s%s", below, path) < sizeof(all))
		fd = open(all, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd >= 0 && file_use(s, fd, all, o);
}

/* ---- by build-id ---- */

/* All of a build-id of which the trace says the beginning only, where a debug directory has a file of that. */
static void id_complete(struct object *o, const char *directory)
{
	char path[4200], rest[15];
	const struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/.build-id/%02x", directory, (unsigned int) (o->build_id >> 56));
	snprintf(rest, sizeof(rest), "%014llx", (unsigned long long) (o->build_id & ~(UINT64_C(0xff) << 56)));
	dir = o->build_id && !o->id_size ? opendir(path) : NULL;
	while (dir && !o->id_size && (entry = readdir(dir))) {
		const size_t digits = strspn(entry->d_name, "0123456789abcdef");

		if (strncmp(entry->d_name, rest, 14) || digits % 2 || digits / 2 >= sizeof(o->id))
			continue;
		o->id[0] = (uint8_t) (o->build_id >> 56);
		for (size_t i = 0; i < digits / 2; i++)
			if (sscanf(entry->d_name + 2 * i, "%2hhx", &o->id[i + 1]) != 1)
				break;
		o->id_size = (uint32_t) (digits / 2 + 1);
	}
	if (dir)
		closedir(dir);
}

/* A debug file has symbols and lines, too; else the object itself, as debug directories and debuginfod have objects. */
static void id_use(struct symbols *s, const struct object *o)
{
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *module = NULL;
	char *path = NULL;
	Elf *elf = NULL;
	void *own = NULL;
	int fd = -1;

	if (dwfl) {
		dwfl_report_begin(dwfl);
		module = dwfl_report_module(dwfl, "object", 0x1000, UINT64_C(1) << 40);
		dwfl_report_end(dwfl, NULL, NULL);
	}
	if (module && dwfl_module_report_build_id(module, o->id, o->id_size, 0x1000) == 0) {
		fd = dwfl_standard_find_debuginfo(module, &own, "object", 0x1000, NULL, NULL, 0, &path);
		if (fd < 0) {
			free(path);
			path = NULL;
			fd = dwfl_build_id_find_elf(module, &own, "object", 0x1000, &path, &elf);
		}
	}
	if (elf)
		elf_end(elf);
	if (fd >= 0)
		file_use(s, fd, path ? path : "object", o);
	free(path);
	dwfl_end(dwfl);
}

struct symbols *symbols_open(struct object *o)
{
	struct symbols *s = calloc(1, sizeof(*s));
	const int is_path = *o->path == '/';	/* else it is none of a file, such as [vdso] */

	if (!s || (is_path && ((root && path_use(s, root, o->path, o)) ||
			(root && o->build_id && path_use(s, root, strrchr(o->path, '/'), o)) || path_use(s, "", o->path, o))))
		return s;
	for (const char *const *d = debug_directories; d && *d; d++)
		id_complete(o, *d);
	id_complete(o, DEBUG_DEFAULT);
	if (o->id_size)
		id_use(s, o);
	return s;
}

enum symbols_state symbols_state(const struct symbols *s)
{
	return s ? s->state : SYMBOLS_NO_FILE;
}

void symbols_close(struct symbols *s)
{
	if (!s)
		return;
	free(s->list);
	free(s->units);
	dwfl_end(s->dwfl);
	free(s);
}
