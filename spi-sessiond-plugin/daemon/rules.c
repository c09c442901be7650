/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Event rules that the daemon sends to applications.
 *
 * The daemon makes an object of each rule in each application by name, and
 * from then on speaks of the object's address. So the addresses of objects whose
 * rule begins with "spi:" are kept with the name, from creation to release, to
 * tell the broker by name when one is switched on or off. It is a hint: the
 * broker asks the daemon for the rules themselves. Hence the table is bounded,
 * and a message that a lagging broker would not get in time is left out.
 *
 * Switching a rule off ends the recording of entries and exits at one moment; the
 * exits of calls that are under way would be missing. So the broker is told before,
 * once a command and rule: it has the functions restored first, and answers when
 * the calls have ended. The daemon waits for that, but not longer than a user
 * would notice. Call trees are recorded as events of other names, which are kept here, too: where all of a channel is
 * switched off, these may go before their tree's rule. A channel may also go as a whole.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "liblttng-spi/base/hash.h"
#include "rules/rule.h"
#include "spi-sessiond-plugin/base/base.h"
#include "spi-sessiond-plugin/broker/broker.h"
#include "spi-sessiond-plugin/daemon/daemon.h"

#define PREFIX		"spi:"
#define ABI_NAME_LAST	11	/* first version of lttng-ust's protocol (lttng 2.15) with the name behind the other fields */
#define NAME_MAX_SIZE	256
#define OBJECTS_MAX	32768u
#define DISABLING_MS	475	/* the broker answers before */
#define TREES_MAX	16u	/* of a channel, that the broker is told of at once */

/* The events that calls of trees are recorded as; the last one those of compact ones. */
static const char *const recorders[] = { "lttng_ust_cyg_profile:func_entry", "lttng_ust_cyg_profile:func_exit", "spi_tree:*" };
enum { COMPACT = 2 };

struct object {
	struct spi_hash_link link;	/* by address */
	const void *address;
	int sock;		/* of its application */
	const void *channel;	/* in it; NULL: a trigger's */
	bool is_on;
	bool is_recorder;	/* no rule, but an event that calls of trees are recorded as */
	char name[];
};

/* The last rule that the broker was told of before it was switched off. */
static struct {
	pthread_cond_t answer;
	uint64_t id, answered;
	uint64_t command;	/* of a client, in which it was */
	uint64_t channel_command;	/* the last in which it was told that all of a channel goes */
	char name[NAME_MAX_SIZE];
} disabling = { .answer = PTHREAD_COND_INITIALIZER };

/* What the daemon has switched off last, told or not. */
static struct {
	uint64_t command;
	char name[NAME_MAX_SIZE];
} gone;

static struct spi_hash_link *buckets[1024];
static struct spi_hash objects = SPI_HASH_OVER(buckets);
static unsigned int nr_objects;	/* written under plugin_lock, read without as "none at all" */

#define EACH_OBJECT(object) \
	for (struct object *object = spi_hash_next(&objects, NULL); object; \
	     object = spi_hash_next(&objects, &object->link))

/* NULL: it is none that is kept. */
static struct object *object_at(const void *address)
{
	struct object *object = spi_hash_find(&objects, spi_hash_number((uintptr_t) address));

	while (object && object->address != address)
		object = spi_hash_again(&object->link);
	return object;
}

bool rules_have_name_first(void)
{
	const char *version = strrchr(sockets.app_path, '-');

	return !version || strtoul(version + 1, NULL, 10) < ABI_NAME_LAST;
}

/*
 * Where the name is in what the daemon hands over: behind the instrumentation
 * field; from ABI_NAME_LAST on behind log level and token, and for a trigger's rule
 * behind its error counter's index, too. The socket's name says which protocol it is.
 */
static size_t name_offset(bool trigger)
{
	if (rules_have_name_first())
		return 4;
	return trigger ? 28 : 20;
}

/* The application's pid, and the name; the daemon holds the application's own lock here, which is not ours. */
static void rule_tell(int sock, const char *name, bool enabled)
{
	struct spi_broker_rule rule = { .enabled = enabled };
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);

	if (!getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		rule.pid = peer.pid;
	queue_post(SPI_BROKER_RULE_SEEN, &rule, sizeof(rule), name, strlen(name) + 1, -1, QUEUE_HINT);
}

static bool is_one_of_recorders(const char *name, size_t size)
{
	for (unsigned int i = 0; i < sizeof(recorders) / sizeof(recorders[0]); i++)
		if (size == strlen(recorders[i]) && !memcmp(name, recorders[i], size))
			return true;
	return false;
}

