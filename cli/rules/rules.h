/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Event rules that the session daemon's plugin acts on, as the commands with --spi write them. The
 * plugin instruments; these functions only write and print rules.
 */
#ifndef SPI_CLI_RULES_H
#define SPI_CLI_RULES_H

#include "rules/event-name.h"

struct lttng_handle;
struct rule_options;
struct tree_request;

#define RULES_RECIPES_MAX	64u	/* LTTng event rules that one FUNC may need */
#define RULES_TAG_CONTEXT	"$app.spi:rules"

/* rules_is_form() - is it a reserved form, which instruments and records nothing itself? 1 or 0. */
int rules_is_form(const char *name);

/* The session that a command is about. */
struct rules_session {
	char *name;
	struct lttng_handle *handle;
};

/* rules_session_open() - -s or the current one; it exists. 0, or a negative errno after one line was said. */
int rules_session_open(struct rules_session *session, const struct rule_options *options);
void rules_session_close(struct rules_session *session);

/* One thing that is asked for: a FUNC, or a tree below one. */
struct rules_wish {
	const char *function;			/* of a tree its root, or "" */
	const struct spi_tree_options *tree;	/* NULL: no tree */
};

/* rules_wish() - the FUNCs, and behind them the trees; 0 when there is none of this number. */
int rules_wish(const char *const *funcs, unsigned int func_count, const struct tree_request *tree, unsigned int number,
	       struct rules_wish *wish);
/* rules_wish_title() - what its user calls it. */
const char *rules_wish_title(const struct rules_wish *wish);

/* rules_check_world() - does it, with its scope, mean less than all programs? 0, or negative, said. */
int rules_check_world(const struct rule_options *options, const struct rules_wish *wish);

/* rules_recipes() - the event rules for one wish. Their number, or a negative errno after one line was said. */
int rules_recipes(const struct rule_options *options, const struct rules_wish *wish, int one_event,
		  struct spi_event_recipe recipes[RULES_RECIPES_MAX]);
void rules_recipes_free(struct spi_event_recipe *recipes, int count);

/* rules_filter_check() - is it one? 0, or the negative LTTng error of liblttng-ctl's compiler. Nothing is made, nothing said. */
int rules_filter_check(const char *filter);
/* rules_write() - create or enable one rule. 0 or a negative LTTng error; nothing is said. */
int rules_write(struct lttng_handle *handle, const char *name, const char *filter, const char *channel);

/* rules_print() - on stdout at once, unless -q. */
void rules_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* rules_printed() - was all of it written? The exit status that becomes of `status`. */
int rules_printed(int status);

#endif /* SPI_CLI_RULES_H */
