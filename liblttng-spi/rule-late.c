/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Libraries that were loaded after a rule for functions was made are not looked through. When the rule
 * goes, or the process ends, the functions that it names in them are told as not
 * instrumented: those that the libraries export, by the names they have there; and of
 * what is loaded then.
 *
 * Under the control lock.
 */
#include <elf.h>
#include <string.h>
#include "liblttng-spi/instrument.h"

#define TOLD_MAX	16u	/* of one object */

struct late {
	struct spi_link *link;
	const struct spi_object *object;
	const char *pattern;
	size_t length;		/* without the file of a static function */
	uint32_t told;
};

static void function_look(const char *name, void *data)
{
	struct late *late = data;
	char pattern[1024];

	if (late->told >= TOLD_MAX)
		return;
	memcpy(pattern, late->pattern, late->length);
	pattern[late->length] = 0;
	if (!spi_glob_match(pattern, name))
		return;
	if (++late->told == TOLD_MAX)
		name = "...";
	spi_link_declined(late->link, late->object->name, name,
		"its library was loaded after the rule was made: make the rule when it is loaded, or record a call tree");
}

uint32_t spi_objects_count(void)
{
	uint32_t n = 0;

	for (const struct spi_object *o = spi_objects_list(); o; o = o->next)
		n++;
	return n;
}

void spi_rule_late_tell(struct spi_link *link, struct rule *rule)
{
	struct late late = { .link = link, .pattern = rule->text.pattern, .length = strcspn(rule->text.pattern, "@") };
	uint32_t n = 0;

	if (!link || rule->text.is_tree || !rule->objects || late.length >= sizeof(rule->text.pattern))
		return;
	for (struct spi_object *o = spi_objects_scan(); o; o = o->next) {
		if (n++ < rule->objects || !o->reserved[0] || spi_object_is_own(o) || !spi_rule_covers(&rule->text, o))
			continue;
		late.object = o;
		late.told = 0;
		spi_symbols_each(o, function_look, &late);
	}
	rule->objects = n;
	spi_link_declined_flush(link);
}

/* The process ends, in whatever thread, and the control side may be at anything. */
void spi_rules_process_end(void)
{
	if (!spi_rules || !spi_link_current || !spi_control_try())
		return;
	for (struct rule *rule = spi_rules; rule; rule = rule->next)
		if (rule->enabled)
			spi_rule_late_tell(spi_link_current, rule);
	spi_control_unlock();
}
