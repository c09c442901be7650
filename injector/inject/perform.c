/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the stopped thread is made to do: make the agent's socket, load the
 * library, have the agent attach; and what becomes of a call that fails, crashes
 * or takes too long.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injector/base/foreign-fd.h"
#include "injector/inject/session.h"
#include "liblttng-spi/base/agent-proto.h"

#define LOCK_PATIENCE		UINT64_C(50000000)	/* ns for dlopen() to get the loader's lock */
#define CALL_PATIENCE		UINT64_C(2000000000)	/* ns between looks into a call that takes longer */
#define CALL_GIVE_UP		UINT64_C(12000000000)	/* ns for constructors before they are left alone */

/* The agent's file is named to dlopen() as /proc/self/fd/N. A directory into which a daemon has locked itself has no /proc. */
static bool has_proc(const struct spi_session *s)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root/proc/stat", (int) s->pid);
	return !faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) || errno != ENOENT;	/* access() uses no capability where the user is not root */
}

/* dlopen() said no: its own words. */
static int explain_dlopen(struct spi_session *s)
{
	char text[800] = "";
	uint64_t at = 0;

	if (!has_proc(s))
		return FAIL(s, ELIBACC, "there is no /proc in its root directory: start it under the rule, so that it is traced before chroot(), "
			    "or mount --bind /proc and /dev/shm there");
	if (s->target.dlerror &&
	    !spi_remote_call(&s->remote, &at, s->target.dlerror, 0, 0, 0, spi_now() + CALL_PATIENCE) && at) {
		/* It may end close before unreadable memory: read what there is. */
		for (size_t n = 0; n + 16 < sizeof(text); n += 16)
			if (spi_memory_read(s->pid, at + n, text + n, 16) || memchr(text + n, 0, 16))
				break;
		text[sizeof(text) - 1] = 0;
	}
	return FAIL(s, ELIBACC, "dlopen() refused %s: %s", s->carry.name, *text ? text : "no reason given");
}

/* Has the library's file been mapped yet? If not, no constructor has run. */
static bool library_is_mapped(const struct spi_session *s)
{
	struct spi_maps maps;
	bool mapped = true;

	if (!spi_maps_read(&maps, s->pid))
		mapped = spi_maps_find_file(&maps, s->carry.name) != NULL;
	spi_maps_free(&maps);
	return mapped;
}

/*
 * Does dlopen() wait for the loader's lock, which is in the loader's own data? When it waits for another one, as malloc()'s
 * over a large process's fork(), it has the loader's already, and must not be taken back.
 */
static bool is_for_loader(const struct spi_session *s, const struct user_regs_struct *regs)
{
	return regs->orig_rax == SYS_futex && regs->rdi >= s->target.loader.low && regs->rdi < s->target.loader.high &&
	       !library_is_mapped(s);
}

/* For a call's end, CALL_PATIENCE at most; or until the caller wants no more of it. */
static int wait_a_while(struct spi_session *s, uint64_t *result)
{
	uint64_t until = spi_now() + CALL_PATIENCE;
	int ret;

	do
		ret = spi_remote_wait(&s->remote, result, spi_now() + LOCK_PATIENCE);
	while (ret == -ETIMEDOUT && spi_now() < until && !spi_session_is_unwanted(s));
	return ret;
}

/*
 * A call that takes long: -EDEADLK when it is stuck in the loader's lock, which
 * another thread has: then it is to be undone. Else have patience, else leave it
 * alone.
 */
static int finish_slow_call(struct spi_session *s, uint64_t *result)
{
	uint64_t begun = spi_now();
	struct user_regs_struct regs;

	for (;;) {
		bool frozen = spi_thread_is_frozen(s->pid, s->remote.tid);
		int ret = spi_remote_peek(&s->remote, &regs);

		if (ret && ret != -EAGAIN)
			return ret;
		if (!ret && is_for_loader(s, &regs))
			return -EDEADLK;
		if (!ret && (frozen || spi_now() >= begun + CALL_GIVE_UP || spi_session_is_unwanted(s))) {
			spi_remote_leave(&s->remote);
			return FAIL(s, ETIMEDOUT, "%s %s after %u s; they are left to finish, after which the thread goes on "
				    "with its work", frozen ? "it was frozen with its control group within the constructors of" :
				    "the constructors still run of", s->carry.name, (unsigned int) ((spi_now() - begun) / 1000000000));
		}
		if (!ret)
			spi_remote_resume(&s->remote);
		ret = wait_a_while(s, result);
		if (ret != -ETIMEDOUT)
			return ret;
	}
}

