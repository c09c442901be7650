/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The other end of a socket, as the kernel tells it (sock_diag(7)), in the network namespace of the process that asks.
 *
 * A UNIX socket: the kernel says which socket is its peer. That has no inode before the connection is accepted: then
 * the listening sockets say whose connections wait there. TCP and UDP: the kernel looks the addresses up as it does
 * for a packet, so the answer is the socket that the message goes to, be it bound to all addresses. A TCP connection
 * that is not accepted has no inode either: whoever listens at its address may take it.
 *
 * Runs in a child of the broker's, which goes from namespace to namespace (setns()), as root. Elsewhere only its own
 * is seen.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "broker/peers/find.h"

#define ANSWER_MS	200

static int netlink = -1;		/* in namespace net_device, net_inode */
static uint64_t net_device, net_inode;

static int refuse(struct found *found, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int refuse(struct found *found, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(found->why, sizeof(found->why), format, args);
	va_end(args);
	return -error;
}

/* ---- the namespace --------------------------------------------------------------------------------------------- */

static int netlink_open(void)
{
	const struct timeval patience = { .tv_usec = ANSWER_MS * 1000 };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

/* Go into the network namespace of that process, and ask there. */
static int enter_namespace(int directory, struct found *found)
{
	int theirs = openat(directory, "ns/net", O_RDONLY | O_CLOEXEC), ret = 0;
	struct stat st, own;

	if (theirs < 0 || fstat(theirs, &st)) {
		ret = errno;
		if (theirs >= 0)
			close(theirs);
		return refuse(found, ret, "its network namespace cannot be read: %s", strerror(ret));
	}
	if (netlink >= 0 && st.st_dev == net_device && st.st_ino == net_inode) {
		close(theirs);
		return 0;
	}
	if (netlink >= 0)
		close(netlink);
	netlink = -1;
	if (stat("/proc/self/ns/net", &own) || own.st_dev != st.st_dev || own.st_ino != st.st_ino)
		ret = setns(theirs, CLONE_NEWNET) ? errno : 0;
	close(theirs);
	if (ret)
		return refuse(found, ret, "it is in another network namespace, where only root may look: %s", strerror(ret));
	netlink = netlink_open();
	if (netlink < 0)
		return refuse(found, -netlink, "the kernel does not tell of sockets: %s", strerror(-netlink));
	net_device = st.st_dev;
	net_inode = st.st_ino;
	return 0;
}

/* ---- asking the kernel ----------------------------------------------------------------------------------------- */

/* body, size: one socket, and its attributes. Not 0: no more is to be shown. */
typedef int (*sees_fn)(void *data, const void *body, size_t size);

/* What is left of a former answer is of another sequence. 0, what `sees` returned, or a negative errno. */
static int answers_take(uint32_t sequence, bool dumps, sees_fn sees, void *data)
{
	static _Alignas(struct nlmsghdr) char room[65536];
	int seen = 0;

	for (;;) {
		ssize_t n = recv(netlink, room, sizeof(room), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		for (struct nlmsghdr *head = (struct nlmsghdr *) room; NLMSG_OK(head, n); head = NLMSG_NEXT(head, n)) {
			if (head->nlmsg_seq != sequence)
				continue;
			if (head->nlmsg_type == NLMSG_DONE)
				return seen;
			if (head->nlmsg_type == NLMSG_ERROR)
				return ((const struct nlmsgerr *) NLMSG_DATA(head))->error ?: seen;
			if (!seen)
				seen = sees(data, NLMSG_DATA(head), NLMSG_PAYLOAD(head, 0));
			if (!dumps)
				return seen;
		}
	}
}

/* dumps: all sockets that fit; else one. */
static int ask(const void *request, size_t size, bool dumps, sees_fn sees, void *data)
{
	static uint32_t sequence;
	struct nlmsghdr head = {
		.nlmsg_len = NLMSG_LENGTH(size), .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		.nlmsg_flags = NLM_F_REQUEST | (dumps ? NLM_F_DUMP : 0), .nlmsg_seq = ++sequence,
	};
	struct iovec parts[] = { { &head, sizeof(head) }, { (void *) request, size } };
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct msghdr message = { .msg_name = &kernel, .msg_namelen = sizeof(kernel), .msg_iov = parts, .msg_iovlen = 2 };

	if (sendmsg(netlink, &message, 0) < 0)
		return -errno;
	return answers_take(sequence, dumps, sees, data);
}

/* The value of an attribute behind the first `skip` bytes; *size: its bytes. NULL: it is not there. */
static const void *attribute(const void *body, size_t all, size_t skip, unsigned short type, size_t *size)
{
	const struct rtattr *at = (const struct rtattr *) ((const char *) body + NLMSG_ALIGN(skip));
	int left = all > NLMSG_ALIGN(skip) ? (int) (all - NLMSG_ALIGN(skip)) : 0;

	for (; RTA_OK(at, left); at = RTA_NEXT(at, left))
		if (at->rta_type == type) {
			*size = RTA_PAYLOAD(at);
			return RTA_DATA(at);
		}
	return NULL;
}

static void end_add(struct end *end, uint64_t inode)
{
	if (inode && end->nr_inodes < ENDS_MAX)
		end->inodes[end->nr_inodes++] = inode;
}

/* ---- UNIX sockets ---------------------------------------------------------------------------------------------- */

static int unix_attribute_u32(const void *body, size_t size, unsigned short type, uint32_t *value)
{
	size_t n;
	const void *at = attribute(body, size, sizeof(struct unix_diag_msg), type, &n);

	if (!at || n < sizeof(*value))
		return 0;
	memcpy(value, at, sizeof(*value));
	return 1;
}

struct unix_peer {
	bool has;
	uint32_t inode;
};

static int sees_peer(void *data, const void *body, size_t size)
{
	struct unix_peer *peer = data;

	peer->has = unix_attribute_u32(body, size, UNIX_DIAG_PEER, &peer->inode);
	return 1;
}

/* A socket that listens: does that client's connection wait there? */
struct waiting {
	uint32_t client;
	struct end *end;
};

static int sees_waiting(void *data, const void *body, size_t size)
{
	const struct unix_diag_msg *socket = body;
	struct waiting *waiting = data;
	size_t n = 0;
	const char *icons = attribute(body, size, sizeof(*socket), UNIX_DIAG_ICONS, &n);

	for (size_t i = 0; icons && i + sizeof(uint32_t) <= n; i += sizeof(uint32_t))
		if (!memcmp(icons + i, &waiting->client, sizeof(waiting->client))) {
			end_add(waiting->end, socket->udiag_ino);
			return 1;
		}
	return 0;
}

#define NO_COOKIE { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE }

static int find_connected(uint64_t inode, struct found *found)
{
	struct unix_diag_req request = {
		.sdiag_family = AF_UNIX, .udiag_states = -1u, .udiag_ino = (uint32_t) inode, .udiag_show = UDIAG_SHOW_PEER,
		.udiag_cookie = NO_COOKIE,
	};
	struct waiting waiting = { (uint32_t) inode, &found->end };
	struct unix_peer peer = { false, 0 };
	int ret = ask(&request, sizeof(request), false, sees_peer, &peer);

	if (ret == -ENOENT)
		return refuse(found, ENOENT, "its socket is not of its network namespace");
	if (ret < 0)
		return refuse(found, -ret, "the kernel does not tell of UNIX sockets: %s", strerror(-ret));
	if (!peer.has)
		return refuse(found, ENOTCONN, "its socket is not connected");
	if (peer.inode) {
		end_add(&found->end, peer.inode);
		found->inode = peer.inode;
		return 0;
	}
	request = (struct unix_diag_req) {
		.sdiag_family = AF_UNIX, .udiag_states = 1u << TCP_LISTEN, .udiag_show = UDIAG_SHOW_ICONS,
		.udiag_cookie = NO_COOKIE,
	};
	ret = ask(&request, sizeof(request), true, sees_waiting, &waiting);
	if (ret < 0)
		return refuse(found, -ret, "the kernel does not tell who listens: %s", strerror(-ret));
	found->end.is_listening = true;
	return found->end.nr_inodes ? 0 : refuse(found, ENOENT, "the other end is closed, or listens in another network namespace");
}

/* Which socket has that name? */
struct named {
	const char *abstract;		/* behind the NUL; NULL: it is a file, */
	size_t size;
	struct stat file;		/* this one */
	const char *last;		/* its name there */
	struct end *end;
};

static bool has_last(const char *name, size_t size, const char *last)
{
	size_t n = strlen(last), length = strnlen(name, size);

	return length >= n && !memcmp(name + length - n, last, n) && (length == n || name[length - n - 1] == '/');
}

/* The number of a file system need not be what stat() says of its files: the name decides then. */
static int sees_named(void *data, const void *body, size_t size)
{
	const struct unix_diag_msg *socket = body;
	const struct named *named = data;
	size_t n = 0, n_vfs = 0;
	const char *name = attribute(body, size, sizeof(*socket), UNIX_DIAG_NAME, &n);
	const struct unix_diag_vfs *vfs = attribute(body, size, sizeof(*socket), UNIX_DIAG_VFS, &n_vfs);

	if (socket->udiag_type != SOCK_DGRAM || !name || !n)
		return 0;
	if (named->abstract) {
		if (*name || n - 1 != named->size || memcmp(name + 1, named->abstract, named->size))
			return 0;
	} else if (!vfs || n_vfs < sizeof(*vfs) || vfs->udiag_vfs_ino != (uint32_t) named->file.st_ino ||
		   (vfs->udiag_vfs_dev != (major(named->file.st_dev) << 20 | minor(named->file.st_dev)) &&
		    !has_last(name, n, named->last))) {
		return 0;
	}
	end_add(named->end, socket->udiag_ino);
	return 1;
}

/* As the process sees it, with its user's rights, and no symbolic link leads out of its root directory. */
static int stat_as(const struct question *q, int directory, const char *path, struct stat *st)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = *path == '/' ? RESOLVE_IN_ROOT : 0 };
	int at = openat(directory, *path == '/' ? "root" : "cwd", O_PATH | O_DIRECTORY | O_CLOEXEC), fd, ret;

	if (at < 0)
		return -errno;
	setfsgid(q->gid);
	setfsuid(q->uid);
	fd = syscall(SYS_openat2, at, path, &how, sizeof(how));
	ret = fd < 0 || fstat(fd, st) ? -errno : 0;
	setfsuid(geteuid());
	setfsgid(getegid());
	if (fd >= 0)
		close(fd);
	close(at);
	return ret;
}

static int find_named(const struct question *q, int directory, struct found *found)
{
	struct unix_diag_req request = {
		.sdiag_family = AF_UNIX, .udiag_states = -1u, .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_VFS,
		.udiag_cookie = NO_COOKIE,
	};
	const char *path = q->channel.path, *slash = strrchr(path, '/');
	struct named named = { .last = slash ? slash + 1 : path, .end = &found->end };
	int ret = 0;

	if (*path == '@') {
		named.abstract = path + 1;
		named.size = strlen(path + 1);
	} else {
		ret = stat_as(q, directory, path, &named.file);
	}
	if (ret)
		return refuse(found, -ret, "%s: %s", path, strerror(-ret));
	ret = ask(&request, sizeof(request), true, sees_named, &named);
	if (ret < 0)
		return refuse(found, -ret, "the kernel does not tell of UNIX sockets: %s", strerror(-ret));
	if (!found->end.nr_inodes)
		return refuse(found, ECONNREFUSED, "no socket of its network namespace has the name %s", path);
	found->inode = found->end.inodes[0];
	return 0;
}

/* ---- TCP and UDP ----------------------------------------------------------------------------------------------- */

/* IPv4 also where it is written as IPv6. */
static struct spi_msg_address plain(const struct spi_msg_address *address)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct spi_msg_address is = *address;

	if (is.family == AF_INET6 && !memcmp(is.bytes, mapped, sizeof(mapped))) {
		is.family = AF_INET;
		memmove(is.bytes, is.bytes + sizeof(mapped), 4);
	}
	if (is.family == AF_INET)
		memset(is.bytes + 4, 0, sizeof(is.bytes) - 4);
	return is;
}

