/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The agent's end of the agent socket (agent-proto.h). One link at a time. It is
 * first served by the thread that runs the constructor, until GO, then by the
 * control thread, which blocks every signal, is never traced itself and ends with
 * the link. A controller that vanishes leaves a process that takes its
 * instrumentation out, unless it was told to keep it.
 *
 * While an answer is awaited, commands that arrive are put aside in order.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include "liblttng-spi/core.h"

#define PACKET_MAX	(sizeof(struct spi_msg) + SPI_PROTO_BODY_MAX)
#define ANSWER_MS	70000		/* a code map of a large program takes its time; the controller has a deadline of 60 s */
#define GO_MS		120000

struct spi_pending {
	struct spi_pending *next;
	uint32_t bytes;			/* of the mapping */
	uint32_t size;			/* of the packet */
	uint8_t packet[];
};

struct spi_link *spi_link_current;	/* guarded by the control lock */
static char declined_text[8192];
static size_t declined_size;
static int attached;			/* a control thread owns a link */

/* ---- packets ------------------------------------------------------------ */

int spi_link_send(struct spi_link *link, uint16_t type, uint32_t id, const void *a, size_t na, const void *b, size_t nb, int fd)
{
	struct spi_msg head = { SPI_PROTO_MAGIC, SPI_PROTO_VERSION, type, id, (uint32_t) (na + nb) };
	struct iovec iov[3] = { { &head, sizeof(head) }, { (void *) a, na }, { (void *) b, nb } };
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 3 };
	long r;

	if (fd >= 0) {
		memset(&control, 0, sizeof(control));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
	}
	do
		r = spi_sys(SYS_sendmsg, link->fd, &msg, MSG_NOSIGNAL);
	while (r == -EINTR);
	return r < 0 ? (int) r : 0;
}

/* One packet into link->packet. Its size, 0 at the end of the link, -ETIMEDOUT or another errno. */
static long receive(struct spi_link *link, int timeout_ms, int *fd)
{
	struct iovec iov = { link->packet, PACKET_MAX };
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int) * 4)];
	} control;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	struct pollfd poll = { link->fd, POLLIN, 0 };
	const struct spi_msg *head = (const struct spi_msg *) link->packet;
	long r;

	*fd = -1;
	do
		r = spi_sys(SYS_poll, &poll, 1L, timeout_ms);
	while (r == -EINTR);
	if (r <= 0)
		return r < 0 ? r : -ETIMEDOUT;
	do
		r = spi_sys(SYS_recvmsg, link->fd, &msg, MSG_CMSG_CLOEXEC);
	while (r == -EINTR);
	if (r <= 0)
		return r;
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

