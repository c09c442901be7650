/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Packets of the agent socket (agent-proto.h): the connection, sending, receiving,
 * waiting for an answer. While one is awaited, commands that arrive are put aside
 * in order. What the commands do is control.c's.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include "liblttng-spi/exec.h"
#include "liblttng-spi/link-internal.h"
#include "liblttng-spi/patch-internal.h"
#include "liblttng-spi/base/proc.h"

#define PACKET_MAX	(sizeof(struct spi_msg) + SPI_PROTO_BODY_MAX)
#define MOMENT_MS	3
#define RENEW_MS	200
#define RENEW_TRIES	5
#define ANSWER_MS	70000		/* a code map of a large program takes its time; the controller has a deadline of 60 s */

SPI_FORK_DATA struct spi_link *spi_link_current;	/* guarded by the control lock */
SPI_FORK_DATA int spi_link_renewed_fd = -1;
SPI_FORK_DATA int spi_link_fd = -1;			/* its descriptor, to be read without the lock: the link itself may be unmapped at any moment */

/* ---- packets ------------------------------------------------------------ */

static int link_send(struct spi_link *link, uint16_t type, uint32_t id, const void *a, size_t na, const void *b, size_t nb, int fd,
	long flags)
{
	struct spi_msg head = { SPI_PROTO_MAGIC, SPI_PROTO_VERSION, type, id, (uint32_t) (na + nb) };
	struct iovec iov[3] = { { &head, sizeof(head) }, { (void *) a, na }, { (void *) b, nb } };
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 3 };
	int waits;
	long r;

	if (!spi_may(SPI_MAY_TALK) && !spi_thread_is_tracer())	/* that could be its end */
		return -EPERM;
	if (fd >= 0) {
		memset(&control, 0, sizeof(control));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
	}
	waits = spi_control_peer_wait();
	do
		r = spi_sys(SYS_sendmsg, link->fd, &msg, MSG_NOSIGNAL | flags);
	while (r == -EINTR);
	spi_control_peer_wait_end(waits);
	return r < 0 ? (int) r : 0;
}

int spi_link_send(struct spi_link *link, uint16_t type, uint32_t id, const void *a, size_t na, const void *b, size_t nb, int fd)
{
	return link_send(link, type, id, a, na, b, nb, fd, 0);
}

int spi_link_send_at_once(struct spi_link *link, uint16_t type, uint32_t id)
{
	return link_send(link, type, id, NULL, 0, NULL, 0, -1, MSG_DONTWAIT);
}

static long link_poll(struct spi_link *link, int timeout_ms)
{
	struct pollfd poll = { link->fd, POLLIN, 0 };
	int waits = spi_control_peer_wait();
	long r;

	do
		r = spi_sys(SYS_poll, &poll, 1L, timeout_ms);
	while (r == -EINTR);
	spi_control_peer_wait_end(waits);
	return r;
}

/* Like poll(). Numbers of descriptors are not held for longer than a moment, which is what most answers take. */
static long link_wait(struct spi_link *link, int timeout_ms)
{
	int is_moment = spi_low_fds_are_held() && (timeout_ms < 0 || timeout_ms > MOMENT_MS), is_mine;
	long r;

	r = link_poll(link, is_moment ? MOMENT_MS : timeout_ms);
	if (r || !is_moment)
		return r;
	is_mine = spi_control_is_mine();
	if (!is_mine)
		spi_control_lock();
	spi_low_fds_wait();
	if (!is_mine)
		spi_control_unlock();
	r = link_poll(link, timeout_ms);
	if (!is_mine)
		spi_control_lock();
	spi_low_fds_wait_end();
	if (!is_mine)
		spi_control_unlock();
	return r;
}

/* By the connection that it has made as another user. 0: there is none. */
static int link_go_on(struct spi_link *link)
{
	int former;

	if (!link->renewed)
		return 0;
	former = link->fd;
	link->fd = link->renewed;
	link->renewed = 0;
	if (spi_link_current == link)
		__atomic_store_n(&spi_link_fd, link->fd, __ATOMIC_RELEASE);
	__atomic_store_n(&spi_link_renewed_fd, -1, __ATOMIC_RELEASE);
	spi_sys(SYS_close, former);
	return 1;
}