static bool is_any(const struct spi_msg_address *address)
{
	static const uint8_t none[16];

	return !memcmp(address->bytes, none, sizeof(none));
}

static bool is_many(const struct spi_msg_address *a)
{
	return a->family == AF_INET ? (a->bytes[0] & 0xf0) == 0xe0 || !memcmp(a->bytes, "\xff\xff\xff\xff", 4) : a->bytes[0] == 0xff;
}

static void address_text(const struct spi_msg_address *a, char text[64])
{
	char host[INET6_ADDRSTRLEN] = "?";

	inet_ntop(a->family, a->bytes, host, sizeof(host));
	snprintf(text, 64, a->family == AF_INET6 ? "[%s]:%u" : "%s:%u", host, a->port);
}

struct inet_socket {
	uint64_t inode;
	uint8_t state;
};

static int sees_socket(void *data, const void *body, size_t size)
{
	const struct inet_diag_msg *socket = body;

	*(struct inet_socket *) data = (struct inet_socket) { socket->idiag_inode, socket->idiag_state };
	return 1;
}

static struct inet_diag_req_v2 inet_request(uint8_t protocol, const struct spi_msg_address *local,
					    const struct spi_msg_address *remote)
{
	struct inet_diag_req_v2 request = {
		.sdiag_family = (uint8_t) local->family, .sdiag_protocol = protocol, .idiag_states = -1u,
		.id = { .idiag_sport = htons(local->port), .idiag_dport = htons(remote->port), .idiag_cookie = NO_COOKIE },
	};

	memcpy(request.id.idiag_src, local->bytes, sizeof(request.id.idiag_src));
	memcpy(request.id.idiag_dst, remote->bytes, sizeof(request.id.idiag_dst));
	return request;
}