void rules_created(int sock, const void *event, bool trigger, const void *channel, const void *address)
{
	const char *name = (const char *) event + name_offset(trigger);
	struct object *object = NULL;
	char copy[NAME_MAX_SIZE];
	size_t size = strnlen(name, NAME_MAX_SIZE - 1);
	bool is_recorder = !trigger && is_one_of_recorders(name, size);

	if (!address || (!is_recorder && (size < sizeof(PREFIX) - 1 || memcmp(name, PREFIX, sizeof(PREFIX) - 1))))
		return;
	memcpy(copy, name, size);
	copy[size++] = 0;
	pthread_mutex_lock(&plugin_lock);
	if (nr_objects < OBJECTS_MAX)
		object = malloc(sizeof(*object) + size);
	if (object) {
		object->address = address;
		object->sock = sock;
		object->channel = channel;
		object->is_on = false;
		object->is_recorder = is_recorder;
		memcpy(object->name, copy, size);
		spi_hash_add(&objects, &object->link, spi_hash_number((uintptr_t) address));
		__atomic_store_n(&nr_objects, nr_objects + 1, __ATOMIC_RELAXED);
	} else if (!is_recorder) {
		rule_tell(sock, copy, true);	/* its switching on will not be recognised */
	}
	pthread_mutex_unlock(&plugin_lock);
}

/* May it instrument, by a function's name or as a reserved form? One that only records has no calls under way of its own. */
static bool rule_instruments(const char *name)
{
	return name[sizeof(PREFIX) - 1] && name[sizeof(PREFIX) - 1] != '*';
}

static bool rule_is_tree(const char *name)
{
	return !strncmp(name, PREFIX, sizeof(PREFIX) - 1) &&
	       spi_rule_kind_of(name + sizeof(PREFIX) - 1) == spi_kind_tree;
}

/* With plugin_lock held, which is let go while waiting. false: there was no answer. */
static bool disabling_wait(const char *name, uint64_t flags)
{
	struct spi_broker_disabling message = { .id = disabling.id + 1, .command = clients_begun(), .flags = flags };
	struct timespec until;

	if (!(flags & SPI_DISABLING_CHANNEL) && disabling.command == message.command && !strcmp(disabling.name, name))
		return true;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += DISABLING_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	message.until = (uint64_t) until.tv_sec * 1000 + (uint64_t) until.tv_nsec / 1000000;
	if (!queue_post(SPI_BROKER_DISABLING, &message, sizeof(message), name, strlen(name) + 1, -1, QUEUE_URGENT))
		return false;
	disabling.id = message.id;
	disabling.command = message.command;
	if (flags & SPI_DISABLING_CHANNEL)
		disabling.channel_command = message.command;
	memcpy(disabling.name, name, strlen(name) + 1);
	while (disabling.answered < message.id && queue_is_open() &&
	       !pthread_cond_clockwait(&disabling.answer, &plugin_lock, CLOCK_MONOTONIC, &until))
		;
	return disabling.answered >= message.id;
}

/*
 * Is a rule of that name on for another session? Then nothing is to be taken out. The broker knows that by itself, but
 * for rules that were made a moment ago: then it has not asked yet, and may take the other session's for the one that goes.
 */
static bool is_wanted_elsewhere(const struct object *going)
{
	if (table_generation() + 1 >= clients_begun())
		return false;
	EACH_OBJECT(object)
		if (object != going && object->is_on && object->sock == going->sock && !strcmp(object->name, going->name))
			return true;
	return false;
}

/* ---- all of a channel ---- */

static bool is_beside(const struct object *object, const struct object *going)
{
	return object->is_on && object->sock == going->sock && object->channel == going->channel;
}

/* Plain trees are recorded as events of one provider, compact ones of the other. */
static bool is_recorded_tree(const struct object *object, const struct object *going)
{
	char room[NAME_MAX_SIZE], why[SPI_RULE_WHY];
	struct spi_rule rule;

	return rule_is_tree(object->name) &&
	       !spi_rule_read(&rule, object->name + sizeof(PREFIX) - 1, SPI_FORM_EVENT, room, sizeof(room), why) &&
	       !rule.compact == !!strcmp(going->name, recorders[COMPACT]);
}

