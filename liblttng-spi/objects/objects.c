/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The ELF objects of this process, as the dynamic linker lists them: names,
 * address ranges and build-ids, the latter from memory, so that a file which was
 * replaced on disk since is not taken for the one that runs.
 *
 * Records are kept for ever: points and near memory hang on them. An object that
 * was unloaded stays in the list without being found by a scan (`seen`).
 */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/internal.h"

static struct spi_object *objects;	/* guarded by the control lock; the executable first */

uint64_t spi_objects_unloads, spi_objects_scans;
int spi_leaks_are_checked;

struct spi_object *spi_objects_list(void)
{
	return objects;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void find_build_id(struct spi_object *object, const uint8_t *note, size_t size)
{
	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const ElfW(Nhdr) *) note;
		size_t name = (n->n_namesz + 3u) & ~3u, desc = (n->n_descsz + 3u) & ~3u;
		size_t total = sizeof(*n) + name + desc;

		if (total > size)
			return;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && !memcmp(note + sizeof(*n), "GNU", 4) &&
				n->n_descsz <= sizeof(object->build_id)) {
			memcpy(object->build_id, note + sizeof(*n) + name, n->n_descsz);
			object->build_id_size = n->n_descsz;
			return;
		}
		note += total;
		size -= total;
	}
}

static void describe(struct spi_object *object, const struct dl_phdr_info *info)
{
	object->low = UINT64_MAX;
	object->bias = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && ph->p_memsz) {
			if (start < object->low)
				object->low = start;
			if (start + ph->p_memsz > object->high)
				object->high = start + ph->p_memsz;
			if ((ph->p_flags & PF_X) && (!object->code_low || start < object->code_low))
				object->code_low = start;
			if ((ph->p_flags & PF_X) && start + ph->p_memsz > object->code_high)
				object->code_high = start + ph->p_memsz;
		} else if (ph->p_type == PT_NOTE) {
			find_build_id(object, (const uint8_t *) start, ph->p_memsz);
		}
	}
}

/* In `ld.so PROGRAM` the kernel executed the dynamic linker, which nothing had to load: the program is what the linker mapped. */
static int is_run_by_linker(void)
{
	return getauxval(AT_PHDR) && !getauxval(AT_BASE);
}

static void read_program_path(struct spi_object *object)
{
	static const char deleted[] = " (deleted)";
	char path[PATH_MAX], exe[SPI_PROC_PATH];
	struct spi_vma vma;
	struct stat st;
	size_t size;
	long n;

	if (is_run_by_linker()) {
		path[0] = 0;
		spi_maps_find(object->low, &vma, path, sizeof(path));
	} else {
		object->is_executed = 1;
		n = spi_sys(SYS_readlinkat, AT_FDCWD, spi_proc_path(exe, "exe"), path, sizeof(path) - 1);
		path[n > 0 ? n : 0] = 0;
	}
	/* The kernel appends this when the file has no name any more; a file's name may end so, too. */
	size = strlen(path);
	if (size >= sizeof(deleted) && !strcmp(path + size - (sizeof(deleted) - 1), deleted) &&
			spi_sys(SYS_newfstatat, AT_FDCWD, path, &st, 0L) < 0)
		path[size - (sizeof(deleted) - 1)] = 0;
	spi_format(object->path, sizeof(object->path), "%s", path);
	spi_format(object->name, sizeof(object->name), "%s", base_name(path));
}

const char *spi_object_file(const struct spi_object *object, char room[SPI_PROC_PATH])
{
	return object->is_executed ? spi_proc_path(room, "exe") : object->path;
}

/*
 * What copies frames off the stack and back (calls/slots.c), or looks for leaks. Before the object's constructors run,
 * where that is known in time.
 */
static void habits_look(const struct dl_phdr_info *info)
{
	static const char *const names[] = { "PyInit__greenlet", "PyInit_greenlet", "initgreenlet", "coctx_swap", "acosw" };

	for (unsigned int i = 0; !spi_stacks_copied && i < sizeof(names) / sizeof(names[0]); i++)
		spi_stacks_copied = spi_object_defines(info, names[i]);
	if (spi_object_defines(info, "__lsan_do_leak_check"))	/* gcc's as a library, clang's in the program: phdr.c */
		spi_leaks_are_checked = 1;
	/* Ruby's callcc: by each frame that is on the stack then its program returns as often as it likes. */
	if (spi_object_defines(info, "Init_continuation"))
		spi_give_up_soon("it loads Ruby's continuations, which return from one call several times");
}

static int scan_one(struct dl_phdr_info *info, size_t size, void *data)
{
	struct spi_object found = { 0 }, *o, **tail;
	int is_exe = !(*(int *) data)++;

	(void) size;
	spi_objects_unloads = info->dlpi_subs;
	describe(&found, info);
	if (found.low == UINT64_MAX)
		return 0;
	for (o = objects; o; o = o->next)
		if (o->low == found.low && o->high == found.high && o->bias == found.bias &&
				o->build_id_size == found.build_id_size &&
				!memcmp(o->build_id, found.build_id, found.build_id_size) &&
				(is_exe || !strcmp(o->path, info->dlpi_name)))
			break;
	if (!o) {
		o = spi_alloc(sizeof(*o));
		if (!o)
			return 0;
		*o = found;
		o->is_exe = (uint16_t) is_exe;
		if (is_exe) {
			read_program_path(o);
		} else {
			spi_format(o->path, sizeof(o->path), "%s", info->dlpi_name);
			spi_format(o->name, sizeof(o->name), "%s", base_name(info->dlpi_name));
		}
		o->next = NULL;
		for (tail = &objects; *tail; tail = &(*tail)->next)
			;
		*tail = o;
		spi_debug(SPI_DEBUG_OBJECTS, "%s at %lx", o->path, o->low);
		spi_participants_run(object_found, info);
		habits_look(info);
	}
	if (!o->since) {
		o->since = spi_objects_scans;
		o->refused = 0;
	}
	o->seen = 1;
	return 0;
}

struct spi_object *spi_objects_scan(void)
{
	int count = 0;

	spi_objects_scans++;
	for (struct spi_object *o = objects; o; o = o->next) {
		o->since = o->seen ? o->since : 0;
		o->seen = 0;
	}
	dl_iterate_phdr(scan_one, &count);
	return objects;
}

int spi_object_is_sanitizer(const struct spi_object *object)
{
	static const char *const names[] = {
		"libasan.so", "libtsan.so", "liblsan.so", "libubsan.so", "libhwasan.so", "libclang_rt.", NULL
	};

	return spi_text_is_of(object->name, names, 0);
}

/*
 * Never instrumented: what the thunks and the event module run through on every
 * call, the dynamic linker, whose entry points obey rules of their own, and the
 * sanitizers' runtimes, through which all of that runs where a program has one.
 */
int spi_object_is_own(const struct spi_object *object)
{
	static const char *const own[] = {
		"liblttng-spi", "liblttng-ust", "liburcu", "libnuma.so", "libgcc_s.so", "ld-linux", "linux-vdso", "memfd:", NULL
	};
	uint64_t self = (uint64_t) spi_slot_code_base;

	if (self >= object->low && self < object->high)
		return 1;
	if (!object->path[0] || spi_path_is_descriptor(object->path))
		return 1;
	return spi_text_is_of(object->name, own, 0) || spi_object_is_sanitizer(object);
}
