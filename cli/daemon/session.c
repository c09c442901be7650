/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The session. It has per-user buffers (a process that dies leaves its events behind, and children
 * write to the same rings), discard mode, and buffers as large as shared memory comfortably holds:
 * function calls come in bursts.
 *
 * Only calls of liblttng-ctl that 2.13, 2.14 and 2.15 share are used, but for the one that asks 2.15
 * for CTF 1.8, which every babeltrace2 reads. Event rules are made here, not through the lttng
 * command, because C++ names contain commas.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <lttng/lttng.h>

#include "cli/base/say.h"
#include "cli/base/signals.h"
#include "cli/daemon/consumer.h"
#include "cli/daemon/live-protocol.h"
#include "cli/daemon/question.h"
#include "cli/daemon/session.h"
#include "cli/daemon/start.h"
#include "cli/ui/trace-options.h"

#define SESSION_CHANNEL		"spi"
#define SESSION_LIVE_TIMER_US	200000u		/* how late an event may be shown */
#define SESSION_SUBBUF_SIZE	(UINT64_C(1) << 20)
#define SESSION_SUBBUF_COUNT	UINT64_C(4)
#define SESSION_TREE_SUBBUF_SIZE	(UINT64_C(1) << 22)	/* a tree makes more than consumers take for a while */
#define SESSION_TREE_SUBBUF_COUNT	UINT64_C(8)
#define SESSION_MEMORY_WAIT_US	1000000
#define SESSION_SUBBUF_MIN	(UINT64_C(1) << 16)
#define SESSION_NAME_TRIES	100
#define SESSION_POLL_MS		20
#define SESSION_STALL_MS	60000
#define SESSION_DESTROY_MS	30000
#define SESSION_KILLED_MS	5000	/* where a program was killed: in the middle of an event, it may be */
#define SESSION_PATIENCE_MS	3000	/* a busy daemon destroys one in less: only then a signal ends the wait */
/* The daemon's count of discarded events can have this bit set by mistake. */
#define SESSION_COUNT_MASK	(~(UINT64_C(1) << 63))

static int session_failed(const char *what, const char *object, int code)
{
	int error = code > 0 ? -code : code;

	if (!asking_is_over())
		say_error("%s %s: %s%s", what, object, lttng_strerror(error), consumer_remedy(error));
	return error;
}

/* A daemon that was given up may yet do what it was asked for. */
static void session_say_left(const struct session *s)
{
	if (asking_is_over())
		say_warning("session %s may be left in the session daemon: lttng destroy %s", s->name, s->name);
}

static void session_make_name(struct session *s, const char *subject, unsigned int try)
{
	const char *slash = strrchr(subject, '/');
	time_t now = time(NULL);
	char stamp[32], *at;
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	snprintf(s->name, sizeof(s->name), "trace-%.100s-%s", slash && slash[1] ? slash + 1 : subject, stamp);
	for (at = s->name; *at; at++)
		if (!isalnum((unsigned char) *at) && !strchr("-_.+", *at))
			*at = '_';
	if (try)
		snprintf(at, sizeof(s->name) - (size_t) (at - s->name), "-%u", try + 1);
}

static struct lttng_session_descriptor *session_describe(struct session *s, const char *directory,
							 const struct relay *relay)
{
	char url[64];

	if (directory)
		return lttng_session_descriptor_local_create(s->name, directory);
	snprintf(url, sizeof(url), "net://127.0.0.1:%u:%u", relay->control, relay->data);
	return lttng_session_descriptor_live_network_create(s->name, url, NULL, SESSION_LIVE_TIMER_US);
}

static int session_create_named(struct session *s, const char *subject, const char *directory,
				const struct relay *relay)
{
	struct lttng_session_descriptor *descriptor;
	enum lttng_error_code code = LTTNG_ERR_EXIST_SESS;
	unsigned int try;

	for (try = 0; code == LTTNG_ERR_EXIST_SESS && try < SESSION_NAME_TRIES; try++) {
		session_make_name(s, subject, try);
		descriptor = session_describe(s, directory, relay);
		if (!descriptor) {
			say_error("%s: not a place to record to", directory ? directory : "the relay daemon");
			return -EINVAL;
		}
#if HAVE_DECL_LTTNG_SESSION_DESCRIPTOR_SET_TRACE_FORMAT
		lttng_session_descriptor_set_trace_format(descriptor, LTTNG_TRACE_FORMAT_CTF_1_8);
#endif
		code = ASK(lttng_create_session_ext(descriptor));
		lttng_session_descriptor_destroy(descriptor);
	}
	if (code != LTTNG_OK) {
		session_say_left(s);
		return session_failed("cannot create the session", s->name, (int) code);
	}
	s->created = 1;
	return 0;
}

