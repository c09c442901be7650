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
 * Everything runs on a thread of its own, or on one that the caller has made for it, because the
 * kernel lets a tracer thread's tracees go when that thread ends: whatever goes wrong, nothing
 * stays stopped.
 */
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
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "injector/base/paths.h"
#include "injector/inject/as-user.h"
#include "injector/inject/sandbox.h"
#include "injector/inject/session.h"

#define DEADLINE_MS		3000u
#define ESCAPE_PATIENCE		UINT64_C(2000000)	/* ns for a thread to come out of malloc() */
#define LOOKING_ROUNDS		3u
#define WAITING_ROUNDS		32u	/* before a thread is made to come out of malloc() */
#define ESCAPES_MAX		8u
#define STOP_PATIENCE		UINT64_C(200000000)	/* ns for a thread to stop */
#define AGENT_PREFIX		"liblttng-spi.so"
#define ATTACH_FUNCTION		"lttng_spi_attach"
#define WAIT_FUNCTION		"lttng_spi_wait"

static void progress(const struct spi_session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void progress(const struct spi_session *s, const char *format, ...)
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

/* ---- finding the moment --------------------------------------------- */

static int not_now(struct spi_session *s, pid_t tid, const char *why)
{
	s->why = why;
	s->why_tid = tid;
	return -EAGAIN;
}

static int stop_thread(struct spi_session *s, pid_t tid)
{
	uint64_t until = spi_now() + STOP_PATIENCE;
	int ret;

	if (until > s->deadline)
		until = s->deadline;
	ret = spi_remote_stop(&s->remote, &s->target, &s->gadgets, &s->first, tid, until);
	s->result->tries++;
	if (ret == -ETIMEDOUT)
		return not_now(s, tid, s->remote.attached ? "not to be stopped (it waits inside the kernel)" :
				       "not to be stopped in time");
	if (ret == -EAGAIN)
		return not_now(s, tid, "stopped by job control");
	if (ret == -EINPROGRESS)
		return not_now(s, tid, "about to handle a fault of its own");
	if (!ret && (ret = spi_sandbox_check(&s->target, tid)))
		spi_remote_release(&s->remote);
	return ret;
}

/* Stop it for a look only; judged while it runs on, which reads all the tables that the act will need. */
static int look(struct spi_session *s, pid_t tid)
{
	const char *why;
	int ret = stop_thread(s, tid);

	if (ret)
		return ret;
	spi_safe_snapshot(s->safe, tid, &s->remote.regs, s->remote.at_handler);
	s->looked_at = s->remote.regs;
	spi_remote_release(&s->remote);
	spi_session_note_stop(s);
	return spi_safe_judge(s->safe, &why) ? not_now(s, tid, why) : 0;
}

/*
 * Judge the thread as it is stopped now; when it is in malloc() or the like, have it come out, but not before many a
 * round: meanwhile the target would not survive our death.
 */
static int judge_stopped(struct spi_session *s, pid_t tid, bool may_escape)
{
	const char *why;
	int ret;

	for (unsigned int escapes = 0;; escapes++) {
		spi_safe_snapshot(s->safe, tid, &s->remote.regs, s->remote.at_handler);
		if (!spi_safe_judge(s->safe, &why))
			return 0;
		if (!may_escape || !spi_safe_escape(s->safe) || escapes == ESCAPES_MAX) {
			spi_remote_release(&s->remote);
			return not_now(s, tid, why);
		}
		ret = spi_remote_run_to(&s->remote, spi_safe_escape(s->safe), spi_now() + ESCAPE_PATIENCE);
		if (ret)
			return ret == -ESRCH ? ret : not_now(s, tid, why);
	}
}

/* -EAGAIN: another thread holds the loader's lock. It is that one's, or another time's, turn. */
static int perform(struct spi_session *s, pid_t tid)
{
	int ret = spi_session_perform(s);

	return ret == -EDEADLK ? not_now(s, tid, "waiting for the dynamic loader's lock, which another thread held") : ret;
}

/* -EAGAIN: another thread or another time. The first rounds only look, so a thread that is at a safe place wins. */
static int try_thread(struct spi_session *s, pid_t tid, unsigned int round)
{
	const char *why;
	int ret;

	if (spi_safe_precheck(&s->target, tid, &why))
		return not_now(s, tid, why);
	ret = round < LOOKING_ROUNDS ? look(s, tid) : 0;
	if (!ret && s->carry.in_memory && s->memfd < 0) {
		ret = stop_thread(s, tid);
		if (!ret)
			ret = spi_session_put_library(s);
	}
	if (!ret)
		ret = stop_thread(s, tid);
	if (ret)
		return ret;
	if (round < LOOKING_ROUNDS && s->remote.regs.rip == s->looked_at.rip && s->remote.regs.rsp == s->looked_at.rsp)
		s->remote.first_call = s->looked_at.orig_rax;
	if (round < LOOKING_ROUNDS && spi_safe_unchanged(s->safe, &s->remote.regs))
		return perform(s, tid);
	ret = judge_stopped(s, tid, round >= WAITING_ROUNDS);
	return ret ? ret : perform(s, tid);
}

static void back_off(unsigned int round)
{
	/* Uneven pauses, so as not to fall into step with what the thread repeats. */
	unsigned int limit = round < 8 ? 200000u << (round / 2) : 2000000u;
	struct timespec pause = { 0, 50000 + random() % limit };

	nanosleep(&pause, NULL);
	spi_late_look();
}

bool spi_session_is_unwanted(const struct spi_session *s)
{
	return s->options.unwanted && s->options.unwanted(s->options.data);
}

static int give_up(struct spi_session *s)
{
	if (spi_session_is_unwanted(s))
		return FAIL(s, ECANCELED, "nothing was loaded: it is not wanted any more");
	if (!spi_target_lives(&s->target))
		return FAIL(s, ESRCH, "it ended meanwhile");
	return FAIL(s, EAGAIN,
			"no safe moment in %u ms (%u looks): thread %d was %s; try again or with a longer --deadline",
		    s->options.deadline_ms, s->result->tries, (int) s->why_tid, s->why ? s->why : "never seen");
}

/* No call was made after all: take the memfd away again, if its threads let us. */
static void take_memfd_back(struct spi_session *s)
{
	pid_t tids[16];
	size_t n = s->memfd < 0 ? 0 : spi_target_threads(s->pid, tids, sizeof(tids) / sizeof(tids[0]));

	s->deadline = spi_now() + STOP_PATIENCE;
	for (size_t i = 0; i < n; i++) {
		if (spi_remote_stop(&s->remote, &s->target, &s->gadgets, &s->first, tids[i], s->deadline))
			continue;
		if (!spi_remote_begin(&s->remote))
			spi_session_close(s, s->memfd);
		spi_remote_end(&s->remote);
		return;
	}
}

static int find_moment(struct spi_session *s)
{
	pid_t tids[64];

	for (unsigned int round = 0;; round++) {
		size_t n = spi_target_threads(s->pid, tids, sizeof(tids) / sizeof(tids[0]));

		for (size_t i = 0; i < n; i++) {
			int ret = try_thread(s, tids[i], round);

			if (ret && ret != -EAGAIN && s->result->text[0])
				return ret;
			if (ret == -EPERM)
				return spi_target_explain_refusal(&s->target, EPERM);
			if (ret != -EAGAIN && ret != -ESRCH)
				return ret;
			if (ret == -EAGAIN)
				progress(s, "thread %d: %s", (int) tids[i], s->why);
			if (spi_now() >= s->deadline || spi_session_is_unwanted(s))
				return give_up(s);
		}
		if (!n || !spi_target_lives(&s->target) || spi_process_start_time(s->pid) != s->target.start_time)
			return FAIL(s, ESRCH, "it ended meanwhile");
		back_off(round);
		if (spi_now() >= s->deadline)	/* it would be said that the thread was not to be stopped */
			return give_up(s);
	}
}

/* ---- preparation ---------------------------------------------------- */

/* The agent may be there already: preloaded, or from an earlier injection. */
static int prepare_agent(struct spi_session *s, const char *library)
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
		s->wait_offset = spi_file_symbol(library, WAIT_FUNCTION);
	}
	if (!s->attach_offset)
		return FAIL(s, ENOEXEC, "%s is not an lttng-spi agent: it has no %s()", m ? m->path : library,
			    ATTACH_FUNCTION);
	return 0;
}