long spi_link_receive(struct spi_link *link, int timeout_ms, int *fd)
{
	struct iovec iov = { link->packet, PACKET_MAX };
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int) * 4)];
	} control;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	const struct spi_msg *head = (const struct spi_msg *) link->packet;
	long r;

	*fd = -1;
	r = link_wait(link, timeout_ms);
	if (r <= 0)
		return r < 0 ? r : -ETIMEDOUT;
	do
		r = spi_sys(SYS_recvmsg, link->fd, &msg, MSG_CMSG_CLOEXEC);
	while (r == -EINTR);
	if (r <= 0)
		return r == 0 && link_go_on(link) ? -EPROTO : r;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		int n = (int) ((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (int i = 0; i < n; i++) {
			int got;

			memcpy(&got, CMSG_DATA(c) + (size_t) i * sizeof(int), sizeof(got));
			if (*fd < 0)
				*fd = got;
			else
				spi_sys(SYS_close, got);
		}
	}
	if ((size_t) r < sizeof(*head) || head->magic != SPI_PROTO_MAGIC || head->version != SPI_PROTO_VERSION ||
			head->size + sizeof(*head) != (size_t) r) {
		if (*fd >= 0)
			spi_sys(SYS_close, *fd);
		*fd = -1;
		return -EPROTO;
	}
	return r;
}

static void put_aside(struct spi_link *link, long size)
{
	size_t bytes = sizeof(struct spi_pending) + (size_t) size;
	struct spi_pending *p = spi_map_pages(bytes), **tail = &link->pending;

	if (!p)
		return;
	p->bytes = (uint32_t) bytes;
	p->size = (uint32_t) size;
	memcpy(p->packet, link->packet, (size_t) size);
	while (*tail)
		tail = &(*tail)->next;
	*tail = p;
}

/*
 * Another connection, which came over one that is allowed. Who made it is not asked: in a user namespace
 * of ours its user has no name.
 */
static void link_move(struct spi_link *link, int fd)
{
	spi_sys(SYS_close, link->fd);
	link->fd = spi_fd_high(fd);
}

long spi_link_answer(struct spi_link *link, uint16_t type, uint32_t id, void *body, size_t size, int *fd)
{
	const struct spi_msg *head = (const struct spi_msg *) link->packet;
	long r;

	for (;;) {
		r = spi_link_receive(link, ANSWER_MS, fd);
		if (r == 0)
			return -ECONNRESET;
		if (r < 0)
			return r;
		if (head->type == type && head->id == id)
			break;
		if (head->type == SPI_MSG_SOCKET && *fd >= 0 && link->hello_flags & SPI_HELLO_SOCKET) {
			link_move(link, *fd);
			continue;
		}
		if (*fd >= 0)
			spi_sys(SYS_close, *fd);
		put_aside(link, r);
	}
	if (size > head->size)
		memset((char *) body + head->size, 0, size - head->size);
	memcpy(body, link->packet + sizeof(*head), head->size < size ? head->size : size);
	return head->size;
}

/* ---- opening -------------------------------------------------------------- */

static uint64_t start_time(void)
{
	char text[1024];
	long fd = spi_sys(SYS_openat, AT_FDCWD, "/proc/self/stat", O_RDONLY | O_CLOEXEC), n;
	const char *p;

	if (fd < 0)
		return 0;
	n = spi_proc_read(fd, text, sizeof(text) - 1);
	spi_proc_close(fd);
	text[n > 0 ? n : 0] = 0;
	p = strrchr(text, ')');
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? spi_parse_number(p + 1, NULL) : 0;
}

