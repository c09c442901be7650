/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* rules/options.h alone says which options there are, and which values are good, as for the names of event rules. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/say.h"
#include "cli/ui/tree-options.h"
#include "cli/ui/typed.h"
#include "rules/options.h"

#define OPTION_TREE	512	/* for getopt_long(); behind it the rows of rules/options.c */
#define OPTIONS_MAX	64u

static int option_is_own(const struct option *own, const char *name)
{
	while (own->name && strcmp(own->name, name))
		own++;
	return own->name != NULL;
}

const struct option *tree_long_options(const struct option *own)
{
	static struct option all[OPTIONS_MAX];
	unsigned int n = 0, i;

	for (; own[n].name && n < OPTIONS_MAX / 2; n++)
		all[n] = own[n];
	all[n++] = (struct option) { "tree", optional_argument, NULL, OPTION_TREE };
	for (i = 0; i < spi_rule_options_count && n < OPTIONS_MAX - 1; i++) {
		const struct spi_rule_option *o = &spi_rule_options[i];

		if ((o->where & SPI_IN_EVENT) && !option_is_own(own, o->name))
			all[n++] = (struct option) { o->name, o->value == SPI_VALUE_FLAG ? no_argument :
				o->value == SPI_VALUE_COUNT || o->value == SPI_VALUE_CHANNELS ? optional_argument : required_argument,
				NULL, OPTION_TREE + 1 + (int) i };
	}
	memset(&all[n], 0, sizeof(all[n]));
	return all;
}

void tree_print_help(void)
{
	unsigned int i;

	fputs("Call trees:\n"
		"      --tree[=ROOT]     every call below the function ROOT, itself included, as it\n"
		"                        comes; without ROOT below main(), and in a running process\n"
		"                        below whatever its threads are in\n", stdout);
	for (i = 0; i < spi_rule_options_count; i++)
		if (spi_rule_options[i].help)
			fputs(spi_rule_options[i].help, stdout);
}

int tree_ask(struct tree_request *tree, const char *root)
{
	return typed_add(&tree->roots, &tree->count, root);
}

static int tree_take_root(struct tree_request *tree, const char *root)
{
	if (root && !*root) {
		say_error("--tree: ROOT is empty: name a function, or leave the = out");
		return -EINVAL;
	}
	return tree_ask(tree, root ? root : "");
}

static int option_take(struct tree_request *tree, struct spi_rule *asked, const struct spi_rule_option *option,
		       const char *value)
{
	char why[SPI_RULE_WHY];
	int ret;

	if (!tree->option && !(option->where & SPI_IN_CALL_EVENT))
		tree->option = option->name;
	ret = spi_rule_take(asked, option, value, why);
	if (ret < 0)
		say_error("--%s: %s", option->name, why);
	return ret;
}

int tree_take(struct tree_request *tree, struct spi_rule *asked, int option, const char *value)
{
	int row = option - OPTION_TREE - 1;

	if (option == OPTION_TREE)
		return tree_take_root(tree, value);
	if (row < 0 || row >= (int) spi_rule_options_count)
		return -ENOENT;
	return option_take(tree, asked, &spi_rule_options[row], value);
}

int tree_take_named(struct tree_request *tree, struct spi_rule *asked, const char *name, const char *value)
{
	const struct spi_rule_option *option = spi_rule_option_find(name, SPI_IN_EVENT);

	return option ? option_take(tree, asked, option, value) : -ENOENT;
}

static int payload_option_take(struct spi_rule *asked, const char *name, const char *value)
{
	const struct spi_rule_option *option = spi_rule_option_find(name, SPI_IN_TREE_AGENT);
	char why[SPI_RULE_WHY];

	/* for as long as the rule lives; a name without a / is that of a payload which comes with the agent */
	if (option->value == SPI_VALUE_FILES && strchr(value, '/')) {
		const char *path = realpath(value, NULL);

		if (!path) {
			say_error("--%s: %s: %s", name, value, strerror(errno));
			return -EINVAL;
		}
		value = path;
	}
	if (spi_rule_take(asked, option, value, why) == 0)
		return 0;
	say_error("--%s: %s", name, why);
	return -EINVAL;
}

