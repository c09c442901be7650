/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The order of an injection.
 *
 *   look over the process (target.c), plan how the library gets there (carry.c),
 *   find the return gadgets, read the unwind tables (safe-point.c);
 *   for one thread after the other, until the deadline:
 *	look: stop it for some microseconds, copy its stack, let it go, judge
 *	act:  stop it, judge what it does now, if need be let it run to the end of
 *	      the function where it is not safe, and make the calls (remote.c)
 *
 * Everything runs on a thread of its own, because the kernel lets a tracer
 * thread's tracees go when that thread ends: whatever goes wrong, nothing stays
 * stopped.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "injector/carry.h"
#include "injector/paths.h"
#include "injector/remote.h"
#include "injector/safe-point.h"

#define DEADLINE_MS		3000u
#define CALL_PATIENCE		UINT64_C(2000000000)	/* ns for dlopen() before it is looked into */
#define CALL_GIVE_UP		UINT64_C(12000000000)	/* ns for constructors before they are left alone */
#define ESCAPE_PATIENCE		UINT64_C(2000000)	/* ns for a thread to come out of malloc() */
#define LOOKING_ROUNDS		3u
#define ESCAPES_MAX		8u
#define STOP_PATIENCE		UINT64_C(200000000)	/* ns for a thread to stop */
#define AGENT_PREFIX		"liblttng-spi.so"
#define ATTACH_FUNCTION		"lttng_spi_attach"

struct session {
	struct spi_inject_options options;
	struct spi_inject_result *result;
	struct spi_target target;
	struct spi_carry carry;
	struct spi_gadgets gadgets;
	struct spi_safe *safe;
	struct spi_remote remote;
	bool attach, already;
	int memfd;			/* the library's in the target; -1: none */
	uint64_t attach_offset;		/* of lttng_spi_attach() in the agent; or its address, when already */
	struct user_regs_struct looked_at;	/* at the last look */
	uint64_t deadline;		/* CLOCK_MONOTONIC, ns */
	const char *why;		/* why the last look was not good */
	pid_t why_tid;
	pid_t pid;
	int ret;
};