/* net://localhost/host/HOST/SESSION, as the relay daemon names it. */
static int session_find_place(struct session *s, const char *directory, const struct relay *relay)
{
	if (gethostname(s->host, sizeof(s->host) - 1) < 0)
		strcpy(s->host, "localhost");
	if (directory) {
		s->directory = strdup(directory);
		return s->directory ? 0 : -ENOMEM;
	}
	if (asprintf(&s->directory, "net://localhost/host/%s/%s", s->host, s->name) < 0) {
		s->directory = NULL;
		return -ENOMEM;
	}
	/* Whoever wants to attach another viewer has to know. */
	if (relay->live != LIVE_DEFAULT_PORT)
		snprintf(s->note, sizeof(s->note), " (live port %u)", relay->live);
	return 0;
}

/* LTTng makes one ring for each CPU that could ever be plugged in. */
static uint64_t session_fit_subbuf(uint64_t size, uint64_t count)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct statvfs vfs;

	if (statvfs("/dev/shm", &vfs) < 0 || cpus < 1)
		return size;
	while (size > SESSION_SUBBUF_MIN &&
	       size * count * (uint64_t) cpus > (uint64_t) vfs.f_bavail * vfs.f_frsize / 2)
		size /= 2;
	return size;
}

/* The consumer daemon only notes in its own log that there is no room, and nothing is recorded then. */
static int session_check_room(uint64_t size, uint64_t count)
{
	uint64_t cpus = (uint64_t) sysconf(_SC_NPROCESSORS_CONF), need = size * count * cpus, room;
	struct statvfs vfs;

	if (statvfs("/dev/shm", &vfs) < 0)
		return 0;
	room = (uint64_t) vfs.f_bavail * vfs.f_frsize;
	if (need <= room)
		return 0;
	say_error("/dev/shm has %llu KiB left, and %llu sub-buffers of %llu KiB for each of %llu CPUs take %llu: make room there, "
		"or give a smaller --subbuf-size or --num-subbuf", (unsigned long long) room >> 10, (unsigned long long) count,
		(unsigned long long) size >> 10, (unsigned long long) cpus, (unsigned long long) need >> 10);
	return -ENOSPC;
}

static int session_add_channel(struct session *s, const struct trace_options *options)
{
	struct lttng_channel *channel = lttng_channel_create(&s->handle->domain);
	int ret, trees = options->tree.count > 0;

	if (!channel)
		return session_failed("cannot make the channel of", s->name, -LTTNG_ERR_NOMEM);
	snprintf(channel->name, sizeof(channel->name), "%s", SESSION_CHANNEL);
	channel->enabled = 1;
	channel->attr.overwrite = 0;
	channel->attr.output = LTTNG_EVENT_MMAP;
	channel->attr.num_subbuf = options->subbuf_count ? options->subbuf_count :
		trees ? SESSION_TREE_SUBBUF_COUNT : SESSION_SUBBUF_COUNT;
	channel->attr.subbuf_size = options->subbuf_size ? options->subbuf_size :
		session_fit_subbuf(trees ? SESSION_TREE_SUBBUF_SIZE : SESSION_SUBBUF_SIZE, channel->attr.num_subbuf);
	/* A block whose end is lost looks like a leak: the program waits a moment for room. */
	if (options->memory)
		lttng_channel_set_blocking_timeout(channel, SESSION_MEMORY_WAIT_US);
	ret = session_check_room(channel->attr.subbuf_size, channel->attr.num_subbuf);
	if (ret < 0) {
		lttng_channel_destroy(channel);
		return ret;
	}
	ret = ASK(lttng_enable_channel(s->handle, channel));
	lttng_channel_destroy(channel);
	return ret < 0 ? session_failed("cannot make the channel of", s->name, ret) : 0;
}

