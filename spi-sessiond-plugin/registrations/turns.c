/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Registrations that the daemon is at work on.
 *
 * One thread of the daemon takes registrations, another works through them, some
 * milliseconds each, with a lock that every client command wants too. As soon as
 * that thread has let the lock go it takes it for the next one, so a command may
 * wait until all are done. What is played back therefore comes one after the other
 * while somebody gives commands, and not in the first moment of one, nor between those
 * that a client gives one after the other. But who has waited for long goes first,
 * whatever commands there are: an application gives up after three seconds, which the
 * broker is told when a rule concerns it. A registration is done when the application is
 * told so, or its socket closed; the daemon waits for one that hangs anyway, and the
 * others no longer than TURN_MS more.
 */
#include "spi-sessiond-plugin/base/base.h"
#include "spi-sessiond-plugin/broker/broker.h"
#include "spi-sessiond-plugin/daemon/daemon.h"
#include "spi-sessiond-plugin/registrations/registrations.h"

#define TURN_MS		300
#define TURNS_MAX	2	/* at a time while nobody gives commands; the next one waits for all, and more are no faster */
#define COMMANDS_MS	300	/* since the latest one began: somebody does */
#define COMMAND_MS	20	/* for which nothing is played back when one begins */
#define LOOK_MS		3	/* whether it goes on */
#define SERIES_MAX_MS	100	/* for which a client that gives several is waited for, and then for twice as long not */
#define POLITE_MS	1000	/* since an application registered: it waits for commands */
#define ORDERLY_MS	2300	/* since then: it waits for those before it */
#define LATE_MS		2980	/* since it was started: lttng-ust waits for three seconds */
#define KNOWN_MAX	64	/* that the daemon is at work on; those beyond are not looked after */

static struct {
	int fd;
	pid_t pid;
	int64_t until;		/* 0: free. It may take longer than that, but others do not wait for it */
	int64_t started;
	struct spi_broker_late late;
} turns[KNOWN_MAX];
static unsigned int nr_turns;	/* written under plugin_lock, read without by turns_end() */

void turns_begin(int fd, pid_t pid, int64_t started, const struct spi_broker_late *late)
{
	unsigned int slot = 0;

	for (unsigned int i = 0; i < KNOWN_MAX; i++) {
		if (turns[i].until < turns[slot].until)
			slot = i;
	}
	if (!turns[slot].until)
		__atomic_store_n(&nr_turns, nr_turns + 1, __ATOMIC_RELAXED);
	turns[slot].fd = fd;
	turns[slot].pid = pid;
	turns[slot].started = started;
	turns[slot].late = *late;
	turns[slot].until = plugin_clock() + TURN_MS;
}

bool turns_has(pid_t pid)
{
	for (unsigned int i = 0; i < KNOWN_MAX; i++) {
		if (turns[i].until && turns[i].pid == pid)
			return true;
	}
	return false;
}

void turns_tell_late(struct spi_broker_late *late, int64_t started)
{
	late->ms = plugin_clock() - started;
	if (late->pid && late->ms >= LATE_MS)
		queue_post(SPI_BROKER_LATE, late, sizeof(*late), NULL, 0, -1, QUEUE_HINT);
}

/* With plugin_lock held. */
static void turn_over(unsigned int i)
{
	turns[i].until = 0;
	__atomic_store_n(&nr_turns, nr_turns - 1, __ATOMIC_RELAXED);
	turns_tell_late(&turns[i].late, turns[i].started);
}

void turns_end(int fd)
{
	bool ended = false;

	/* An old value costs the plugin thread TURN_MS at most. */
	if (!__atomic_load_n(&nr_turns, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&plugin_lock);
	for (unsigned int i = 0; i < KNOWN_MAX; i++) {
		if (!turns[i].until || turns[i].fd != fd)
			continue;
		turn_over(i);
		ended = true;
	}
	pthread_mutex_unlock(&plugin_lock);
	if (ended)
		queue_wake();
}

/*
 * `lttng list SESSION` is fourteen commands, which would be fourteen registrations, a
 * hundred milliseconds and more. From its second on, nothing is played back between
 * them; for a third of the time at most, as somebody may never stop to ask.
 */
static bool series_pauses(bool goes_on, int64_t now)
{
	static int64_t since, not_before;

	if (since && (!goes_on || now - since >= SERIES_MAX_MS)) {
		not_before = now + 2 * (now - since);
		since = 0;
	}
	if (!goes_on || now < not_before)
		return false;
	if (!since)
		since = now;
	return true;
}

int turns_left(unsigned int taken, int64_t since, int64_t now)
{
	int64_t recently = now - clients_latest();
	int wait = -1;
	bool somebody = recently < COMMANDS_MS, orderly = somebody && now - since < ORDERLY_MS;
	int pause = 0;

	pthread_mutex_lock(&plugin_lock);
	if (orderly && now - since < POLITE_MS && recently < COMMAND_MS && clients_ended() < clients_begun())
		pause = (int) (COMMAND_MS - recently);
	else if (series_pauses(orderly && clients_series_goes_on(now), now))
		pause = LOOK_MS;
	for (unsigned int i = 0; i < KNOWN_MAX; i++) {
		if (turns[i].until <= now)
			continue;
		taken++;
		if (wait < 0 || turns[i].until - now < wait)
			wait = (int) (turns[i].until - now);
	}
	pthread_mutex_unlock(&plugin_lock);
	if (pause)
		return pause;
	if (taken < (orderly ? 1 : TURNS_MAX))
		return 0;
	return wait < 0 ? TURN_MS : wait;
}