static void progress(const struct session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void progress(const struct session *s, const char *format, ...)
{
	char line[256];
	va_list args;

	if (!s->options.progress)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	s->options.progress(line, s->options.data);
}

#define FAIL(s, error, format, ...) \
	spi_inject_fail((s)->result, error, "process %d (%s): " format, (int) (s)->pid, (s)->target.name, ##__VA_ARGS__)

/* ---- with the thread stopped: what is to be done -------------------- */

/* dlopen() said no: its own words. */
static int explain_dlopen(struct session *s)
{
	char text[800] = "";
	uint64_t at = 0;

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

/* Has the library's file been mapped yet? If not, dlopen() waits for a lock, and no constructor has run. */
static bool library_is_mapped(const struct session *s)
{
	struct spi_maps maps;
	bool mapped = true;

	if (!spi_maps_read(&maps, s->pid))
		mapped = spi_maps_find_file(&maps, s->carry.name) != NULL;
	spi_maps_free(&maps);
	return mapped;
}

/* A call that takes long: undo it when it is stuck in the loader's lock, else have patience, else leave it alone. */
static int finish_slow_call(struct session *s, uint64_t *result)
{
	uint64_t give_up = spi_now() + CALL_GIVE_UP;
	struct user_regs_struct regs;

	for (;;) {
		int ret = spi_remote_peek(&s->remote, &regs);

		if (ret && ret != -EAGAIN)
			return ret;
		if (!ret && regs.orig_rax == SYS_futex && !library_is_mapped(s)) {
			spi_remote_end(&s->remote);
			return FAIL(s, EDEADLK, "another thread holds the dynamic loader's lock: try again");
		}
		if (spi_now() >= give_up) {
			spi_remote_leave(&s->remote);
			return FAIL(s, ETIMEDOUT, "the constructors of %s still run after %u s; they are left to finish, "
				    "after which the thread goes on with its work", s->carry.name,
				    (unsigned int) ((CALL_PATIENCE + CALL_GIVE_UP) / 1000000000));
		}
		if (!ret)
			spi_remote_resume(&s->remote);
		ret = spi_remote_wait(&s->remote, result, spi_now() + CALL_PATIENCE);
		if (ret != -ETIMEDOUT)
			return ret;
	}
}

static int call(struct session *s, uint64_t *result, uint64_t function, uint64_t a, uint64_t b)
{
	int ret = spi_remote_call(&s->remote, result, function, a, b, 0, spi_now() + CALL_PATIENCE);

	if (ret == -ETIMEDOUT)
		ret = finish_slow_call(s, result);
	if (ret == -EFAULT && s->remote.crash)
		FAIL(s, EFAULT, "%s crashed while it was loaded (%s at 0x%llx); the call was undone", s->carry.name,
		     strsignal(s->remote.crash), (unsigned long long) s->remote.crash_at);
	else if (ret == -ESRCH)
		FAIL(s, ESRCH, "it ended while %s was loaded", s->carry.name);
	else if (ret && !s->result->text[0])
		FAIL(s, -ret, "calling into it failed: %s", strerror(-ret));
	return ret;
}

static int remote_syscall(struct session *s, const char *name, int64_t *result, uint64_t number, uint64_t a, uint64_t b,
			  uint64_t c, uint64_t d)
{
	int ret = spi_remote_syscall(&s->remote, result, number, a, b, c, d);

	if (ret)
		return FAIL(s, -ret, "%s() could not be called in it: %s", name, strerror(-ret));
	if (*result < 0)
		return FAIL(s, (int) -*result, "%s() failed in it: %s", name, strerror((int) -*result));
	return 0;
}

static void remote_close(struct session *s, int fd)
{
	int64_t ignored;

	spi_remote_syscall(&s->remote, &ignored, SYS_close, fd, 0, 0, 0);
}

/* The last stop was not the one for the call: remember the longest such. */
static void note_stop(struct session *s)
{
	uint64_t us = (spi_now() - s->remote.stopped_at) / 1000;

	if (us > s->result->looked_us)
		s->result->looked_us = (uint32_t) us;
}

/*
 * With the thread stopped at any place: a system call takes no lock. The memfd
 * is filled while the thread runs on, which takes longer than all the rest.
 */
static int put_library(struct session *s)
{
	int64_t fd = -1;
	int ret = spi_remote_begin(&s->remote);

	if (!ret)
		ret = spi_memory_write(s->pid, s->remote.text, s->carry.name, strlen(s->carry.name) + 1);
	if (!ret)
		ret = remote_syscall(s, "memfd_create", &fd, SYS_memfd_create, s->remote.text, 1 /* MFD_CLOEXEC */, 0, 0);
	spi_remote_end(&s->remote);
	note_stop(s);
	if (ret)
		return s->result->text[0] ? ret : FAIL(s, -ret, "its thread %d could not be prepared: %s",
						       (int) s->remote.tid, strerror(-ret));
	s->memfd = fd;
	ret = spi_carry_fill(&s->carry, s->pid, s->memfd);
	if (ret)
		return FAIL(s, -ret, "its memfd could not be filled: %s", strerror(-ret));
	spi_carry_memfd_path(&s->carry, s->memfd);
	return 0;
}

/* A descriptor of the target's, ours from now on. */
static int take_descriptor(struct session *s, int fd)
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
	return got;
}

/* A connected pair made in the target; one end comes here. Returns the target's end. */
static int make_socket(struct session *s, int *theirs)
{
	uint64_t pair_at = s->remote.slot + 16;
	int64_t ignored;
	int pair[2], ret;

	ret = remote_syscall(s, "socketpair", &ignored, SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair_at);
	if (!ret)
		ret = spi_memory_read(s->pid, pair_at, pair, sizeof(pair));
	if (ret)
		return ret;
	*theirs = pair[1];
	ret = take_descriptor(s, pair[0]);
	remote_close(s, pair[0]);
	if (ret < 0)
		return ret;
	s->result->fd = ret;
	return 0;
}

static int load_library(struct session *s, uint64_t *handle)
{
	int ret = spi_memory_write(s->pid, s->remote.text, s->carry.path, strlen(s->carry.path) + 1);

	if (!ret) {
		/* The agent's own modules are linked to its symbols; other libraries keep theirs to themselves. */
		ret = call(s, handle, s->target.dlopen, s->remote.text,
			   s->target.dlopen_flags | (s->attach ? RTLD_GLOBAL : 0));
		if (!ret && !*handle)
			ret = explain_dlopen(s);
	}
	if (s->memfd >= 0 && s->remote.begun) {
		remote_close(s, s->memfd);
		s->memfd = -1;
	}
	return ret;
}

static int attach_agent(struct session *s, uint64_t handle, int theirs)
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
	ret = call(s, &status, function, theirs, 0);
	if (!ret && (int32_t) status == -EBUSY)
		return FAIL(s, EBUSY, "its agent already has a controller: end that tracing first");
	if (!ret && (int32_t) status < 0)
		return FAIL(s, -(int32_t) status, "its agent could not start: %s", strerror(-(int32_t) status));
	return ret;
}

static int perform(struct session *s)
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
		remote_close(s, theirs);
	spi_remote_end(&s->remote);
	s->result->stop_us = (uint32_t) ((spi_now() - s->remote.stopped_at) / 1000);
	s->result->tid = s->remote.tid;
	if (ret && s->result->fd >= 0) {
		close(s->result->fd);
		s->result->fd = -1;
	}
	return ret;
}

