/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room rules: the rules that this process was given, and carrying them out. A rule is of a kind (struct spi_rule_ops);
 * rules for functions are carried out here, trees in room tree.
 *
 * Threads: control side, under the control lock, unless a function says otherwise.
 */
#ifndef SPI_RULES_H
#define SPI_RULES_H

#include <stdint.h>
#include "rules/rule.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/objects.h"

struct spi_msg_rule_kept;
struct spi_rule_ops;
struct spi_tree;

#define SPI_RULE_OF_AGENT	(1u << 31)	/* beside SPI_RULE_*, without a link: a payload's own, which controllers leave alone */

struct spi_rule_result {
	uint32_t matched, instrumented, declined, flags;	/* SPI_DONE_* */
	int status;
	char text[512];
};

struct rule {
	struct rule *next;
	uint32_t id, enabled;
	uint64_t sum;			/* spi_rule_sum() */
	uint32_t stays;			/* from the environment, or of a controller that has left it here: no other one is to remove it unasked */
	uint32_t is_agents;		/* SPI_RULE_OF_AGENT */
	uint32_t kept;			/* named by SPI_MSG_RULES_KEEP */
	uint32_t instrumented, declined;	/* so far */
	uint32_t has_result, is_told;	/* something matched; the trace was told (told.c) */
	const struct spi_rule_ops *ops;	/* of its kind */
	struct spi_rule text;		/* what it says; its strings are in room_of_text */
	struct spi_point **points;	/* own mapping */
	uint32_t count, room;
	uint32_t clients;		/* of the payloads that it names, by their numbers' bits; room payload */
	uint32_t is_clients;		/* they count the rule as one that is in force */
	struct spi_tree *tree;		/* instead of points */
	uint64_t looked;		/* objects that came with this scan (spi_object.since) or before were looked through for it */
	char room_of_text[SPI_RULE_TEXT_MAX];
};

#define IFUNC_MAX	64u
#define IFUNC_NAME	24u	/* bytes of a name, with its NUL, that a pattern has room for */

struct work {
	struct spi_link *link;
	struct rule *rule;
	struct spi_rule_result *result;
	char ifuncs[IFUNC_MAX * (20 + IFUNC_NAME)];	/* patterns "0x... NAME" of indirect functions' implementations */
	const char *ifunc_names[IFUNC_MAX];
	uint64_t ifunc_at[IFUNC_MAX];
	unsigned int ifunc_count;
	int is_chosen;			/* the second pass: the implementations of indirect functions */
	uint32_t parts;
	uint32_t created;		/* points; each refers to its map */
	struct spi_exports exports;	/* of library calls: the functions of the object that is looked at */
	struct spi_object *only;	/* which has just been loaded, and is not relocated yet; NULL: all that is loaded */
};

#define SPI_REACH_LATER		1u	/* objects that are loaded later may have something for the rule */
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
	/*
	 * NULL, or what this kind has at entries of functions that another rule names. 1: the point is reached by the
	 * kind's own jump there, 0: it is not. And such a point is in force, or no longer: 0, or a negative errno.
	 */
	int (*entry_lend)(struct spi_point *named);
	int (*entry_name)(struct spi_point *named, int install);
};
extern const struct spi_rule_ops *spi_rule_kind_ops[] SPI_HIDDEN;	/* by SPI_KIND_*; control/ adds those of rooms above */

/* ---- rule.c: which objects a rule means ---- */
int spi_rule_covers(const struct spi_rule *rule, const struct spi_object *object);
int spi_program_is_named(const char *pattern);	/* by other names than its file's */

/* ---- instrument.c ---- */
void spi_rule_add(struct spi_link *link, uint32_t id, uint32_t flags, const char *text, struct spi_rule_result *result);
void spi_rule_set(uint32_t id, int enabled, struct spi_rule_result *result);
void spi_rule_remove(uint32_t id, struct spi_rule_result *result);
void spi_rules_keep(const struct spi_msg_rule_kept *kept, uint32_t n, int is_last);	/* the others are removed with the last */
void spi_rules_remove_all(void);	/* controllers'; also payloads' own where the process has given up */
/*
 * Calls of functions that rules name come to be recorded also while LTTng has none of their events enabled: it disables all events of a child
 * until it is registered anew, and calls that come meanwhile wait for that.
 */
void spi_rules_open(void);
void spi_rules_close(void);
int spi_rules_may_gain(void);		/* may a library that is loaded have something that a rule names? */
extern struct rule *spi_rules;
/* May a library that is loaded later have what the rule names, and none that it names is loaded? */
int spi_rule_waits(const struct rule *rule);

/* ---- unload.c ---- */
/* Before anything is done with points: let go of those whose code is gone, install again what came back. */
void spi_unloads_follow(void);
/*
 * work(data), which reads or writes objects' text, while none can be unloaded; what is gone was let go of before, so it asks
 * that first (spi_tree_object.gone). Control side, without the patch lock; the work takes it, and calls nothing of the dynamic
 * linker's. A thread of the program need not: it is about to run what it writes to. 0, or -EAGAIN: it was not called.
 */
int spi_objects_hold(void (*work)(void *data), void *data);

/* ---- rule-loads.c: libraries that are loaded after a rule for functions was made ---- */
void spi_loads_watch(int is_wanted);	/* the dynamic linker's own word of what it loads */
extern int spi_rules_do_without SPI_HIDDEN;	/* no rule in force needs the event module, also for what is loaded later */
void spi_rules_watch_loads(void);	/* as the rules are now: watch the dynamic linker, or no longer */
void spi_rules_loads_take(struct spi_link *link);	/* instrument what they name in what has come */

#endif /* SPI_RULES_H */
