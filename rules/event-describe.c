/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The reserved forms as a user reads them, in `lttng list --spi`. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rules/reserved-form.h"

#define PROVIDER "spi:"

struct sentence {
	char *text;
	size_t size, at;
};

__attribute__((format(printf, 2, 3)))
static void say(struct sentence *s, const char *format, ...)
{
	va_list args;
	int n;

	if (s->at >= s->size)
		return;
	va_start(args, format);
	n = vsnprintf(s->text + s->at, s->size - s->at, format, args);
	va_end(args);
	if (n > 0)
		s->at += (size_t) n;
}

static void say_target(struct sentence *s, const char *target)
{
	const char *function = spi_target_function(target);

	say(s, "%s", function);
	if (function != target)
		say(s, " of %.*s", (int) (function - target - 1), target);
}

static void say_list(struct sentence *s, const struct spi_tree_options *o, enum spi_tree_list list, const char *before)
{
	for (unsigned int i = 0; i < o->counts[list]; i++) {
		say(s, "%s", i ? ", " : before);
		say_target(s, o->lists[list][i]);
	}
}

static void say_unfollowed(struct sentence *s, unsigned int unfollowed)
{
	static const char *const names[] = { "new threads", "libraries loaded later", "forked children", "executed programs" };
	const char *before = ", without ";

	for (unsigned int i = 0; i < 4; i++)
		if (unfollowed & 1u << i) {
			say(s, "%s%s", before, names[i]);
			before = ", ";
		}
}

static void say_tree(struct sentence *s, const struct spi_reserved_form *form)
{
	const struct spi_tree_options *o = &form->tree;

	if (o->counts[SPI_TREE_CALLS_OF]) {
		say_list(s, o, SPI_TREE_CALLS_OF, "calls made by ");
		if (*form->target)
			say(s, " below ");
	} else {
		say(s, *form->target ? "call tree of " : "call tree");
	}
	if (*form->target)
		say_target(s, form->target);
	if (o->depth)
		say(s, ", %u deep", o->depth);
	say_list(s, o, SPI_TREE_LIB, ", in ");
	say_list(s, o, SPI_TREE_EXCLUDE_LIB, ", not in ");
	say_list(s, o, SPI_TREE_EXCLUDE, ", without ");
	say_unfollowed(s, o->unfollowed);
	if (o->after)
		say(s, ", after %g s", o->after / 1000.0);
	if (o->on_signal)
		say(s, ", from signal %s on", sigabbrev_np(o->on_signal) ?: sigdescr_np(o->on_signal) ?: "RT");
	if (o->budget)
		say(s, ", slow-down at most %g %%", o->budget / 10.0);
	if (o->compact)
		say(s, ", compact");
	if (o->parse_only)
		say(s, ", analysed only");
}

int spi_event_name_describe(const char *name, char *text, size_t size)
{
	struct sentence s = { text, size, 0 };
	struct spi_reserved_form form;
	char why[256];

	if (strncmp(name, PROVIDER, strlen(PROVIDER)) || !spi_reserved_is(name + strlen(PROVIDER)) ||
	    spi_reserved_read(name + strlen(PROVIDER), &form, why) || !size)
		return -EINVAL;
	if (form.is_tree)
		say_tree(&s, &form);
	else
		say_target(&s, form.target);
	if (form.one_event)
		say(&s, ", one event a call");
	for (unsigned int i = 0; i < form.nr_pids; i++)
		say(&s, "%s%d", i ? ", " : form.nr_pids > 1 ? ", in processes " : ", in process ", (int) form.pids[i]);
	for (unsigned int i = 0; i < form.nr_execs; i++)
		say(&s, "%s%s", i ? ", " : form.nr_pids ? " if named " : ", in processes named ", form.execs[i]);
	return 0;
}
