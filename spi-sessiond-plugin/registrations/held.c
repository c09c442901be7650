/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Registrations kept back: the part that hooks do.
 *
 * A registration is kept by duplicating its descriptor and remembering what its message said; the
 * daemon is told that the peer hung up, and closes its own descriptor. The registration is played
 * back (replay.c) by a connection of the plugin's own to the application socket: when that
 * connection comes by the hook, the kept descriptor is put in its place, and the remembered message
 * is what was received. For the daemon, the application has just come.
 *
 * Of an application's two sockets the second (NOTIFY) must not come before the first. So the second
 * is kept, too, while the first is. A descriptor is set aside for it from the beginning, so that
 * keeping it cannot fail. The daemon joins the two by the pid alone: so a process that registers,
 * executes another program and registers again is kept in this order, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <unistd.h>

#include "spi-sessiond-plugin/broker/broker.h"
#include "spi-sessiond-plugin/daemon/daemon.h"
#include "spi-sessiond-plugin/registrations/held.h"

#define START_MS	3000
#define HELD_MAX	4096
#define HELD_MAX_UID	2048	/* one user can't have all of it: who is beyond is not held */
#define HELD_MAX_OTHERS	3072	/* nor all who never gave a command */
#define HELD_MAX_PID	4	/* more is nothing that lttng-ust does */

static struct held *head;
static unsigned int nr_held;
static uint64_t last_id;

int held_limit_ms(void)
{
	static int value;

	if (!value)
		value = (int) spi_hold_ms();
	return value;
}

/* ---- keeping, in a hook ---------------------------------------------------- */

void held_free(struct held *h)
{
	for (unsigned int i = 0; i < 2; i++) {
		if (h->socket[i].fd >= 0)
			close(h->socket[i].fd);
		if (h->socket[i].client >= 0)
			close(h->socket[i].client);
	}
	free(h);
}

