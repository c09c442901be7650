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
 * would notice.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "spi-sessiond-plugin/plugin.h"

#define PREFIX		"spi:"
#define ABI_NAME_LAST	11	/* first version of lttng-ust's protocol (lttng 2.15) with the name behind the other fields */
#define NAME_MAX_SIZE	256
#define BUCKETS		1024u
#define OBJECTS_MAX	32768u
#define DISABLING_MS	75
#define DISABLING_TREE_MS	475

struct object {
	struct object *next;
	const void *address;
	char name[];
};

/* The last rule that the broker was told of before it was switched off. */
static struct {
	pthread_cond_t answer;
	uint64_t id, answered;
	uint64_t command;	/* of a client, in which it was */
	char name[NAME_MAX_SIZE];
} disabling = { .answer = PTHREAD_COND_INITIALIZER };

static struct object *buckets[BUCKETS];
static unsigned int nr_objects;	/* written under plugin_lock, read without as "none at all" */

static struct object **bucket_of(const void *address)
{
	return &buckets[((uintptr_t) address >> 4) * 2654435761u % BUCKETS];
}

/*
 * Where the name is in what the daemon hands over: behind the instrumentation
 * field; from ABI_NAME_LAST on behind log level and token, and for a trigger's rule
 * behind its error counter's index, too. The socket's name says which protocol it is.
 */
static size_t name_offset(bool trigger)
{
	const char *version = strrchr(sockets.app_path, '-');

	if (!version || strtoul(version + 1, NULL, 10) < ABI_NAME_LAST)
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

void rules_created(int sock, const void *event, bool trigger, const void *address)
{
	const char *name = (const char *) event + name_offset(trigger);
	struct object *object = NULL, **bucket = bucket_of(address);
	char copy[NAME_MAX_SIZE];
	size_t size = strnlen(name, NAME_MAX_SIZE - 1);

	if (!address || size < sizeof(PREFIX) - 1 || memcmp(name, PREFIX, sizeof(PREFIX) - 1))
		return;
	memcpy(copy, name, size);
	copy[size++] = 0;
	pthread_mutex_lock(&plugin_lock);
	if (nr_objects < OBJECTS_MAX)
		object = malloc(sizeof(*object) + size);
	if (object) {
		object->address = address;
		memcpy(object->name, copy, size);
		object->next = *bucket;
		*bucket = object;
		__atomic_store_n(&nr_objects, nr_objects + 1, __ATOMIC_RELAXED);
	} else {
		rule_tell(sock, copy, true);	/* its switching on will not be recognised */
	}
	pthread_mutex_unlock(&plugin_lock);
}

/* May it instrument, by a function's name or as a reserved form? One that only records has no calls under way of its own. */
static bool rule_instruments(const char *name)
{
	return name[sizeof(PREFIX) - 1] && name[sizeof(PREFIX) - 1] != '*';
}

/* A tree goes out of many places. */
static long rule_wait_ms(const char *name)
{
	return strncmp(name + sizeof(PREFIX) - 1, "tree(", 5) ? DISABLING_MS : DISABLING_TREE_MS;
}

/* With plugin_lock held, which is let go while waiting. */
static void disabling_wait(const char *name)
{
	struct spi_broker_disabling message = { .id = disabling.id + 1, .command = clients_begun() };
	struct timespec until;

	if (disabling.command == clients_begun() && !strcmp(disabling.name, name))
		return;
	if (!queue_post(SPI_BROKER_DISABLING, &message, sizeof(message), name, strlen(name) + 1, -1, QUEUE_URGENT))
		return;
	disabling.id = message.id;
	disabling.command = message.command;
	memcpy(disabling.name, name, strlen(name) + 1);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += rule_wait_ms(name) * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	while (disabling.answered < message.id && queue_is_open() &&
	       !pthread_cond_clockwait(&disabling.answer, &plugin_lock, CLOCK_MONOTONIC, &until))
		;
}

void rules_disabled(uint64_t id)
{
	pthread_mutex_lock(&plugin_lock);
	disabling.answered = id;
	pthread_cond_broadcast(&disabling.answer);
	pthread_mutex_unlock(&plugin_lock);
}

void rules_switching_off(const void *address)
{
	if (!__atomic_load_n(&nr_objects, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&plugin_lock);
	for (struct object *object = *bucket_of(address); object; object = object->next) {
		char name[NAME_MAX_SIZE];

		if (object->address != address)
			continue;
		memcpy(name, object->name, strlen(object->name) + 1);	/* the object may go while the lock is free */
		if (rule_instruments(name))
			disabling_wait(name);
		break;
	}
	pthread_mutex_unlock(&plugin_lock);
}

void rules_switched(int sock, const void *address, bool enabled)
{
	if (!__atomic_load_n(&nr_objects, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&plugin_lock);
	for (struct object *object = *bucket_of(address); object; object = object->next) {
		if (object->address == address) {
			rule_tell(sock, object->name, enabled);
			break;
		}
	}
	pthread_mutex_unlock(&plugin_lock);
}

void rules_released(const void *address)
{
	if (!__atomic_load_n(&nr_objects, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&plugin_lock);
	for (struct object **at = bucket_of(address); *at; at = &(*at)->next) {
		struct object *object = *at;

		if (object->address != address)
			continue;
		*at = object->next;
		__atomic_store_n(&nr_objects, nr_objects - 1, __ATOMIC_RELAXED);
		free(object);
		break;
	}
	pthread_mutex_unlock(&plugin_lock);
}
