/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Client commands, counted.
 *
 * A command of any client may make, change or remove a rule. liblttng-ctl opens
 * a connection for each, and the daemon closes it when the command is done; so a
 * command begins with accept() on the client socket and ends with close() of
 * what it returned. From its beginning the broker's table is out of date, until
 * the broker has asked the daemon again after the command's end. What it asks
 * with comes by here as well, and must not count, or it would ask for ever: the
 * broker names the process that asks, and whoever descends from the broker is
 * taken for that, too, as the name may come later than the connection.
 *
 * Whose a connection is counts in any case: spi-codemap, which descends from the
 * broker, has the rights of a traced process's user, who can make it connect.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "spi-sessiond-plugin/base/base.h"
#include "spi-sessiond-plugin/broker/broker.h"
#include "spi-sessiond-plugin/daemon/daemon.h"

#define CLIENTS_MAX	32	/* the stock daemon serves one at a time */
#define SERIES_MS	5	/* since one ended of a client that gives several: the next may come */

static struct {
	int fd;
	uint64_t number;	/* 0: free */
	int64_t since;
	bool again;		/* its client gave the command before, too */
} clients[CLIENTS_MAX];
static unsigned int nr_open;	/* written under plugin_lock, read without by clients_closed() */
static uint64_t begun, reported;
static int64_t latest = INT64_MIN / 2;
static int64_t series /* when one of several ended */ = INT64_MIN / 2;
static pid_t querier, commander;	/* the latest one's client */
static uid_t users[64];		/* that have used the client socket, beside the daemon's own */
static unsigned int nr_users;
static bool users_unknown;	/* more than that, or one whose name the kernel did not say */

uint64_t clients_begun(void)
{
	return begun;
}

uint64_t clients_ended(void)
{
	uint64_t ended = begun;

	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		if (clients[i].number && clients[i].number <= ended)
			ended = clients[i].number - 1;
	}
	return ended;
}

int64_t clients_oldest(void)
{
	int64_t oldest = INT64_MAX;

	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		if (clients[i].number && clients[i].since < oldest)
			oldest = clients[i].since;
	}
	return oldest;
}

int64_t clients_latest(void)
{
	return __atomic_load_n(&latest, __ATOMIC_RELAXED);
}

void clients_set_querier(pid_t pid)
{
	querier = pid;
}

bool clients_series_goes_on(int64_t now)
{
	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		if (clients[i].number && clients[i].again)
			return true;
	}
	return now - series < SERIES_MS;
}

/* The command in slot `i` is over; tell the broker how far all are. */
static void client_end(unsigned int i)
{
	struct spi_broker_generation message;

	clients[i].number = 0;
	if (clients[i].again)
		series = plugin_clock();
	__atomic_store_n(&nr_open, nr_open - 1, __ATOMIC_RELAXED);
	message.generation = clients_ended();
	if (message.generation <= reported)
		return;
	reported = message.generation;
	queue_post(SPI_BROKER_DIRTY, &message, sizeof(message), NULL, 0, -1, QUEUE_URGENT);
}

bool clients_has_user(uid_t uid)
{
	bool found = uid == geteuid();

	for (unsigned int i = 0; i < nr_users && !found; i++)
		found = users[i] == uid;
	return found;
}

static void user_report(uid_t uid)
{
	struct spi_broker_client message = { .uid = uid };

	queue_post(SPI_BROKER_CLIENT, &message, sizeof(message), NULL, 0, -1, QUEUE_VITAL);
}

/* A user beyond the table's end is told of each time, and the next broker that there were others. */
static void user_seen(uid_t uid)
{
	if (uid == geteuid())
		return;
	for (unsigned int i = 0; i < nr_users; i++) {
		if (users[i] == uid)
			return;
	}
	if (nr_users < sizeof(users) / sizeof(users[0]))
		users[nr_users++] = uid;
	else
		users_unknown = true;
	user_report(uid);
}

bool clients_users_known(void)
{
	return !users_unknown;
}

void clients_report_users(void)
{
	for (unsigned int i = 0; i < nr_users; i++)
		user_report(users[i]);
}

void clients_accepted(int fd)
{
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);
	unsigned int slot = 0;
	bool known = !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size), ours;

	/* The pid is 0 when the peer is in no pid namespace that we see; its uid is right all the same. */
	ours = known && peer.pid && broker_family(peer.pid);
	pthread_mutex_lock(&plugin_lock);
	/* A slot that still has this number was closed where no hook stands; a full table gives its oldest up. */
	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		if (clients[i].number && clients[i].fd == fd)
			client_end(i);
		if (clients[i].number < clients[slot].number)
			slot = i;
	}
	/* Those whom the broker asks as are known already. */
	if (known)
		user_seen(peer.uid);
	else
		users_unknown = true;
	if (!ours && (!peer.pid || peer.pid != querier)) {
		if (clients[slot].number)
			client_end(slot);
		clients[slot].fd = fd;
		clients[slot].number = ++begun;
		clients[slot].since = plugin_clock();
		clients[slot].again = peer.pid && peer.pid == commander;
		commander = peer.pid;
		__atomic_store_n(&latest, clients[slot].since, __ATOMIC_RELAXED);
		__atomic_store_n(&nr_open, nr_open + 1, __ATOMIC_RELAXED);
		flush_wait();
	}
	pthread_mutex_unlock(&plugin_lock);
}

void clients_closed(int fd)
{
	/* The thread that accepted the connection is the one that closes it, and sees its own store. */
	if (!__atomic_load_n(&nr_open, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&plugin_lock);
	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		if (clients[i].number && clients[i].fd == fd)
			client_end(i);
	}
	pthread_mutex_unlock(&plugin_lock);
}