static int session_add_context(struct session *s, enum lttng_event_context_type type)
{
	struct lttng_event_context context;
	int ret;

	memset(&context, 0, sizeof(context));
	context.ctx = type;
	ret = ASK(lttng_add_context(s->handle, &context, NULL, SESSION_CHANNEL));
	return ret < 0 ? session_failed("cannot add the contexts vpid, vtid and ip to", s->name, ret) : 0;
}

int session_create(struct session *s, const char *subject, const char *directory, const struct relay *relay,
		   const struct trace_options *options)
{
	struct lttng_domain domain;
	int ret;

	memset(s, 0, sizeof(*s));
	ret = session_create_named(s, subject, directory, relay);
	if (ret == 0)
		ret = session_find_place(s, directory, relay);
	if (ret < 0)
		return ret;
	memset(&domain, 0, sizeof(domain));
	domain.type = LTTNG_DOMAIN_UST;
	domain.buf_type = options->buffers == BUFFERS_PID ? LTTNG_BUFFER_PER_PID : LTTNG_BUFFER_PER_UID;
	s->handle = lttng_create_handle(s->name, &domain);
	if (!s->handle)
		return session_failed("cannot use the session", s->name, -LTTNG_ERR_NOMEM);
	ret = session_add_channel(s, options);
	if (ret == 0)
		ret = session_add_context(s, LTTNG_EVENT_CONTEXT_VPID);
	if (ret == 0)
		ret = session_add_context(s, LTTNG_EVENT_CONTEXT_VTID);
	/* By which readers look a function's name up. */
	if (ret == 0 && (options->tree.count || options->memory))
		ret = session_add_context(s, LTTNG_EVENT_CONTEXT_IP);
	if (ret == 0 && options->memory)
		ret = session_add_context(s, LTTNG_EVENT_CONTEXT_PROCNAME);
	return ret;
}

int session_enable_filtered(struct session *s, const char *pattern, const char *filter)
{
	struct lttng_event *event = lttng_event_create();
	int ret;

	if (!event)
		return session_failed("cannot enable", pattern, -LTTNG_ERR_NOMEM);
	event->type = LTTNG_EVENT_TRACEPOINT;
	event->loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL;
	event->loglevel = -1;
	if ((size_t) snprintf(event->name, sizeof(event->name), "%s", pattern) >= sizeof(event->name))
		ret = -LTTNG_ERR_INVALID;
	else
		ret = ASK(lttng_enable_event_with_exclusions(s->handle, event, SESSION_CHANNEL, filter, 0, NULL));
	lttng_event_destroy(event);
	if (ret == -LTTNG_ERR_UST_EVENT_ENABLED)
		return 0;
	return ret < 0 ? session_failed("cannot enable", pattern, ret) : 0;
}

void session_disable(struct session *s, const char *pattern)
{
	if (s->handle && s->created)
		ASK(lttng_disable_event(s->handle, pattern, SESSION_CHANNEL));
}

int session_enable(struct session *s, const char *pattern)
{
	return session_enable_filtered(s, pattern, NULL);
}

int session_track(struct session *s, pid_t vpid)
{
	struct lttng_process_attr_tracker_handle *tracker = NULL;
	enum lttng_process_attr_tracker_handle_status status;
	enum lttng_error_code code;

	code = ASK(lttng_session_get_tracker_handle(s->name, LTTNG_DOMAIN_UST, LTTNG_PROCESS_ATTR_VIRTUAL_PROCESS_ID,
		&tracker));
	if (code != LTTNG_OK)
		return session_failed("cannot limit the session", s->name, (int) code);
	status = ASK(lttng_process_attr_tracker_handle_set_tracking_policy(tracker, LTTNG_TRACKING_POLICY_INCLUDE_SET));
	if (status == LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_OK)
		status = ASK(lttng_process_attr_virtual_process_id_tracker_handle_add_pid(tracker, vpid));
	lttng_process_attr_tracker_handle_destroy(tracker);
	if (status == LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_OK ||
	    status == LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_EXISTS)
		return 0;
	say_error("cannot limit the session %s to process %d", s->name, (int) vpid);
	return -EINVAL;
}

int session_start(struct session *s)
{
	int ret = ASK(lttng_start_tracing(s->name));

	if (ret < 0)
		return session_failed("cannot start the session", s->name, ret);
	s->started = 1;
	return 0;
}

