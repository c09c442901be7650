/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What else happens in the process, told to agents' observers (struct spi_observer). Rooms below run an operation of
 * all participants at such a moment; what is done for payloads then is all here.
 */
#include <signal.h>
#include "liblttng-spi/dispositions/dispositions.h"
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/process/process.h"
#include "liblttng-spi/payload/internal.h"

/* ---- code of a user's own that is no payload of a call ---- */

/*
 * The code may run in the tracer's own threads, in signal handlers and under the patch lock. The guard takes faults
 * only where they are not blocked, and has a place in spi_thread_own: a thread without one gets one for the moment.
 */
uint64_t spi_client_run(struct spi_client *client, void *function, void *first, void *second)
{
	struct spi_thread *t = &spi_thread;
	struct spi_thread_own own, *const known = t->own;
	const uint32_t busy = t->busy;
	const uint64_t faults = SPI_SIGNAL_FAULTS;
	uint64_t before, result;
	int was;

	if (client->state == SPI_CLIENT_FAILED || spi_thread_is_foreign(t) || spi_is_lent() > 0)
		return 0;
	if (!known) {
		spi_bytes_set(&own, 0, sizeof(own));
		t->own = &own;
	}
	was = *spi_errno_place();
	t->busy |= SPI_BUSY_ALWAYS;
	spi_raw4(SYS_rt_sigprocmask, SIG_UNBLOCK, (uint64_t) &faults, (uint64_t) &before, 8);
	result = spi_guard_call(t, client, function, first, second);
	spi_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (uint64_t) &before, 0, 8);
	t->busy = busy;
	t->own = known;
	*spi_errno_place() = was;
	return result;
}

uint64_t spi_client_run_often(struct spi_client *client, void *function, void *first, void *second)
{
	struct spi_thread *t = &spi_thread;
	uint64_t result;
	int was;

	if (spi_unlikely(!t->own || spi_thread_is_tracer()))
		return spi_client_run(client, function, first, second);
	if (client->state == SPI_CLIENT_FAILED || spi_is_lent() > 0)
		return 0;
	was = *spi_errno_place();
	spi_busy_begin(t, (uint64_t) __builtin_frame_address(0));
	result = spi_guard_call(t, client, function, first, second);
	spi_call_end(t);
	*spi_errno_place() = was;
	return result;
}

/* ---- what is told ---- */

enum event { BEGUN, CREATED, EXECUTES, ENDED, SIGNAL, LOADED, UNLOADED, DETACHED };

struct news {
	enum event event;
	int32_t first, second;
	const char *path;
	struct spi_object *object;
	const void *info;
};

static void deliver(const struct news *news, const struct spi_client *client)
{
	const struct spi_observer *o = client->observer;
	struct spi_agent *agent = client->owner;

	if (news->event == BEGUN && o->begun)
		o->begun(agent, o->data);
	else if (news->event == CREATED && o->created)
		o->created(agent, news->first, o->data);
	else if (news->event == EXECUTES && o->executes)
		o->executes(agent, news->path, o->data);
	else if (news->event == ENDED && o->ended)
		o->ended(agent, news->first, news->second, o->data);
	else if (news->event == SIGNAL && o->signal_from)
		o->signal_from(agent, news->first, news->second, news->info, o->data);
	else if (news->event == SIGNAL && o->signal)
		o->signal(agent, news->first, news->second, o->data);
	else if (news->event == LOADED && o->loaded)
		o->loaded(agent, news->object, o->data);
	else if (news->event == UNLOADED && o->unloaded)
		o->unloaded(agent, news->object, o->data);
	else if (news->event == DETACHED && o->detached)
		o->detached(agent, o->data);
}

/*
 * The thread gets what it needs to record, as before a call; the agent's thread, which sees what is loaded, too. Not
 * in a handler, and not in a forked child: most children execute another program or end at once, and begin by a call
 * alone.
 */
static void record_ready(const struct spi_client *client, const struct news *news)
{
	struct spi_thread *t = &spi_thread;
	const uint32_t busy = t->busy;
	uint64_t held = 0;

	if (!client->records || !client->records->gate || !(t->owed & SPI_THREAD_NEW) || news->event == SIGNAL ||
			spi_mode_is_child() || spi_thread_is_foreign(t) || spi_is_lent() > 0)
		return;
	if (spi_thread_is_tracer()) {
		if (spi_may(SPI_MAY_RECORD) && spi_payload->thread_ready(0) > 0)
			__atomic_fetch_and(&t->owed, ~SPI_THREAD_NEW, __ATOMIC_RELAXED);
		return;
	}
	if ((busy & ~SPI_BUSY_ALWAYS) || news->event > ENDED)
		return;
	spi_raw4(SYS_rt_sigprocmask, SIG_BLOCK, 0, (uint64_t) &held, 8);
	if (held & SPI_SIGNAL_BIT(32))		/* libc holds all signals there */
		return;
	t->busy = 0;
	spi_thread_may((uint64_t) __builtin_frame_address(0) + 8);
	t->busy = busy;
}

static void tell_one(struct spi_client *client, struct news *news)
{
	if (!client || !client->is_observing)
		return;
	record_ready(client, news);
	spi_client_run(client, (void *) deliver, news, client);
}

