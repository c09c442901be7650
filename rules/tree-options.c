/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Values are checked as far as can be told without a program: what is taken here,
 * the agent understands. Numbers are kept as fixed point, so that one value has one text.
 */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/form-writer.h"
#include "rules/reserved-form.h"
#include "rules/tree-options.h"

#define WHY_SIZE	256
#define DEPTH_MAX	100000u
#define AFTER_MAX	1000000u	/* seconds */
#define BUDGET_MAX	1000u		/* percent */
#define GLOB_MAX	200u		/* bytes */

#define REFUSE(why, ...) (snprintf(why, WHY_SIZE, __VA_ARGS__), -EINVAL)

/* "12", "0.5": to a whole number of 1/scale. -1: it is none, is 0, or is above `max`. */
static int64_t read_decimal(const char *text, unsigned int scale, unsigned int max)
{
	uint64_t value = 0;
	unsigned int unit = scale;

	if (!isdigit((unsigned char) *text) || strlen(text) > 12)
		return -1;
	for (; isdigit((unsigned char) *text); text++)
		value = value * 10 + (uint64_t) (*text - '0');
	value *= scale;
	if (*text == '.' && unit > 1) {
		for (text++; isdigit((unsigned char) *text) && unit > 1; text++) {
			unit /= 10;
			value += unit * (uint64_t) (*text - '0');
		}
		if (text[-1] == '.')
			return -1;
	}
	return *text || !value || value > (uint64_t) max * scale ? -1 : (int64_t) value;
}

/* ---- one option each ---------------------------------------------------------- */

static int take_depth(struct spi_tree_options *o, const char *value, char *why)
{
	int64_t depth = read_decimal(value, 1, DEPTH_MAX);

	if (depth < 0)
		return REFUSE(why, "'%.80s' is not a number from 1 to %u", value, DEPTH_MAX);
	o->depth = (unsigned int) depth;
	return 0;
}

static int take_after(struct spi_tree_options *o, const char *value, char *why)
{
	int64_t ms = read_decimal(value, 1000, AFTER_MAX);

	if (ms < 0)
		return REFUSE(why, "'%.80s' is not a positive number of seconds, with at most three decimals", value);
	o->after = (uint32_t) ms;
	return 0;
}

static int take_budget(struct spi_tree_options *o, const char *value, char *why)
{
	char number[24];
	size_t n = strlen(value);
	int64_t tenths;

	n -= n && value[n - 1] == '%';
	snprintf(number, sizeof(number), "%.*s", (int) (n < sizeof(number) ? n : sizeof(number) - 1), value);
	tenths = read_decimal(number, 10, BUDGET_MAX);
	if (tenths < 0)
		return REFUSE(why, "'%.80s' is not a slow-down in percent, from 0.1 to %u", value, BUDGET_MAX);
	o->budget = (unsigned int) tenths;
	return 0;
}

/* What a program cannot wait for, and what the tracer has a use for. */
static bool signal_is_usable(int number)
{
	static const int unusable[] = { SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, 32, 33 };

	for (unsigned int i = 0; i < sizeof(unusable) / sizeof(*unusable); i++)
		if (number == unusable[i])
			return false;
	return number >= 1 && number <= 64;
}

static int signal_number(const char *name)
{
	int64_t number = read_decimal(name, 1, 64);

	if (number > 0)
		return (int) number;
	if (!strncasecmp(name, "SIG", 3))
		name += 3;
	if (!strncasecmp(name, "RTMIN", 5)) {
		number = name[5] == '+' ? read_decimal(name + 6, 1, 30) : 0;
		return number < 0 || (name[5] && name[5] != '+') ? -1 : 34 + (int) number;
	}
	for (int i = 1; i < 32; i++)
		if (!strcasecmp(name, sigabbrev_np(i) ?: ""))
			return i;
	return -1;
}

static int take_signal(struct spi_tree_options *o, const char *value, char *why)
{
	int number = signal_number(value);

	if (number < 0)
		return REFUSE(why, "'%.80s' is not a signal: give a name such as USR1, or a number", value);
	if (!signal_is_usable(number))
		return REFUSE(why, "'%.80s' cannot be waited for: USR1, USR2 and RTMIN+1 can", value);
	o->on_signal = number;
	return 0;
}

