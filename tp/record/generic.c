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
#include <string.h>
#include "liblttng-spi/patch/patch.h"
#include "tp/record/fire.h"
#include "tp/describe/function.h"
#include "tp/describe/gatekeeper.h"

#define PROVIDER "lttng_ust_cyg_profile"

static const struct lttng_ust_type_integer address_type = {
	.parent = {lttng_ust_type_integer},
	.struct_size = sizeof(address_type),
	.size = 64,
	.alignment = 8,
	.base = 16,
};
static const struct lttng_ust_event_field addr_field = {
	.struct_size = sizeof(addr_field), .name = "addr", .type = &address_type.parent,
};
static const struct lttng_ust_event_field site_field = {
	.struct_size = sizeof(site_field), .name = "call_site", .type = &address_type.parent,
};
static const struct lttng_ust_event_field *const fields[] = { &addr_field, &site_field };

static struct lttng_ust_probe_desc provider;
static const struct lttng_ust_tracepoint_class class = {
	.struct_size = sizeof(class), .fields = fields, .nr_fields = 2, .probe_callback = tp_probe_mark,
	.signature = "spi", .probe_desc = &provider,
};
static const struct lttng_ust_event_desc entry_desc = {
	.struct_size = sizeof(entry_desc), .event_name = "func_entry", .probe_desc = &provider, .tp_class = &class,
};
static const struct lttng_ust_event_desc exit_desc = {
	.struct_size = sizeof(exit_desc), .event_name = "func_exit", .probe_desc = &provider, .tp_class = &class,
};
static const struct lttng_ust_event_desc *const events[] = { &entry_desc, &exit_desc };
static struct lttng_ust_probe_desc provider = {
	.struct_size = sizeof(provider),
	.provider_name = PROVIDER,
	.event_desc = events,
	.nr_events = 2,
	.major = 3,
	.minor = 0,
};
static const struct tp_column columns[] = { { TP_COLUMN_UNSIGNED, 8, 1 }, { TP_COLUMN_UNSIGNED, 8, 1 } };

/* An object's pair of tracepoints. */
static struct pair {
	struct spi_object *object;
	struct lttng_ust_tracepoint *list[2];	/* lttng-ust keeps this array */
	struct pair *next;
} *pairs;
static int registered;

static int is_real_one(struct dl_phdr_info *info, size_t size, void *found)
{
	const char *name = strrchr(info->dlpi_name, '/');

	if (!strncmp(name ? name + 1 : info->dlpi_name, "liblttng-ust-cyg-profile", 24))
		*(int *) found = 1;
	return 0;
}

static const char *provider_ready(void)
{
	int real = 0;

	if (registered)
		return NULL;
	dl_iterate_phdr(is_real_one, &real);
	if (real)
		return "liblttng-ust-cyg-profile is loaded and has the generic events";
	if (tp_gate_event(PROVIDER, &entry_desc) || tp_gate_event(PROVIDER, &exit_desc) ||
		!lttng_ust_probe_register(&provider))
		return "LTTng-UST refused the generic events";
	if (tp_function_ready() < 0)
		tp_core->note("LTTng-UST refused the event spi_tree:function: the trace has no names of functions");
	registered = 1;
	return NULL;
}

static struct pair *pair_find(const struct spi_object *object)
{
	struct pair *p = __atomic_load_n(&pairs, __ATOMIC_ACQUIRE);

	while (p && p->object != object)
		p = p->next;
	return p;
}

static struct pair *pair_get(struct spi_object *object)
{
	struct lttng_ust_tracepoint *tps;
	struct pair *p = pair_find(object);

	if (p)
		return p;
	p = tp_alloc(sizeof(*p));
	tps = tp_core->near_alloc(object, 2 * sizeof(*tps), 64);
	if (!p || !tps)
		return NULL;
	for (int i = 0; i < 2; i++) {
		tps[i].struct_size = sizeof(tps[i]);
		tps[i].provider_name = PROVIDER;
		tps[i].event_name = i ? "func_exit" : "func_entry";
		tps[i].signature = "spi";
		p->list[i] = &tps[i];
	}
	if (lttng_ust_tracepoint_module_register(p->list, 2))
		return NULL;
	p->object = object;
	p->next = pairs;
	__atomic_store_n(&pairs, p, __ATOMIC_RELEASE);
	return p;
}

static struct tp_event pair_event(const struct spi_point *point, struct lttng_ust_tracepoint *tracepoint)
{
	struct tp_event event = {
		.tracepoint = tracepoint, .columns = columns, .column_count = 2,
		.probe = { .struct_size = sizeof(event.probe), .ip = (void *) point->address },
	};

	return event;
}

/* The point's two events, by what was made ready for its object; any thread. -1: nothing was. */
int tp_generic_events(const struct spi_point *point, struct tp_point *tp)
{
	const struct pair *pair = pair_find(point->object);

	if (!pair)
		return -1;
	tp->entry = pair_event(point, pair->list[0]);
	tp->exit = pair_event(point, pair->list[1]);
	return 0;
}

int tp_generic_ready(struct spi_object *object, const volatile int **gate, const char **why)
{
	struct pair *pair;

	*why = provider_ready();
	if (*why)
		return -EEXIST;
	pair = pair_get(object);
	if (!pair) {
		*why = "no memory near the object";
		return -ENOMEM;
	}
	*gate = &pair->list[0]->state;
	return 0;
}

int tp_bind_generic(struct spi_point **points, unsigned int n, const char **errors)
{
	const char *why = provider_ready();
	int usable = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct spi_point *point = points[i];
		struct pair *pair = why ? NULL : pair_get(point->object);
		struct tp_point *tp = pair ? tp_alloc(sizeof(*tp)) : NULL;

		errors[i] = why;
		if (!tp) {
			if (!why)
				errors[i] = pair ? "no memory" : "no memory near the object";
			continue;
		}
		tp->entry = pair_event(point, pair->list[0]);
		tp->exit = pair_event(point, pair->list[1]);
		tp_call_attach_generic(point, tp);
		usable++;
	}
	return usable || !why ? usable : -EEXIST;
}
