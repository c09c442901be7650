/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A rule was switched off, and its events will be, too, once the controller knows that the rule's calls are over
 * (RULE_CLOSE, RULE_CLOSED). Most calls return within a moment. After the time that the controller gives, the calls
 * that are still open are closed; trees' calls where the controller asks for that.
 *
 * Where another session has the functions, too, they stay, and LTTng takes both events out at once where one name
 * stands for both. Which channel that will be is not known before: so the payload keeps the exits that there are
 * (SPI_CLOSE_KEEP, tp/ledger/removed.c), from RULE_CLOSED until LTTng has done it and the calls are over. Not for
 * long, as LTTng waits.
 *
 * The control thread looks again and again, and does what else there is meanwhile.
 */
#include <errno.h>
#include "liblttng-spi/ledger/internal.h"
#include "liblttng-spi/link/internal.h"

#define LOOK_MS		2
#define LOOKS		3u	/* a thread may be about to make a call's slot, and wait for a processor */
#define KEEP_LOOK_MS	1
#define COMES_LOOKS	300u	/* for LTTng to begin: LTTng goes from one program to the next */
#define CALLS_LOOKS	50u	/* for calls under way, from then on */
#define LATE_MS		50u	/* and so much longer, while the processors are others' */

static SPI_FORK_DATA struct {
	enum { RESTS, WAITS, KEEPS } does;
	struct spi_rule_off rule;
	uint32_t stuck;		/* so many calls of functions were waited for in vain, and could not be closed */
	uint32_t looks;		/* WAITS: so many found no open call; KEEPS: so many are left */
	uint32_t is_removed;	/* KEEPS: LTTng has begun */
	uint64_t until;
} off;

static uint64_t in_ms(uint64_t ms)
{
	return spi_now_ns() + ms * UINT64_C(1000000);
}

/* ---- exits are kept ---- */

static void keep_until(uint32_t looks)
{
	off.looks = looks;
	off.until = in_ms(looks * KEEP_LOOK_MS + LATE_MS);
}

/* The lock is taken before: a thread that has it may be forking, and wait for LTTng, which then waits for this one. */
static void keep_begin(void)
{
	spi_control_lock();
	if (spi_payload && off.rule.points(NULL)) {
		spi_payload->keep_begin(off.rule.points);
		off.does = KEEPS;
		off.is_removed = 0;
		keep_until(COMES_LOOKS);
	}
	spi_control_unlock();
}

void spi_rule_off_keep_end(void)
{
	if (off.does != KEEPS)
		return;
	if (off.is_removed)
		spi_exits_missed(spi_ledger_open(SPI_CALLS_KEPT, 0));	/* those that were waited for in vain */
	spi_payload->keep_end();
	off.does = RESTS;
}

/* Rules change in this thread alone. */
static void keep_look(void)
{
	uint32_t seen = spi_payload->keep_look(off.rule.points);

	if (!off.is_removed && (seen & SPI_KEEP_CHANGED)) {
		off.is_removed = 1;
		keep_until(CALLS_LOOKS);
	}
	if (!off.looks-- || spi_now_ns() >= off.until ||
			((seen & SPI_KEEP_WAITED) && !(off.is_removed && spi_ledger_open(SPI_CALLS_KEPT, 0))))
		spi_rule_off_keep_end();
}

/* ---- calls are waited for ---- */

/* Where exits are kept, lttng-ust is held meanwhile: that must not depend on a controller that may be stopped. */
static void closed_tell(struct spi_link *link)
{
	off.does = RESTS;
	if (spi_payload)
		spi_payload->flush();
	if (off.rule.flags & SPI_CLOSE_KEEP) {
		keep_begin();
		if (spi_link_send_at_once(link, SPI_MSG_RULE_CLOSED, off.rule.id) != -EAGAIN)
			return;
		spi_rule_off_keep_end();
	}
	spi_link_send(link, SPI_MSG_RULE_CLOSED, off.rule.id, NULL, 0, NULL, 0, -1);
}

static int has_functions(void)
{
	return (off.rule.flags & (SPI_CLOSE_FUNCTIONS | SPI_CLOSE_EVERY)) != 0;
}

/* Calls of functions that are off and may return soon; not those that were waited for in vain. */
static int functions_are_open(void)
{
	uint32_t open = spi_ledger_open(SPI_CALLS_OF_RULES, 0);

	if (open < off.stuck)
		off.stuck = open;
	off.looks = open > off.stuck ? 0 : off.looks + 1;
	return off.looks < LOOKS;
}

/* Exits for those that are open. A tree's also where none is: a thread that waits for a processor may be about to. */
static void calls_close(int are_open, int are_functions)
{
	const uint32_t trees = off.rule.is_closed ? off.rule.trees : 0;

	if (!off.rule.is_closed && !are_functions)
		return;
	spi_control_lock();
	spi_ledger_close(are_functions ? SPI_CALLS_OF_RULES : SPI_CALLS_OF_TREES, trees, off.rule.stop);
	/* a batch has the calls of all compact trees: where there are others, the reader ends these calls */
	if (are_open && (trees & spi_tree_compact) && !(spi_tree_existing & spi_tree_compact & ~trees))
		spi_payload->detached(0);
	spi_control_unlock();
	if (are_functions)
		off.stuck = spi_ledger_open(SPI_CALLS_OF_RULES, 0);
}

static void wait_look(struct spi_link *link)
{
	int are_open = spi_ledger_open(SPI_CALLS_OF_TREES, off.rule.trees) != 0;
	int are_functions = has_functions() && functions_are_open();

	if ((are_open || are_functions) && spi_now_ns() < off.until)
		return;
	calls_close(are_open, are_functions);
	closed_tell(link);
}

void spi_rule_off_step(struct spi_link *link)
{
	if (off.does == KEEPS)
		keep_look();
	else if (off.does == WAITS)
		wait_look(link);
}

int64_t spi_rule_off_wait(void)
{
	return off.does == KEEPS ? KEEP_LOOK_MS : off.does == WAITS ? LOOK_MS : -1;
}

void spi_rule_off_begin(struct spi_link *link, const struct spi_rule_off *rule)
{
	spi_rule_off_keep_end();
	if (off.does == WAITS) {
		off.rule.flags &= ~SPI_CLOSE_KEEP;
		closed_tell(link);
	}
	off.rule = *rule;
	off.looks = 0;
	off.until = in_ms(rule->flags & SPI_CLOSE_MS);
	off.does = WAITS;
	wait_look(link);
}

void spi_ledger_fork_child(void)
{
	spi_ledger_close_fork_child();
	off.does = RESTS;
	off.stuck = 0;
}
