/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Set-up and tear-down of a run. The order of the end matters. First the agents take the
 * instrumentation out and tell their last counts. Then the session stops and hands its data over.
 * Then the session is destroyed, which is what ends the viewer. Only then the relay daemon may go.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <lttng/lttng.h>

#include "cli/base/say.h"
#include "cli/base/signals.h"
#include "cli/daemon/consumer.h"
#include "cli/daemon/question.h"
#include "cli/functions/objects.h"
#include "cli/run/internal.h"
#include "cli/ui/trace-options.h"
#include "injector/control/control.h"
#include "payloads/process-news.h"

#define FILE_LEAST		(16u << 20)
#define RUN_VIEWER_MS		3000	/* for the live view to have attached, before the program goes on */
#define RUN_DETACH_MS		10000
#define RUN_DISK_FULL_BYTES	65536u
#define RUN_SETTLE_MS		30000	/* for all that was found to be recorded, */
#define RUN_REFUSED_MS		4000	/* as long as the agent of a trace that is just over may be in the way */
#define RUN_SETTLE_EACH_MS	1000	/* and for each process of many */
#define RUN_LOOK_MS		20

int64_t run_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int run_interrupted(struct run *run)
{
	int signal = signals_next(NULL);

	if (signal)
		run->killed_by = signal;
	return TRACE_STATUS_ERROR;
}

/* Behind all others: what waits for children is the payload's alone, whatever else is asked for. */
static int run_take_waits(struct run *run)
{
#define NAME(name) #name,
	static const char *const names[] = { PROCESS_NAMES(NAME) };
#undef NAME

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct func *func = &run->funcs[run->func_count++];

		if (func_parse(func, names[i], NULL) < 0)
			return -ENOMEM;
		func->asked = &run->options->process_asked;
		func->is_optional = 1;
	}
	return 0;
}

/* FUNCs, then the roots of trees. */
static int run_take_funcs(struct run *run)
{
	const struct trace_options *o = run->options;
	unsigned int i;

	run->funcs = calloc(o->func_count + o->tree.count + PROCESS_NAMES_COUNT, sizeof(*run->funcs));
	if (!run->funcs)
		return -ENOMEM;
	for (i = 0; i < o->func_count; i++)
		if (func_parse(&run->funcs[run->func_count++], o->funcs[i], NULL) < 0)
			return -ENOMEM;
		else if (run->is_payload || o->asked.backtrace || o->asked.libcalls)
			run->funcs[run->func_count - 1].asked = &o->asked;
	for (i = 0; i < o->tree.count; i++)
		if (func_parse(&run->funcs[run->func_count++], o->tree.roots[i], &o->asked) < 0)
			return -ENOMEM;
	for (i = 0; i < run->func_count; i++)
		run->funcs[i].is_recorded = run->is_payload && run->is_recording && !o->memory;
	for (i = 0; o->memory && i < run->func_count; i++)
		run->funcs[i].is_optional = 1;
	return o->process ? run_take_waits(run) : 0;
}

/* Buffers, and memory that is shared with agents, count as files; a daemon that is started has the limit, too. */
static int files_check(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_FSIZE, &files) || files.rlim_cur >= FILE_LEAST)
		return 0;
	say_error("trace: files are limited to %llu KB here (ulimit -f), and LTTng's buffers need %u KB: raise the limit",
		(unsigned long long) files.rlim_cur / 1024, FILE_LEAST / 1024);
	return -1;
}

int run_init(struct run *run, const struct trace_options *options)
{
	memset(run, 0, sizeof(*run));
	run->options = options;
	run->consumer = -1;
	run->finder.fd = -1;
	run->peers.run = run;
	run->is_payload = options->asked.payloads.count != 0;
	run->is_recording = (!run->is_payload && (!options->process || options->func_count || options->tree.count)) ||
		options->output || options->memory;
	run->report.one_event = options->asked.one_event || options->memory ||
		(options->process && (options->output || (!options->func_count && !options->tree.count)));
	run->report.trees = options->tree.count > 0;
	run->report.is_twice = run->is_payload && run->is_recording && !options->memory;
	if (files_check() < 0)
		return TRACE_STATUS_ERROR;
	run->signals = signals_take();
	if (run->signals < 0) {
		say_error("signals: %s", strerror(-run->signals));
		return TRACE_STATUS_ERROR;
	}
	if (run_take_funcs(run) < 0) {
		say_error("%s", strerror(ENOMEM));
		return TRACE_STATUS_ERROR;
	}
	/* trees record no arguments */
	if (!options->func_count && !options->prototype_count)
		return 0;
	return prototype_files_find(&run->prototypes, options->prototypes, options->prototype_count);
}

