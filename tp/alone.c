/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Exits of a function that a channel takes without its entries.
 *
 * Somebody may want just these. But the rules for the two events are made, and switched off, by two commands, and in
 * between the function is called: with exits that have no entry a trace can't be read as nested calls. So exits come
 * first when a function's rules are made, and go last; and those alone are recorded only when it has been so for a
 * while. Not in a program that was brought in before its main(): there all rules were made before, and its first call counts.
 *
 * The while begins when the function was instrumented, where nobody has had an entry of it since; otherwise with the first
 * call that is met in that state. In a child it begins when fork() has returned at the earliest, and is twice as long for what
 * was instrumented before: the daemon tells a program that has just registered of rules that are being made after all
 * others, on a busy machine much later. Kept for each function, for two channels, the latest; threads may overwrite each
 * other's: then the while begins anew.
 */
#include "tp/call.h"

static uint64_t at_once_until;	/* 0: the program was running when the module came */
static uint64_t forked_at;	/* its sessions begin anew, at addresses of its parent's, too: what those met is not theirs */

void tp_alone_init(void)
{
	if (tp_core->alone_grace_ms)
		at_once_until = tp_clock_now() + tp_core->alone_grace_ms * UINT64_C(1000000);
}

void tp_alone_forked(void)
{
	forked_at = tp_clock_now();
}

static int lasts_since(uint64_t since, uint64_t now, uint64_t lasts)
{
	return now - since >= (since == forked_at ? 2 * lasts : lasts);
}

/* Takes this channel exits alone, and has it for a while? Inside a read-side section. */
int tp_alone_lasts(struct tp_point *tp, const void *channel)
{
	uint64_t now, since, lasts = tp_core->alone_ms * UINT64_C(1000000);
	unsigned int i = 0, oldest = 0;

	if (!lasts || ((now = tp_clock_now()) < at_once_until))
		return 1;
	for (; i < TP_ALONE_MAX && tp->alone[i].channel != channel; i++)
		if (!tp->alone[i].channel || (tp->alone[oldest].channel && tp->alone[i].since < tp->alone[oldest].since))
			oldest = i;
	if (i < TP_ALONE_MAX && (since = tp->alone[i].since) >= forked_at)
		return lasts_since(since, now, lasts);
	if (i < TP_ALONE_MAX)
		oldest = i;
	tp->alone[oldest].channel = NULL;
	spi_barrier();
	since = CMM_ACCESS_ONCE(tp->alone_used) & TP_ALONE_FRESH ? tp->installed : now;
	if (since < forked_at)
		since = forked_at;
	tp->alone[oldest].since = since;
	spi_barrier();
	tp->alone[oldest].channel = channel;
	__atomic_fetch_or(&tp->alone_used, TP_ALONE_KEPT, __ATOMIC_RELAXED);
	return lasts_since(since, now, lasts);
}

/* These are about to be called, for the first time or again. */
void tp_alone_installed(struct spi_point **points, unsigned int n)
{
	uint64_t now = tp_clock_now();

	for (unsigned int i = 0; i < n; i++) {
		struct tp_point *tp = points[i]->payload;

		if (points[i]->said && !(points[i]->flags & SPI_POINT_COMPACT))
			points[i]->flags |= SPI_POINT_UNNAMED;	/* whoever records it now may not have been told */
		if (points[i]->flags & (SPI_POINT_TREE | SPI_POINT_COMPACT | SPI_POINT_ONE_EVENT))
			continue;
		tp->installed = now;
		spi_barrier();
		tp->alone_used |= TP_ALONE_FRESH;
	}
}

/* It takes entries, too. */
__attribute__((noinline)) void tp_alone_over(struct tp_point *tp, const void *channel)
{
	uint32_t used = 0;

	for (unsigned int i = 0; i < TP_ALONE_MAX; i++) {
		if (tp->alone[i].channel == channel)
			tp->alone[i].channel = NULL;
		used |= tp->alone[i].channel ? TP_ALONE_KEPT : 0;
	}
	tp->alone_used = used;
}