/* Is there one in the same channel of the same application that is on? */
static bool has_recorded_tree(const struct object *going)
{
	EACH_OBJECT(object)
		if (is_beside(object, going) && is_recorded_tree(object, going))
			return true;
	return false;
}

/*
 * The names of those there that no other session wants. More than one is of use: with the first that the broker knows all of the
 * channel goes, and which those are that were made a moment ago it has not been told.
 */
static unsigned int trees_beside(const struct object *going, char names[][NAME_MAX_SIZE])
{
	unsigned int n = 0;

	EACH_OBJECT(object)
		if (n < TREES_MAX && is_beside(object, going) && rule_is_tree(object->name) &&
		    !is_wanted_elsewhere(object))
			memcpy(names[n++], object->name, strlen(object->name) + 1);
	return n;
}

/*
 * `lttng disable-event --all` comes to a channel's events in any order. So it does where two of different names go in one
 * command; and where an event goes that trees are recorded as, before the last of them: all of that name go
 * then, and the front end switches the trees off before.
 */
static bool goes_with_channel(const struct object *going)
{
	if (!going->channel)
		return false;
	if (gone.command == clients_begun())
		return strcmp(gone.name, going->name) != 0;
	return going->is_recorder && has_recorded_tree(going);
}

static void trees_wait(char trees[][NAME_MAX_SIZE], unsigned int n)
{
	bool is_told = true;

	for (unsigned int i = 0; i < n && is_told; i++)
		is_told = disabling_wait(trees[i], SPI_DISABLING_CHANNEL);
}

static void object_goes(const struct object *going)
{
	char trees[TREES_MAX][NAME_MAX_SIZE], name[NAME_MAX_SIZE];	/* objects may go while the lock is free */
	unsigned int n = goes_with_channel(going) ? trees_beside(going, trees) : 0;

	gone.command = clients_begun();
	memcpy(gone.name, going->name, strlen(going->name) + 1);
	if (disabling.channel_command == gone.command || (!n && going->is_recorder))
		return;
	if (!n) {
		memcpy(name, going->name, strlen(going->name) + 1);
		disabling_wait(name, !rule_instruments(name) || is_wanted_elsewhere(going) ? SPI_DISABLING_SHARED : 0);
		return;
	}
	trees_wait(trees, n);
}

/* `lttng disable-channel`: what is in it stays on, and records nothing. */
static void channel_goes(const void *channel)
{
	char trees[TREES_MAX][NAME_MAX_SIZE], name[NAME_MAX_SIZE];
	const struct object *one = NULL;
	bool is_shared = true;
	unsigned int n;

	if (disabling.channel_command == clients_begun())
		return;
	EACH_OBJECT(object)
		if (is_shared && object->is_on && object->channel == channel && !object->is_recorder &&
		    rule_instruments(object->name)) {
			one = object;
			is_shared = is_wanted_elsewhere(object);
		}
	if (!one)
		return;
	n = trees_beside(one, trees);
	memcpy(name, one->name, strlen(one->name) + 1);
	if (n)
		trees_wait(trees, n);
	else
		disabling_wait(name, is_shared ? SPI_DISABLING_SHARED : SPI_DISABLING_CHANNEL);
}

/* ---- what the hooks see ---- */

void rules_disabled(uint64_t id)
{
	pthread_mutex_lock(&plugin_lock);
	disabling.answered = id;
	pthread_cond_broadcast(&disabling.answer);
	pthread_mutex_unlock(&plugin_lock);
}

void rules_switching_off(const void *address)
{
	struct object *object;

	if (!__atomic_load_n(&nr_objects, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&plugin_lock);
	object = object_at(address);
	if (object)
		object_goes(object);
	else
		channel_goes(address);
	pthread_mutex_unlock(&plugin_lock);
}

void rules_switched(int sock, const void *address, bool enabled)
{
	struct object *object;

	if (!__atomic_load_n(&nr_objects, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&plugin_lock);
	object = object_at(address);
	if (object) {
		object->is_on = enabled;
		if (!object->is_recorder)
			rule_tell(sock, object->name, enabled);
	}
	pthread_mutex_unlock(&plugin_lock);
}

void rules_released(const void *address)
{
	struct object *object;

	if (!__atomic_load_n(&nr_objects, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&plugin_lock);
	object = object_at(address);
	if (object) {
		spi_hash_remove(&objects, &object->link);
		__atomic_store_n(&nr_objects, nr_objects - 1, __ATOMIC_RELAXED);
		free(object);
	}
	pthread_mutex_unlock(&plugin_lock);
}
