/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * One rule that is being carried out, and what is done for a rule of each kind: what instrument*.c, rule-loads.c and
 * tree/rule.c share. Control side, under the control lock.
 */
#ifndef SPI_INSTRUMENT_WORK_H
#define SPI_INSTRUMENT_WORK_H

#include "liblttng-spi/rules/instrument.h"

#define IFUNC_MAX	64u

struct work {
	struct spi_link *link;
	struct rule *rule;
	struct spi_rule_result *result;
	char ifuncs[IFUNC_MAX * 20];	/* patterns 0x... of indirect functions' implementations */
	const char *ifunc_names[IFUNC_MAX];
	uint64_t ifunc_at[IFUNC_MAX];
	unsigned int ifunc_count;
	uint32_t parts;
	uint32_t created;		/* points; each refers to its map */
	struct spi_object *only;	/* which has just been loaded, and is not relocated yet; NULL: all that is loaded */
};

#define SPI_REACH_LATER		1u	/* objects that are loaded later may have something for the rule */
#define SPI_REACH_TAKEN		2u	/* rule-loads.c takes from such an object what the rule names */
#define SPI_REACH_WATCHED	4u	/* as the rule is now, the dynamic linker is watched for it */

/* What instrument.c calls for a rule of one kind. */
struct spi_rule_ops {
	uint32_t (*reach)(const struct rule *rule);	/* SPI_REACH_* */
	/* A new rule takes force. 0, or a negative errno; w->result has the counts, and perhaps why. */
	int (*apply)(struct work *w);
	/* The rule is switched on or off; nothing changes where it is so already. 0 or a negative errno. */
	int (*change)(struct rule *rule, int enabled, struct spi_rule_result *result);
	/* The rule goes: what apply() has made is freed. apply() may have failed, or not been called. */
	void (*remove)(struct rule *rule);
	/* What the controller is told of a new rule, for which apply() has returned `status`. Returns the status to tell. */
	int (*describe)(const struct rule *rule, struct spi_rule_result *result, int status);
};
extern const struct spi_rule_ops spi_function_ops SPI_HIDDEN;	/* instrument-functions.c */

/* Not instrumented, with the reason, which the controller is told. */
void spi_work_decline(struct work *w, const struct spi_object *object, const char *function, const char *reason);
/* Points for all functions that it names in what is loaded, in rule->points. 0, or -ECONNRESET, or another negative errno. */
int spi_work_find(struct work *w);
/* ---- instrument.c ---- */
/* May a library that is loaded later have what the rule names, and none that it names is loaded? */
int spi_rule_waits(const struct rule *rule);
/* ---- instrument-functions.c ---- */
/* The event module, and what else has to be there before anything is instrumented. 0, or a negative errno and why in result->text. */
int spi_work_ready(struct work *w);
/* Events and jumps for rule->points; those that fall out are told, and in it no more. 0 or a negative errno. */
int spi_work_put_in_force(struct work *w);

#endif /* SPI_INSTRUMENT_WORK_H */