int run_resolve(struct run *run, struct objects *objects, const char *whose, int stripped)
{
	int ret = funcs_look(run->funcs, run->func_count, &objects, 1, run->signals);
	unsigned int i, found = 0;

	for (i = 0; i < run->func_count && ret == 0; i++) {
		ret = func_resolve(&run->funcs[i], i, objects, whose, stripped, run->signals);
		found += !run->funcs[i].is_late;
	}
	if (ret == 0 && run->options->memory && !found) {
		say_error("--memory: %s and its libraries have no function of malloc()'s family, and none for descriptors or threads",
			whose);
		return TRACE_STATUS_ERROR;
	}
	return ret < 0 ? run_interrupted(run) : ret;
}

void run_announce(struct run *run)
{
	if (run->session.announced)
		return;
	run->session.announced = 1;
	if (!run->is_recording || run->is_temporary)
		return;
	say("Trace directory: %s%s", run->session.directory, run->session.note);
	say("%s", "");
}

/* Before anything is recorded. One that does not attach shows at the end. */
static void run_wait_viewer(struct run *run)
{
	if (run->viewer.pid)
		viewer_wait_session(&run->viewer, &run->session, RUN_VIEWER_MS, run->signals);
}

static void run_on_ready(void *data)
{
	run_wait_viewer(data);
	run_announce(data);
}

int run_daemon(struct run *run)
{
	const struct trace_options *o = run->options;

	if (o->group && lttng_set_tracing_group(o->group) < 0) {
		say_error("%s: not usable as the tracing group", o->group);
		return -EINVAL;
	}
	return sessiond_ensure(o, run->signals);
}

static unsigned int run_viewer_filters(const struct run *run)
{
	const struct trace_options *o = run->options;
	const unsigned int rules = run->enable ? VIEWER_RULES : 0;	/* the daemon's plugin has them told */

	if (!o->tree.count)
		return rules | (o->asked.backtrace ? VIEWER_CALLERS : 0);
	return rules | VIEWER_NAMES | (o->asked.compact ? VIEWER_EXPAND : 0);
}

/* Daemons, session and viewer: what records. */
static int run_begin_recording(struct run *run, const char *subject, const pid_t *vpids, unsigned int count)
{
	const struct trace_options *o = run->options;
	unsigned int i;
	int ret = run_daemon(run);

	if (ret == 0 && !run->output)
		ret = relay_ensure(&run->relay, o, run->signals);
	if (ret == 0)
		ret = session_create(&run->session, subject, run->output, &run->relay, o);
	if (ret == 0)
		ret = run->enable ? run->enable(run) : run_enable_functions(run);
	if (ret == 0)
		ret = run_enable_others(run);
	for (i = 0; ret == 0 && i < count; i++)
		ret = session_track(&run->session, vpids[i]);
	if (ret == 0)
		ret = session_start(&run->session);
	if (ret == 0)
		run->consumer = consumer_open();
	run->viewer.directory = run->relay.dir;
	run->viewer.view = o->view;
	if (ret == 0 && !run->output)
		ret = viewer_start(&run->viewer, &run->session, run->relay.live, run_viewer_filters(run));
	if (ret == 0 && count)
		run_wait_viewer(run);	/* what runs is recorded as soon as an agent is in it */
	return ret;
}

static void run_tell_agents(struct run *run)
{
	spi_control_run(run->agents.control, run->number);
	spi_control_prototypes(run->agents.control, (const char *const *) run->prototypes.list, run->prototypes.count);
	if (run->news.is_wanted)
		spi_control_output(run->agents.control, run->news.to);
	else if (run->is_payload)
		spi_control_output(run->agents.control, STDERR_FILENO);
}

