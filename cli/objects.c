/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Two sources of the same list. `ld.so --list` maps what the program would map,
 * with the user's LD_LIBRARY_PATH, LD_PRELOAD and the file's own RUNPATH, and
 * runs none of it. /proc/PID/maps shows what a process really has, as seen from
 * its own root; a file that was deleted or replaced since is still reached
 * through /proc/PID/map_files or /proc/PID/exe.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/elf-file.h"
#include "cli/objects.h"
#include "cli/options.h"
#include "cli/program.h"
#include "cli/say.h"

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void object_free(struct object *o)
{
	free(o->path);
	free(o->open);
	free(o->name);
	free(o->real);
}

/*
 * A process's maps show libz.so.1.2.13, the dynamic linker and the user call it
 * libz.so.1: the soname, when a file of that name beside it is the same one.
 */
static void object_use_soname(struct object *o)
{
	char soname[256], *path;
	struct stat mapped, named;
	int fd = open(o->open, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int ret = fd < 0 ? -errno : elf_soname_read(fd, soname, sizeof(soname));

	if (ret == 0 && fstat(fd, &mapped) == 0 && !strchr(soname, '/') && strcmp(soname, o->name) &&
	    asprintf(&path, "%.*s%s", (int) (file_name(o->open) - o->open), o->open, soname) > 0) {
		char *name = strdup(soname);

		if (name && stat(path, &named) == 0 && named.st_dev == mapped.st_dev && named.st_ino == mapped.st_ino) {
			free(o->name);
			o->name = name;
		} else {
			free(name);
		}
		free(path);
	}
	if (fd >= 0)
		close(fd);
}

static int objects_add(struct objects *objects, const char *path, const char *open_path)
{
	struct object *list = realloc(objects->list, (objects->count + 1) * sizeof(*list)), o;
	char *resolved;

	if (!list)
		return -ENOMEM;
	objects->list = list;
	resolved = realpath(open_path, NULL);
	o.path = strdup(path);
	o.open = strdup(open_path);
	o.name = strdup(file_name(path));
	o.real = strdup(file_name(resolved ? resolved : path));
	free(resolved);
	if (!o.path || !o.open || !o.name || !o.real) {
		object_free(&o);
		return -ENOMEM;
	}
	objects->list[objects->count++] = o;
	return 0;
}

void objects_free(struct objects *objects)
{
	unsigned int i;

	for (i = 0; i < objects->count; i++)
		object_free(&objects->list[i]);
	free(objects->list);
	free(objects->root);
	memset(objects, 0, sizeof(*objects));
}

int object_matches(const struct object *object, const char *pattern)
{
	return fnmatch(pattern, object->name, 0) == 0 || fnmatch(pattern, object->real, 0) == 0;
}

/*
 * One line of --list: "\tlibc.so.6 => /lib/.../libc.so.6 (0x...)",
 * "\t/lib64/ld-linux-x86-64.so.2 (0x...)", "\tlinux-vdso.so.1 (0x...)" or
 * "\tlibx.so => not found". Returns the exit status 127 for the last.
 */
static int objects_take_line(struct objects *objects, const struct program *program, char *line)
{
	char *name = line + strspn(line, " \t"), *path = strstr(name, " => "), *end;

	if (path && !strncmp(path + 4, "not found", 9)) {
		*path = '\0';
		say_error("%s: its library %s was not found: install it or set LD_LIBRARY_PATH", program->name, name);
		return TRACE_STATUS_NO_FILE;
	}
	path = path ? path + 4 : name;
	end = strstr(path, " (0x");
	if (*path != '/' || !end)
		return 0;
	*end = '\0';
	return objects_add(objects, path, path);
}

/* The loader's own words; it would end the program with 127 for the same reason. */
static int objects_refused(const struct program *program, char *words)
{
	static const char marker[] = "error while loading shared libraries: ";
	char *why = strstr(words, marker);

	words[strcspn(words, "\n")] = '\0';
	if (why) {
		say_error("%s: its library %s", program->name, why + strlen(marker));
		return TRACE_STATUS_NO_FILE;
	}
	say_error("%s: its libraries cannot be listed: %s", program->name, *words ? words : "the dynamic loader failed");
	return TRACE_STATUS_ERROR;
}

int objects_of_program(struct objects *objects, const struct program *program, int stop_fd)
{
	/* $ORIGIN is the directory of the file itself, not that of a link to it. */
	char *file = realpath(program->elf, NULL);
	char *argv[] = { program->interp, (char *) "--list", file ? file : program->elf, NULL };
	struct child_options child = { .path = program->interp, .argv = argv, .in = -1, .out = -1, .err = -1 };
	char *out = NULL, *err = NULL, *line, *save = NULL;
	int status = 0, ret;

	memset(objects, 0, sizeof(*objects));
	ret = objects_add(objects, program->elf, program->elf);
	if (ret == 0)
		ret = child_capture(&child, stop_fd, &out, &err, &status);
	if (ret == 0 && (!WIFEXITED(status) || WEXITSTATUS(status)))
		ret = objects_refused(program, err);
	for (line = ret ? NULL : strtok_r(out, "\n", &save); line && ret == 0; line = strtok_r(NULL, "\n", &save))
		ret = objects_take_line(objects, program, line);
	free(out);
	free(err);
	free(file);
	if (ret < 0 && ret != -EINTR) {
		say_error("%s: its libraries cannot be listed: %s", program->name, strerror(-ret));
		ret = TRACE_STATUS_ERROR;
	}
	return ret;
}

struct mapping {
	unsigned long low, high;
	unsigned int major, minor;
	unsigned long inode;
	char perms[8];
	const char *path;
};

static int mapping_parse(char *line, struct mapping *m)
{
	int at = 0;

	if (sscanf(line, "%lx-%lx %7s %*x %x:%x %lu %n", &m->low, &m->high, m->perms, &m->major, &m->minor,
		   &m->inode, &at) < 6 || !at)
		return 0;
	line[strcspn(line, "\n")] = '\0';
	m->path = line + at;
	return m->path[0] == '/' && m->inode && strchr(m->perms, 'x');
}

/* A way to open a mapped file: by its path below the process's root if that is still the same file. */
static char *mapping_open_path(const struct objects *objects, pid_t pid, const struct mapping *m)
{
	struct stat st;
	char *path;

	if (asprintf(&path, "%s%s", objects->root ? objects->root : "", m->path) < 0)
		return NULL;
	if (stat(path, &st) == 0 && st.st_ino == m->inode)
		return path;
	free(path);
	/* the kernel names files of another mount namespace as they are seen from here, when they can be */
	if (stat(m->path, &st) == 0 && st.st_ino == m->inode)
		return strdup(m->path);
	if (asprintf(&path, "/proc/%d/map_files/%lx-%lx", (int) pid, m->low, m->high) < 0)
		return NULL;
	return path;
}

static int objects_read_maps(struct objects *objects, pid_t pid, FILE *maps, const char *exe)
{
	unsigned long exe_inode = 0, seen[2] = { 0, 0 };
	struct mapping m;
	struct stat st;
	char *line = NULL;
	size_t room = 0;
	int ret = 0;

	if (stat(exe, &st) == 0)
		exe_inode = st.st_ino;
	while (ret == 0 && getline(&line, &room, maps) > 0) {
		char *file, *deleted;
		unsigned int i, known = 0;

		if (!mapping_parse(line, &m) || (m.inode == seen[0] && m.minor == seen[1]))
			continue;
		seen[0] = m.inode;
		seen[1] = m.minor;
		file = mapping_open_path(objects, pid, &m);
		deleted = strstr(m.path, " (deleted)");
		if (deleted)
			*deleted = '\0';
		if (m.inode == exe_inode) {
			free(objects->list[0].open);
			objects->list[0].open = file ? file : strdup(exe);
			continue;
		}
		for (i = 0; i < objects->count; i++)
			known |= !strcmp(objects->list[i].path, m.path);
		/* Not code of a library: memfds of JITs, shared memory, devices. */
		if (file && !known && strncmp(m.path, "/memfd:", 7) && strncmp(m.path, "/dev/", 5)) {
			ret = objects_add(objects, m.path, file);
			if (ret == 0)
				object_use_soname(&objects->list[objects->count - 1]);
		}
		free(file);
	}
	free(line);
	return ret;
}

/* The process's root, when it is not ours. */
static int objects_find_root(struct objects *objects, pid_t pid)
{
	struct stat ours, its;
	char *root;

	if (asprintf(&root, "/proc/%d/root", (int) pid) < 0)
		return -ENOMEM;
	if (stat("/", &ours) == 0 && stat(root, &its) == 0 &&
	    (ours.st_dev != its.st_dev || ours.st_ino != its.st_ino)) {
		objects->root = root;
		return 0;
	}
	free(root);
	return 0;
}

int objects_of_process(struct objects *objects, pid_t pid)
{
	char link[64], exe[4096], *deleted;
	FILE *maps;
	ssize_t n;
	int ret;

	memset(objects, 0, sizeof(*objects));
	snprintf(link, sizeof(link), "/proc/%d/exe", (int) pid);
	n = readlink(link, exe, sizeof(exe) - 1);
	if (n < 0)
		return -errno;
	exe[n] = '\0';
	deleted = strstr(exe, " (deleted)");
	if (deleted)
		*deleted = '\0';
	ret = objects_find_root(objects, pid);
	if (ret == 0)
		ret = objects_add(objects, exe, link);
	if (ret < 0)
		return ret;
	snprintf(exe, sizeof(exe), "/proc/%d/maps", (int) pid);
	maps = fopen(exe, "re");
	if (!maps)
		return -errno;
	ret = objects_read_maps(objects, pid, maps, link);
	fclose(maps);
	return ret;
}
