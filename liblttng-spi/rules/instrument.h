/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What instrument*.c, calls/points.c and unload.c share: the rules that were given, and
 * the points that they led to. Control side only, under the control lock.
 */
#ifndef SPI_INSTRUMENT_H
#define SPI_INSTRUMENT_H

#include "liblttng-spi/core.h"

struct spi_rule_ops;
struct rule {
	struct rule *next;
	uint32_t id, enabled;
	uint64_t sum;			/* spi_rule_sum() */
	uint32_t stays;			/* from the environment, or of a controller that has left it here: no other one is to remove it unasked */
	uint32_t kept;			/* named by SPI_MSG_RULES_KEEP */
	const struct spi_rule_ops *ops;	/* of its kind */
	struct spi_rule text;		/* what it says; its strings are in room_of_text */
	struct spi_point **points;	/* own mapping */
	uint32_t count, room;
	struct spi_tree *tree;		/* instead of points */
	uint64_t looked;		/* objects that came with this scan (spi_object.since) or before were looked through for it */
	char room_of_text[SPI_RULE_TEXT_MAX];
};

/* ---- instrument.c ---- */
extern struct rule *spi_rules;

/* ---- calls/points.c ---- */
struct spi_point *spi_point_find(uint64_t address);	/* the one that is called, or was last */
/* The one that records as a rule with these flags asks for, from before or new. NULL: no memory. */
struct spi_point *spi_point_for(struct spi_object *object, const struct spi_map *map, const struct spi_map_func *func,
	uint32_t flags, const char *event);
struct spi_point *spi_point_generic(const struct spi_point *point);	/* its function's with SPI_POINT_GENERIC, from before; NULL: none */
/* From now on this one is called and no other of its function. -EBUSY: rules in force ask for another form of records. */
int spi_point_choose(struct spi_point *point);
/* Its object was unloaded: a function that comes to its address gets a point of its own. */
void spi_points_forget(struct spi_object *object);
/* All points of an object, one after the other: NULL first, NULL at the end. */
struct spi_point *spi_points_next(const struct spi_object *object, struct spi_point *after);

/* ---- unload.c ---- */
/* Before anything is done with points: let go of those whose code is gone, install again what came back. */
void spi_unloads_follow(void);
/*
 * work(data), which reads or writes objects' text, while none can be unloaded; what is gone was let go of before, so it asks
 * that first (spi_tree_object.gone). Control side, without the patch lock; the work takes it, and calls nothing of the dynamic
 * linker's. A thread of the program need not: it is about to run what it writes to. 0, or -EAGAIN: it was not called.
 */
int spi_objects_hold(void (*work)(void *data), void *data);
/*
 * spi_patch_install() or spi_patch_remove(), whatever is unloaded meanwhile. Returns how many points are left: what
 * went is in no rule's list any more, nor in points[].
 */
uint32_t spi_points_write(struct spi_point **points, uint32_t n, const char **errors, int install);

/* ---- module/load-tell.c: libraries that come and go, told to the trace ---- */
int spi_loads_known(int is_own);	/* what there is need not be told; 1: lttng-ust is among it */
void spi_state_dump(void);		/* the latest scan's, to the run's session */
void spi_loads_tell(void);		/* what the latest scan has found, or no longer */

/* ---- instrument-find.c ---- */
/* Points of another rule that it is to have, too. 0 or -ENOMEM. */
int spi_rule_keep(struct rule *rule, struct spi_point *point);

/* ---- rule-loads.c: libraries that are loaded after a rule for functions was made ---- */
void spi_rules_watch_loads(void);	/* as the rules are now: watch the dynamic linker, or no longer */
void spi_rules_loads_take(struct spi_link *link);	/* instrument what they name in what has come */

#endif /* SPI_INSTRUMENT_H */
