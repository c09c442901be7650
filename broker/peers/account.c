/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What `lttng list --spi` tells of messages: how many channels were followed, and what was not. */
#include <stdio.h>
#include <string.h>

#include "broker/peers/internal.h"

static struct asked asked[ASKED_MAX];
static unsigned int nr_asked;
static struct unfollowed unfollowed[UNFOLLOWED_MAX];
static unsigned int nr_unfollowed;
static uint64_t used;

#define ASKED_RATE	2000u	/* questions of one user a second */
#define LINES_OF_USER	16u

const char *channel_kind_name(uint32_t kind)
{
	static const char *const names[SPI_CHANNEL_KINDS] = { "none", "pipe", "unix", "unix-datagram", "tcp", "udp", "other" };

	return names[kind < SPI_CHANNEL_KINDS ? kind : SPI_CHANNEL_OTHER];
}

unsigned int asked_count(void)
{
	return nr_asked;
}

const struct asked *asked_at(unsigned int n)
{
	return &asked[n];
}

unsigned int unfollowed_count(void)
{
	return nr_unfollowed;
}

const struct unfollowed *unfollowed_at(unsigned int n)
{
	return &unfollowed[n];
}

static struct asked *asked_of(uid_t uid)
{
	struct asked *a = asked;

	while (a < asked + nr_asked && a->uid != uid)
		a++;
	if (a < asked + nr_asked)
		return a;
	if (nr_asked < ASKED_MAX) {
		a = &asked[nr_asked++];
	} else {
		a = asked;
		for (struct asked *other = asked; other < asked + nr_asked; other++)
			a = other->second < a->second ? other : a;
	}
	*a = (struct asked) { .uid = uid, .second = loop_now() / 1000 };
	return a;
}

static uint32_t kind_of(const struct asking *asking)
{
	return asking->request.channel.kind < SPI_CHANNEL_KINDS ? asking->request.channel.kind : SPI_CHANNEL_OTHER;
}

void asked_add(const struct asking *asking)
{
	asked_of(asking->uid)->kind[kind_of(asking)].asked++;
}

bool asked_may(uid_t uid)
{
	struct asked *a = asked_of(uid);
	uint64_t now = loop_now(), second = now / 1000;

	if (a->second != second) {
		a->second = second;
		a->now = 0;
	}
	return ++a->now <= ASKED_RATE;
}

void asked_late(const struct asking *asking)
{
	asked_of(asking->uid)->kind[kind_of(asking)].late++;
}

static bool is_same(const struct unfollowed *a, const struct unfollowed *b)
{
	return a->uid == b->uid && a->peer_uid == b->peer_uid && a->kind == b->kind && !strcmp(a->name, b->name) &&
	       !strcmp(a->why, b->why);
}

/* What was not met for longest goes; of the user's own where there are many. */
static void add(const struct unfollowed *met)
{
	struct unfollowed *u = unfollowed, *oldest = unfollowed, *own = NULL;
	unsigned int n = 0;

	for (; u < unfollowed + nr_unfollowed && !is_same(u, met); u++) {
		oldest = u->used < oldest->used ? u : oldest;
		if (u->uid != met->uid)
			continue;
		own = own && own->used < u->used ? own : u;
		n++;
	}
	if (u == unfollowed + nr_unfollowed) {
		u = n >= LINES_OF_USER ? own : nr_unfollowed < UNFOLLOWED_MAX ? &unfollowed[nr_unfollowed++] : oldest;
		*u = *met;
	}
	u->times++;
	u->pid = met->pid;
	u->used = ++used;
}

void asked_nobody(const struct asking *asking, const char *why)
{
	struct unfollowed met = { .uid = asking->uid, .peer_uid = (uid_t) -1, .kind = kind_of(asking) };

	asked_of(asking->uid)->kind[kind_of(asking)].nobody++;
	snprintf(met.why, sizeof(met.why), "%s", why);
	add(&met);
}

void unfollowed_add(const struct asking *asking, const struct peer *peer)
{
	struct unfollowed met = { .uid = asking->uid, .peer_uid = peer->uid, .kind = kind_of(asking), .pid = peer->one.pid };

	snprintf(met.name, sizeof(met.name), "%s", peer->name);
	snprintf(met.why, sizeof(met.why), "%s", peer->why);
	add(&met);
}
