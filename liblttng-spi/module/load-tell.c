/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Libraries that come and go, told to the trace: lttng_ust_lib:load and unload, before
 * the constructors of what came run, so that each address that is recorded is in an
 * object the reader knows.
 *
 * What is there before lttng-ust is, its state dump tells, when a session begins. What comes after is told
 * here once, by what the scans find (objects/objects.c), as the dynamic linker's own word of it
 * lets the control thread look (tree/load-watch.c), or a rule that is made. Another session's state dump
 * may tell it again. The state dump of a process that joins a run of the front end's is made here, too. liblttng-ust-dl.so tells by itself, where it is loaded.
 *
 * Under the control lock.
 */
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/process/process.h"
#include "liblttng-spi/module/internal.h"

static int others_tell;

static int tells_itself(const struct spi_object *object)
{
	return !strncmp(object->name, "liblttng-ust-dl.so", 18);
}

/*
 * lttng-ust takes /proc/self/exe for the program, which is the dynamic linker in `ld.so PROGRAM`, and nothing once the first
 * thread has ended. Readers keep what they are told first of an address, unless it goes.
 */
static int is_dumped_wrongly(const struct spi_object *object)
{
	char path[SPI_PROC_PATH];

	return object->is_exe && (!object->is_executed || strncmp(spi_proc_path(path, "exe"), "/proc/self/", 11));
}

/*
 * The latest scan's are known without being told; of what came since, is_own, what the tracer itself loads is. 1: lttng-ust is
 * among them.
 */
int spi_loads_known(int is_own)
{
	int has_lttng = 0;

	for (struct spi_object *o = spi_objects_list(); o; o = o->next) {
		if (!o->seen || (is_own && !spi_object_is_own(o)))
			continue;
		o->told = !is_dumped_wrongly(o);
		others_tell |= tells_itself(o);
		has_lttng |= !strncmp(o->name, "liblttng-ust.so", 15);
	}
	return has_lttng;
}

const char *spi_object_path_real(const struct spi_object *object)
{
	static char *(*resolve)(const char *path, char *real);		/* libc's realpath(), whoever else has one */
	static char real[PATH_MAX];
	const char *path = object->path;
	int error = errno;

	if (!resolve)
		*(void **) &resolve = spi_find_in_libc("realpath");
	/* in a sandbox nothing is asked of the kernel that is not needed */
	if (spi_may(SPI_MAY_TALK) && resolve && resolve(path, real))
		path = real;
	errno = error;
	return path;
}

static void object_tell(const struct spi_object *object, int is_load)
{
	spi_payload->library_event(object, is_load ? spi_object_path_real(object) : object->path, _r_debug.r_brk, is_load);
}

/* NULL: what the kernel made, and the tracer's own, are in no state dump. */
static const char *dumped_path(const struct spi_object *object)
{
	if (!strchr(object->path, '/') || !strncmp(object->path, "/proc/self/fd/", 14) || !strncmp(object->path, "/memfd:", 7) ||
			!strncmp(object->name, "liblttng-spi", 12))
		return NULL;
	return spi_object_path_real(object);
}

void spi_state_dump(void)
{
	char name[16] = "";

	spi_proc_name(name);
	spi_payload->state_dump(spi_objects_list(), dumped_path, name);
}

void spi_loads_tell(void)
{
	if (!spi_payload || !spi_payload->library_event)
		return;
	/* what went first: another may be in its place */
	for (int is_load = 0; is_load < 2; is_load++)
		for (struct spi_object *o = spi_objects_list(); o; o = o->next) {
			if (!o->seen != !is_load || !!o->told == is_load)
				continue;
			o->told = (uint64_t) is_load;
			others_tell |= is_load && tells_itself(o);
			if (is_load && o->is_exe)
				object_tell(o, 0);
			if (!others_tell || o->is_exe)
				object_tell(o, is_load);
		}
}