/* Only root or our own user may tell this process what to do. */
static int peer_is_allowed(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (spi_sys(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return 0;
	return peer.uid == 0 || peer.uid == (uid_t) spi_sys(SYS_getuid);
}

int spi_link_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	long fd, r;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = spi_sys(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0L);
	if (fd < 0)
		return (int) fd;
	do
		r = spi_sys(SYS_connect, fd, &address, sizeof(address));
	while (r == -EINTR);
	if (r < 0) {
		spi_sys(SYS_close, fd);
		return (int) r;
	}
	return spi_fd_high((int) fd);
}

/* ---- the nursery ---------------------------------------------------------- */

/*
 * A socket whose other end the controller has, and which all children inherit: one that begins sends the other end of a connection of
 * its own over it.
 */
int spi_nursery_fd = -1;

static void nursery_close(void)
{
	int fd = __atomic_exchange_n(&spi_nursery_fd, -1, __ATOMIC_ACQ_REL);

	if (fd >= 0)
		spi_sys(SYS_close, fd);
}

static int socket_give(struct spi_link *over, uint16_t type, int passes_credentials, long flags)
{
	int ends[2], on = passes_credentials;
	long r = spi_sys(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0L, ends);

	if (r < 0)
		return (int) r;
	r = spi_sys(SYS_setsockopt, ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	if (r == 0)
		r = link_send(over, type, 0, NULL, 0, NULL, 0, ends[1], flags);
	spi_sys(SYS_close, ends[1]);
	if (r < 0) {
		spi_sys(SYS_close, ends[0]);
		return (int) r;
	}
	return spi_fd_high(ends[0]);
}

/* For controllers that take children; the others find them by themselves. */
static void nursery_open(struct spi_link *link)
{
	nursery_close();
	if (link->welcome_flags & SPI_WELCOME_CHILDREN || link->welcome_flags >> SPI_WELCOME_RUN_SHIFT) {
		int fd = socket_give(link, SPI_MSG_NURSERY, 0, 0);

		__atomic_store_n(&spi_nursery_fd, fd < 0 ? -1 : fd, __ATOMIC_RELEASE);
	}
}

int spi_nursery_connect(int may_wait)
{
	struct spi_link nursery = { .fd = spi_nursery_fd };

	return nursery.fd < 0 ? -ENOENT : socket_give(&nursery, SPI_MSG_CHILD, 1, may_wait ? 0 : MSG_DONTWAIT);
}

void spi_nursery_note(const char *line)
{
	struct spi_link nursery = { .fd = spi_nursery_fd };

	if (nursery.fd >= 0)
		link_send(&nursery, SPI_MSG_NOTE, 0, line, strlen(line) + 1, NULL, 0, -1, MSG_DONTWAIT);
}

/* ---- another user ---------------------------------------------------------- */

static int has_other_user(const struct spi_link *link, uint32_t *uid)
{
	uint32_t ids[3];

	if (spi_sys(SYS_getresuid, &ids[0], &ids[1], &ids[2]) < 0 || ids[0] != ids[1] || ids[0] != ids[2])
		return 0;
	*uid = ids[0];
	return *uid != link->uid && *uid != link->refused;
}

static void renewed_close(struct spi_link *link)
{
	if (!link->renewed)
		return;
	__atomic_store_n(&spi_link_renewed_fd, -1, __ATOMIC_RELEASE);
	spi_sys(SYS_close, link->renewed);
	link->renewed = 0;
}

/* 0: what the controller says by the former connection comes first; 1: that has ended, or there is no controller any more. */
static int renewal_step(struct spi_link *link, int timeout_ms)
{
	struct pollfd poll[2] = { { link->fd, POLLIN, 0 }, { link->renewed, 0, 0 } };
	int waits = spi_control_peer_wait(), fd;
	long r = spi_sys(SYS_poll, poll, 2L, (long) timeout_ms);

	spi_control_peer_wait_end(waits);
	if (r <= 0)
		return 0;
	if (!poll[0].revents) {		/* it is refused */
		renewed_close(link);
		return 1;
	}
	r = spi_link_receive(link, 0, &fd);
	if (fd >= 0)
		spi_sys(SYS_close, fd);
	if (r > 0)
		put_aside(link, r);
	return r == 0 || !link->renewed;
}

/* 1: it goes on as that user, or will when the former connection ends. */
static int renew(struct spi_link *link, uint32_t uid)
{
	struct spi_msg_hello hello = { .pid = (int32_t) spi_sys(SYS_getpid), .flags = SPI_HELLO_RENEWS };
	uint64_t until = spi_now_ns() + RENEW_MS * UINT64_C(1000000), now;
	struct spi_link renewed = { .fd = -1 };
	int former = link->fd, is_renewed;

	spi_low_fds_hold();	/* the program gets the numbers that it would have without us */
	hello.start_time = start_time();
	renewed.fd = spi_nursery_connect(0);
	spi_low_fds_release();
	if (renewed.fd < 0)
		return 0;
	if (spi_link_send(&renewed, SPI_MSG_HELLO, 0, &hello, sizeof(hello), "", 1, -1) < 0) {
		spi_sys(SYS_close, renewed.fd);
		return 0;
	}
	link->renewed = renewed.fd;
	__atomic_store_n(&spi_link_renewed_fd, renewed.fd, __ATOMIC_RELEASE);
	/* nobody says anything by the former connection meanwhile: the lock is held */
	while (link->renewed && (now = spi_now_ns()) < until && !renewal_step(link, (int) ((until - now) / 1000000u) + 1))
		;
	is_renewed = link->renewed || link->fd != former;
	if (is_renewed)
		link->uid = uid;
	return is_renewed;
}

/* libc makes the other threads another user before the one that asked for it, and the controller asks about the process's first. */
void spi_link_keep_user(struct spi_link *link)
{
	const uint64_t moment[2] = { 0, 2000000 };
	int is_renewed = link->renewed || spi_nursery_fd < 0;
	uint32_t uid;

	for (int i = 0; i < RENEW_TRIES && !is_renewed && has_other_user(link, &uid); i++) {
		if (i)
			spi_sys(SYS_nanosleep, moment, NULL);
		spi_control_lock();
		is_renewed = renew(link, uid);
		spi_control_unlock();
		if (!is_renewed && i == RENEW_TRIES - 1)
			link->refused = uid;	/* until the controller asks for it */
	}
}

void spi_link_close(struct spi_link *link)
{
	if (link->fd >= 0)
		spi_sys(SYS_close, link->fd);
	renewed_close(link);
	link->fd = -1;
	while (link->pending) {
		struct spi_pending *p = link->pending;

		link->pending = p->next;
		spi_sys(SYS_munmap, p, p->bytes);
	}
	if (link->packet)
		spi_sys(SYS_munmap, link->packet, (PACKET_MAX + 4095) & ~4095ul);
	link->packet = NULL;
	if (spi_link_current == link) {
		spi_link_current = NULL;
		__atomic_store_n(&spi_link_fd, -1, __ATOMIC_RELEASE);
		nursery_close();
	}
}

/* Say HELLO. Takes fd over, also when it fails. */
int spi_link_hello(struct spi_link *link, int fd, uint32_t hello_flags)
{
	struct spi_msg_hello hello = { .pid = (int32_t) spi_sys(SYS_getpid), .flags = hello_flags, .start_time = start_time() };
	struct spi_object *exe;
	char words[sizeof(exe->path) + SPI_FOLLOW_MAX];	/* two strings */
	const char *follow;
	int page, n;
	long r;

	/* no child must be forked while the dynamic linker's lock is held by a thread that it will not have */
	spi_control_lock();
	exe = spi_objects_scan();
	n = spi_format(words, sizeof(words) - SPI_FOLLOW_MAX, "%s", exe ? exe->path : "") + 1;
	/* a forked child has its parent's trees; a program that was executed, those that came along */
	follow = hello_flags & SPI_HELLO_FORKED ? spi_exec_env_followed() : spi_env.follow ? spi_env.follow : "";
	n += spi_format(words + n, SPI_FOLLOW_MAX, "%s", follow) + 1;
	spi_control_unlock();
	memset(link, 0, sizeof(*link));
	link->fd = fd;
	link->hello_flags = hello_flags;
	link->uid = (uint32_t) spi_sys(SYS_geteuid);
	link->refused = UINT32_MAX;
	link->packet = spi_map_pages(PACKET_MAX);
	r = -EPERM;
	if (!link->packet || !peer_is_allowed(fd))
		goto fail;
	page = spi_status_fd();
	r = spi_link_send(link, SPI_MSG_HELLO, 0, &hello, sizeof(hello), words, (size_t) n, page);
	if (page >= 0)
		spi_sys(SYS_close, page);
	if (r >= 0)
		return 0;
fail:
	spi_link_close(link);
	return (int) r;
}

/* Hear WELCOME. Closes the link when it fails. */
int spi_link_welcome(struct spi_link *link)
{
	struct spi_msg_welcome welcome;
	int fd;
	long r = spi_link_answer(link, SPI_MSG_WELCOME, 0, &welcome, sizeof(welcome), &fd);

	if (r < 0) {
		spi_link_close(link);
		return (int) r;
	}
	link->welcome_flags = welcome.flags;
	spi_floor_take(fd);
	if (r > (long) sizeof(welcome))
		spi_exec_env_init(link->packet + sizeof(struct spi_msg) + sizeof(welcome), (size_t) r - sizeof(welcome));
	else
		spi_exec_env_init(NULL, 0);
	spi_module_run(welcome.flags >> SPI_WELCOME_RUN_SHIFT);
	spi_string_max = welcome.string_max ? welcome.string_max : spi_env_string_max();
	nursery_open(link);
	spi_link_current = link;
	__atomic_store_n(&spi_link_fd, link->fd, __ATOMIC_RELEASE);
	return 0;
}

int spi_link_open(struct spi_link *link, int fd, uint32_t hello_flags)
{
	int r = spi_link_hello(link, fd, hello_flags);

	return r < 0 ? r : spi_link_welcome(link);
}
