/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Root injects into another user's process as that user. An injector reads the target's mappings,
 * stacks and libraries, and whatever the target has prepared there meets an injector with the
 * target's own rights. The one exception is CAP_CHECKPOINT_RESTORE, with which files are opened that
 * this user's processes have mapped, and that were replaced or are outside of the target's root
 * directory by now.
 *
 * The kernel may not let that user trace the process: a process that has given up root's rights is
 * not dumpable, one with capabilities is beyond the user, and kernel.yama.ptrace_scope may leave
 * tracing to CAP_SYS_PTRACE. Then a second child injects with this capability as well, and with
 * CAP_DAC_READ_SEARCH, because much in /proc is root's where a process is not dumpable. For all
 * else this child has the user's rights. seccomp filters are copied before the change of user, as
 * the kernel gives them to root only: sandbox.c.
 */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "injector/base/foreign-fd.h"
#include "injector/base/paths.h"
#include "injector/inject/as-user.h"
#include "injector/inject/carry.h"
#include "injector/inject/remote.h"
#include "injector/inject/sandbox.h"
#include "injector/inject/target.h"

#define UNWANTED_MS	20
#define CHANGES_MOST	3u
#define GRACE_MS	20000u	/* constructors of what is loaded may take 12 s */
#define OPENS		(UINT64_C(1) << CAP_CHECKPOINT_RESTORE)
#define TRACES		(UINT64_C(1) << CAP_SYS_PTRACE | UINT64_C(1) << CAP_DAC_READ_SEARCH)

int spi_become(uid_t uid, gid_t gid, uint64_t capabilities)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct left[2] = { 0 }, had[2];

	if (uid == (uid_t) -1 || gid == (gid_t) -1)	/* the kernel takes that for: stay who you are */
		return -EINVAL;
	if (syscall(SYS_capget, &head, had))
		return -errno;
	for (unsigned int i = 0; i < 2; i++)
		left[i].permitted = left[i].effective = (uint32_t) (capabilities >> (32 * i)) & had[i].permitted;
	if (capabilities)
		prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	if (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return -errno;
	if (uid && syscall(SYS_capset, &head, left))
		return -errno;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return 0;
}

struct outcome {
	int ret;
	struct spi_inject_result result;
};

static bool is_unwanted(void *data)
{
	char byte;

	return recv(*(const int *) data, &byte, 1, MSG_DONTWAIT | MSG_PEEK) >= 0;
}

static int outcome_send(int socket, const struct outcome *outcome)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec io = { (void *) outcome, sizeof(*outcome) };
	struct msghdr message = { .msg_iov = &io, .msg_iovlen = 1 };

	if (outcome->result.fd >= 0) {
		struct cmsghdr *c;

		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &outcome->result.fd, sizeof(int));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof(*outcome) ? 0 : -errno;
}

static int outcome_receive(int socket, struct outcome *outcome)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec io = { outcome, sizeof(*outcome) };
	struct msghdr message = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&message);

	if (n != sizeof(*outcome))
		return -EPIPE;
	outcome->result.fd = -1;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&outcome->result.fd, CMSG_DATA(c), sizeof(int));
	outcome->result.text[sizeof(outcome->result.text) - 1] = 0;
	return 0;
}

struct identity {
	uid_t uid;
	gid_t gid;
};

static __attribute__((noreturn)) void child_run(pid_t pid, const struct spi_inject_options *options, const struct identity *identity,
						bool traces, int socket)
{
	struct outcome outcome = { .result = { .size = sizeof(outcome.result), .fd = -1 } };
	struct spi_inject_options own = *options;

	const char *library = options->library ? options->library : spi_path_agent();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (library)
		spi_carry_keep_open(library);
	if (traces)
		spi_identity_keep_memory(pid);
	setpriority(PRIO_PROCESS, 0, -20);	/* not permitted later, and a thread stands still meanwhile */
	own.size = sizeof(own);
	own.unwanted = is_unwanted;
	own.data = own.progress ? own.data : &socket;
	if (own.progress)
		own.unwanted = NULL;
	if (!traces) {
		own.flags |= SPI_INJECT_EXPECT_UID;
		own.expect_uid = identity->uid;
	}
	spi_sandbox_keep(pid, &own);
	outcome.ret = spi_become(identity->uid, identity->gid, traces ? OPENS | TRACES : OPENS);
	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* a change of user clears it */
	if (outcome.ret)
		snprintf(outcome.result.text, sizeof(outcome.result.text), "process %d: cannot take its user id %u: %s", (int) pid,
			 (unsigned int) identity->uid, strerror(-outcome.ret));
	else
		outcome.ret = spi_inject(pid, &own, &outcome.result);
	outcome_send(socket, &outcome);
	_exit(0);
}