static int prepare(struct spi_session *s)
{
	const char *library = s->options.library ? s->options.library : spi_path_agent();
	int ret;

	if (!library)
		return spi_inject_fail(s->result, ENOENT, "the agent liblttng-spi.so.0 is neither beside this "
				       "program nor installed: set LTTNG_SPI_AGENT to its path");
	ret = spi_target_look(&s->target);
	if (!ret && s->attach)
		ret = spi_identity_check_file(&s->target, library);
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
	return 0;
}

/* At any moment but a program's start. */
static int inject_running(struct spi_session *s)
{
	int ret;

	s->safe = spi_safe_create(&s->target, s->already);
	if (!s->safe)
		return FAIL(s, ENOTSUP, "the unwind tables of its objects cannot be read");
	if (s->options.flags & SPI_INJECT_CHECK)
		return 0;
	if (s->already && s->options.again_ms)
		s->options.deadline_ms = s->options.again_ms;
	s->deadline = spi_now() + (uint64_t) s->options.deadline_ms * 1000000;
	ret = find_moment(s);
	if (ret != -ESRCH)
		take_memfd_back(s);
	return ret;
}

static int session_inject(struct spi_session *s)
{
	const bool at_start = s->options.flags & SPI_INJECT_AT_START;
	int ret;

	s->attach = !s->options.library || s->options.flags & SPI_INJECT_ATTACH;
	if (at_start)
		spi_remote_seize(s->pid);
	ret = spi_target_open(&s->target, s->pid, &s->options, s->result);
	if (!ret && !(s->options.flags & SPI_INJECT_CHECK))
		spi_first_open(&s->first, s->target.mem, s->attach);	/* the agent starts no thread while it is loaded */
	if (!ret && at_start)
		spi_start_hold(s);
	if (!ret && s->registers)
		ret = FAIL(s, EINPROGRESS, "it has lttng-ust, and is about to register with the session daemon");
	if (!ret)
		ret = prepare(s);
	/* A process that has the agent is spoken to as ever; what comes in by a memfd is filled while the thread runs. */
	if (!ret && s->held && !s->already && !s->carry.in_memory && s->gadgets.complete)
		return spi_session_perform(s);
	if (s->held)
		spi_remote_release(&s->remote);
	s->held = false;
	s->result->begun = at_start && !s->registers;
	return ret ? ret : inject_running(s);
}

