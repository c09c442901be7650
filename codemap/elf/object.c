/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Opening an object and its debug files: by build-id, by .gnu_debuglink, and dwz's supplementary
 * file. This process opens and maps the files, and reads none of them: a process in its sandbox
 * (inspector.h) tells what they say about each other.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "codemap/elf/inspector.h"
#include "codemap/elf/object.h"
#include "codemap/map/cache-key.h"

#define DEBUG_DIR "/usr/lib/debug"

/* Where files are looked for: the whole system, or what a container's processes see. */
struct place {
	int root;	/* directory descriptor, -1: the system */
	struct object *object;
};

/* A FIFO or device must not block; the caller demands a regular file. Inside a root, no symbolic link leads out. */
static int place_open(const struct place *place, const char *path)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, .resolve = RESOLVE_IN_ROOT };

	if (place->root < 0)
		return open(path, (int) how.flags);
	return (int) syscall(SYS_openat2, place->root, path, &how, sizeof(how));
}

static uint64_t file_identity(uint64_t seed, int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ? seed : spi_file_identity(seed, &st);
}

/* The answer depends on whether this file is there, and on what it is. */
static void witness_add(struct text *witnesses, const char *path, uint64_t identity)
{
	struct spi_witness witness = { .identity = identity };
	size_t head = offsetof(struct spi_witness, path), size = strlen(path) + 1;

	witness.size = (uint32_t) ((head + size + 7) & ~UINT64_C(7));
	text_add_bytes(witnesses, (const char *) &witness, head);
	text_add_bytes(witnesses, path, size);
	while (witnesses->count % 8)
		text_add_bytes(witnesses, "", 1);
}

/* NULL: *why. */
static struct image *image_looked(int fd, const char *name, int main_object, struct look *look, const char **why)
{
	struct image *image = image_map(fd, name, why);

	if (!image)
		return NULL;
	look_at(fd, image->size, main_object, look);
	if (*look->why) {
		*why = mem_string(look->why, strlen(look->why));
		return NULL;
	}
	image->build_id_size = look->build_id_size;
	memcpy(image->build_id, look->build_id, sizeof(image->build_id));
	return image;
}

static struct image *place_image(const struct place *place, const char *path, struct look *look)
{
	int fd = place_open(place, path), error = errno;
	struct image *image;
	const char *why = "";
	struct stat st;

	witness_add(&place->object->key.witnesses, path,
		fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? spi_file_identity(0, &st) : 0);
	if (fd < 0) {
		if (error != ENOENT && error != ENOTDIR)
			debug_lose(place->object, "no types", "%s cannot be opened: %s", path, strerror(error));
		return NULL;
	}
	image = image_looked(fd, path, 0, look, &why);
	if (image)
		image->identity = file_identity(0, fd);
	else
		debug_lose(place->object, "no types", "%s: %s", path, why);
	close(fd);
	return image;
}

/* Another build of this program may give other answers. */
static void program_witness(struct text *witnesses)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	struct stat st;

	path[n > 0 ? n : 0] = 0;
	witness_add(witnesses, path, stat("/proc/self/exe", &st) < 0 ? 0 : spi_file_identity(0, &st));
}

static struct image *image_by_build_id(const struct place *place, const uint8_t *id, uint32_t size, struct look *look)
{
	struct text path = { 0 };
	struct image *image;
	uint32_t i;

	if (size < 2)
		return NULL;
	text_add(&path, DEBUG_DIR "/.build-id/");
	for (i = 0; i < size; i++) {
		text_add(&path, mem_format("%02x", id[i]));
		if (!i)
			text_add_char(&path, '/');
	}
	text_add(&path, ".debug");
	image = place_image(place, text_end(&path), look);
	if (image && (image->build_id_size != size || memcmp(image->build_id, id, size))) {
		debug_lose(place->object, "no types", "%s is of another build: its build-id differs", image->name);
		return NULL;
	}
	return image;
}