static void tell(struct news news)
{
	for (unsigned int i = 0; i < SPI_CLIENTS_MAX; i++)
		tell_one(spi_clients[i], &news);
}

/* What records is there: the rule has been put in force. */
void spi_observe_rule(uint32_t which)
{
	struct news news = { .event = BEGUN };

	for (; which; which &= which - 1) {
		struct spi_client *client = spi_clients[__builtin_ctz(which)];

		if (!client->has_begun)
			tell_one(client, &news);
		client->has_begun = 1;
	}
}

void spi_observe_child(int32_t child)
{
	tell((struct news) { .event = CREATED, .first = child });
}

void spi_observe_program(const char *path)
{
	tell((struct news) { .event = EXECUTES, .path = path });
}

void spi_observe_end(void)
{
	tell((struct news) { .event = ENDED, .first = spi_exit_status < 0 ? -1 : spi_exit_status });
}

void spi_observe_signal(int number, int is_fatal, const void *info)
{
	if (!spi_may(SPI_MAY_ACT))
		return;
	tell((struct news) { .event = SIGNAL, .first = number, .second = is_fatal, .info = info });
	if (is_fatal)
		tell((struct news) { .event = ENDED, .first = -1, .second = number });
}

/* It is the last that the client is told, until a rule names it again. */
void spi_observe_detach(struct spi_client *client)
{
	struct news news = { .event = DETACHED };

	tell_one(client, &news);
	client->is_observing = 0;
}

/*
 * The controller has gone, with all its rules: those that it has brought are told, and what was watched for them alone
 * is watched no more.
 */
void spi_observe_removal(void)
{
	uint32_t left = 0, rules = 0;

	for (unsigned int i = 0; i < SPI_CLIENTS_MAX; i++) {
		struct spi_client *client = spi_clients[i];

		if (client && client->is_observing && client->file && !client->rules)
			spi_observe_detach(client);
		left |= client && client->is_observing;
		rules += client ? client->rules : 0;
	}
	if (left || !(spi_watched & ~SPI_WATCH_FAULTS))
		return;
	spi_signals_unwatch();
	__atomic_fetch_and(&spi_watched, SPI_WATCH_FAULTS, __ATOMIC_SEQ_CST);
	spi_hooks_leave(SPI_HOOKS_OBSERVER);
	if (rules || spi_tree_existing)		/* a preloaded payload's own */
		return;
	spi_hooks_leave(SPI_HOOKS_LOADS);
	spi_exec_stop();
	if (!spi_watched && spi_hooks_stand(SPI_HOOKS_SIGNALS)) {
		spi_trap_unwatched();
		spi_hooks_leave(SPI_HOOKS_SIGNALS);
	}
}

/* What went first: another may be in its place. */
void spi_observe_objects(void)
{
	for (int is_load = 0; is_load < 2; is_load++)
		for (struct spi_object *o = spi_objects_list(); o; o = o->next) {
			if (!o->seen != !is_load || !!o->observed == is_load)
				continue;
			o->observed = (uint64_t) is_load;
			if (!spi_object_is_own(o))
				tell((struct news) { .event = is_load ? LOADED : UNLOADED, .object = o });
		}
}

/* ---- begin ---- */

/* exit(), also of main() that returns. A handler of on_exit() that is set before main() comes after the agent's end. */
static uint64_t exit_enters(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	(void) point;
	(void) vec;
	(void) stride;
	if (spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
		spi_exit_status = (int) (spi_frame_argument(frame, 0) & 0xff);
	return 0;
}

const struct spi_hook spi_observer_hooks[] = {
	{ "exit", .before = exit_enters, .ways = SPI_HOOK_ENTRY, .set = SPI_HOOKS_OBSERVER,
		.lost = "payloads' observers are not told the exit code" },
	{ NULL },
};

static uint32_t watch_of(const struct spi_observer *o)
{
	uint32_t watch = SPI_WATCH_PROGRAMS;	/* _exit() as well */

	watch |= o->created ? SPI_WATCH_CHILDREN : 0;
	watch |= o->signal || o->ended ? SPI_WATCH_SIGNALS : 0;
	watch |= o->loaded || o->unloaded ? SPI_WATCH_OBJECTS : 0;
	return watch;
}

/*
 * One that came before has been told of what is there; a second one is told of what comes. What cannot be watched is
 * named, and the rest goes on.
 */
void spi_observe_begin(struct spi_client *client)
{
	const char *why = NULL;
	uint32_t watch;

	if (!client->observer || client->is_observing || spi_threads_init() < 0 || spi_patch_init() < 0)
		return;
	watch = watch_of(client->observer);
	client->is_observing = 1;
	spi_hooks_point();
	__atomic_fetch_or(&spi_watched, watch, __ATOMIC_SEQ_CST);
	spi_hooks_enter(SPI_HOOKS_PROGRAMS, spi_link_current);
	spi_hooks_enter(SPI_HOOKS_OBSERVER, spi_link_current);
	if (watch & SPI_WATCH_SIGNALS)
		why = spi_signals_watch();
	if (why)
		spi_note("payload %s: it is told of no signals: %s", client->name, why);
	if (watch & SPI_WATCH_OBJECTS) {
		spi_hooks_enter(SPI_HOOKS_LOADS, NULL);
		spi_objects_scan();
		spi_observe_objects();
	}
}