/* ---- finding the moment --------------------------------------------- */

static int not_now(struct session *s, pid_t tid, const char *why)
{
	s->why = why;
	s->why_tid = tid;
	return -EAGAIN;
}

static int stop_thread(struct session *s, pid_t tid)
{
	uint64_t until = spi_now() + STOP_PATIENCE;
	int ret;

	if (until > s->deadline)
		until = s->deadline;
	ret = spi_remote_stop(&s->remote, &s->target, &s->gadgets, tid, until);
	s->result->tries++;
	if (!ret && spi_process_start_time(s->pid) != s->target.start_time) {
		spi_remote_release(&s->remote);
		ret = -ESRCH;
	}
	if (ret == -EAGAIN)
		return not_now(s, tid, s->remote.attached ? "not to be stopped (it waits inside the kernel)" :
				       "stopped by job control");
	return ret;
}

/* Stop it for a look only; judged while it runs on, which reads all the tables that the act will need. */
static int look(struct session *s, pid_t tid)
{
	const char *why;
	int ret = stop_thread(s, tid);

	if (ret)
		return ret;
	spi_safe_snapshot(s->safe, tid, &s->remote.regs);
	s->looked_at = s->remote.regs;
	spi_remote_release(&s->remote);
	note_stop(s);
	return spi_safe_judge(s->safe, &why) ? not_now(s, tid, why) : 0;
}

/* Judge the thread as it is stopped now; when it is in malloc() or the like, have it come out. */
static int judge_stopped(struct session *s, pid_t tid)
{
	const char *why;
	int ret;

	for (unsigned int escapes = 0;; escapes++) {
		spi_safe_snapshot(s->safe, tid, &s->remote.regs);
		if (!spi_safe_judge(s->safe, &why))
			return 0;
		if (!spi_safe_escape(s->safe) || escapes == ESCAPES_MAX) {
			spi_remote_release(&s->remote);
			return not_now(s, tid, why);
		}
		ret = spi_remote_run_to(&s->remote, spi_safe_escape(s->safe), spi_now() + ESCAPE_PATIENCE);
		if (ret)
			return ret == -ESRCH ? ret : not_now(s, tid, why);
	}
}

