/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What is said of budgets, by the control thread, which is woken up for that: an event in the trace for each
 * function that is left out or recorded again, and the state of all of them to the controller. What is new at the
 * process's end its last thread says.
 */
#include <signal.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/budget/internal.h"

#define TOLD_MAX	300u	/* functions in one message */
#define TEXT_SIZE	56000u
#define AGAIN_NS	(1000 * SPI_BUDGET_MS)

static int changed;			/* something is to be told */
static uint64_t told_at;

/* ---- the trace ---- */

/* Under the patch lock. NULL: there is nothing new. */
static struct spi_out *news_take(struct spi_left_out *event)
{
	struct spi_out *out = spi_outs;

	while (out < spi_outs + spi_out_count && (!out->is_news || out->to->gone))
		out++;
	if (out == spi_outs + spi_out_count)
		return NULL;
	out->is_news = 0;
	event->address = spi_tree_map_func(out->to, out->func)->vaddr + out->to->object->bias;
	event->call_site = out->site ? out->site->point.call_site : 0;
	event->calls = out->calls;
	event->name = spi_tree_func_shown(out->to, out->func);
	event->share = out->share;
	event->budget = spi_budget.tenths;
	event->is_out = out->is_out;
	event->trees = spi_tree_budgets;
	return out;
}

void spi_budget_news(void)
{
	uint64_t most = ~(SPI_SIGNAL_BIT(SIGSEGV) | SPI_SIGNAL_BIT(SIGBUS) | SPI_SIGNAL_BIT(SIGTRAP)), old, before;
	struct spi_thread *t = &spi_thread;
	struct spi_left_out event;
	struct spi_out *out;

	if (!spi_tree_budgets || !spi_payload || !spi_payload->budget_event)
		return;
	old = spi_signals_hold(most);
	if (!t->busy)
		t->busy_p = (uint64_t) __builtin_frame_address(0);
	spi_busy_begin(t, (uint64_t) __builtin_frame_address(0));
	do {
		if (spi_patch_lock_soon(&before) < 0)
			break;
		out = news_take(&event);
		spi_patch_unlock(before);
		if (!out)
			break;
		changed = 1;
		if (spi_payload->budget_event(&event) < 0) {
			out->is_news = 1;		/* what was recorded so often has filled the ring: later */
			break;
		}
	} while (out);
	t->busy--;
	spi_signals_release(old);
}

/* ---- the controller ---- */

static size_t put_outs(char *text, size_t size, size_t n, uint32_t is_out, uint32_t *room)
{
	for (uint32_t i = 0; i < spi_out_count && *room; i++) {
		const struct spi_out *out = &spi_outs[i];
		char where[400];
		int more;

		if (out->is_out != is_out)
			continue;
		spi_format(where, sizeof(where), "%s", spi_tree_func_shown(out->to, out->func));
		if (out->site)
			spi_format(where, sizeof(where), "%s+0x%lx", spi_tree_func_shown(out->to, out->func),
				out->site->map->vaddr - spi_tree_map_func(out->to, out->func)->vaddr);
		more = spi_format(text + n, size - n, "%s\t%lu\t%u\t%s\t%s\n", is_out ? "out" : "back", out->calls, out->share,
			out->to->object->name, where);
		if (n + (size_t) more >= size)
			break;
		n += (size_t) more;
		--*room;
	}
	return n;
}

void spi_budget_tell(struct spi_link *link, int always)
{
	static char text[TEXT_SIZE];	/* under the control lock */
	uint32_t room = TOLD_MAX;
	uint64_t before, now;
	size_t n;

	if (!link || (!spi_tree_budgets && !always))
		return;
	now = spi_now_ns();
	if (!always && !changed && now - told_at < AGAIN_NS)
		return;
	changed = 0;
	told_at = now;
	before = spi_patch_lock();
	if (!spi_tree_budgets)
		spi_budget_settle();
	n = (size_t) spi_format(text, sizeof(text), "%u\t%lu\t%lu\t%lu\n", spi_tree_budgets ? spi_budget.tenths : 0,
		spi_budget_own / 1000, spi_budget_spent / 1000, spi_budget_records / 1000);
	for (uint32_t is_out = 2; is_out--;)
		n = put_outs(text, sizeof(text), n, is_out, &room);
	text[n] = 0;
	spi_patch_unlock(before);
	spi_link_send(link, SPI_MSG_BUDGET, 0, text, n + 1, NULL, 0, -1);
}
