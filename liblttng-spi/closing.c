/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A rule was switched off, and what records it will be, too, once the controller
 * knows that its calls are over (RULE_CLOSE). Most return within a moment. What has not after a
 * while gets its exits from here, for a tree if the controller says so: others.c. The control thread looks again and
 * again, and does what else there is meanwhile.
 *
 * And what is written when a fault ends the program.
 */
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/instrument.h"
#include "liblttng-spi/link-internal.h"
#include "liblttng-spi/threads-internal.h"
#include "liblttng-spi/tree-rule.h"

#define LOOK_MS	2
#define LOOKS	3u	/* a thread may be about to make a call's slot, and wait for a processor: none is seen so often */

static SPI_FORK_DATA struct {
	uint32_t is_active, id, trees, must, keep;
	int functions;		/* those that no rule asks for any more, or a rule less */
	uint32_t stuck;		/* so many calls of theirs were waited for in vain, and could not be closed */
	uint32_t looks;
	uint64_t until;
} closing;

/* Where exits are kept, lttng-ust is held meanwhile: that must not depend on a controller that may be stopped. */
static void closed_tell(struct spi_link *link, int keep)
{
	if (keep) {
		spi_keeping_begin();
		if (spi_link_send_at_once(link, SPI_MSG_RULE_CLOSED, closing.id) != -EAGAIN)
			return;
		spi_keeping_end();
	}
	spi_link_send(link, SPI_MSG_RULE_CLOSED, closing.id, NULL, 0, NULL, 0, -1);
}

static void closing_end(struct spi_link *link)
{
	closing.is_active = 0;
	if (spi_payload && spi_payload->flush)
		spi_payload->flush();
	closed_tell(link, closing.keep);
}

/* Calls of functions that are off and may return soon; not those that were waited for in vain. */
static int functions_are_open(void)
{
	uint32_t open = spi_calls_open(0, 1);

	if (open < closing.stuck)
		closing.stuck = open;
	closing.looks = open > closing.stuck ? 0 : closing.looks + 1;
	return closing.looks < LOOKS;
}

/*
 * Exits for those that are open. A tree's also where none is: one may be about to be, in a thread that waits for a processor.
 */
static void calls_close(int are_open, int are_functions)
{
	if (!closing.must && !are_functions)
		return;
	spi_control_lock();
	spi_calls_close_others(closing.must ? closing.trees : 0, are_functions ? SPI_CALLS_LEFT : SPI_CALLS_TREES);
	/* a batch has the calls of all compact trees: where there are others, the reader ends these calls */
	if (closing.must && are_open && (closing.trees & spi_tree_compact) && !(spi_tree_existing & spi_tree_compact & ~closing.trees))
		spi_payload->detached(0);
	spi_control_unlock();
	if (are_functions)
		closing.stuck = spi_calls_open(0, 1);
}

void spi_closing_step(struct spi_link *link)
{
	int are_open, are_functions, is_late;

	if (spi_keeping_wait() >= 0) {
		spi_keeping_step();
		return;
	}
	if (!closing.is_active)
		return;
	is_late = spi_now_ns() >= closing.until;
	are_open = spi_calls_open(closing.trees, 0) != 0;
	are_functions = closing.functions && functions_are_open();
	if ((are_open || are_functions) && !is_late)
		return;
	calls_close(are_open, are_functions);
	closing_end(link);
}

int64_t spi_closing_wait(void)
{
	if (spi_keeping_wait() >= 0)
		return spi_keeping_wait();
	return closing.is_active ? LOOK_MS : -1;
}

void spi_closing_begin(struct spi_link *link, uint32_t id, const struct spi_msg_rule *rule)
{
	closing.keep = 0;
	if (closing.is_active)
		closing_end(link);
	closing.id = id;
	closing.keep = (rule->flags & SPI_CLOSE_KEEP) != 0;
	closing.trees = closing.must = 0;
	closing.looks = 0;
	closing.functions = (rule->flags & (SPI_CLOSE_FUNCTIONS | SPI_CLOSE_EVERY)) != 0;
	spi_control_lock();
	for (const struct spi_tree *tree = spi_trees; tree; tree = tree->next)
		if (!tree->enabled && (rule->flags & SPI_CLOSE_EVERY ? tree->tag[0] != 0 : tree->rule->id == rule->rule)) {
			closing.trees |= tree->bit;
			/* where it has no tag, what records it stays as it is */
			closing.must = tree->tag[0] && (rule->flags & SPI_CLOSE_ALL);
		}
	spi_control_unlock();
	closing.until = spi_now_ns() + (rule->flags & SPI_CLOSE_MS) * UINT64_C(1000000);
	closing.is_active = 1;
	spi_closing_step(link);
}

void spi_closing_fork_child(void)
{
	closing.is_active = closing.stuck = 0;
	spi_keeping_fork_child();
}

/* ---- a fault ---- */

#define LAST_ROOM	65536u		/* bytes of stack that are left for it */

/*
 * A fault that the program does not handle is about to end it. What its threads have kept back is written before, as the
 * last calls are those that are looked for. Not on another stack, nor near this one's end. Should this fault, too, the
 * kernel ends the program there and then, as the signal is blocked.
 */
void spi_closing_last(void)
{
	static uint32_t once;
	struct spi_thread *t = &spi_thread;
	uint64_t sp = (uint64_t) __builtin_frame_address(0);

	if (!spi_tree_existing || spi_sandboxed || spi_thread_is_foreign(t) || !spi_payload || !spi_payload->flush)
		return;
	if (sp < t->stack_high && sp > t->stack_low + LAST_ROOM && !__atomic_exchange_n(&once, 1, __ATOMIC_ACQ_REL))
		spi_payload->flush();
}

/* Before libc's abort(), in which exceptions end that nobody catches. */
static uint64_t abort_enters(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	(void) point;
	(void) frame;
	(void) vec;
	(void) stride;
	if (!spi_thread.busy && spi_process_is_mine())
		spi_closing_last();
	return 0;
}

const struct spi_hook spi_closing_hooks[] = {
	{ "abort", .before = abort_enters, .ways = SPI_HOOK_ENTRY, .set = SPI_HOOKS_PROGRAMS },
	{ NULL },
};