long spi_link_answer(struct spi_link *link, uint16_t type, uint32_t id, void *body, size_t size, int *fd)
{
	const struct spi_msg *head = (const struct spi_msg *) link->packet;
	long r;

	for (;;) {
		r = receive(link, ANSWER_MS, fd);
		if (r == 0)
			return -ECONNRESET;
		if (r < 0)
			return r;
		if (head->type == type && head->id == id)
			break;
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
	n = spi_sys(SYS_read, fd, text, sizeof(text) - 1);
	spi_sys(SYS_close, fd);
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

static void link_close(struct spi_link *link)
{
	if (link->fd >= 0)
		spi_sys(SYS_close, link->fd);
	link->fd = -1;
	while (link->pending) {
		struct spi_pending *p = link->pending;

		link->pending = p->next;
		spi_sys(SYS_munmap, p, p->bytes);
	}
	if (link->packet)
		spi_sys(SYS_munmap, link->packet, (PACKET_MAX + 4095) & ~4095ul);
	link->packet = NULL;
	if (spi_link_current == link)
		spi_link_current = NULL;
}

/* Say HELLO and hear WELCOME. Takes fd over, also when it fails. */
int spi_link_open(struct spi_link *link, int fd, uint32_t hello_flags)
{
	struct spi_msg_hello hello = { .pid = (int32_t) spi_sys(SYS_getpid), .flags = hello_flags, .start_time = start_time() };
	struct spi_msg_welcome welcome;
	struct spi_object *exe = spi_objects_scan();
	const char *path = exe ? exe->path : "";
	int page, answer_fd;
	long r;

	memset(link, 0, sizeof(*link));
	link->fd = fd;
	link->hello_flags = hello_flags;
	link->packet = spi_map_pages(PACKET_MAX);
	r = -EPERM;
	if (!link->packet || !peer_is_allowed(fd))
		goto fail;
	page = spi_status_fd();
	r = spi_link_send(link, SPI_MSG_HELLO, 0, &hello, sizeof(hello), path, strlen(path) + 1, page);
	if (page >= 0)
		spi_sys(SYS_close, page);
	if (r < 0)
		goto fail;
	r = spi_link_answer(link, SPI_MSG_WELCOME, 0, &welcome, sizeof(welcome), &answer_fd);
	if (r < 0)
		goto fail;
	link->welcome_flags = welcome.flags;
	if (welcome.string_max)
		spi_string_max = welcome.string_max;
	spi_link_current = link;
	return 0;
fail:
	link_close(link);
	return (int) r;
}

/* ---- what could not be done ------------------------------------------------ */

void spi_link_declined_flush(struct spi_link *link)
{
	if (declined_size && link && link->fd >= 0)
		spi_link_send(link, SPI_MSG_DECLINED, 0, declined_text, declined_size + 1, NULL, 0, -1);
	declined_size = 0;
}

void spi_link_declined(struct spi_link *link, const char *object, const char *function, const char *reason)
{
	int n;

	__atomic_fetch_add(&spi_status->declined, 1, __ATOMIC_RELAXED);
	if (!link) {
		spi_note("not instrumented: %s:%s: %s", object, function, reason);
		return;
	}
	for (int tries = 0; tries < 2; tries++) {
		n = spi_format(declined_text + declined_size, sizeof(declined_text) - declined_size, "%s\t%s\t%s\n", object,
			function, reason);
		if (declined_size + (size_t) n < sizeof(declined_text)) {
			declined_size += (size_t) n;
			return;
		}
		declined_text[declined_size] = 0;
		spi_link_declined_flush(link);
	}
}

/* ---- commands --------------------------------------------------------------- */

static void answer_rule(struct spi_link *link, uint32_t id, uint32_t rule, const struct spi_rule_result *result)
{
	struct spi_msg_rule_done done = {
		rule, result->status, result->matched, result->instrumented, result->declined, result->generic,
	};

	spi_link_declined_flush(link);
	spi_link_send(link, SPI_MSG_RULE_DONE, id, &done, sizeof(done), result->text, strlen(result->text) + 1, -1);
}

/* 1: GO; 2: DETACH was done; 0: go on. */
static int command(struct spi_link *link, const struct spi_msg *head, char *body)
{
	static struct spi_rule_result result;	/* under the control lock */
	struct spi_msg_rule rule = { 0 };
	int stop = 0;

	body[head->size] = 0;
	if (head->size >= sizeof(rule))
		memcpy(&rule, body, sizeof(rule));
	memset(&result, 0, sizeof(result));
	spi_control_lock();
	switch (head->type) {
	case SPI_MSG_RULE_ADD:
		if (head->size > sizeof(rule))
			spi_rule_add(link, rule.rule, rule.flags, body + sizeof(rule), &result);
		else
			result.status = -EPROTO;
		answer_rule(link, head->id, rule.rule, &result);
		break;
	case SPI_MSG_RULE_REMOVE:
		spi_rule_remove(rule.rule, &result);
		answer_rule(link, head->id, rule.rule, &result);
		break;
	case SPI_MSG_RULE_DISABLE:
	case SPI_MSG_RULE_ENABLE:
		spi_rule_set(rule.rule, head->type == SPI_MSG_RULE_ENABLE, &result);
		answer_rule(link, head->id, rule.rule, &result);
		break;
	case SPI_MSG_DETACH:
		spi_rules_remove_all();
		spi_status_fold_all();
		__atomic_store_n(&attached, 0, __ATOMIC_RELEASE);	/* the next controller may come at once */
		spi_link_send(link, SPI_MSG_DETACHED, head->id, NULL, 0, NULL, 0, -1);
		stop = 2;
		break;
	case SPI_MSG_GO:
		stop = 1;
		break;
	}
	spi_control_unlock();
	return stop;
}

/* Serve until GO (stop_at_go), DETACH or the link's end: 1, 2 or -errno. */
static int serve(struct spi_link *link, int timeout_ms, int stop_at_go)
{
	for (;;) {
		struct spi_pending *p = link->pending;
		int fd = -1, stop;
		long r;

		if (p) {
			link->pending = p->next;
			memcpy(link->packet, p->packet, p->size);
			spi_sys(SYS_munmap, p, p->bytes);
		} else {
			r = receive(link, timeout_ms, &fd);
			if (fd >= 0)
				spi_sys(SYS_close, fd);
			if (r == -EPROTO)
				continue;
			if (r <= 0)
				return r < 0 ? (int) r : -ECONNRESET;
		}
		/* the packet buffer is used again while a rule is carried out */
		{
			const struct spi_msg *head = (const struct spi_msg *) link->packet;
			size_t bytes = sizeof(*head) + head->size + 1;
			char *copy = spi_map_pages(bytes);

			if (!copy)
				return -ENOMEM;
			memcpy(copy, link->packet, bytes - 1);
			stop = command(link, (const struct spi_msg *) copy, copy + sizeof(*head));
			spi_sys(SYS_munmap, copy, (bytes + 4095) & ~4095ul);
		}
		if (stop == 2 || (stop == 1 && stop_at_go))
			return stop;
	}
}

int spi_link_serve_until_go(struct spi_link *link)
{
	int r = serve(link, GO_MS, 1);

	if (r != 1) {
		spi_control_lock();
		spi_rules_remove_all();
		link_close(link);
		spi_control_unlock();
	}
	return r == 1 ? 0 : -ECONNRESET;
}

/* ---- the control thread ------------------------------------------------------- */

static void *control_thread(void *data)
{
	struct spi_link *link = data;
	int r = 0;

	spi_thread.busy = SPI_BUSY_ALWAYS;
	spi_sys(SYS_prctl, PR_SET_NAME, "lttng-spi", 0L, 0L, 0L);
	spi_threads_learn_stack();
	if (!link->packet)
		r = spi_link_open(link, spi_fd_high(link->fd), link->hello_flags);
	if (r == 0)
		r = serve(link, -1, 0);
	spi_control_lock();
	if (r != 2)
		__atomic_store_n(&attached, 0, __ATOMIC_RELEASE);
	if (r != 2 && !(link->welcome_flags & SPI_WELCOME_KEEP))
		spi_rules_remove_all();
	link_close(link);
	spi_control_unlock();
	spi_sys(SYS_munmap, link, 4096L);
	return NULL;
}

/* The thread inherits a mask with everything blocked but what the agent's own reads may raise. */
static int start_control_thread(struct spi_link *own)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, old;
	int r;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGTRAP);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	r = pthread_create(&thread, &attr, control_thread, own);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r) {
		__atomic_store_n(&attached, 0, __ATOMIC_RELEASE);
		link_close(own);
		spi_sys(SYS_munmap, own, 4096L);
	}
	return -r;
}