/* The socket that a packet from `remote` to `local` comes to. 1, 0: there is none, or a negative errno. */
static int inet_one(uint8_t protocol, const struct spi_msg_address *local, const struct spi_msg_address *remote,
		    struct inet_socket *socket)
{
	/* of UDP the kernel takes the addresses the other way round */
	struct inet_diag_req_v2 request = protocol == IPPROTO_UDP ? inet_request(protocol, remote, local) :
		inet_request(protocol, local, remote);
	int ret = ask(&request, sizeof(request), false, sees_socket, socket);

	return ret == -ENOENT ? 0 : ret;
}

/* Of those who listen at the address the ones that are bound to just that, or where there are none those bound to all. */
struct listeners {
	const struct spi_msg_address *at;
	struct end exact, any;
};

static int sees_listener(void *data, const void *body, size_t size)
{
	const struct inet_diag_msg *socket = body;
	struct listeners *listeners = data;
	struct spi_msg_address bound = { .port = ntohs(socket->id.idiag_sport), .family = socket->idiag_family };
	size_t n = 0;
	const uint8_t *v6only = attribute(body, size, sizeof(*socket), INET_DIAG_SKV6ONLY, &n);

	memcpy(bound.bytes, socket->id.idiag_src, sizeof(bound.bytes));
	bound = plain(&bound);
	if (socket->idiag_state != TCP_LISTEN || bound.port != listeners->at->port)
		return 0;
	if (is_any(&bound) && (bound.family == listeners->at->family || (bound.family == AF_INET6 && !(v6only && n && *v6only))))
		end_add(&listeners->any, socket->idiag_inode);
	else if (bound.family == listeners->at->family && !memcmp(bound.bytes, listeners->at->bytes, sizeof(bound.bytes)))
		end_add(&listeners->exact, socket->idiag_inode);
	return 0;
}

