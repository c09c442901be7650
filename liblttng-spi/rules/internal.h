/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of rules/ share: rules for functions. Control side, under the control lock. */
#ifndef SPI_RULES_INTERNAL_H
#define SPI_RULES_INTERNAL_H

#include "liblttng-spi/rules/rules.h"

#define SPI_REACH_TAKEN		2u	/* rule-loads.c takes from such an object what the rule names */

/* ---- tags.c ---- */
/* One more, or one less, rule with this tag asks for each of these points. */
void spi_tags_change(struct spi_point **points, uint32_t count, const char *tag, int add);
void spi_tags_clear(struct spi_point *point);		/* a point that no rule uses */
/* The text without one mention of the tag, or with one more; it lives for ever. NULL: it does not fit. */
const char *spi_tags_text(const char *was, const char *tag, int add);

/* ---- backtraces.c ---- */
/* The rule's points come into force, or go: with backtraces, if the rule asks for them. */
void spi_backtraces_change(const struct rule *rule, int add);
void spi_backtraces_clear(struct spi_point *point);	/* a point that no rule uses */

/* ---- library-calls.c ---- */
void spi_library_calls_only(struct spi_point *point);	/* before its events are bound: those of calls from other objects */

/* ---- instrument-find.c ---- */
/* Points of another rule that it is to have, too. 0 or -ENOMEM. */
int spi_rule_keep(struct rule *rule, struct spi_point *point);
/* Not instrumented, with the reason, which the controller is told. */
void spi_work_decline(struct work *w, const struct spi_object *object, const char *function, const char *reason);
/* Points for all functions that it names in what is loaded, in rule->points. 0, or -ECONNRESET, or another negative errno. */
int spi_work_find(struct work *w);

/* ---- point-write.c ---- */
/* From now on this one of the function's points is called. 0; -EBUSY: rules in force ask for another form of records. */
int spi_rule_point_choose(struct spi_point *point);
/* Is the point reached by the jump of another one, that of a tree's entry or of payloads? */
int spi_rule_point_has_jump(struct spi_point *point);
/* Into force, and out; errors[] has room for all. Returns how many have jumps of their own, which errors[] is for. */
uint32_t spi_rule_points_in(struct spi_point **points, uint32_t n, const char **errors);
void spi_rule_points_out(struct spi_point **points, uint32_t n, const char **errors);

/* ---- told.c ---- */
void spi_rule_tell(struct rule *rule, int is_on);	/* it has taken force, its numbers are others, or it goes */

/* ---- instrument-functions.c ---- */
extern const struct spi_rule_ops spi_function_ops SPI_HIDDEN;	/* instrument-functions.c */
/* The event module, and what else has to be there before anything is instrumented. 0, or a negative errno and why in result->text. */
int spi_work_ready(struct work *w);
/* Events and jumps for rule->points; those that fall out are told, and in it no more. 0 or a negative errno. */
int spi_work_put_in_force(struct work *w);

#endif /* SPI_RULES_INTERNAL_H */
