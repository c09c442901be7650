/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The inspector: a child process that reads the headers of files whose debug files are looked for.
 * Only the file itself says which debug files belong to it, and the supervising process must not
 * read foreign bytes. So the inspector enters its sandbox before it has seen a byte; it is sent a
 * descriptor, and answers with a struct look.
 *
 * The inspector is always waited for. spi-codemap may have been started by the first process of a
 * container, to which the kernel gives orphans.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "codemap/base/sandbox.h"
#include "codemap/elf/image.h"
#include "codemap/elf/inspector.h"

static int looker = -1;
static pid_t looker_pid;

/* A file name at the start of a section, NUL-terminated; *rest is what follows it. */
static const char *link_name(const struct image *image, const char *section, struct bytes *rest)
{
	struct bytes bytes = image_raw(image, image_section(image, section));
	const uint8_t *nul = bytes.size ? memchr(bytes.data, 0, bytes.size) : NULL;

	if (!nul || nul == bytes.data)
		return NULL;
	rest->data = nul + 1;
	rest->size = rest->ready = bytes.size - (uint64_t) (nul + 1 - bytes.data);
	return (const char *) bytes.data;
}

static void links_look(const struct image *image, struct look *look)
{
	struct bytes rest;
	const char *name = link_name(image, ".gnu_debuglink", &rest);
	uint64_t crc_at = name ? (4 - (strlen(name) + 1) % 4) % 4 : 0;

	if (name && strlen(name) < sizeof(look->link) && rest.size >= crc_at + 4) {
		strcpy(look->link, name);
		memcpy(&look->link_crc, rest.data + crc_at, 4);
	}
	name = link_name(image, ".gnu_debugaltlink", &rest);
	if (name && strlen(name) < sizeof(look->alt) && rest.size && rest.size <= sizeof(look->alt_id)) {
		strcpy(look->alt, name);
		look->alt_id_size = (uint32_t) rest.size;
		memcpy(look->alt_id, rest.data, rest.size);
	}
}

struct question {
	uint64_t size;		/* of the file */
	int main_object;
};

static void look_inside(int fd, const struct question *q, struct look *look)
{
	struct image image = { .name = "", .size = q->size };
	const char *why = "cannot be mapped";
	void *data = mmap(NULL, q->size, PROT_READ, MAP_PRIVATE, fd, 0);

	image.data = data;
	memset(look, 0, sizeof(*look));
	if (data == MAP_FAILED || !image_read(&image, q->main_object, &why)) {
		strncpy(look->why, why, sizeof(look->why) - 1);
	} else {
		look->build_id_size = image.build_id_size;
		memcpy(look->build_id, image.build_id, sizeof(look->build_id));
		look->has_debug_info = image_section(&image, ".debug_info") || image_section(&image, ".zdebug_info");
		links_look(&image, look);
	}
	if (data != MAP_FAILED)
		munmap(data, q->size);
}

/* `fd` -1: none comes. Returns the bytes that came, <= 0 at the end. */
static ssize_t packet_move(int socket, int sends, void *data, size_t size, int *fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec io = { data, size };
	struct msghdr message = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	ssize_t n;

	if (sends && *fd >= 0) {
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), fd, sizeof(int));
	} else if (sends) {
		message.msg_controllen = 0;
	}
	n = sends ? sendmsg(socket, &message, MSG_NOSIGNAL) : recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	if (sends)
		return n;
	c = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	*fd = -1;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(c), sizeof(int));
	return n;
}

static void looker_run(int socket)
{
	struct question q;
	struct look look;
	int fd, none = -1;

	sandbox_enter(1);
	while (packet_move(socket, 0, &q, sizeof(q), &fd) == sizeof(q) && fd >= 0) {
		look_inside(fd, &q, &look);
		close(fd);
		packet_move(socket, 1, &look, sizeof(look), &none);
	}
	_exit(0);
}

void look_end(void)
{
	if (looker < 0)
		return;
	close(looker);
	looker = -1;
	while (waitpid(looker_pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void looker_start(void)
{
	pid_t parent = getpid();
	int pair[2];

	if (looker >= 0)
		return;
	signal(SIGCHLD, SIG_DFL);
	fflush(NULL);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) || (looker_pid = fork()) < 0)
		fail("cannot start a process that looks into it");
	if (!looker_pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		close(pair[0]);
		looker_run(pair[1]);
	}
	close(pair[1]);
	looker = pair[0];
	fail_last = look_end;
}

void look_at(int fd, uint64_t size, int main_object, struct look *look)
{
	const struct question q = { size, main_object };
	int status = 0, none;

	looker_start();
	if (packet_move(looker, 1, (void *) &q, sizeof(q), &fd) == sizeof(q) &&
	    packet_move(looker, 0, look, sizeof(*look), &none) == sizeof(*look)) {
		/* Nothing that it says is believed to be well formed. */
		look->why[sizeof(look->why) - 1] = look->link[sizeof(look->link) - 1] = look->alt[sizeof(look->alt) - 1] = 0;
		if (look->build_id_size > sizeof(look->build_id) || look->alt_id_size > sizeof(look->alt_id))
			look->build_id_size = look->alt_id_size = 0;
		if (strchr(look->link, '/'))
			look->link[0] = 0;
		return;
	}
	close(looker);
	looker = -1;
	while (waitpid(looker_pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		fail("its analysis ended with signal %d (%s): the file may be broken, or was changed meanwhile; get a "
		     "good copy", WTERMSIG(status), strsignal(WTERMSIG(status)));
	fail("its analysis ended without a result: please report this file");
}