int spi_link_serve_thread(struct spi_link *link)
{
	struct spi_link *own = spi_map_pages(4096);

	if (!own)
		return -ENOMEM;
	*own = *link;
	if (spi_link_current == link)
		spi_link_current = own;
	__atomic_store_n(&attached, 1, __ATOMIC_RELEASE);
	return start_control_thread(own);
}

static int attach(int fd, uint32_t hello_flags)
{
	struct spi_link *own;

	if (__atomic_exchange_n(&attached, 1, __ATOMIC_ACQ_REL))
		return -EBUSY;
	own = spi_map_pages(4096);
	if (!own) {
		__atomic_store_n(&attached, 0, __ATOMIC_RELEASE);
		return -ENOMEM;
	}
	own->fd = fd;
	own->hello_flags = hello_flags;
	return start_control_thread(own);
}

int spi_attach_thread(int fd)
{
	return attach(fd, 0);
}

int spi_attach_child(const char *path)
{
	int fd = spi_link_connect(path), r;

	if (fd < 0)
		return fd;
	r = attach(fd, SPI_HELLO_FORKED);
	if (r == -EBUSY || r == -ENOMEM)	/* with any other error the link had it, and closed it */
		spi_sys(SYS_close, fd);
	return r;
}

/* In the child of a fork the socket is still the parent's conversation. */
void spi_link_fork_child(void)
{
	if (spi_link_current && spi_link_current->fd >= 0)
		spi_sys(SYS_close, spi_link_current->fd);
	spi_link_current = NULL;
	declined_size = 0;
	attached = 0;
}
