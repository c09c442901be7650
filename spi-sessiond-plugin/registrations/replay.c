/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Registrations played back: the part that the plugin thread does.
 *
 * The thread connects to the daemon's application socket, for the second socket of an application
 * right behind the first, and for a few applications at a time: of the user whose turn was longest
 * ago, the application that came first. So nobody's thousands keep another user's one waiting. An
 * application that has hung up has no turn. The hook recognises the connection by its address, which
 * the kernel chose when the socket was bound, and by our own pid; a connection with our pid and
 * another address is the daemon's own business. The connecting end stays open until the daemon's end
 * is gone. Either the kept descriptor took its place, or the daemon refused the connection. Then the
 * registration is dropped, so that the application sees the end of its connection and comes again by
 * itself.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "spi-sessiond-plugin/broker/broker.h"
#include "spi-sessiond-plugin/daemon/daemon.h"
#include "spi-sessiond-plugin/registrations/held.h"

#define RETRY_MS	2	/* the daemon's backlog is full */
#define LOOK_MS		20

static enum socket_state socket_state(const struct held_socket *s)
{
	enum socket_state state;

	pthread_mutex_lock(&plugin_lock);
	state = s->state;
	pthread_mutex_unlock(&plugin_lock);
	return state;
}

static void socket_set_state(struct held_socket *s, enum socket_state state)
{
	pthread_mutex_lock(&plugin_lock);
	s->state = state;
	pthread_mutex_unlock(&plugin_lock);
}

/* The address must be known to the hook before it can see the connection. */
static int offer_connect(struct held_socket *s)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(address);
	struct ucred peer;

	s->client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->client < 0 || bind(s->client, (struct sockaddr *) &address, sizeof(sa_family_t)) ||
	    getsockname(s->client, (struct sockaddr *) &address, &size))
		return -errno;
	s->token = address;
	s->token_size = size;
	socket_set_state(s, SOCKET_OFFERED);
	memset(&address, 0, sizeof(address));
	address.sun_family = AF_UNIX;
	memcpy(address.sun_path, sockets.app_path, sizeof(address.sun_path));
	if (connect(s->client, (struct sockaddr *) &address, sizeof(address)))
		return -errno;
	/* Another daemon may have taken the place over. */
	size = sizeof(peer);
	if (getsockopt(s->client, SOL_SOCKET, SO_PEERCRED, &peer, &size) || peer.pid != plugin_pid)
		return -ECONNREFUSED;
	return 0;
}

/*
 * Begin to play a socket back. 0; -EAGAIN: not now; otherwise the daemon does not
 * take applications any more.
 */
static int offer_begin(struct held_socket *s)
{
	int ret = offer_connect(s);

	if (!ret)
		return 0;
	if (s->client >= 0)
		close(s->client);
	s->client = -1;
	socket_set_state(s, SOCKET_KEPT);
	return ret == -EMFILE || ret == -ENFILE || ret == -ENOMEM || ret == -ENOBUFS || ret == -EINTR ? -EAGAIN : ret;
}

/* The daemon's end of our connection is gone. */
static bool offer_ended(const struct held_socket *s)
{
	struct pollfd polled = { .fd = s->client };

	return poll(&polled, 1, 0) > 0;
}

/*
 * One step of one socket. True when the daemon has it; *error is set when it will
 * not, *waiting when it is to be tried again soon.
 */
static bool socket_advance(struct held_socket *s, bool room, int *error, bool *waiting)
{
	bool ended = s->client >= 0 && offer_ended(s);
	enum socket_state state = socket_state(s);

	if (state == SOCKET_TAKEN) {
		if (s->client >= 0)
			close(s->client);
		s->client = -1;
		return true;
	}
	if (state == SOCKET_OFFERED) {
		if (ended)
			*error = -ECONNRESET;
		return false;
	}
	if (!room)
		return false;
	*error = offer_begin(s);
	if (*error == -EAGAIN) {
		*error = 0;
		*waiting = true;
	}
	return false;
}

/* True when the record is done with, one way or the other. */
static bool held_play(struct held *h, bool room, bool *waiting)
{
	struct held_socket *cmd = &h->socket[REGISTRATION_CMD], *notify = &h->socket[REGISTRATION_NOTIFY];
	int error = 0;

	if (!socket_advance(cmd, room, &error, waiting)) {
		if (error)
			plugin_note("process %d: the daemon takes no registration: %s", (int) h->pid,
				    strerror(-error));
		/* Right behind it: one thread of the daemon's takes them in the order of their coming. */
		else if (socket_state(cmd) == SOCKET_OFFERED && socket_state(notify) == SOCKET_KEPT)
			socket_advance(notify, true, &(int) { 0 }, waiting);
		return error;
	}
	/* From here on a NOTIFY socket that comes is the daemon's own affair. */
	if (socket_state(notify) == SOCKET_NONE)
		return true;
	return socket_advance(notify, true, &error, waiting) || error;
}

/* No earlier registration of the same pid is left: what follows in the list is older. */
static bool held_is_first_of_pid(const struct held *h)
{
	for (const struct held *older = h->behind ? h->next : NULL; older; older = older->next) {
		if (older->pid == h->pid)
			return false;
	}
	return true;
}

/* ---- whose turn it is ---- */

#define SERVED_MAX	4096u

/* The number of a user's latest turn, at the place of his number: of two at one place the later one's. 0: none, or none for long. */
static struct {
	uid_t uid;
	uint64_t turn;
} served[SERVED_MAX];
static uint64_t turns_taken;