static void session_wait_data(struct session *s, int stop_fd)
{
	struct pollfd stop = { .fd = stop_fd, .events = POLLIN };
	int waited, pending;

	for (waited = 0; waited < SESSION_STALL_MS; waited += SESSION_POLL_MS) {
		pending = ASK(lttng_data_pending(s->name));
		if (pending <= 0) {
			if (pending < 0)
				session_failed("cannot ask whether all data has arrived of", s->name, pending);
			return;
		}
		if (poll(&stop, 1, SESSION_POLL_MS) > 0) {
			say_warning("the end of the trace may be missing: a signal ended the wait for the data of session %s", s->name);
			return;
		}
	}
	say_warning("the end of the trace may be missing: LTTng's consumer daemon did not hand over all data of session %s within %d s",
		s->name, SESSION_STALL_MS / 1000);
}

static uint64_t session_discarded(struct session *s)
{
	struct lttng_channel *channels = NULL;
	uint64_t sum = 0, count;
	int n = ASK(lttng_list_channels(s->handle, &channels)), i;

	for (i = 0; i < n; i++)
		if (lttng_channel_get_discarded_event_count(&channels[i], &count) == 0)
			sum += count & SESSION_COUNT_MASK;
	free(channels);
	return sum;
}

int session_stop(struct session *s, int stop_fd, uint64_t *discarded)
{
	int ret;

	*discarded = 0;
	if (!s->started)
		return 0;
	s->started = 0;
	ret = ASK(lttng_stop_tracing_no_wait(s->name));
	if (ret < 0 && ret != -LTTNG_ERR_TRACE_ALREADY_STOPPED)
		return session_failed("cannot stop the session", s->name, ret);
	if (s->announced)
		say("Waiting for data availability");
	session_wait_data(s, stop_fd);
	*discarded = session_discarded(s);
	if (s->announced)
		say("Tracing stopped for session %s", s->name);
	return 0;
}

/*
 * The command returned when it was sent: its answer comes with the end. One look at the least, also when the daemon was
 * given up; who wants to end us meanwhile may.
 */
static int session_wait_destroyed(struct lttng_destruction_handle *handle, int most)
{
	struct pollfd stop = { .fd = signals_descriptor(), .events = POLLIN };
	enum lttng_destruction_handle_status status;
	int waited = 0;

	do {
		status = lttng_destruction_handle_wait_for_completion(handle, SESSION_POLL_MS);
		waited += SESSION_POLL_MS;
	} while (status == LTTNG_DESTRUCTION_HANDLE_STATUS_TIMEOUT && waited < most && !asking_is_over() &&
		(waited < SESSION_PATIENCE_MS || stop.fd < 0 || poll(&stop, 1, 0) <= 0));
	return status == LTTNG_DESTRUCTION_HANDLE_STATUS_COMPLETED;
}

int session_is_there(const struct session *s)
{
	struct lttng_session *list = NULL;
	int n = ASK(lttng_list_sessions(&list)), is_there = n < 0;

	for (int i = 0; i < n; i++)
		is_there |= !strcmp(list[i].name, s->name);
	free(list);
	return is_there;
}

static int session_destroy_wait(struct session *s, int was_killed)
{
	struct lttng_destruction_handle *handle = NULL;
	enum lttng_error_code code = ASK(lttng_destroy_session_ext(s->name, &handle));
	int done;

	if (code == LTTNG_ERR_SESS_NOT_FOUND) {
		say_warning("session %s is gone already", s->name);
		return 0;
	}
	if (code != LTTNG_OK) {
		session_failed("cannot destroy the session", s->name, (int) code);
		session_say_left(s);
		return 0;
	}
	done = session_wait_destroyed(handle, was_killed ? SESSION_KILLED_MS : SESSION_DESTROY_MS);
	lttng_destruction_handle_destroy(handle);
	if (asking_is_over())
		session_say_left(s);
	else if (!done)
		say_warning("session %s is still being destroyed: %s killed in the middle of an event, and the events in its buffer are lost",
			s->name, was_killed ? "the program was" : "LTTng is slow, or a process was");
	return done;
}

int session_destroy(struct session *s, int was_killed)
{
	int done = s->created ? session_destroy_wait(s, was_killed) : 0;

	if (s->handle)
		lttng_destroy_handle(s->handle);
	free(s->directory);
	memset(s, 0, sizeof(*s));
	return done;
}
