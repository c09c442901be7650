/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Which of a function's points is called, and the jumps of those that are.
 *
 * A function may have several points: for LTTng's records in one form or another, for payloads of a user's own, for a
 * call tree that begins there. One jump leads to it. The entry point of a tree calls the point that rules by name have,
 * the point for payloads calls the event module's behind it, and so what is called without a jump of its own is named to
 * what calls it.
 *
 * Control side, under the control lock.
 */
#include <errno.h>
#include "rules/rule.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/payload/payload.h"
#include "liblttng-spi/rules/internal.h"

/* Is the point reached by a jump that a rule of another kind has at the entry? */
static int entry_lend(struct spi_point *named)
{
	for (unsigned int i = 0; i < SPI_KINDS; i++)
		if (spi_rule_kind_ops[i] && spi_rule_kind_ops[i]->entry_lend && spi_rule_kind_ops[i]->entry_lend(named))
			return 1;
	return 0;
}

static int entry_name(struct spi_point *named, int install)
{
	int r = -ENOENT;

	for (unsigned int i = 0; r == -ENOENT && i < SPI_KINDS; i++)
		if (spi_rule_kind_ops[i] && spi_rule_kind_ops[i]->entry_name)
			r = spi_rule_kind_ops[i]->entry_name(named, install);
	return r;
}

/* ---- a function's point for clients, and the event module's behind it ---- */

static int is_clients(const struct spi_point *p)
{
	return (p->flags & SPI_POINT_CLIENTS) != 0;
}

/* The point in front, which is the clients' and in force; NULL: there is none such. */
static struct spi_point *front_of(const struct spi_point *p)
{
	struct spi_point *front = is_clients(p) ? NULL : spi_point_find(p->address);

	return front && is_clients(front) && front->users ? front : NULL;
}

/* A point that is in force is the clients' from now on: its jump is theirs, and it is called by them. */
static void front_take(struct spi_point *p, struct spi_point *called)
{
	const int has_jump = called->patch != NULL;

	spi_clients_point_record(p, called);
	p->users++;			/* by who records */
	if (!has_jump)
		p->body = called->body;
	spi_point_to_front(p);
	called->installed = 1;
	if (!has_jump)
		entry_name(p, 1);
}

static void front_out(struct spi_point *front)
{
	const char *error = NULL;

	spi_rule_points_out(&front, 1, &error);
}

/* The event module's point comes into force behind the clients', or goes. The clients' is there as long as either is used. */
static void behind_write(struct spi_point *p, struct spi_point *front, int install)
{
	spi_clients_point_record(front, install ? p : NULL);
	p->installed = (uint32_t) install;
	if (install)
		front->users++;
	else if (!--front->users)
		front_out(front);
}

int spi_rule_point_choose(struct spi_point *p)
{
	struct spi_point *called = spi_point_find(p->address), *behind;

	if (called == p)
		return 0;
	if (called->users && is_clients(p)) {
		front_take(p, called);
		return 0;
	}
	behind = called->users && is_clients(called) ? called->clients->recorder : NULL;
	if (called->users && (!is_clients(called) || (behind && behind != p && behind->users)))
		return -EBUSY;
	if (called->users)
		p->body = called->body;
	else
		spi_point_to_front(p);
	return 0;
}

/* Those that call trees' entry points call; the others, which have jumps of their own, are left in the list. */
static uint32_t write_named(struct spi_point **points, uint32_t n, int install)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (front_of(points[i])) {
			behind_write(points[i], front_of(points[i]), install);
		} else if (points[i]->patch) {
			points[kept++] = points[i];
		} else if (entry_name(points[i], install) < 0) {
			points[i]->users = 0;
			spi_note("%s: the entry point of a call tree that stands there cannot be %s",
				spi_map_string(points[i]->map, points[i]->func->name), install ? "put in place" : "taken out");
		}
	}
	return kept;
}

/* What write_named() has left; a thread of the program may have had a tree's entry take one over meanwhile. */
static uint32_t write_own(struct spi_point **points, uint32_t n, const char **errors, int install)
{
	n = spi_points_write(points, n, errors, install);
	for (uint32_t i = 0; i < n; i++)
		if (errors[i] && !points[i]->patch && entry_name(points[i], install) == 0)
			errors[i] = NULL;
	return n;
}

void spi_rule_points_out(struct spi_point **points, uint32_t n, const char **errors)
{
	n = write_named(points, n, 0);
	n = write_own(points, n, errors, 0);
	for (uint32_t i = 0; i < n; i++) {
		if (errors[i])
			spi_note("%s: not taken out: %s", spi_map_string(points[i]->map, points[i]->func->name), errors[i]);
		else
			points[i]->installed = 0;
	}
}

uint32_t spi_rule_points_in(struct spi_point **points, uint32_t n, const char **errors)
{
	n = write_named(points, n, 1);
	n = write_own(points, n, errors, 1);
	for (uint32_t i = 0; i < n; i++)
		if (errors[i])
			points[i]->users = 0;
		else
			points[i]->installed = 1;
	return n;
}

int spi_rule_point_has_jump(struct spi_point *p)
{
	return front_of(p) || entry_lend(p);
}
