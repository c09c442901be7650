/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A rule is about to be switched off that records entries and exits under one name, and its functions stay, as another session has
 * them, too. LTTng takes both events out at once, and whose they are is not known before: so calls
 * that are under way then keep the exits that they have (SPI_CLOSE_KEEP; the payload does that: tp/kept.c). From when the controller
 * says so until it has happened and these calls are over, but not for long: LTTng waits for it.
 *
 * The control thread looks again and again. Before it does anything else it ends this, as that may need what LTTng holds
 * while it waits.
 */
#include "liblttng-spi/instrument.h"
#include "liblttng-spi/link/internal.h"
#include "liblttng-spi/threads-internal.h"

#define LOOK_MS		1
#define COMES_MS	300u	/* for LTTng to begin: it goes from one program to the next */
#define CALLS_MS	50u	/* for calls under way, from then on */
#define LATE_MS		50u	/* and so long as this thread, and so the program's, waits for a processor */

static SPI_FORK_DATA struct {
	int is_on, is_changed;
	uint64_t until;
	uint64_t looked, late;	/* the last look, and how much longer than usual all of them came after the one before */
} keeping;

/* The next rule that is on and has functions. */
static struct rule *rule_next(struct rule *rule)
{
	while (rule && (!rule->enabled || !rule->count))
		rule = rule->next;
	return rule;
}

static unsigned int functions_changed(void)
{
	unsigned int changed = 0;

	for (struct rule *rule = rule_next(spi_rules); rule; rule = rule_next(rule->next))
		changed += spi_payload->keep_changed(rule->points, rule->count);
	return changed;
}

/* Like every other of these: control thread, without the control lock. */
void spi_keeping_begin(void)
{
	spi_keeping_end();
	if (!spi_payload || !spi_payload->keep_begin)
		return;
	/* From here on not to be waited for: who has it may be forking, and wait for LTTng, which waits for this thread. */
	spi_control_lock();
	if (rule_next(spi_rules)) {
		spi_payload->keep_begin();
		for (struct rule *rule = rule_next(spi_rules); rule; rule = rule_next(rule->next))
			spi_payload->keep_points(rule->points, rule->count);
		spi_payload->keep_on();
		keeping.is_on = 1;
		keeping.is_changed = 0;
	}
	spi_control_unlock();
	keeping.looked = spi_now_ns();
	keeping.late = 0;
	keeping.until = keeping.looked + COMES_MS * UINT64_C(1000000);
}

void spi_keeping_end(void)
{
	if (keeping.is_on) {
		if (keeping.is_changed)
			spi_exits_missed(spi_calls_kept());	/* those that were waited for in vain */
		spi_payload->keep_end();
	}
	keeping.is_on = 0;
}

/* One look. Rules change in this thread alone. */
void spi_keeping_step(void)
{
	uint64_t now = spi_now_ns(), late;

	if (!keeping.is_on)
		return;
	if (now - keeping.looked > 2 * LOOK_MS * UINT64_C(1000000))
		keeping.late += now - keeping.looked - LOOK_MS * UINT64_C(1000000);
	keeping.looked = now;
	if (!keeping.is_changed && functions_changed()) {
		keeping.late = 0;
		keeping.is_changed = 1;
		keeping.until = now + CALLS_MS * UINT64_C(1000000);
	}
	late = keeping.late < LATE_MS * UINT64_C(1000000) ? keeping.late : LATE_MS * UINT64_C(1000000);
	if (now >= keeping.until + late || (spi_payload->keep_is_waited() && (!keeping.is_changed || !spi_calls_kept())))
		spi_keeping_end();
}

int64_t spi_keeping_wait(void)
{
	return keeping.is_on ? LOOK_MS : -1;
}

void spi_keeping_fork_child(void)
{
	keeping.is_on = 0;
}