int run_begin(struct run *run, const char *subject, const pid_t *vpids, unsigned int count)
{
	const struct trace_options *o = run->options;
	int ret = run_take_output(run);

	if (ret)
		return ret;
	if (o->process && news_begin(&run->news, o->output != NULL) < 0) {
		say_error("a pipe: %s", strerror(errno));
		return TRACE_STATUS_ERROR;
	}
	if (o->process)
		run_number_take(run);	/* forked children have a way to say what they cannot follow */
	if (run->is_recording)
		ret = run_begin_recording(run, subject, vpids, count);
	if (ret == 0) {
		ret = agents_create(&run->agents, run->funcs, run->func_count,
			o->asked.one_event ? SPI_RULE_ONE_EVENT : 0, o->string_max, &run->report, &run->session);
		if (ret < 0)
			say_error("the socket for traced programs cannot be made: %s", strerror(-ret));
		else
			run_tell_agents(run);
		run->agents.on_ready = run_on_ready;
		run->agents.data = run;
		run->agents.peers = run->is_payload ? &run->peers : NULL;
	}
	return ret == 0 ? 0 : ret == -EINTR ? run_interrupted(run) : TRACE_STATUS_ERROR;
}

/* What it had not written is lost, and so is what is recorded from now on. */
static void run_consumer_gone(struct run *run)
{
	say_error(CONSUMER_GONE "; the trace is not complete");
	run->broken = 1;
	if (run->options->memory)	/* its events would wait for room that nobody makes */
		agents_detach(&run->agents, RUN_DETACH_MS);
	close(run->consumer);
	run->consumer = -1;
}

enum run_event run_wait(struct run *run, int process, int64_t deadline, int *signal, int *sender)
{
	/* The last one without events: poll() tells of a pipe without readers all the same, also while there is nothing to print. */
	struct pollfd fds[7] = { { .fd = run->signals, .events = POLLIN }, { .fd = process, .events = POLLIN },
		{ .fd = run->agents.control ? spi_control_fd(run->agents.control) : -1, .events = POLLIN },
		{ .fd = run->consumer, .events = POLLIN }, { .fd = run->viewer.pid && run->session.announced ? STDOUT_FILENO : -1 },
		{ .fd = run->news.is_wanted ? run->news.from : -1, .events = POLLIN },
		{ .fd = run->finder.is_wanted ? -1 : run->finder.fd, .events = POLLIN } };
	int64_t left = deadline < 0 ? -1 : deadline - run_now();
	int progress = agents_tell_progress(&run->agents);

	if (deadline >= 0 && left <= 0)
		return RUN_EVENT_TIME;
	if (progress >= 0 && (left < 0 || progress < left))
		left = progress;
	if (poll(fds, 7, left > INT32_MAX ? INT32_MAX : (int) left) < 0)
		return errno == EINTR ? RUN_EVENT_AGENTS : RUN_EVENT_ERROR;
	if (fds[5].revents)
		news_read(&run->news);
	if (fds[6].revents && finder_hear(&run->finder, run))
		run->broken = 1;
	if (fds[3].revents)
		run_consumer_gone(run);
	if (fds[0].revents && (*signal = signals_next(sender)))
		return RUN_EVENT_SIGNAL;
	if (fds[2].revents)
		return spi_control_dispatch(run->agents.control) < 0 ? RUN_EVENT_ERROR : RUN_EVENT_AGENTS;
	if (fds[1].revents)
		return RUN_EVENT_PROCESS;
	if (fds[4].revents & (POLLERR | POLLHUP)) {
		viewer_end(&run->viewer);
		return RUN_EVENT_READER;
	}
	return deadline >= 0 && run_now() >= deadline ? RUN_EVENT_TIME : RUN_EVENT_AGENTS;
}

struct run_settling run_settling_begin(const struct run *run, unsigned int processes)
{
	struct run_settling settling = { .run = run, .end = -1 };

	settling.refused = run_now() + RUN_REFUSED_MS;
	settling.bound = run_now() + RUN_SETTLE_MS + (int64_t) processes * RUN_SETTLE_EACH_MS;
	return settling;
}

int64_t run_settling_wait(struct run_settling *settling)
{
	return settling->is_over ? settling->end : run_now() + RUN_LOOK_MS;
}

