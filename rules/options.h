/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The options of rules. One row of the table has all that is said of an option anywhere: in the texts of rules, on the
 * front end's command lines and in their help, in what a user reads of a rule.
 */
#ifndef SPI_RULES_OPTIONS_H
#define SPI_RULES_OPTIONS_H

#include "rules/rule.h"

/* Where an option may stand. */
#define SPI_IN(kind, form)	(1u << ((kind) * 2 + (form)))
#define SPI_IN_CALL_AGENT	SPI_IN(SPI_KIND_CALL, SPI_FORM_AGENT)
#define SPI_IN_CALL_EVENT	SPI_IN(SPI_KIND_CALL, SPI_FORM_EVENT)
#define SPI_IN_TREE_AGENT	SPI_IN(SPI_KIND_TREE, SPI_FORM_AGENT)
#define SPI_IN_TREE_EVENT	SPI_IN(SPI_KIND_TREE, SPI_FORM_EVENT)
#define SPI_IN_CALL		(SPI_IN_CALL_AGENT | SPI_IN_CALL_EVENT)
#define SPI_IN_TREE		(SPI_IN_TREE_AGENT | SPI_IN_TREE_EVENT)
#define SPI_IN_EVENT		(SPI_IN_CALL_EVENT | SPI_IN_TREE_EVENT)
#define SPI_IN_AGENT		(SPI_IN_CALL_AGENT | SPI_IN_TREE_AGENT)

enum spi_value {
	SPI_VALUE_FLAG,		/* uint32_t; there is no value */
	SPI_VALUE_DECIMAL,	/* uint32_t in 1/scale */
	SPI_VALUE_COUNT,	/* the same; without a value it is `standard` */
	SPI_VALUE_PERCENT,	/* the same; a % may follow */
	SPI_VALUE_SIGNAL,	/* uint32_t; a name or a number */
	SPI_VALUE_FOLLOW,	/* uint32_t, SPI_FOLLOW_* that are left out */
	SPI_VALUE_CHANNELS,	/* uint32_t, SPI_CHANNELS_*; all of them without a value */
	SPI_VALUE_FUNCTIONS,	/* struct spi_rule_names, down to SETTINGS; the option may come again */
	SPI_VALUE_OBJECTS,	/* the same */
	SPI_VALUE_PROGRAMS,	/* the same */
	SPI_VALUE_FILES,	/* the same; paths */
	SPI_VALUE_SETTINGS,	/* the same; NAME=VALUE */
	SPI_VALUE_PIDS,		/* nr_pids and pids; the option may come again */
	SPI_VALUE_HEX,		/* char[SPI_RULE_TAG_SIZE] */
};

/* Of texts that have a place for the value, `wrong` has %s there, `said` a %. */
struct spi_rule_option {
	const char *name;
	uint16_t where;			/* SPI_IN_* */
	uint16_t at;			/* offset in struct spi_rule */
	enum spi_value value;
	uint32_t scale, max;		/* of a decimal: from 1/scale to max */
	uint32_t standard;		/* of a count that stands without a value */
	const char *wrong;		/* why a value is refused */
	const char *said;		/* what a user reads of the rule; NULL: the kind says it */
	bool is_said_first;		/* before the others */
	const char *help;		/* lines of --help; NULL: the command has its own */
};

/* In the order of the canonical text, which tags are made of: a new option must not change the others' order. */
extern const struct spi_rule_option spi_rule_options[];
extern const unsigned int spi_rule_options_count;

/* NULL: there is no such option there. */
const struct spi_rule_option *spi_rule_option_find(const char *name, uint32_t where);

/*
 * spi_rule_take() - one option's value; NULL: the option stands without one. The value must live as long as the rule.
 * 0; -EINVAL: `why` says what is wrong with the value, as the end of a sentence that the option's name begins.
 */
int spi_rule_take(struct spi_rule *rule, const struct spi_rule_option *option, const char *value, char *why);

/* ---- lists.c: one member more; 0 or -EINVAL, as above ---- */
int spi_list_take(struct spi_rule_names *to, enum spi_value kind, const char *value, char *why);
int spi_rule_take_pid(struct spi_rule *rule, int64_t pid, char *why);

/* ---- values.c: nothing where the rule does not have the option ---- */

/* ";name=value", for each member of a list. */
void spi_option_put(struct spi_writer *w, const struct spi_rule *rule, const struct spi_rule_option *option,
		    enum spi_rule_form form);
/* What `said` says. */
void spi_option_say(struct spi_writer *w, const struct spi_rule *rule, const struct spi_rule_option *option);
/* A text of the rule's in that form. */
void spi_put_field(struct spi_writer *w, const char *field, enum spi_rule_form form);

#endif /* SPI_RULES_OPTIONS_H */