static int inject_by_child(pid_t pid, const struct spi_inject_options *options, const struct identity *identity, bool traces,
			   struct spi_inject_result *result)
{
	struct outcome outcome;
	struct pollfd polled = { .events = POLLIN };
	bool told = false, is_late;
	uint64_t until;
	int pair[2], ret;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return spi_inject_fail(result, errno, "process %d: no descriptors for its injector: %s", (int) pid, strerror(errno));
	child = fork();
	if (!child)
		child_run(pid, options, identity, traces, pair[1]);
	close(pair[1]);
	polled.fd = pair[0];
	until = spi_now() + (uint64_t) (options->deadline_ms + GRACE_MS) * 1000000;
	while (child > 0 && poll(&polled, 1, UNWANTED_MS) <= 0 && spi_now() < until)
		if (!told && options->unwanted && options->unwanted(options->data)) {
			told = true;
			send(pair[0], "", 1, MSG_NOSIGNAL);
		}
	/* Its user may have stopped it, or keep it from ending. */
	is_late = child > 0 && spi_now() >= until && poll(&polled, 1, 0) <= 0;
	ret = child <= 0 ? -EAGAIN : is_late ? -ETIMEDOUT : outcome_receive(pair[0], &outcome);
	close(pair[0]);
	if (is_late) {
		kill(child, SIGKILL);
		spi_foreign_leave(child, identity->uid);
	}
	while (child > 0 && !is_late && waitpid(child, NULL, __WALL) < 0 && errno == EINTR)
		;
	if (ret)
		return spi_inject_fail(result, -ret, "process %d: its injector ended unexpectedly", (int) pid);
	outcome.result.size = result->size;
	*result = outcome.result;
	return outcome.ret;
}

/* 1: it is root's, as far as anybody may say; 0: `identity` is whose it is, `is_one` whether in all ids. */
static int identity_read(pid_t pid, struct identity *identity, bool *is_one)
{
	char *status = spi_proc_read(NULL, "%d/status", (int) pid);
	unsigned int uids[4], gids[4];
	bool is_root = true;

	if (status && spi_status_ids(status, "Uid", uids) && spi_status_ids(status, "Gid", gids)) {
		is_root = false;
		*is_one = true;
		for (unsigned int i = 0; i < 4; i++) {
			is_root |= !uids[i];
			*is_one &= uids[i] == uids[0] && gids[i] == gids[0];
		}
		*identity = (struct identity) { uids[1], gids[1] };
	}
	free(status);
	return is_root;
}

int spi_inject_as_user(pid_t pid, const struct spi_inject_options *options, struct spi_inject_result *result)
{
	struct identity identity, now;
	bool is_one, is_same;
	int ret;

	/* It may become another user meanwhile, as what serves a login does. */
	for (unsigned int i = 0; i < CHANGES_MOST; i++) {
		if (identity_read(pid, &identity, &is_one))
			return 1;
		ret = is_one ? inject_by_child(pid, options, &identity, false, result) : -EPERM;
		if (ret != -EPERM && ret != -EACCES)
			return ret;
		memset(result->text, 0, sizeof(result->text));
		ret = inject_by_child(pid, options, &identity, true, result);
		if (ret != -EPERM && ret != -EACCES)
			return ret;
		is_same = !identity_read(pid, &now, &is_one) && now.uid == identity.uid && now.gid == identity.gid;
		if (is_same)
			return ret;
		memset(result->text, 0, sizeof(result->text));
	}
	return inject_by_child(pid, options, &identity, true, result);
}
