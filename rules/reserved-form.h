/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The reserved form of an event name, taken apart; internal to rules/. */
#ifndef SPI_RULES_RESERVED_FORM_H
#define SPI_RULES_RESERVED_FORM_H

#include <stdbool.h>

#include "rules/event-name.h"

struct spi_reserved_form {
	bool is_tree;
	char target[SPI_EVENT_NAME_MAX + 1];	/* decoded; of a tree its root, or "" */
	bool one_event;
	struct spi_tree_options tree;		/* its strings are the caller's, or in strings[] */
	char strings[SPI_EVENT_NAME_MAX + 1];
	size_t strings_used;
	unsigned int nr_pids, nr_execs;
	pid_t pids[SPI_EVENT_SCOPE_MAX];	/* ascending */
	char execs[SPI_EVENT_SCOPE_MAX][64];	/* sorted */
};

/* Does what follows "spi:" look like a reserved form: a word and an opening parenthesis? */
bool spi_reserved_is(const char *text);

/* Take one apart. 0 or -EINVAL with `why`. */
int spi_reserved_read(const char *text, struct spi_reserved_form *form, char *why);

/* Check and add one member of the scope. 0 or -EINVAL with `why`. */
int spi_reserved_add_pid(struct spi_reserved_form *form, long pid, char *why);
int spi_reserved_add_exec(struct spi_reserved_form *form, const char *name, char *why);

/* Is it a target that the agent understands? 0 or -EINVAL with `why`. */
int spi_target_check(const char *target, char *why);
/* The same for a tree's root, which may be "". */
int spi_root_check(const char *root, char *why);
/* Where the function begins in OBJECT:FUNCTION; `target` itself when there is no object. */
const char *spi_target_function(const char *target);

/* The canonical text: the same form always gives the same. 0 or -E2BIG. */
int spi_reserved_write(const struct spi_reserved_form *form, char *text, size_t size);

/* Eight hex digits that stand for a canonical text. */
void spi_reserved_tag(const struct spi_reserved_form *form, char *tag);

#endif /* SPI_RULES_RESERVED_FORM_H */