int run_settling_over(struct run_settling *settling, unsigned int unsettled)
{
	int64_t now = run_now(), duration = settling->run->options->duration;

	if (!settling->is_over && unsettled && now >= settling->bound) {
		say_warning("%u process%s not recorded yet%s", unsettled, unsettled == 1 ? " is" : "es are",
			duration < 0 ? "" : ": --duration counts from now");
		unsettled = 0;
	}
	if (!settling->is_over && !unsettled) {
		settling->is_over = 1;
		settling->end = duration < 0 ? -1 : now + duration;
	}
	return settling->end >= 0 && now >= settling->end;
}

/* LTTng's daemons only note a full disk in their own logs. `place`: where they write. */
static void run_check_disk(struct run *run, const char *place)
{
	struct statvfs vfs;

	if (!place || statvfs(place, &vfs) < 0 || (uint64_t) vfs.f_bavail * vfs.f_frsize >= RUN_DISK_FULL_BYTES)
		return;
	say_error("%s: the disk is full: the trace is not complete; %s", place, place == run->output ?
		"record to another one with -o DIR" : "record with -o DIR, or set TMPDIR to a directory on another one");
	run->broken = 1;
}

static void run_end_session(struct run *run)
{
	struct pollfd consumer = { .fd = run->consumer, .events = POLLIN };
	char name[sizeof(run->session.name)];
	int announced = run->session.announced, destroyed;

	if (session_stop(&run->session, run->signals, &run->report.discarded) < 0)
		run->broken = 1;
	if (poll(&consumer, 1, 0) > 0)
		run_consumer_gone(run);
	if (run->viewer.pid && announced)
		viewer_attached(&run->viewer, &run->session, run->signals);
	memcpy(name, run->session.name, sizeof(name));
	destroyed = session_destroy(&run->session, run->is_killed);
	run->report.is_cut = announced && !destroyed && run->is_killed;
	if (announced && viewer_finish(&run->viewer, run->report.entries + run->report.exits, run->signals) < 0)
		run->broken = 1;
	viewer_end(&run->viewer);
	if (announced)
		run_check_disk(run, run->relay.dir);
	relay_end(&run->relay);
	if (destroyed && announced)
		say("Session %s destroyed", name);
}

void run_end(struct run *run)
{
	int announced = run->session.announced, silent;
	unsigned int i;

	finder_end(&run->finder, run);
	silent = agents_detach(&run->agents, RUN_DETACH_MS);
	if (silent)
		say_warning("%d traced process%s did not confirm that the instrumentation is removed", silent,
			silent == 1 ? "" : "es");
	news_end(&run->news);
	agents_destroy(&run->agents);
	/* A signal that came for the part that is over must not cut the rest short. */
	while (signals_next(NULL))
		;
	if (run->is_recording)
		run_end_session(run);
	run->broken |= asking_is_over();
	if (announced) {
		run_check_disk(run, run->output);
		if (run->output && (run->viewer.view == VIEW_REPORT || run->viewer.view == VIEW_LEAKS) &&
				viewer_print_files(&run->viewer, run->output, run->signals) < 0)
			run->broken = 1;
		if (run->output && !run->is_temporary && report_write_file(&run->report, run->output) < 0)
			run->broken = 1;
		if (run->is_recording)
			report_say(&run->report, run->is_temporary ? NULL : run->output);
		else
			report_say_instrumented(&run->report, run->output);
		if (report_has_nothing(&run->report)) {
			say_error("nothing was instrumented%s",
				run->is_recording ? ", and so nothing was recorded" : "");
			run->broken = 1;
		} else if (run->is_recording && report_is_empty(&run->report)) {
			tree_say_none(&run->options->tree, &run->options->asked);
		}
	} else if (run->output_made) {
		rmdir(run->output);
	}
	if (run->is_temporary)
		directory_remove(run->output);
	report_free(&run->report);
	if (run->consumer >= 0)
		close(run->consumer);
	run->consumer = -1;
	for (i = 0; i < run->func_count; i++)
		func_free(&run->funcs[i]);
	free(run->funcs);
	prototype_files_free(&run->prototypes);
	free(run->output);
	run->func_count = 0;
	run->funcs = NULL;
	run->output = NULL;
}