/* Words with '+' between them, or ',' as people type it. */
static int take_follow(struct spi_tree_options *o, const char *value, char *why)
{
	static const char *const names[] = { "threads", "dlopen", "fork", "exec" };
	unsigned int followed = 0;

	o->follow_given = true;
	for (const char *at = value; strcmp(value, "none"); ) {
		size_t n = strcspn(at, "+,");
		unsigned int i = 0;

		while (i < 4 && (strlen(names[i]) != n || memcmp(names[i], at, n)))
			i++;
		if (i == 4)
			return REFUSE(why, "'%.*s' cannot be followed: threads, dlopen, fork and exec can, or none",
				      (int) (n < 80 ? n : 80), at);
		followed |= 1u << i;
		if (!at[n])
			break;
		at += n + 1;
	}
	o->unfollowed = followed ^ 15u;
	return 0;
}

static int take_glob(struct spi_tree_options *o, enum spi_tree_list list, const char *value, char *why)
{
	const char **items = o->lists[list];
	unsigned int *count = &o->counts[list], at = 0;
	bool objects = list == SPI_TREE_LIB || list == SPI_TREE_EXCLUDE_LIB;

	if (strlen(value) > GLOB_MAX)
		return REFUSE(why, "a pattern has at most %u bytes", GLOB_MAX);
	if (objects && (!*value || strchr(value, '/')))
		return REFUSE(why, "'%.80s' is not the file name of a library: give the part behind the last /", value);
	for (const unsigned char *c = (const unsigned char *) value; objects && *c; c++)
		if (*c < 0x20 || *c == 0x7f || *c == ';')
			return REFUSE(why, "no library has a ';' or a control character in its name");
	if (!objects && spi_target_check(value, why))
		return -EINVAL;
	if (!objects && spi_target_function(value) != value)
		return REFUSE(why, "'%.80s' names an object: give the function alone", value);
	while (at < *count && strcmp(items[at], value) < 0)
		at++;
	if (at < *count && !strcmp(items[at], value))
		return 0;
	if (*count == SPI_TREE_LIST_MAX)
		return REFUSE(why, "at most %d of them: use patterns", SPI_TREE_LIST_MAX);
	memmove(items + at + 1, items + at, ((*count)++ - at) * sizeof(*items));
	items[at] = value;
	return 0;
}

/* ---- all of them ----------------------------------------------------------------- */

int spi_tree_option(struct spi_tree_options *o, const char *name, const char *value, char *why)
{
	static const char *const lists[SPI_TREE_LISTS] = { "exclude", "lib", "exclude-lib", "calls-of" };
	static const struct {
		const char *name;
		int (*take)(struct spi_tree_options *o, const char *value, char *why);
	} values[] = {
		{ "depth", take_depth }, { "after", take_after }, { "budget", take_budget }, { "on-signal", take_signal },
		{ "follow", take_follow },
	};

	for (unsigned int i = 0; value && i < sizeof(values) / sizeof(*values); i++)
		if (!strcmp(name, values[i].name))
			return values[i].take(o, value, why);
	for (int i = 0; value && i < SPI_TREE_LISTS; i++)
		if (!strcmp(name, lists[i]))
			return take_glob(o, (enum spi_tree_list) i, value, why);
	if (!value && !strcmp(name, "compact"))
		o->compact = true;
	else if (!value && !strcmp(name, "parse-only"))
		o->parse_only = true;
	else
		return -ENOENT;
	return 0;
}

int spi_tree_check(const struct spi_tree_options *o, char *why)
{
	if (o->after && o->on_signal)
		return REFUSE(why, "a tree begins after a time or on a signal, not both");
	if (o->counts[SPI_TREE_CALLS_OF] && o->depth)
		return REFUSE(why, "the calls of single functions have no depth: leave it out");
	return 0;
}

int spi_tree_rule(const char *root, const struct spi_tree_options *o, const char *tag, char *text, size_t size, char *why)
{
	struct spi_form_writer w = { text, size, 0, false };
	int ret = spi_root_check(root, why);

	if (!ret)
		ret = spi_tree_check(o, why);
	if (ret)
		return ret;
	spi_form_put(&w, "tree(");
	spi_form_put(&w, root);
	spi_form_put_tree(&w, o);
	if (tag) {
		spi_form_put(&w, ";tag=");
		spi_form_put(&w, tag);
	}
	spi_form_put(&w, ")");
	return spi_form_end(&w);
}
