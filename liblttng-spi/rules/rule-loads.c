/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Libraries that are loaded after a rule for functions was made.
 *
 * The dynamic linker's own word of what it loads (tree/load-watch.c) comes before a library's
 * constructors run: then what rules name in it is instrumented, by the control
 * thread, while the thread that loads it waits. A rule that no loaded function matches
 * stays, and waits for a library that has one; so the event module is loaded for it at once, as later
 * that would need a lock which the waiting thread has.
 *
 * Where the linker's word is not to be had, or nobody answered in time, a note says so (hooks/linker.c,
 * base/wakeup.c).
 *
 * Under the control lock.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/module/module.h"
#include "liblttng-spi/payload/payload.h"
#include "liblttng-spi/rules/internal.h"

#define GENERIC_MS	1500u	/* for an event to be enabled */

void spi_loads_watch(int is_wanted)
{
	if (is_wanted)
		spi_hooks_enter(SPI_HOOKS_LOADS, NULL);
	else
		spi_hooks_leave(SPI_HOOKS_LOADS);
}

int spi_rules_do_without;

void spi_rules_watch_loads(void)
{
	uint32_t reach = 0;
	int do_without = spi_rules != NULL;

	for (const struct rule *rule = spi_rules; rule; rule = rule->next) {
		reach |= rule->ops->reach(rule);
		do_without &= rule->text.payloads.count && !spi_clients_have_flag(rule->clients, SPI_CLIENT_RECORDS);
	}
	__atomic_store_n(&spi_rules_do_without, do_without, __ATOMIC_RELAXED);
	spi_loads_watch((reach & SPI_REACH_WATCHED) || (spi_watched & SPI_WATCH_OBJECTS));
}

/* ---- what has come ---- */

static int rule_wants(const struct rule *rule, const struct spi_object *object)
{
	return rule->enabled && (rule->ops->reach(rule) & SPI_REACH_TAKEN) && object->seen &&
		object->since > rule->looked && (rule->text.libcalls || spi_rule_covers(&rule->text, object)) &&
		!spi_object_is_own(object);
}

/*
 * Most libraries have nothing of what rules name: one question for all of them. False: nothing; what is not known, or
 * does not fit into one, is asked for rule by rule.
 */
static int object_may_have(struct spi_link *link, struct spi_object *object)
{
	static char patterns[8192];
	struct spi_map map = { 0 };
	size_t used = 0;
	uint32_t n = 0;
	char error[400];
	int r;

	for (const struct rule *rule = spi_rules; rule; rule = rule->next) {
		if (!rule_wants(rule, object))
			continue;
		if (rule->text.libcalls)
			return 1;		/* it may import what no object did */
		if (used + strlen(rule->text.function) + 2 > sizeof(patterns))
			return 1;
		used += (size_t) spi_format(patterns + used, sizeof(patterns) - used, "%s%s", n++ ? "\n" : "",
			rule->text.function);
	}
	if (n < 2)
		return n;
	r = spi_map_fetch(link, object, patterns, 0, &map, error, sizeof(error));
	if (r == 0)
		spi_map_release(&map);
	return r != -ENOENT;
}

static void more_tell(struct spi_link *link, const struct rule *rule, const struct spi_rule_result *more)
{
	const struct spi_msg_rule_done done = {
		.rule = rule->id, .matched = more->matched, .instrumented = more->instrumented, .declined = more->declined,
		.flags = more->flags, .status = (int32_t) __atomic_load_n(&spi_status->points, __ATOMIC_RELAXED),
	};

	if (link && (more->matched || more->declined))
		spi_link_send(link, SPI_MSG_RULE_MORE, 0, &done, sizeof(done), more->text, strlen(more->text) + 1, -1);
}

/*
 * Calls by address have an event that sessions have no rule for until they are told that it is needed. Whoever loads the library
 * waits meanwhile. Only a run's controller enables it.
 */
static void generic_wait(const struct rule *part)
{
	const uint64_t moment[2] = { 0, 1000000 };

	for (unsigned int ms = 0; part->count && spi_module_is_run() && ms < GENERIC_MS && !*part->points[0]->gate[0]; ms++)
		spi_sys(SYS_nanosleep, moment, NULL);
	if (part->count && spi_module_is_run() && !*part->points[0]->gate[0])
		spi_note("%s: the first calls of its functions are not recorded: the session daemon did not enable their event in time",
			part->points[0]->object->name);
}

/* As if it were a rule of its own, whose points are the rule's then. */
static void rule_look(struct spi_link *link, struct rule *rule, struct spi_object *object)
{
	static struct spi_rule_result more;
	static struct rule part;
	static struct work w;
	const int is_late = !spi_payload && !rule->clients;

	memset(&more, 0, sizeof(more));
	memset(&part, 0, sizeof(part));
	part.ops = rule->ops;
	part.clients = rule->clients;
	part.text = rule->text;		/* the strings are still the rule's */
	w = (struct work) { .link = link, .rule = &part, .only = object, .result = &more };
	__atomic_store_n(&spi_control_works, SPI_WORKS_ITSELF, __ATOMIC_RELEASE);
	if (spi_work_find(&w) == 0 && spi_work_put_in_force(&w) == 0 && more.instrumented)
		more.text[0] = 0;
	for (uint32_t i = 0; i < part.count; i++)
		if (spi_rule_keep(rule, part.points[i]) < 0)
			spi_note("%s: it stays instrumented when its rule goes: the agent has no memory left",
				spi_map_string(part.points[i]->map, part.points[i]->func->name));
	if (is_late && more.instrumented)
		spi_note("%s: its functions' first calls are neither recorded nor counted: libc loaded it before LTTng "
			"had started", object->name);
	more_tell(link, rule, &more);
	rule->instrumented += more.instrumented;
	rule->declined += more.declined;
	rule->has_result |= more.matched || more.declined;
	if (more.matched || more.declined)
		spi_rule_tell(rule, 1);
	if (more.flags & SPI_DONE_GENERIC)
		generic_wait(&part);
	__atomic_store_n(&spi_control_works, 0, __ATOMIC_RELAXED);
	rule->ops->remove(&part);
}

void spi_rules_loads_take(struct spi_link *link)
{
	uint64_t scan;

	if (!spi_rules)
		return;
	spi_objects_scan();
	spi_loads_tell();
	scan = spi_objects_scans;
	for (struct spi_object *o = spi_objects_list(); o; o = o->next) {
		int asked = 0;

		for (struct rule *rule = spi_rules; rule; rule = rule->next) {
			if (!rule_wants(rule, o))
				continue;
			if (!asked++ && !object_may_have(link, o))
				break;
			rule_look(link, rule, o);
		}
	}
	for (struct rule *rule = spi_rules; rule; rule = rule->next)
		if (rule->enabled)
			rule->looked = scan;
	if (link)
		spi_link_declined_flush(link);
}