static char *path_directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return mem_string(".", 1);
	return mem_string(path, slash == path ? 1 : (size_t) (slash - path));
}

static void debug_by_link(struct object *object, const struct place *place, const struct look *of, struct look *look)
{
	const char *name = of->link, *dir, *format[3];
	unsigned int i;

	if (!*name)
		return;
	object->debug_crc = of->link_crc;
	dir = path_directory(object->name);
	format[0] = mem_format("%s/%s", dir, name);
	format[1] = mem_format("%s/.debug/%s", dir, name);
	format[2] = mem_format(DEBUG_DIR "%s%s/%s", dir[0] == '/' ? "" : "/", dir, name);
	for (i = 0; i < 3 && !object->debug; i++) {
		struct image *image = place_image(place, format[i], look);

		if (!image || !look->has_debug_info)
			continue;
		object->debug = image;
		object->debug_name = format[i];
		/* The same build-id says it all; without one, the whole file's checksum has to. */
		object->debug_by_link = !object->image->build_id_size ||
					image->build_id_size != object->image->build_id_size ||
					memcmp(image->build_id, object->image->build_id, image->build_id_size);
	}
}

static void alt_find(struct object *object, const struct place *place, const struct look *of)
{
	const struct image *from = object->debug ? object->debug : object->image;
	const char *name = of->alt, *why = "not found";
	size_t said = object->debug_lost.count;
	struct look look;

	if (!*name)
		return;
	object->alt = place_image(place, name[0] == '/' ? name : mem_format("%s/%s", path_directory(from->name), name), &look);
	if (object->alt && (object->alt->build_id_size != of->alt_id_size || memcmp(object->alt->build_id, of->alt_id, of->alt_id_size))) {
		object->alt = NULL;
		why = "of another build: its build-id differs";
	}
	if (!object->alt)
		object->alt = image_by_build_id(place, of->alt_id, of->alt_id_size, &look);
	object->debug_lost.count = said;	/* one of the two places is enough */
	if (!object->alt)
		debug_lose(object, "not all types", "supplementary debug info, %s: %s", name, why);
}

struct object *object_open(const char *name, int fd, const char *root)
{
	struct object *object = mem_alloc(sizeof(*object));
	struct place place = { -1, object };
	struct look look, debug_look;
	const char *why = "";

	fail_object = name;
	program_witness(&object->key.witnesses);
	object->name = object->key.name = name;
	object->debug_name = "";
	object->marks_in = object->marks_out = -1;
	if (root) {
		place.root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (place.root < 0)
			fail("cannot open the root directory %s: %s", root, strerror(errno));
	}
	if (fd < 0) {
		fd = place_open(&place, name);
		if (fd < 0)
			fail("cannot be opened: %s",
				errno == ENOENT ? "no such file: check the name" : strerror(errno));
	}
	object->image = image_looked(fd, name, 1, &look, &why);
	if (!object->image)
		fail("%s", why);
	if (look.has_debug_info) {
		object->debug_name = name;
	} else {
		object->debug = image_by_build_id(&place, object->image->build_id, object->image->build_id_size, &debug_look);
		if (object->debug)
			object->debug_name = object->debug->name;
		else
			debug_by_link(object, &place, &look, &debug_look);
		if (object->debug)
			object->debug_lost.count = 0;	/* found, if not where it was looked for first */
	}
	alt_find(object, &place, object->debug ? &debug_look : &look);
	look_end();
	object->image->role = 1;
	if (object->debug)
		object->debug->role = 2;
	if (object->alt)
		object->alt->role = 3;
	object->key.build_id = object->image->build_id;
	object->key.build_id_size = object->image->build_id_size;
	object->key.file_identity = file_identity(0, fd);
	object->key.identity = file_identity(object->debug ? object->debug->identity : 0, fd) +
			   (object->alt ? object->alt->identity : 0);
	if (place.root >= 0)
		close(place.root);
	return object;
}
