/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* --tree and the options that go with it, as `lttng trace` and the commands with --spi share them. */
#ifndef SPI_CLI_UI_TREE_OPTIONS_H
#define SPI_CLI_UI_TREE_OPTIONS_H

#include "rules/tree-options.h"

enum tree_long_option {
	TREE_OPTION_TREE = 512,
	TREE_OPTION_DEPTH,
	TREE_OPTION_EXCLUDE,
	TREE_OPTION_LIB,
	TREE_OPTION_EXCLUDE_LIB,
	TREE_OPTION_CALLS_OF,
	TREE_OPTION_FOLLOW,
	TREE_OPTION_AFTER,
	TREE_OPTION_ON_SIGNAL,
	TREE_OPTION_BUDGET,
	TREE_OPTION_COMPACT,
	TREE_OPTION_PARSE_ONLY,
};

/* Members of a table for getopt_long(). */
#define TREE_LONG_OPTIONS \
	{ "tree", optional_argument, NULL, TREE_OPTION_TREE }, \
	{ "depth", required_argument, NULL, TREE_OPTION_DEPTH }, \
	{ "exclude", required_argument, NULL, TREE_OPTION_EXCLUDE }, \
	{ "lib", required_argument, NULL, TREE_OPTION_LIB }, \
	{ "exclude-lib", required_argument, NULL, TREE_OPTION_EXCLUDE_LIB }, \
	{ "calls-of", required_argument, NULL, TREE_OPTION_CALLS_OF }, \
	{ "follow", required_argument, NULL, TREE_OPTION_FOLLOW }, \
	{ "after", required_argument, NULL, TREE_OPTION_AFTER }, \
	{ "on-signal", required_argument, NULL, TREE_OPTION_ON_SIGNAL }, \
	{ "budget", required_argument, NULL, TREE_OPTION_BUDGET }, \
	{ "compact", no_argument, NULL, TREE_OPTION_COMPACT }, \
	{ "parse-only", no_argument, NULL, TREE_OPTION_PARSE_ONLY }

/* What --help says of them. */
#define TREE_HELP \
"Call trees:\n" \
"      --tree[=ROOT]     every call below the function ROOT, itself included, as it\n" \
"                        comes; without ROOT below main(), and in a running process\n" \
"                        below whatever its threads are in\n" \
"      --depth N         at most N calls deep below ROOT\n" \
"      --exclude GLOB    not these functions, and not what only they call\n" \
"      --lib GLOB        in these executables and libraries only\n" \
"      --exclude-lib GLOB  not in these libraries\n" \
"      --calls-of GLOB   only the calls that these functions make\n" \
"      --follow LIST     of threads,dlopen,fork,exec (all of them), or none\n" \
"      --after SECONDS, --on-signal SIG  begin later\n" \
"      --budget PERCENT  leave out what slows the program down by more than that,\n" \
"                        what is called most first, while it is\n" \
"      --compact         packed records: cheaper to make, and smaller\n" \
"      --parse-only      analyse the program, record nothing\n"

/* Strings point into argv; only the array `roots` is allocated. */
struct tree_request {
	const char **roots;		/* one for each --tree; "": without ROOT */
	unsigned int count;
	struct spi_tree_options options;	/* of all of them */
	const char *option;		/* the first of the other options that was given, or NULL */
};

/* tree_take() - one option. 0; -ENOMEM; -EINVAL after one line was said; -ENOENT: not one of them. */
int tree_take(struct tree_request *tree, int option, const char *value);
/* tree_check() - 0, or -EINVAL with what is wrong in problem[300]. */
int tree_check(const struct tree_request *tree, char *problem);
void tree_free(struct tree_request *tree);
/* tree_say_none() - nothing was recorded: which of the options may be why. */
void tree_say_none(const struct tree_request *tree);

/* tree_title() - a root for messages: itself, or "--tree". */
const char *tree_title(const char *root);

#endif /* SPI_CLI_UI_TREE_OPTIONS_H */
