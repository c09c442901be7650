/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The other end of a UNIX socket. The kernel says which socket is its peer. That has no inode before the connection is
 * accepted: then the listening sockets say whose connections wait there.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "broker/peers/sock-diag.h"
#include "rules/rule.h"

/* ---- a connection ----------------------------------------------------------------------------------------------- */

static int unix_attribute_u32(const void *body, size_t size, unsigned short type, uint32_t *value)
{
	size_t n;
	const void *at = sock_attribute(body, size, sizeof(struct unix_diag_msg), type, &n);

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
	const char *icons = sock_attribute(body, size, sizeof(*socket), UNIX_DIAG_ICONS, &n);

	for (size_t i = 0; icons && i + sizeof(uint32_t) <= n; i += sizeof(uint32_t))
		if (!memcmp(icons + i, &waiting->client, sizeof(waiting->client))) {
			sock_end_add(waiting->end, socket->udiag_ino);
			return 1;
		}
	return 0;
}

int unix_find_connected(uint64_t inode, struct found *found)
{
	struct unix_diag_req request = {
		.sdiag_family = AF_UNIX, .udiag_states = -1u, .udiag_ino = (uint32_t) inode, .udiag_show = UDIAG_SHOW_PEER,
		.udiag_cookie = SOCK_NO_COOKIE,
	};
	struct waiting waiting = { (uint32_t) inode, &found->end };
	struct unix_peer peer = { false, 0 };
	int ret = sock_ask(&request, sizeof(request), false, sees_peer, &peer);

	if (ret == -ENOENT)
		return sock_refuse(found, ENOENT, "its socket is not of its network namespace");
	if (ret < 0)
		return sock_refuse(found, -ret, "the kernel does not tell of UNIX sockets: %s", strerror(-ret));
	if (!peer.has)
		return sock_refuse(found, ENOTCONN, "its socket is not connected");
	if (peer.inode) {
		sock_end_add(&found->end, peer.inode);
		found->inode = peer.inode;
		return 0;
	}
	request = (struct unix_diag_req) {
		.sdiag_family = AF_UNIX, .udiag_states = 1u << TCP_LISTEN, .udiag_show = UDIAG_SHOW_ICONS,
		.udiag_cookie = SOCK_NO_COOKIE,
	};
	ret = sock_ask(&request, sizeof(request), true, sees_waiting, &waiting);
	if (ret < 0)
		return sock_refuse(found, -ret, "the kernel does not tell who listens: %s", strerror(-ret));
	found->end.is_listening = true;
	return found->end.nr_inodes ? 0 : sock_refuse(found, ENOENT, "the other end is closed, or listens in another network namespace");
}

/* ---- a name ----------------------------------------------------------------------------------------------------- */

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
	const char *name = sock_attribute(body, size, sizeof(*socket), UNIX_DIAG_NAME, &n);
	const struct unix_diag_vfs *vfs = sock_attribute(body, size, sizeof(*socket), UNIX_DIAG_VFS, &n_vfs);

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
	sock_end_add(named->end, socket->udiag_ino);
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

int unix_find_named(const struct question *q, int directory, struct found *found)
{
	struct unix_diag_req request = {
		.sdiag_family = AF_UNIX, .udiag_states = -1u, .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_VFS,
		.udiag_cookie = SOCK_NO_COOKIE,
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
		return sock_refuse(found, -ret, "%s: %s", path, strerror(-ret));
	ret = sock_ask(&request, sizeof(request), true, sees_named, &named);
	if (ret < 0)
		return sock_refuse(found, -ret, "the kernel does not tell of UNIX sockets: %s", strerror(-ret));
	if (!found->end.nr_inodes)
		return sock_refuse(found, ECONNREFUSED, "no socket of its network namespace has the name %s", path);
	found->inode = found->end.inodes[0];
	return 0;
}

/* ---- all that listen -------------------------------------------------------------------------------------------- */

struct listing {
	struct listening *list;
	unsigned int *count;
};

/* One that has a name: datagrams come to any, connections to those that listen. */
static int sees_listening(void *data, const void *body, size_t size)
{
	const struct unix_diag_msg *socket = body;
	struct listing *listing = data;
	size_t n;

	if (sock_attribute(body, size, sizeof(*socket), UNIX_DIAG_NAME, &n) &&
	    (socket->udiag_type == SOCK_DGRAM || socket->udiag_state == TCP_LISTEN))
		sock_listening_add(listing->list, listing->count, socket->udiag_ino, SPI_CHANNELS_UNIX);
	return 0;
}

int unix_listening(struct listening *list, unsigned int *count)
{
	struct unix_diag_req request = {
		.sdiag_family = AF_UNIX, .udiag_states = -1u, .udiag_show = UDIAG_SHOW_NAME,
		.udiag_cookie = SOCK_NO_COOKIE,
	};
	struct listing listing = { list, count };

	return sock_ask(&request, sizeof(request), true, sees_listening, &listing);
}