static uint64_t last_turn(uid_t uid)
{
	return served[uid % SERVED_MAX].uid == uid ? served[uid % SERVED_MAX].turn : 0;
}

static void turn_taken(uid_t uid)
{
	served[uid % SERVED_MAX].uid = uid;
	served[uid % SERVED_MAX].turn = ++turns_taken;
}

static bool gives_commands(uid_t uid)
{
	bool gives;

	pthread_mutex_lock(&plugin_lock);
	gives = clients_has_user(uid);
	pthread_mutex_unlock(&plugin_lock);
	return gives;
}

/* It has ended, or waits no more: the daemon would find that out in a turn. */
static bool has_hung_up(const struct held *h)
{
	struct pollfd polled = { .fd = h->socket[REGISTRATION_CMD].fd, .events = POLLRDHUP };

	return polled.fd >= 0 && poll(&polled, 1, 0) > 0 && polled.revents & (POLLHUP | POLLRDHUP | POLLERR);
}

/*
 * Of those that may go to the daemon, and whose turn has not come, the one that waits
 * longest of the user whose latest turn is; and every other time of those users who give commands. NULL: none, or none now;
 * then *wait says when to look again, -1: never.
 */
static struct held *held_next(int64_t now, int *wait)
{
	struct held *oldest[2] = { NULL, NULL }, *next;
	uint64_t turn = 0, oldest_turn[2] = { 0, 0 };
	unsigned int offers = 0, gives = 0;
	uid_t uid = (uid_t) -1;

	*wait = -1;
	for (struct held *h = held_first(); h; h = h->next) {
		enum socket_state state = h->released ? socket_state(&h->socket[REGISTRATION_CMD]) : SOCKET_NONE;

		if (state == SOCKET_KEPT && h->uid != uid) {
			uid = h->uid;
			turn = last_turn(uid);
			gives = gives_commands(uid);
		}
		/* the list begins with the youngest */
		if (state == SOCKET_KEPT && (!oldest[gives] || turn <= oldest_turn[gives]) && held_is_first_of_pid(h)) {
			oldest[gives] = h;
			oldest_turn[gives] = turn;
		}
		offers += state == SOCKET_OFFERED;
	}
	next = oldest[turns_taken % 2] ? oldest[turns_taken % 2] : oldest[!(turns_taken % 2)];
	if (!next)
		return NULL;
	*wait = turns_left(offers, next->since, now);
	return *wait ? NULL : next;
}

/*
 * One that waits for a new table alone: a command that does not end may keep it from
 * coming, which nobody should wait for. When it is the machine that is slow, it comes.
 */
static bool held_has_time(struct held *h, int64_t now)
{
	int64_t end = h->since + (held_limit_ms() < HOLD_BUSY_MS ? held_limit_ms() : HOLD_BUSY_MS);
	bool comes;

	pthread_mutex_lock(&plugin_lock);
	comes = h->stale && now < end && table_known() &&
		(clients_oldest() == INT64_MAX || now - clients_oldest() < HOLD_STALE_MS);
	pthread_mutex_unlock(&plugin_lock);
	if (comes)
		h->deadline = now + LOOK_MS < end ? now + LOOK_MS : end;
	return comes;
}

static void held_expire(struct held *h, int64_t now)
{
	struct spi_broker_release message = { .id = h->id };

	h->released = true;
	pthread_mutex_lock(&plugin_lock);
	queue_post(SPI_BROKER_EXPIRED, &message, sizeof(message), NULL, 0, -1, QUEUE_URGENT);
	pthread_mutex_unlock(&plugin_lock);
	plugin_note("process %d: held for %lld ms, no answer: played back", (int) h->pid,
		    (long long) (now - h->since));
	broker_expired(h->since, now);
}

int held_advance(int64_t now)
{
	int64_t next = -1;
	bool waiting = false;
	int wait = -1;

	/* First, as it may be the end of the broker, and so of everybody's waiting. */
	for (struct held *h = held_first(); h; h = h->next) {
		if (!h->released && now >= h->deadline && !held_has_time(h, now))
			held_expire(h, now);
	}
	for (struct held *h = held_first(), *following; h; h = following) {
		following = h->next;
		if (h->released) {
			bool is_over = socket_state(&h->socket[REGISTRATION_CMD]) == SOCKET_KEPT && has_hung_up(h);

			if (is_over)
				held_tell_late(h);
			if (is_over || held_play(h, false, &waiting))
				held_remove(h);
		} else if (next < 0 || h->deadline - now < next) {
			next = h->deadline > now ? h->deadline - now : 0;
		}
	}
	for (struct held *h; !waiting && (h = held_next(now, &wait));) {
		bool done = held_play(h, true, &waiting);

		turn_taken(h->uid);
		/* Afterwards: the daemon begins with it meanwhile. */
		ahead_take(h->pid, h->uid, now);
		if (done)
			held_remove(h);
	}
	if (waiting)
		wait = RETRY_MS;
	return wait >= 0 && (next < 0 || next > wait) ? wait : (int) next;
}

/* Our open connections: their end is the only event. */
unsigned int held_poll(struct pollfd *set, unsigned int max)
{
	unsigned int n = 0;

	for (struct held *h = held_first(); h; h = h->next) {
		for (unsigned int i = 0; i < 2 && n < max; i++) {
			if (h->socket[i].client >= 0)
				set[n++] = (struct pollfd) { .fd = h->socket[i].client };
		}
	}
	return n;
}
