/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Objects that the program unloads with dlclose() while they have points, and
 * maybe loads again, or others in their place. Nobody tells the agent. So before
 * every command it asks whether anything was unloaded since; what is gone is
 * forgotten, and where the same object has come back to its address, with its
 * code as in its file, what rules want is installed again.
 *
 * An unload may come at any moment. While text is written the dynamic linker's
 * list of objects is kept as it is, by writing from within dl_iterate_phdr(),
 * which unloading waits for (unwinders need that too). That tells how often
 * something was unloaded: if more often than when we looked, nothing is written,
 * and we look again. A reference of our own, by dlopen(), would need the lock that
 * a thread has while it runs constructors, and change when destructors run.
 */
#include <errno.h>
#include <link.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/payload/payload.h"
#include "liblttng-spi/rules/internal.h"

static void object_forget(struct spi_object *object)
{
	if (!spi_points_next(object, NULL))
		return;
	for (struct rule *rule = spi_rules; rule; rule = rule->next) {
		uint32_t kept = 0;

		for (uint32_t i = 0; i < rule->count; i++) {
			struct spi_point *p = rule->points[i];

			if (p->object != object) {
				rule->points[kept++] = p;
				continue;
			}
			if (rule->text.tag[0] && rule->enabled)
				spi_tags_change(&p, 1, rule->text.tag, 0);
			if (rule->enabled)
				spi_status_points_change(-1);
		}
		rule->count = kept;
	}
	for (struct spi_point *p = spi_points_next(object, NULL); p; p = spi_points_next(object, p)) {
		spi_backtraces_clear(p);
		if (p->clients)
			spi_clients_point_forget(p);
	}
	spi_patch_forget(object);
	spi_points_forget(object);
}

struct frozen {
	void (*work)(void *data);
	void *data;
	int result;
};

static int frozen_work(struct dl_phdr_info *info, size_t size, void *data)
{
	struct frozen *frozen = data;

	(void) size;
	frozen->result = -EAGAIN;
	if (info->dlpi_subs == spi_objects_unloads) {
		frozen->work(frozen->data);
		frozen->result = 0;
	}
	return 1;		/* no other object needs to be shown */
}

static int objects_frozen(void (*work)(void *data), void *data)
{
	struct frozen frozen = { work, data, -EAGAIN };

	dl_iterate_phdr(frozen_work, &frozen);
	return frozen.result;
}

/* The object's code may be new: what was installed is not there, and what rules want is put in again. */
static void object_look(struct spi_object *object)
{
	struct spi_point *batch[64];
	const char *errors[64];
	unsigned int n = 0;

	for (struct spi_point *p = NULL; (p = spi_points_next(object, p));) {
		if (!p->installed || !p->patch || spi_patch_is_in_text(p))	/* what has no jump of its own: tree/sites/entry-named.c */
			continue;
		p->installed = 0;
		if (!p->users)
			continue;
		batch[n++] = p;
		if (n == 64) {
			spi_patch_install(batch, n, errors);
			n = 0;
		}
	}
	if (n)
		spi_patch_install(batch, n, errors);
}

void spi_unloads_follow(void)
{
	static uint64_t unloads;

	spi_patch_frozen = objects_frozen;
	spi_objects_scan();
	if (unloads == spi_objects_unloads)
		return;
	unloads = spi_objects_unloads;
	spi_participants_run(objects_unloaded);
	for (struct spi_object *o = spi_objects_list(); o; o = o->next) {
		if (o->is_exe)
			continue;
		if (!o->seen) {
			object_forget(o);
			spi_near_leave(o);
		} else if (spi_points_next(o, NULL)) {
			object_look(o);
		}
	}
}

int spi_objects_hold(void (*work)(void *data), void *data)
{
	for (int tries = 0; tries < 100; tries++) {
		if (objects_frozen(work, data) == 0)
			return 0;
		spi_unloads_follow();
	}
	return -EAGAIN;
}
