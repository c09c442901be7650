/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* --tree and the options of rules, as `lttng trace` and the commands with --spi share them. */
#ifndef SPI_CLI_UI_TREE_OPTIONS_H
#define SPI_CLI_UI_TREE_OPTIONS_H

#include "rules/rule.h"

struct option;

/* The trees that are asked for. Strings point into argv; only the array `roots` is allocated. */
struct tree_request {
	const char **roots;		/* one for each --tree; "": without ROOT */
	unsigned int count;
	const char *option;		/* the first option that only trees have, or NULL */
};

/*
 * tree_long_options() - a table for getopt_long(): `own`, and --tree and the options of rules (rules/options.c) that
 * `own` does not have. It is overwritten by the next call.
 */
const struct option *tree_long_options(const struct option *own);
/* tree_print_help() - what --help says of call trees. */
void tree_print_help(void);
/*
 * tree_take() - one of these options, by getopt_long()'s value. 0; -ENOMEM; -EINVAL after one line was said; -ENOENT: not
 * one of them.
 */
int tree_take(struct tree_request *tree, struct spi_rule *asked, int option, const char *value);
/* tree_take_named() - the same for the option of that name. */
int tree_take_named(struct tree_request *tree, struct spi_rule *asked, const char *name, const char *value);
/* payload_take() - the value of --payload or --payload-arg. 0, -ENOMEM, or -EINVAL, said. */
int payload_take(struct spi_rule *asked, const char *name, const char *value);
/*
 * Is the payload of this name, or path, one of those that are asked for? And the argument's value; NULL: it is not
 * given.
 */
bool payload_is_asked(const struct spi_rule *asked, const char *name);
const char *payload_argument(const struct spi_rule *asked, const char *name);
/* tree_ask() - as if --tree=ROOT had been given; "": without ROOT. 0 or -ENOMEM. */
int tree_ask(struct tree_request *tree, const char *root);
/* tree_check() - 0, or -EINVAL with what is wrong in problem[300]. */
int tree_check(const struct tree_request *tree, const struct spi_rule *asked, char *problem);
void tree_free(struct tree_request *tree);
/* tree_say_none() - nothing was recorded: which of the options may be why. */
void tree_say_none(const struct tree_request *tree, const struct spi_rule *asked);

/* tree_title() - a root for messages: itself, or "--tree". */
const char *tree_title(const char *root);

#endif /* SPI_CLI_UI_TREE_OPTIONS_H */