static int call(struct spi_session *s, uint64_t *result, uint64_t function, uint64_t a, uint64_t b)
{
	int ret = spi_remote_call(&s->remote, result, function, a, b, 0, spi_now() + LOCK_PATIENCE);

	if (ret == -ETIMEDOUT)
		ret = finish_slow_call(s, result);
	if (ret == -EFAULT && s->remote.crash)
		FAIL(s, EFAULT, "%s crashed while it was loaded (%s at 0x%llx); the call was undone", s->carry.name,
		     strsignal(s->remote.crash), (unsigned long long) s->remote.crash_at);
	else if (ret == -ESRCH && !s->result->text[0])
		FAIL(s, ESRCH, "it ended while %s was loaded", s->carry.name);
	else if (ret && ret != -EDEADLK && !s->result->text[0])
		FAIL(s, -ret, "calling into it failed: %s", strerror(-ret));
	return ret;
}

static int remote_syscall(struct spi_session *s, const char *name, int64_t *result, uint64_t number, uint64_t a,
		uint64_t b,
			  uint64_t c, uint64_t d)
{
	int ret = spi_remote_syscall(&s->remote, result, number, a, b, c, d);

	if (ret)
		return FAIL(s, -ret, "%s() could not be called in it: %s", name, strerror(-ret));
	if (*result < 0)
		return FAIL(s, (int) -*result, "%s() failed in it: %s", name, strerror((int) -*result));
	return 0;
}

void spi_session_close(struct spi_session *s, int fd)
{
	int64_t ignored;

	spi_remote_syscall(&s->remote, &ignored, SYS_close, fd, 0, 0, 0);
}

void spi_session_note_stop(struct spi_session *s)
{
	uint64_t us = (s->remote.let_go_at - s->remote.stopped_at) / 1000;

	if (us > s->result->looked_us)
		s->result->looked_us = (uint32_t) us;
}

/*
 * With the thread stopped at any place: a system call takes no lock. The memfd
 * is filled while the thread runs on, which takes longer than all the rest.
 */
int spi_session_put_library(struct spi_session *s)
{
	int64_t fd = -1;
	int ret = spi_remote_begin(&s->remote);

	if (!ret)
		ret = spi_target_write(&s->target, s->remote.text, s->carry.name, strlen(s->carry.name) + 1);
	if (!ret)
		ret = remote_syscall(s, "memfd_create", &fd, SYS_memfd_create, s->remote.text, MFD_CLOEXEC, 0, 0);
	spi_remote_end(&s->remote);
	spi_session_note_stop(s);
	if (ret)
		return s->result->text[0] ? ret : FAIL(s, -ret, "its thread %d could not be prepared: %s",
						       (int) s->remote.tid, strerror(-ret));
	s->memfd = fd;
	ret = spi_carry_fill(&s->carry, s->pid, s->memfd);
	if (ret)
		return FAIL(s, -ret, "its memfd could not be filled: %s", strerror(-ret));
	spi_carry_memfd_path(&s->carry, s->pid, s->memfd);
	return 0;
}

/* A descriptor of the target's, ours from now on. */
static int take_descriptor(struct spi_session *s, int fd)
{
	int got = syscall(SYS_pidfd_getfd, s->target.pidfd, fd, 0);

	if (got < 0 && (errno == EBADF || errno == ESRCH)) {
		/* The main thread has ended, and the descriptors with it: ask by the thread (Linux 6.9). */
		int pidfd = syscall(SYS_pidfd_open, s->remote.tid, O_EXCL);

		if (pidfd >= 0) {
			got = syscall(SYS_pidfd_getfd, pidfd, fd, 0);
			close(pidfd);
		}
	}
	if (got < 0)
		return FAIL(s, errno, "cannot take over its end of the agent socket: %s", strerror(errno));
	fcntl(got, F_SETFD, FD_CLOEXEC);
	/* A thread that goes on may have put anything in its place, which we must not even close (base/foreign-fd.c). */
	if (!spi_foreign_is_packet_socket(got))
		return FAIL(s, EBADF, "its end of the agent socket is no socket any more");
	return got;
}

