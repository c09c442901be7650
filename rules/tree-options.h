/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What is asked of a call tree besides its root: how far it goes, what it leaves
 * out, what it follows, when it begins, how it is recorded. One set of checks for
 * the names of event rules and for the front end's options.
 */
#ifndef SPI_RULES_TREE_OPTIONS_H
#define SPI_RULES_TREE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPI_TREE_LIST_MAX	16
#define SPI_TREE_RULE_MAX	4096	/* room for any agent rule of a tree */

enum spi_tree_list {
	SPI_TREE_EXCLUDE,	/* functions */
	SPI_TREE_LIB,		/* objects */
	SPI_TREE_EXCLUDE_LIB,
	SPI_TREE_CALLS_OF,	/* functions */
	SPI_TREE_LISTS
};

enum spi_tree_follow {
	SPI_TREE_THREADS	= 1,
	SPI_TREE_DLOPEN		= 2,
	SPI_TREE_FORK		= 4,
	SPI_TREE_EXEC		= 8,
};

/* All zero: nothing was said. Strings are borrowed. */
struct spi_tree_options {
	const char *lists[SPI_TREE_LISTS][SPI_TREE_LIST_MAX];	/* each sorted, without duplicates */
	unsigned int counts[SPI_TREE_LISTS];
	unsigned int depth;		/* 0: no limit */
	unsigned int unfollowed;	/* enum spi_tree_follow: not to be followed */
	uint32_t after;			/* ms */
	int on_signal;
	unsigned int budget;		/* tenths of a percent */
	bool compact;
	bool parse_only;
	bool follow_given;
};

/*
 * spi_tree_option() - take one, named as in a rule ("depth", "exclude-lib", ...);
 * `value` is NULL for one that has none, and must live as long as `options`. 0;
 * -ENOENT: there is no such option; -EINVAL: `why` (256 bytes) says what is wrong
 * with the value, as the end of a sentence that the option's name begins.
 */
int spi_tree_option(struct spi_tree_options *options, const char *name, const char *value, char *why);

/* What must not stand together. 0 or -EINVAL with `why`. */
int spi_tree_check(const struct spi_tree_options *options, char *why);

/*
 * spi_tree_rule() - the agent's rule for a tree from `root` ("": as the agent
 * finds best), marked with `tag` unless that is NULL. 0, -E2BIG, or -EINVAL with `why`.
 */
int spi_tree_rule(const char *root, const struct spi_tree_options *options, const char *tag, char *text, size_t size,
		  char *why);

#endif /* SPI_RULES_TREE_OPTIONS_H */
