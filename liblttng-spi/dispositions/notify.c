/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Threads that libc makes for the program's callbacks (SIGEV_THREAD timers and
 * message queues) run them with every signal blocked, which no function of
 * masks.c has seen: an int3 in a callback would kill. So the callback that libc
 * gets is one of ours, which makes the thread's mask a translated one first.
 *
 * What it is to call is kept for ever, once for each function and value, as a
 * timer's last callback may come after the timer is deleted.
 */
#include <mqueue.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/patch.h"

SPI_HOOK_DECLARE(timer_create)
SPI_HOOK_DECLARE(mq_notify)

#define SEARCH_MAX	256u	/* before one more is kept for the same */

struct callback {
	struct callback *next;
	void (*function)(union sigval value);
	union sigval value;
};

static struct callback *callbacks;

static struct callback *callback_keep(const struct sigevent *event)
{
	struct callback *c = __atomic_load_n(&callbacks, __ATOMIC_ACQUIRE);

	for (unsigned int n = 0; c && n < SEARCH_MAX; c = c->next, n++)
		if (c->function == event->sigev_notify_function && c->value.sival_ptr == event->sigev_value.sival_ptr)
			return c;
	c = spi_alloc(sizeof(*c));
	if (!c)
		return NULL;
	c->function = event->sigev_notify_function;
	c->value = event->sigev_value;
	c->next = __atomic_load_n(&callbacks, __ATOMIC_ACQUIRE);
	while (!__atomic_compare_exchange_n(&callbacks, &c->next, c, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	return c;
}

static void callback_run(union sigval value)
{
	const struct callback *c = value.sival_ptr;

	spi_mask_make_virtual();
	/* no site calls it but this one, which is in no tree */
	if (spi_unlikely(spi_tree_existing))
		spi_participants_run(callback, (uint64_t) c->function);
	c->function(c->value);
}

/* The event for libc: `event` itself, or *copy with our callback. */
static const struct sigevent *event_for_libc(const struct sigevent *event, struct sigevent *copy)
{
	struct callback *c;

	if (!event || event->sigev_notify != SIGEV_THREAD || !event->sigev_notify_function)
		return event;
	c = callback_keep(event);
	if (!c)
		return event;
	*copy = *event;
	copy->sigev_notify_function = callback_run;
	copy->sigev_value.sival_ptr = c;
	return copy;
}

SPI_EXPORT int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
	struct sigevent copy;

	return SPI_NEXT(timer_create)(clock, (struct sigevent *) event_for_libc(event, &copy), timer);
}

SPI_EXPORT int mq_notify(mqd_t queue, const struct sigevent *event)
{
	struct sigevent copy;

	return SPI_NEXT(mq_notify)(queue, event_for_libc(event, &copy));
}

#define WAYS \
	.ways = SPI_HOOK_ORDER | SPI_HOOK_ENTRY, .set = SPI_HOOKS_SIGNALS, \
	.flags = SPI_HOOK_VITAL, .lost = "there is no int3"
const struct spi_hook spi_notify_hooks[] = {
	{ SPI_HOOK_ROW(timer_create), WAYS },
	{ SPI_HOOK_ROW(mq_notify), WAYS },
	{ NULL },
};
