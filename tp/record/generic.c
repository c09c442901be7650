/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls as addresses: lttng_ust_cyg_profile:func_entry and :func_exit, for more
 * functions than LTTng has room for event types. The shape is that of lttng-ust's
 * own cyg-profile library, which call-stack views know; two events serve all
 * functions. Beside the real library they would be two descriptions of one name
 * in a process, so then this is refused.
 *
 * Each object has its own pair of tracepoints, since a stub tests a state near
 * its own code; lttng-ust serves any number of them under one name.
 */
#include <errno.h>
#include <link.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "tp/record/record.h"

#define PROVIDER "lttng_ust_cyg_profile"

static struct tp_own entry, exit_;

static struct tp_near *pairs;		/* each object's two */

static int is_real_one(struct dl_phdr_info *info, size_t size, void *found)
{
	const char *name = strrchr(info->dlpi_name, '/');

	if (!strncmp(name ? name + 1 : info->dlpi_name, "liblttng-ust-cyg-profile", 24))
		*(int *) found = 1;
	return 0;
}

static const char *provider_ready(void)
{
	static const struct tp_own_field fields[] = { { "addr", TP_OWN_HEX }, { "call_site", TP_OWN_HEX } };
	int real = 0;

	if (exit_.is_registered)
		return NULL;
	dl_iterate_phdr(is_real_one, &real);
	if (real)
		return "liblttng-ust-cyg-profile is loaded and has the generic events";
	if (tp_own_register(&entry, PROVIDER, "func_entry", fields, 2) ||
			tp_own_register(&exit_, PROVIDER, "func_exit", fields, 2))
		return "LTTng-UST refused the generic events";
	tp_function_ready();
	return NULL;
}

static struct tp_near *pair_get(struct spi_object *object, const char **why)
{
	static const char *const names[] = { "func_entry", "func_exit" };

	return tp_near_get(&pairs, object, PROVIDER, names, 2, why);
}

static void pair_events(const struct spi_point *point, struct tp_point *tp, const struct tp_near *pair)
{
	tp->entry = tp_own_event(&entry, point->address);
	tp->exit = tp_own_event(&exit_, point->address);
	tp->entry.tracepoint = pair->list[0];
	tp->exit.tracepoint = pair->list[1];
	tp->entry.is_end = 0;
}

int tp_generic_ready(struct spi_object *object, const volatile int **gate, const char **why)
{
	const struct tp_near *pair;

	*why = provider_ready();
	if (*why)
		return -EEXIST;
	pair = pair_get(object, why);
	if (!pair)
		return -ENOMEM;
	*gate = &pair->list[0]->state;
	*why = NULL;
	return 0;
}

int tp_bind_generic(struct spi_point **points, unsigned int n, const char **errors)
{
	const char *why = provider_ready();
	int usable = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct spi_point *point = points[i];
		const struct tp_near *pair = why ? NULL : pair_get(point->object, &errors[i]);
		struct tp_point *tp = pair ? tp_alloc(sizeof(*tp)) : NULL;

		if (why)
			errors[i] = why;
		else if (pair)
			errors[i] = tp ? NULL : "no memory";
		if (!tp)
			continue;
		pair_events(point, tp, pair);
		point->flags |= SPI_POINT_UNNAMED;
		tp_call_attach(point, tp);
		usable++;
	}
	return usable || !why ? usable : -EEXIST;
}

/*
 * A tree's point comes up while the program runs: its payload is made at its first call, in the program's thread, from
 * what was made ready for its object before. No lock is taken and nothing is allocated but from the core's pool. Any
 * thread, any state. Until `record` is set nobody calls the point's payload.
 */
int tp_tree_bind(struct spi_point *point)
{
	const struct tp_near *pair = tp_near_find(&pairs, point->object);
	struct tp_point *tp = pair ? tp_core->alloc(offsetof(struct tp_point, paired)) : NULL;

	if (!tp)
		return -ENOMEM;
	pair_events(point, tp, pair);
	tp->point = point;
	point->exit = tp_fast_exit(tp);
	point->left = tp_call_left;
	point->payload = tp;
	__atomic_fetch_or(&point->flags, SPI_POINT_UNNAMED, __ATOMIC_RELAXED);
	__atomic_store_n(&point->record, tp_fast_entry(point, tp), __ATOMIC_RELEASE);
	return 0;
}
