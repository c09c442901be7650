/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A rule was switched off, and its events will be, too, once the controller knows that the rule's calls are over
 * (RULE_CLOSE, RULE_CLOSED). Most calls return within a moment. After the time that the controller gives, the calls
 * that are still open are closed; trees' calls where the controller asks for that.
 *
 * Where another session has the functions, too, they stay. LTTng takes both events out at once where one name stands
 * for both: the event module counts the exits that are lost so (tp/ledger/due.c).
 *
 * The control thread looks again and again, and does what else there is meanwhile.
 */
#include <errno.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/ledger/ledger.h"

#define LOOK_MS		2
#define LOOKS		3u	/* a thread may be about to make a call's slot, and wait for a processor */

static SPI_FORK_DATA struct {
	int is_waiting;
	struct spi_rule_off rule;
	uint32_t stuck;		/* so many calls of functions were waited for in vain, and could not be closed */
	uint32_t looks;		/* so many found no open call */
	uint64_t until;
} off;

static void closed_tell(struct spi_link *link)
{
	off.is_waiting = 0;
	if (spi_payload)
		spi_payload->flush();
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
	if (off.is_waiting)
		wait_look(link);
}

int64_t spi_rule_off_wait(void)
{
	return off.is_waiting ? LOOK_MS : -1;
}

void spi_rule_off_begin(struct spi_link *link, const struct spi_rule_off *rule)
{
	if (off.is_waiting)
		closed_tell(link);
	off.rule = *rule;
	off.looks = 0;
	off.until = spi_now_ns() + (rule->flags & SPI_CLOSE_MS) * UINT64_C(1000000);
	off.is_waiting = 1;
	wait_look(link);
}

void spi_ledger_fork_child(void)
{
	spi_ledger_close_fork_child();
	off.is_waiting = 0;
	off.stuck = 0;
}