static void *session_run(void *arg)
{
	struct spi_session *s = arg;

	/* While the target's thread stands still, this one should not have to queue. Where permitted. */
	prctl(PR_SET_TIMERSLACK, 1ul);
	setpriority(PRIO_PROCESS, gettid(), -20);
	s->ret = session_inject(s);
	if (s->options.finished)
		s->options.finished(s->ret, s->result, s->options.data);
	s->first.stays = false;
	spi_first_close(&s->first);
	spi_safe_destroy(s->safe);
	spi_carry_free(&s->carry);
	spi_target_close(&s->target);
	return NULL;
}

static int session_run_apart(struct spi_session *s)
{
	sigset_t all, before;
	pthread_t thread;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);	/* the caller's handlers run on the caller's threads */
	ret = -pthread_create(&thread, NULL, session_run, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (ret)
		return spi_inject_fail(s->result, -ret, "cannot start a thread: %s", strerror(-ret));
	pthread_join(thread, NULL);
	return s->ret;
}

void spi_inject_stop(pid_t pid)
{
	setpriority(PRIO_PROCESS, gettid(), -20);
	spi_stop_signalled = true;
	spi_remote_seize(pid);
}

int spi_inject(pid_t pid, const struct spi_inject_options *options, struct spi_inject_result *result)
{
	uint32_t result_size = result->size < sizeof(*result) ? result->size : sizeof(*result);
	struct spi_inject_result own = { .size = sizeof(own), .fd = -1 };
	struct spi_session *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return -ENOMEM;
	s->pid = pid;
	s->result = &own;
	s->target.pidfd = s->target.mem = s->memfd = -1;
	if (options)
		memcpy(&s->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	if (!s->options.deadline_ms)
		s->options.deadline_ms = DEADLINE_MS;
	ret = !(s->options.flags & SPI_INJECT_ON_CALLER) && !geteuid() ? spi_inject_as_user(pid, &s->options, &own) : 1;
	if (ret <= 0) {
		;
	} else if (s->options.flags & SPI_INJECT_ON_CALLER) {
		spi_stop_signalled = true;
		session_run(s);
		ret = s->ret;
	} else {
		ret = session_run_apart(s);
	}
	own.size = result->size;
	memcpy(result, &own, result_size);
	free(s);
	return ret;
}