static int find_listeners(const struct spi_msg_address *at, struct found *found)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };
	struct listeners listeners = { .at = at };

	for (unsigned int i = 0; i < sizeof(families); i++) {
		struct inet_diag_req_v2 request = {
			.sdiag_family = families[i], .sdiag_protocol = IPPROTO_TCP, .idiag_states = 1u << TCP_LISTEN,
			.id = { .idiag_sport = htons(at->port), .idiag_cookie = NO_COOKIE },
		};
		int ret = ask(&request, sizeof(request), true, sees_listener, &listeners);

		if (ret < 0 && ret != -ENOENT)
			return refuse(found, -ret, "the kernel does not tell who listens: %s", strerror(-ret));
	}
	found->end = listeners.exact.nr_inodes ? listeners.exact : listeners.any;
	found->end.is_listening = true;
	return found->end.nr_inodes ? 0 : refuse(found, ENOENT, "nobody listens there any more");
}

static int find_inet(const struct question *q, struct found *found)
{
	const uint8_t protocol = q->channel.kind == SPI_CHANNEL_TCP ? IPPROTO_TCP : IPPROTO_UDP;
	struct spi_msg_address from = plain(&q->channel.from), to = plain(&q->channel.to);
	const struct spi_msg_address *own = q->by_receiver ? &to : &from, *other = q->by_receiver ? &from : &to;
	uint64_t inode = q->by_receiver ? q->channel.receiver : q->channel.sender;
	struct inet_socket socket = { 0, 0 };
	char text[64];
	int ret;

	if (from.family != to.family || (from.family != AF_INET && from.family != AF_INET6))
		return refuse(found, EAFNOSUPPORT, "its addresses are neither IPv4 nor IPv6");
	address_text(other, text);
	if (is_many(&to))
		return refuse(found, EOPNOTSUPP, "%s is an address of many", text);
	/* a datagram to an address of this machine comes from that address where its socket is bound to none */
	if (is_any(&from))
		memcpy(from.bytes, to.bytes, sizeof(from.bytes));
	if (protocol == IPPROTO_TCP) {
		ret = inet_one(protocol, own, other, &socket);
		if (ret < 0)
			return refuse(found, -ret, "the kernel does not tell of sockets: %s", strerror(-ret));
		if (!ret || socket.inode != inode)
			return refuse(found, EPERM, "it has no connection to %s by this socket", text);
	}
	ret = inet_one(protocol, other, own, &socket);
	if (ret < 0)
		return refuse(found, -ret, "the kernel does not tell of sockets: %s", strerror(-ret));
	if (!ret)
		return refuse(found, EHOSTUNREACH, "%s is not in this network namespace", text);
	if (protocol == IPPROTO_TCP && (!socket.inode || socket.state == TCP_LISTEN))
		return find_listeners(other, found);
	end_add(&found->end, socket.inode);
	found->inode = socket.inode;
	return found->end.nr_inodes ? 0 : refuse(found, ENOENT, "%s is closed", text);
}

int sockets_find(const struct question *q, int directory, struct found *found)
{
	int ret = enter_namespace(directory, found);

	if (ret)
		return ret;
	if (q->channel.kind == SPI_CHANNEL_TCP || q->channel.kind == SPI_CHANNEL_UDP)
		return find_inet(q, found);
	if (q->channel.kind == SPI_CHANNEL_UNIX_DATAGRAM && *q->channel.path && !q->by_receiver)
		return find_named(q, directory, found);
	return find_connected(q->by_receiver ? q->channel.receiver : q->channel.sender, found);
}
