/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What instrument.c, points.c and unload.c share: the rules that were given, and
 * the points that they led to. Control side only, under the control lock.
 */
#ifndef SPI_INSTRUMENT_H
#define SPI_INSTRUMENT_H

#include "liblttng-spi/core.h"

struct rule {
	struct rule *next;
	uint32_t id, enabled;
	struct spi_rule_text text;
	struct spi_point **points;	/* own mapping */
	uint32_t count, room;
	struct spi_tree *tree;		/* instead of points */
	uint32_t objects;		/* that were known when its functions were looked for */
};

/* ---- instrument.c ---- */
extern struct rule *spi_rules;

/* ---- points.c ---- */
struct spi_point *spi_point_find(uint64_t address);
struct spi_point *spi_point_new(struct spi_object *object, const struct spi_map *map, const struct spi_map_func *func,
	uint32_t flags, const char *event);
/* Its object was unloaded: a function that comes to its address gets a point of its own. */
void spi_points_forget(const struct spi_object *object);
/* All points of an object, one after the other: NULL first, NULL at the end. */
struct spi_point *spi_points_next(const struct spi_object *object, struct spi_point *after);

/* ---- unload.c ---- */
/* Before anything is done with points: let go of those whose code is gone, install again what came back. */
void spi_unloads_follow(void);
/*
 * spi_patch_install() or spi_patch_remove(), whatever is unloaded meanwhile. Returns how many points are left: what
 * went is in no rule's list any more, nor in points[].
 */
uint32_t spi_points_write(struct spi_point **points, uint32_t n, const char **errors, int install);

/* ---- rule-late.c ---- */
uint32_t spi_objects_count(void);
void spi_rule_late_tell(struct spi_link *link, struct rule *rule);

/* ---- watch.c: libc's functions for signals in an injected process ---- */
int spi_watch_start(const char **reason);	/* 0, or a negative errno and why */
void spi_watch_stop(void);

#endif /* SPI_INSTRUMENT_H */