/* -EAGAIN: another thread or another time. The first rounds only look, so a thread that is at a safe place wins. */
static int try_thread(struct session *s, pid_t tid, unsigned int round)
{
	const char *why;
	int ret;

	if (spi_safe_precheck(&s->target, tid, &why))
		return not_now(s, tid, why);
	ret = round < LOOKING_ROUNDS ? look(s, tid) : 0;
	if (!ret && s->carry.in_memory && s->memfd < 0) {
		ret = stop_thread(s, tid);
		if (!ret)
			ret = put_library(s);
	}
	if (!ret)
		ret = stop_thread(s, tid);
	if (ret)
		return ret;
	if (round < LOOKING_ROUNDS && s->remote.regs.rip == s->looked_at.rip && s->remote.regs.rsp == s->looked_at.rsp)
		s->remote.first_call = s->looked_at.orig_rax;
	if (round < LOOKING_ROUNDS && spi_safe_unchanged(s->safe, &s->remote.regs))
		return perform(s);
	ret = judge_stopped(s, tid);
	return ret ? ret : perform(s);
}

/* The process's threads, the main one first. */
static size_t list_threads(pid_t pid, pid_t *tids, size_t max)
{
	char path[64];
	struct dirent *entry;
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int) pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	tids[n++] = pid;
	while (n < max && (entry = readdir(dir))) {
		pid_t tid = atoi(entry->d_name);

		if (tid > 0 && tid != pid)
			tids[n++] = tid;
	}
	closedir(dir);
	return n;
}

static void back_off(unsigned int round)
{
	/* Uneven pauses, so as not to fall into step with what the thread repeats. */
	unsigned int limit = round < 8 ? 200000u << (round / 2) : 2000000u;
	struct timespec pause = { 0, 50000 + random() % limit };

	nanosleep(&pause, NULL);
}

static int give_up(struct session *s)
{
	if (!spi_target_lives(&s->target))
		return FAIL(s, ESRCH, "it ended meanwhile");
	return FAIL(s, EAGAIN, "no safe moment in %u ms (%u looks): thread %d was %s; try again or with a longer --deadline",
		    s->options.deadline_ms, s->result->tries, (int) s->why_tid, s->why ? s->why : "never seen");
}

/* No call was made after all: take the memfd away again, if its threads let us. */
static void take_memfd_back(struct session *s)
{
	pid_t tids[16];
	size_t n = s->memfd < 0 ? 0 : list_threads(s->pid, tids, sizeof(tids) / sizeof(tids[0]));

	s->deadline = spi_now() + STOP_PATIENCE;
	for (size_t i = 0; i < n; i++) {
		if (spi_remote_stop(&s->remote, &s->target, &s->gadgets, tids[i], s->deadline))
			continue;
		if (!spi_remote_begin(&s->remote))
			remote_close(s, s->memfd);
		spi_remote_end(&s->remote);
		return;
	}
}

static int find_moment(struct session *s)
{
	pid_t tids[64];

	for (unsigned int round = 0;; round++) {
		size_t n = list_threads(s->pid, tids, sizeof(tids) / sizeof(tids[0]));

		for (size_t i = 0; i < n; i++) {
			int ret = try_thread(s, tids[i], round);

			if (ret == -EPERM)
				return spi_target_explain_refusal(&s->target, EPERM);
			if (ret == -ESRCH && s->result->text[0])
				return ret;
			if (ret != -EAGAIN && ret != -ESRCH)
				return ret;
			if (ret == -EAGAIN)
				progress(s, "thread %d: %s", (int) tids[i], s->why);
			if (spi_now() >= s->deadline)
				return give_up(s);
		}
		if (!n || !spi_target_lives(&s->target) || spi_process_start_time(s->pid) != s->target.start_time)
			return FAIL(s, ESRCH, "it ended meanwhile");
		back_off(round);
	}
}

/* ---- preparation ---------------------------------------------------- */

