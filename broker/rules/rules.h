/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The event rules that the session daemon has: the rules as of the last answer, and asking again. For the broker's one
 * thread. ruleset.h says what a rule is and which process a rule concerns.
 */
#ifndef SPI_BROKER_RULES_RULES_H
#define SPI_BROKER_RULES_RULES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "broker/rules/ruleset.h"

/* ---- query.c: keeping the rules up to date ---------------------------------------------------------------- */

struct rules_hooks {
	/* The answer to that question is about to be taken. Rules that were switched off since are put right in it. */
	void (*answered)(struct ruleset *coming, uint64_t question);
	/* It has been taken, and the plugin has its table. is_other: the rules are others than before. */
	void (*taken)(bool is_other);
};

int rules_open(const struct rules_hooks *hooks);	/* 0 or -ENOMEM */
void rules_close(void);
struct ruleset *rules_now(void);		/* never NULL until rules_close() */
void rules_take(struct ruleset *given);		/* instead of a daemon's; it is taken over */

void query_want(void);			/* the rules may have changed; any number of times */
void query_generation_told(uint64_t generation);	/* client commands that have ended, as the plugin says */
void query_directory_is(const char *directory);		/* an empty directory for saved sessions; the text stays */
bool query_idle(void);			/* nothing is under way or wanted */
uint64_t query_next(void);		/* the number of the first query that begins from now on */
uint64_t query_done(void);		/* the number of the last query that has ended */
uint64_t query_generation(void);	/* client commands that the last answer accounts for */
void query_add_uid(uid_t uid);		/* a user who may own sessions */
void query_stop(void);

/* ---- table.c: what the plugin holds registrations by ------------------------------------------------------- */

int table_send(uint64_t generation);	/* from the rules as they are now. 0 or a negative errno */
bool table_matches(const struct facts *facts);	/* does the table that was sent last? */

#endif /* SPI_BROKER_RULES_RULES_H */
