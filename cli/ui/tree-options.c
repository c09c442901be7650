/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * --tree and its options. rules/tree-options.h alone decides which values are good, as for the names of
 * event rules.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/say.h"
#include "cli/ui/tree-options.h"

/* By enum tree_long_option, from TREE_OPTION_DEPTH on. */
static const char *const tree_names[] = {
	"depth", "exclude", "lib", "exclude-lib", "calls-of", "follow", "after", "on-signal", "budget", "compact", "parse-only",
};

static int tree_take_root(struct tree_request *tree, const char *root)
{
	const char **roots;

	if (root && !*root) {
		say_error("--tree: ROOT is empty: name a function, or leave the = out");
		return -EINVAL;
	}
	roots = realloc(tree->roots, (tree->count + 1) * sizeof(*roots));
	if (!roots)
		return -ENOMEM;
	tree->roots = roots;
	roots[tree->count++] = root ? root : "";
	return 0;
}

int tree_take(struct tree_request *tree, int option, const char *value)
{
	const char *name;
	char why[256] = "";
	int ret;

	if (option == TREE_OPTION_TREE)
		return tree_take_root(tree, value);
	if (option < TREE_OPTION_DEPTH || option > TREE_OPTION_PARSE_ONLY)
		return -ENOENT;
	name = tree_names[option - TREE_OPTION_DEPTH];
	if (!tree->option)
		tree->option = name;
	ret = spi_tree_option(&tree->options, name, value, why);
	if (ret < 0)
		say_error("--%s: %s", name, why);
	return ret;
}

int tree_check(const struct tree_request *tree, char *problem)
{
	if (!tree->option || tree->count)
		return spi_tree_check(&tree->options, problem);
	snprintf(problem, 300, "--%s goes with --tree", tree->option);
	return -EINVAL;
}

/* Which list of globs is an option's value, and what it means that nothing was recorded. */
static const struct tree_cause {
	enum spi_tree_list list;
	const char *text;
} tree_causes[] = {
	{ SPI_TREE_LIB, "no object that ran is meant by --lib" },
	{ SPI_TREE_CALLS_OF, "no function that was called is meant by --calls-of" },
	{ SPI_TREE_EXCLUDE, "all that ran is left out by --exclude" },
	{ SPI_TREE_EXCLUDE_LIB, "all that ran is left out by --exclude-lib" },
};

static void cause_add(char *line, size_t size, const char *text)
{
	size_t used = strlen(line);

	snprintf(line + used, size - used, "%s%s", used ? ", or " : "", text);
}

void tree_say_none(const struct tree_request *tree)
{
	const struct spi_tree_options *o = &tree->options;
	char line[512] = "";

	if (o->parse_only)
		return;
	if (tree->count && *tree->roots[0])
		cause_add(line, sizeof(line), tree->count > 1 ? "none of the roots was called" : "the root was not called");
	if (o->after)
		cause_add(line, sizeof(line), "tracing ended before --after was over");
	if (o->on_signal)
		cause_add(line, sizeof(line), "the signal of --on-signal did not come");
	for (size_t i = 0; i < sizeof(tree_causes) / sizeof(tree_causes[0]); i++)
		if (o->counts[tree_causes[i].list])
			cause_add(line, sizeof(line), tree_causes[i].text);
	if (*line)
		say("No call was recorded: %s", line);
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