/* The agent may be there already: preloaded, or from an earlier injection. */
static int prepare_agent(struct session *s, const char *library)
{
	const struct spi_mapping *m = spi_maps_find_file(&s->target.maps, AGENT_PREFIX);
	struct spi_image image;

	if (m) {
		if (spi_image_read(&image, s->pid, &s->target.maps, m, false))
			return FAIL(s, ENOEXEC, "the agent that it has loaded cannot be read");
		s->attach_offset = spi_image_symbol(&image, ATTACH_FUNCTION, NULL);
		s->already = true;
		spi_image_free(&image);
	} else {
		s->attach_offset = spi_file_symbol(library, ATTACH_FUNCTION);
	}
	if (!s->attach_offset)
		return FAIL(s, ENOEXEC, "%s is not an lttng-spi agent: it has no %s()", m ? m->path : library,
			    ATTACH_FUNCTION);
	return 0;
}

static int prepare(struct session *s)
{
	const char *library = s->options.library;
	int ret;

	if (!library) {
		library = spi_path_agent();
		s->attach = true;
	}
	if (s->options.flags & SPI_INJECT_ATTACH)
		s->attach = true;
	if (!library)
		return spi_inject_fail(s->result, ENOENT, "the agent liblttng-spi.so.0 is neither beside this program nor "
				       "installed: set LTTNG_SPI_AGENT to its path");
	ret = spi_target_open(&s->target, s->pid, s->result);
	if (!ret && s->attach)
		ret = prepare_agent(s, library);
	if (!ret)
		ret = spi_carry_plan(&s->carry, &s->target, library);
	if (ret)
		return ret;
	if (s->attach && s->carry.in_memory)
		spi_carry_trim(&s->carry);
	for (size_t i = 0; i < s->target.maps.count; i++)
		if (s->carry.inode && s->target.maps.all[i].inode == s->carry.inode &&
		    s->target.maps.all[i].device == s->carry.device)
			s->result->already = 1;
	if (s->already)
		s->result->already = 1;
	spi_gadgets_find(&s->gadgets, &s->target);
	if (!s->gadgets.syscall)
		return FAIL(s, ENOTSUP, "its C library has no system call sequence that can be used");
	s->safe = spi_safe_create(&s->target);
	if (!s->safe)
		return FAIL(s, ENOTSUP, "the unwind tables of its objects cannot be read");
	return 0;
}

static void *session_run(void *arg)
{
	struct session *s = arg;

	/* While the target's thread stands still, this one should not have to queue. Where permitted. */
	prctl(PR_SET_TIMERSLACK, 1ul);
	setpriority(PRIO_PROCESS, gettid(), -20);
	s->ret = prepare(s);
	if (!s->ret && !(s->options.flags & SPI_INJECT_CHECK)) {
		s->deadline = spi_now() + (uint64_t) s->options.deadline_ms * 1000000;
		s->ret = find_moment(s);
		if (s->ret != -ESRCH)
			take_memfd_back(s);
	}
	spi_safe_destroy(s->safe);
	spi_carry_free(&s->carry);
	spi_target_close(&s->target);
	return NULL;
}

int spi_inject(pid_t pid, const struct spi_inject_options *options, struct spi_inject_result *result)
{
	uint32_t result_size = result->size < sizeof(*result) ? result->size : sizeof(*result);
	struct spi_inject_result own = { .size = sizeof(own), .fd = -1 };
	struct session *s = calloc(1, sizeof(*s));
	sigset_t all, before;
	pthread_t thread;
	int ret;

	if (!s)
		return -ENOMEM;
	s->pid = pid;
	s->result = &own;
	s->target.pidfd = s->memfd = -1;
	if (options)
		memcpy(&s->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	if (!s->options.deadline_ms)
		s->options.deadline_ms = DEADLINE_MS;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);	/* the caller's handlers run on the caller's threads */
	ret = -pthread_create(&thread, NULL, session_run, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!ret) {
		pthread_join(thread, NULL);
		ret = s->ret;
	} else {
		spi_inject_fail(&own, -ret, "cannot start a thread: %s", strerror(-ret));
	}
	own.size = result->size;
	memcpy(result, &own, result_size);
	free(s);
	return ret;
}