/* Duplicate high, out of the way of the daemon's own; -1 when descriptors run short. */
static int descriptor_keep(int sock)
{
	struct rlimit limit;
	rlim_t most;
	int fd;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return -1;
	most = limit.rlim_cur < 1u << 20 ? limit.rlim_cur : 1u << 20;
	fd = fcntl(sock, F_DUPFD_CLOEXEC, most / 2 < 512 ? (int) (most / 2) : 512);
	if (fd >= 0 && (rlim_t) fd >= most / 8 * 7) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static struct held *held_create(int sock, const struct ucred *peer, const struct registration *reg, const char *exec)
{
	struct held *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->pid = peer->pid;
	h->uid = peer->uid;
	h->started = process_started(h->pid);
	memcpy(h->exec, exec, sizeof(h->exec));
	h->socket[0].client = h->socket[1].client = -1;
	h->socket[REGISTRATION_CMD].fd = descriptor_keep(sock);
	h->socket[REGISTRATION_NOTIFY].fd = descriptor_keep(sock);
	h->socket[REGISTRATION_CMD].state = SOCKET_KEPT;
	h->socket[REGISTRATION_CMD].reg = *reg;
	if (h->socket[0].fd < 0 || h->socket[1].fd < 0) {
		held_free(h);
		return NULL;
	}
	return h;
}

static void app_describe(struct spi_broker_app *app, const struct ucred *peer, const struct registration *reg)
{
	memset(app, 0, sizeof(*app));
	app->pid = peer->pid;
	app->uid = peer->uid;
	app->gid = peer->gid;
	app->bits = reg->number[REGISTRATION_BITS];
	memcpy(app->name, reg->name, sizeof(reg->name));
}

/* With the lock. Is there room for one more of that process, of its user, of all? */
static bool held_has_room(const struct ucred *peer)
{
	unsigned int of_pid = 0, of_uid = 0;

	for (const struct held *h = head; h; h = h->next) {
		of_pid += h->pid == peer->pid;
		of_uid += h->uid == peer->uid;
	}
	return nr_held < (clients_has_user(peer->uid) ? HELD_MAX : HELD_MAX_OTHERS) && of_pid < HELD_MAX_PID && of_uid < HELD_MAX_UID;
}

/* With the lock. */
static bool held_is_of(pid_t pid)
{
	const struct held *h = head;

	while (h && h->pid != pid)
		h = h->next;
	return h != NULL;
}

/* The plugin thread may see it at once. With the lock. */
static void held_link(struct held *h, enum verdict verdict, bool released)
{
	h->released = released;
	h->id = ++last_id;
	h->behind = held_is_of(h->pid);
	h->generation = clients_begun();
	h->since = plugin_clock();
	h->stale = verdict == VERDICT_STALE;
	/* A program that had run for long when it registered is not at its start. */
	if (h->started <= h->since - START_MS)
		h->started = h->since;
	h->deadline = h->since +
		(h->stale && held_limit_ms() > HOLD_STALE_MS ? HOLD_STALE_MS : held_limit_ms());
	h->next = head;
	__atomic_store_n(&head, h, __ATOMIC_RELEASE);
	nr_held++;
}

/* Tell the broker and put the record in the list. With the lock. False: nobody was told. */
static bool held_add(struct held *h, enum verdict verdict, struct spi_broker_app *app, int pidfd)
{
	app->id = last_id + 1;
	app->deadline_ms = held_limit_ms();
	app->generation = clients_begun();
	if (!queue_post(SPI_BROKER_HELD, app, sizeof(*app), NULL, 0, pidfd, QUEUE_TOLD_AGAIN))
		return false;
	held_link(h, verdict, false);
	return true;
}

/*
 * Kept for no longer than it takes that an earlier registration under the same pid
 * is played back: by a process that has executed another program since. With the lock.
 */
static void held_add_behind(struct held *h)
{
	held_link(h, VERDICT_PASS, true);
	queue_wake();
}

static bool cmd_keep(int sock, const struct ucred *peer, const struct registration *reg)
{
	struct held *h = NULL;
	struct spi_broker_app app;
	enum verdict verdict;
	char exec[24] = "";
	int pidfd;
	bool open, kept = false, behind;

	pthread_mutex_lock(&plugin_lock);
	open = queue_is_open();
	behind = held_is_of(peer->pid);
	verdict = open ? table_judge(peer->uid, peer->pid, NULL, reg->name) : VERDICT_PASS;
	pthread_mutex_unlock(&plugin_lock);
	if (!open && !behind)
		return false;	/* the next broker is told of everybody at its start */
	if (verdict != VERDICT_PASS) {
		table_exec_name(peer->pid, exec);
		pthread_mutex_lock(&plugin_lock);
		verdict = table_judge(peer->uid, peer->pid, exec, reg->name);
		pthread_mutex_unlock(&plugin_lock);
	}
	if (verdict != VERDICT_PASS && broker_family(peer->pid))
		return false;	/* it holds none of these back, so there is no earlier one */
	pidfd = sockets_peer_pidfd(sock, peer->pid);
	if (pidfd < 0)
		return false;	/* gone already */
	app_describe(&app, peer, reg);
	if (verdict != VERDICT_PASS || behind)
		h = held_create(sock, peer, reg, exec);

	pthread_mutex_lock(&plugin_lock);
	if (verdict != VERDICT_PASS)
		verdict = h ? table_judge(peer->uid, peer->pid, exec, reg->name) : VERDICT_PASS;
	if (verdict != VERDICT_PASS && held_has_room(peer)) {
		kept = held_add(h, verdict, &app, pidfd);
	} else {
		queue_post(SPI_BROKER_APP, &app, sizeof(app), NULL, 0, pidfd, QUEUE_TOLD_AGAIN);
		if (h && held_is_of(peer->pid) && held_has_room(peer)) {
			held_add_behind(h);
			kept = true;
		}
	}
	pthread_mutex_unlock(&plugin_lock);
	if (h && !kept)
		held_free(h);
	return kept;
}

static bool notify_keep(int sock, const struct ucred *peer, const struct registration *reg)
{
	bool kept = false;

	pthread_mutex_lock(&plugin_lock);
	for (struct held *h = head; h && !kept; h = h->next) {
		struct held_socket *s = &h->socket[REGISTRATION_NOTIFY];

		if (h->pid != peer->pid || s->state != SOCKET_NONE ||
		    h->socket[REGISTRATION_CMD].state == SOCKET_TAKEN)
			continue;
		if (dup3(sock, s->fd, O_CLOEXEC) < 0)
			break;
		s->reg = *reg;
		s->state = SOCKET_KEPT;
		kept = true;
	}
	pthread_mutex_unlock(&plugin_lock);
	return kept;
}

bool held_keep(int sock, const struct ucred *peer, const struct registration *reg)
{
	if (reg->type == REGISTRATION_CMD)
		return cmd_keep(sock, peer, reg);
	return reg->type == REGISTRATION_NOTIFY && notify_keep(sock, peer, reg);
}

/* What the broker is to be told of, should it take too long. With the lock. */
static void late_describe(struct spi_broker_late *late, const struct held *h)
{
	memset(late, 0, sizeof(*late));
	if (table_judge(h->uid, h->pid, h->exec, h->socket[REGISTRATION_CMD].reg.name) != VERDICT_CONCERNED)
		return;
	late->pid = h->pid;
	late->uid = h->uid;
	memcpy(late->name, h->socket[REGISTRATION_CMD].reg.name, sizeof(h->socket[REGISTRATION_CMD].reg.name));
}

void held_tell_late(const struct held *h)
{
	struct spi_broker_late late;

	pthread_mutex_lock(&plugin_lock);
	late_describe(&late, h);
	turns_tell_late(&late, h->started);
	pthread_mutex_unlock(&plugin_lock);
}

int held_take(int sock, struct registration *reg)
{
	struct sockaddr_un address;
	socklen_t size = sizeof(address);
	struct spi_broker_late late;
	int fd = -1, ret;

	if (getpeername(sock, (struct sockaddr *) &address, &size) || size <= sizeof(sa_family_t))
		return 0;
	pthread_mutex_lock(&plugin_lock);
	for (struct held *h = head; h && fd < 0; h = h->next) {
		for (unsigned int i = 0; i < 2 && fd < 0; i++) {
			struct held_socket *s = &h->socket[i];

			if (s->state != SOCKET_OFFERED || s->token_size != size || memcmp(&s->token, &address, size))
				continue;
			fd = s->fd;
			s->fd = -1;
			s->state = SOCKET_TAKEN;
			if (i == REGISTRATION_CMD) {
				late_describe(&late, h);
				turns_begin(sock, h->pid, h->started, &late);
			}
			*reg = s->reg;
		}
	}
	pthread_mutex_unlock(&plugin_lock);
	if (fd < 0)
		return 0;
	/* This closes the daemon's end of our connection, which is what the plugin thread waits for. */
	ret = dup3(fd, sock, O_CLOEXEC) < 0 ? -EPIPE : 1;
	close(fd);
	return ret;
}

/* ---- the list, for the plugin thread --------------------------------------- */

struct held *held_first(void)
{
	return __atomic_load_n(&head, __ATOMIC_ACQUIRE);
}

void held_remove(struct held *h)
{
	struct held **at = &head;

	pthread_mutex_lock(&plugin_lock);
	while (*at != h)
		at = &(*at)->next;
	*at = h->next;
	nr_held--;
	pthread_mutex_unlock(&plugin_lock);
	held_free(h);
}

void held_release(uint64_t id)
{
	for (struct held *h = held_first(); h; h = h->next) {
		if (h->id == id)
			h->released = true;
	}
}

void held_release_all(void)
{
	for (struct held *h = held_first(); h; h = h->next)
		h->released = true;
}

void held_rejudge(void)
{
	pthread_mutex_lock(&plugin_lock);
	for (struct held *h = head; h; h = h->next) {
		if (!h->stale || h->released || table_generation() < h->generation)
			continue;
		h->stale = false;
		h->deadline = h->since + held_limit_ms();
		/* Commands that began since concern a running application, which this one then is. */
		if (table_judge(h->uid, h->pid, h->exec, h->socket[REGISTRATION_CMD].reg.name) != VERDICT_CONCERNED)
			h->released = true;
	}
	pthread_mutex_unlock(&plugin_lock);
}

bool held_in_turn(pid_t pid)
{
	bool found;

	pthread_mutex_lock(&plugin_lock);
	found = turns_has(pid);
	for (const struct held *h = head; h && !found; h = h->next)
		found = h->pid == pid && h->socket[REGISTRATION_CMD].state == SOCKET_OFFERED;
	pthread_mutex_unlock(&plugin_lock);
	return found;
}

bool held_waits(pid_t pid)
{
	bool found = false;

	pthread_mutex_lock(&plugin_lock);
	for (const struct held *h = head; h && !found; h = h->next)
		found = h->pid == pid && !h->released;
	pthread_mutex_unlock(&plugin_lock);
	return found;
}
