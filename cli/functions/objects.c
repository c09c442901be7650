/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The executable and its libraries, from two sources. `ld.so --list` maps what the program would map,
 * with the user's LD_LIBRARY_PATH, LD_PRELOAD and the file's own RUNPATH, and runs none of it.
 * /proc/PID/maps shows what a process really has, as seen from its own root directory; a file that
 * was deleted or replaced since is reached through /proc/PID/map_files.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/child.h"
#include "cli/base/say.h"
#include "cli/functions/elf-file.h"
#include "cli/functions/objects.h"
#include "cli/functions/program.h"
#include "cli/ui/trace-options.h"
#include "injector/procfs/procfs.h"
#include "injector/procfs/timed-reader.h"
#include "rules/glob.h"

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
	free(o->names);
	free(o->has);
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
	o.names = NULL;
	o.has = strdup("");
	free(resolved);
	if (!o.path || !o.open || !o.name || !o.real || !o.has) {
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
	return spi_glob_match(pattern, object->name) || spi_glob_match(pattern, object->real) ||
		(object->names && spi_names_match(object->names, pattern));
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

/* Is the file the program's own library, as libpython3.11.so.1.0 of python3.11? Others have an exec() for what few make use of. */
static bool is_library_of(const struct object *library, const struct object *program)
{
	size_t n = strspn(program->real, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return n && !strncmp(library->name, "lib", 3) && !strncmp(library->name + 3, program->real, n);
}

/* Does the program call one of libc's functions that execute another, and is it a shell, or do its words name what it may execute? */
static int objects_execute(const struct objects *objects, const struct program *program)
{
	int executes = program->is_script;
	unsigned int i;

	if (!executes && !spi_glob_match("*sh", objects->list[0].real) && !program_names_another(program))
		return 0;
	for (i = 0; i < objects->count && !executes; i++) {
		int fd = i && !is_library_of(&objects->list[i], &objects->list[0]) ? -1 :
			open(objects->list[i].open, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		executes = fd >= 0 && elf_executes(fd);
		if (fd >= 0)
			close(fd);
	}
	return executes;
}

int objects_of_program(struct objects *objects, const struct program *program, int stop_fd)
{
	/* $ORIGIN is the directory of the file itself, not that of a link to it. */
	char *file = realpath(program->elf, NULL);
	const int options = program->linker_words > 0 ? program->linker_words - 1 : 0;
	char *argv[options + 4], *out = NULL, *err = NULL, *line, *save = NULL;
	struct child_options child = { .path = program->interp, .argv = argv, .in = -1, .out = -1, .err = -1 };
	int status = 0, ret;

	argv[0] = program->interp;
	memcpy(argv + 1, program->argv + 1, (size_t) options * sizeof(*argv));
	argv[options + 1] = (char *) "--list";
	argv[options + 2] = file ? file : program->elf;
	argv[options + 3] = NULL;
	memset(objects, 0, sizeof(*objects));
	ret = objects_add(objects, program->elf, program->elf);
	if (ret == 0)
		objects->list[0].names = calloc(1, sizeof(*objects->list[0].names));
	/* A script's process has the script's name. */
	if (ret == 0 && objects->list[0].names)
		snprintf(objects->list[0].names->run_as, sizeof(objects->list[0].names->run_as), "%s",
			file_name(program->linker_words ? program->elf : program->path));
	if (ret == 0)
		ret = child_capture(&child, stop_fd, &out, &err, &status);
	if (ret == 0 && (!WIFEXITED(status) || WEXITSTATUS(status)))
		ret = objects_refused(program, err);
	for (line = ret ? NULL : strtok_r(out, "\n", &save); line && ret == 0; line = strtok_r(NULL, "\n", &save))
		ret = objects_take_line(objects, program, line);
	if (ret == 0)
		objects->executes = objects_execute(objects, program);
	free(out);
	free(err);
	free(file);
	if (ret < 0 && ret != -EINTR) {
		say_error("%s: its libraries cannot be listed: %s", program->name, strerror(-ret));
		ret = TRACE_STATUS_ERROR;
	}
	return ret;
}

static bool is_file_of(const char *path, const struct spi_mapping *m)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_ino == m->inode;
}

/* A way to open a mapped file: by its path below the process's root if that is still the same file. */
static char *mapping_open_path(const struct objects *objects, pid_t pid, const struct spi_mapping *m, bool *has_name)
{
	char *path;

	*has_name = true;
	if (asprintf(&path, "%s%s", objects->root ? objects->root : "", m->path) < 0)
		return NULL;
	if (is_file_of(path, m))
		return path;
	free(path);
	/* the kernel names files of another mount namespace as they are seen from here, when they can be */
	if (is_file_of(m->path, m))
		return strdup(m->path);
	*has_name = false;
	if (asprintf(&path, "/proc/%d/map_files/%lx-%lx", (int) spi_living_thread(pid), (unsigned long) m->start,
		     (unsigned long) m->end) < 0)
		return NULL;
	return path;
}

/* The kernel appends this to the path of a file that has no name any more; a file's name may end so, too. */
static char *mapping_path(const struct spi_mapping *m, bool has_name)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(m->path);

	if (!has_name && n > sizeof(deleted) && !strcmp(m->path + n - (sizeof(deleted) - 1), deleted))
		n -= sizeof(deleted) - 1;
	return strndup(m->path, n);
}

static int objects_take_mapping(struct objects *objects, pid_t pid, const struct spi_mapping *m)
{
	bool has_name, known = false;
	char *file = mapping_open_path(objects, pid, m, &has_name), *path = mapping_path(m, has_name);
	int ret = file && path ? 0 : -ENOMEM;

	for (unsigned int i = 0; ret == 0 && i < objects->count; i++)
		known |= !strcmp(objects->list[i].path, path);
	if (ret == 0 && !known)
		ret = objects_add(objects, path, file);
	if (ret == 0 && !known && objects->count > 1)
		object_use_soname(&objects->list[objects->count - 1]);
	free(file);
	free(path);
	return ret;
}

/* Not code of a library: memfds of JITs, shared memory, devices. */
static bool is_library(const struct spi_mapping *m)
{
	return m->path[0] == '/' && m->inode && m->exec && strncmp(m->path, "/memfd:", 7) && strncmp(m->path, "/dev/", 5);
}

/* The process's root, when it is not ours. */
static int objects_find_root(struct objects *objects, pid_t pid)
{
	struct stat ours, its;
	char *root;

	if (asprintf(&root, "/proc/%d/root", (int) spi_living_thread(pid)) < 0)
		return -ENOMEM;
	if (stat("/", &ours) == 0 && stat(root, &its) == 0 &&
	    (ours.st_dev != its.st_dev || ours.st_ino != its.st_ino)) {
		objects->root = root;
		return 0;
	}
	free(root);
	return 0;
}

/* The program first. One that has unmapped itself is known by the kernel's link alone. */
static int objects_take_program(struct objects *objects, pid_t pid, const struct spi_mapping *program)
{
	char link[64], exe[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int) spi_living_thread(pid));
	if (program) {
		int ret = objects_take_mapping(objects, pid, program);

		/* Only the privileged may use what the kernel has for mapped files, while this is for everybody. */
		if (ret == 0 && access(objects->list[0].open, R_OK) < 0 && is_file_of(link, program)) {
			free(objects->list[0].open);
			objects->list[0].open = strdup(link);
			ret = objects->list[0].open ? 0 : -ENOMEM;
		}
		return ret;
	}
	n = readlink(link, exe, sizeof(exe) - 1);
	if (n < 0)
		return -errno;
	exe[n] = '\0';
	return objects_add(objects, exe, link);
}

int objects_of_process(struct objects *objects, pid_t pid)
{
	const struct spi_mapping *program, *last = NULL;
	struct spi_maps maps;
	int ret = spi_maps_read(&maps, pid);

	memset(objects, 0, sizeof(*objects));
	program = ret ? NULL : spi_maps_find_program(&maps, pid);
	if (ret == 0)
		ret = objects_find_root(objects, pid);
	if (ret == 0)
		ret = objects_take_program(objects, pid, program);
	if (ret == 0 && (objects->list[0].names = calloc(1, sizeof(*objects->list[0].names))))
		spi_reader_names(objects->list[0].names, pid, (uid_t) -1, objects->list[0].real);
	for (size_t i = 0; ret == 0 && i < maps.count; i++) {
		const struct spi_mapping *m = &maps.all[i];

		if (!is_library(m) || (last && m->inode == last->inode && m->device == last->device) ||
		    (program && m->inode == program->inode && m->device == program->device))
			continue;
		last = m;
		ret = objects_take_mapping(objects, pid, m);
	}
	spi_maps_free(&maps);
	return ret;
}