/* A connected pair made in the target; one end comes here. Returns the target's end. */
static int make_socket(struct spi_session *s, int *theirs)
{
	uint64_t pair_at = s->remote.slot + 16;
	int64_t ignored;
	int pair[2], ret;

	ret = remote_syscall(s, "socketpair", &ignored, SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
			pair_at);
	if (!ret)
		ret = spi_memory_read(s->pid, pair_at, pair, sizeof(pair));
	if (ret)
		return ret;
	*theirs = pair[1];
	ret = take_descriptor(s, pair[0]);
	spi_session_close(s, pair[0]);
	if (ret < 0)
		return ret;
	s->result->fd = ret;
	return 0;
}

static int load_library(struct spi_session *s, uint64_t *handle)
{
	int ret = spi_target_write(&s->target, s->remote.text, s->carry.path, strlen(s->carry.path) + 1);

	if (!ret) {
		/* The agent's own modules are linked to its symbols; other libraries keep theirs to themselves. */
		ret = call(s, handle, s->target.dlopen, s->remote.text,
			   s->target.dlopen_flags | (s->attach ? RTLD_GLOBAL : 0));
		if (!ret && !*handle)
			ret = explain_dlopen(s);
	}
	if (s->memfd >= 0 && s->remote.begun) {
		spi_session_close(s, s->memfd);
		s->memfd = -1;
	}
	return ret;
}

static int attach_agent(struct spi_session *s, uint64_t handle, int theirs)
{
	uint64_t function = s->attach_offset, base, status;
	int ret;

	if (!s->already) {
		/* What dlopen() returns points to a struct link_map, whose first word is the load address. */
		ret = spi_memory_read(s->pid, handle, &base, sizeof(base));
		if (ret)
			return FAIL(s, -ret, "the loaded agent cannot be found");
		function += base;
	}
	spi_first_part(&s->first);	/* it starts a thread now */
	ret = call(s, &status, function, theirs, s->held ? SPI_ATTACH_WAITS : spi_safe_in_constructor(s->safe) ? SPI_ATTACH_CONSTRUCTOR : 0);
	if (!ret && (int32_t) status == -EBUSY)
		return FAIL(s, EBUSY, "another lttng trace, or a session daemon, traces it already: end that tracing first");
	if (!ret && (int32_t) status == -EALREADY)
		return FAIL(s, EALREADY, "it is about to connect to the session daemon: try again");
	if (!ret && (int32_t) status == -EAGAIN)	/* pthread_create()'s: another moment is no better */
		return FAIL(s, ENOMEM, "it may have no more threads (RLIMIT_NPROC, its cgroup's pids.max, or memory for a stack), and "
			    "its agent needs one");
	if (!ret && (int32_t) status < 0)
		return FAIL(s, -(int32_t) status, "its agent could not start: %s", strerror(-(int32_t) status));
	return ret;
}

/* The controller lets the thread go, which then goes back to the program's first instruction by itself. */
static void leave_waiting(struct spi_session *s, uint64_t handle)
{
	uint64_t base;

	if (s->wait_offset && !spi_memory_read(s->pid, handle, &base, sizeof(base)) &&
			!spi_remote_call_begin(&s->remote, base + s->wait_offset))
		spi_remote_leave(&s->remote);
}

int spi_session_perform(struct spi_session *s)
{
	uint64_t handle = 0;
	int theirs = -1, ret;

	ret = spi_remote_begin(&s->remote);
	if (ret)
		FAIL(s, -ret, "its thread %d could not be prepared: %s", (int) s->remote.tid, strerror(-ret));
	if (!ret && s->attach)
		ret = make_socket(s, &theirs);
	if (!ret && !(s->attach && s->already))
		ret = load_library(s, &handle);
	if (!ret && s->attach)
		ret = attach_agent(s, handle, theirs);
	if (ret && theirs >= 0 && s->remote.begun)
		spi_session_close(s, theirs);
	/* The agent's thread may wait for our processor, and has nobody to talk to before the result is known. */
	s->first.stays = !ret && s->options.finished;
	if (!ret && s->held)
		leave_waiting(s, handle);
	spi_remote_end(&s->remote);
	s->result->stop_us = (uint32_t) ((s->remote.let_go_at - s->remote.stopped_at) / 1000);
	s->result->tid = s->remote.tid;
	if (ret && s->result->fd >= 0) {
		spi_foreign_close(s->result->fd, true, (uid_t) -1);
		s->result->fd = -1;
	}
	return ret;
}