/* NAME=VALUE of a payload that comes with the agent: the argument that the value is of. */
static const struct {
	const char *name, *argument;
} payload_values[] = {
	{ "count", "top" }, { "gprof", "objects" }, { "hist", "by" },
};

/*
 * "hist=size" to "hist" and "by=size", which live as long as the rule. 1: done; 0: it is no such text; or a negative
 * errno.
 */
static int payload_value_take(struct spi_rule *asked, const char *text)
{
	const char *equals = strchr(text, '=');
	char *name, *argument;
	unsigned int i;

	for (i = 0; i < sizeof(payload_values) / sizeof(payload_values[0]); i++)
		if (equals && strlen(payload_values[i].name) == (size_t) (equals - text) &&
		    !strncmp(payload_values[i].name, text, (size_t) (equals - text)))
			break;
	if (i == sizeof(payload_values) / sizeof(payload_values[0]))
		return 0;
	name = strndup(text, (size_t) (equals - text));
	if (!name || asprintf(&argument, "%s=%s", payload_values[i].argument, equals + 1) < 0)
		return -ENOMEM;
	if (payload_option_take(asked, "payload", name) < 0 || payload_option_take(asked, "payload-arg", argument) < 0)
		return -EINVAL;
	return 1;
}

int payload_take(struct spi_rule *asked, const char *name, const char *value)
{
	int ret = strcmp(name, "payload") ? 0 : payload_value_take(asked, value);

	return ret ? (ret < 0 ? ret : 0) : payload_option_take(asked, name, value);
}

bool payload_is_asked(const struct spi_rule *asked, const char *name)
{
	for (uint32_t i = 0; i < asked->payloads.count; i++)
		if (!strcmp(asked->payloads.name[i], name))
			return true;
	return false;
}

const char *payload_argument(const struct spi_rule *asked, const char *name)
{
	const size_t n = strlen(name);

	for (uint32_t i = 0; i < asked->payload_args.count; i++)
		if (!strncmp(asked->payload_args.name[i], name, n) && asked->payload_args.name[i][n] == '=')
			return asked->payload_args.name[i] + n + 1;
	return NULL;
}

int tree_check(const struct tree_request *tree, const struct spi_rule *asked, char *problem)
{
	if (!tree->option || tree->count)
		return spi_kind_tree->check(asked, problem);
	snprintf(problem, 300, "--%s goes with --tree", tree->option);
	return -EINVAL;
}

void tree_say_none(const struct tree_request *tree, const struct spi_rule *asked)
{
	const char *causes[7];
	unsigned int n = 0, i;

	if (asked->parse_only)
		return;
	if (tree->count && *tree->roots[0])
		causes[n++] = tree->count > 1 ? "none of the roots was called" : "the root was not called";
	if (asked->after)
		causes[n++] = "tracing ended before --after was over";
	if (asked->on_signal)
		causes[n++] = "the signal of --on-signal did not come";
	if (asked->lib.count)
		causes[n++] = "no object that ran is meant by --lib";
	if (asked->calls_of.count)
		causes[n++] = "no function that was called is meant by --calls-of";
	if (asked->exclude.count)
		causes[n++] = "all that ran is left out by --exclude";
	if (asked->exclude_lib.count)
		causes[n++] = "all that ran is left out by --exclude-lib";
	if (n == 1)
		say("No call was recorded: %s", causes[0]);
	else if (n)
		say("No call was recorded, for one of these reasons:");
	for (i = 0; n > 1 && i < n; i++)
		say("  %s", causes[i]);
}

void tree_free(struct tree_request *tree)
{
	free(tree->roots);
	tree->roots = NULL;
}

const char *tree_title(const char *root)
{
	return *root ? root : "--tree";
}
