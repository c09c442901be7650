/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include "reader/base/text.h"
#include "reader/calls/source.h"
#include "reader/commands/reading.h"

#define LIVE_PAUSE_NS	50000000

static volatile sig_atomic_t is_stopped;

static void stop(int number)
{
	(void) number;
	is_stopped = 1;
}

/* ---- output ---- */

int reading_output_open(struct reading *r)
{
	r->out = r->output ? fopen(r->output, "we") : stdout;
	if (r->out)
		return 0;
	say_error("%s: %s", r->output, strerror(errno));
	return -1;
}

void reading_title(const struct reading *r, char *text, size_t size)
{
	size_t n = 0;

	*text = 0;
	for (int i = 0; i < r->directory_count && n < size; i++)
		n += (size_t) snprintf(text + n, size - n, "%s%s", i ? ", " : "", r->directories[i]);
}

/* ---- reading ---- */

static const char *const *list_of(const char **list)
{
	return *list ? list : NULL;
}

static int times_read(const struct reading *r, struct source *source, struct call_filter *filter, int64_t *first,
	int64_t *last)
{
	if (source_range(source, first, last) < 0)
		*first = *last = 0;
	filter->from = INT64_MIN;
	filter->to = INT64_MAX;
	if (r->from && time_read(r->from, *first, &filter->from) < 0) {
		say_error("--from %s: not a time, such as 12:47:45.2 or 2026-11-20T12:47:45", r->from);
		return -1;
	}
	if (r->to && time_read(r->to, *first, &filter->to) < 0) {
		say_error("--to %s: not a time, such as 12:47:45.2 or 2026-11-20T12:47:45", r->to);
		return -1;
	}
	return 0;
}

static int take_message(void *data, const bt_message *message)
{
	struct reading *r = data;
	const int status = r->see ? r->see(r->seer, message) : 0;

	if (status == 0)
		return calls_take(&r->calls, message);
	bt_message_put_ref(message);
	return status;
}

/* Nothing has come from a live session: what is known goes out, and is asked for again soon. */
static int wait_for_more(struct reading *r)
{
	const struct timespec pause = { 0, LIVE_PAUSE_NS };

	if (r->idle && r->idle(r->idle_data) < 0)
		return -EPIPE;
	nanosleep(&pause, NULL);
	return 2;
}

/* Once through, or until there have been so many calls: 0 or a negative number. */
static int read_once(struct reading *r, struct source *source, int64_t first, int64_t last, double done, double part,
	uint64_t most)
{
	struct calls *c = &r->calls;
	char why[2000];
	int status = 1;

	while (status > 0 && !is_stopped && c->number <= most) {
		status = source_read(source, why, sizeof(why));
		if (status == 2)
			status = wait_for_more(r);
		if (last > first && c->merge.any)
			progress(done + part * (double) (c->merge.now_ns - first) / (double) (last - first));
	}
	if (status == -EIO) {
		if (!r->is_damaged)
			say_warning("the trace is damaged, what came before is shown: %s", why);
		r->is_damaged = 1;
		status = 0;
	}
	r->is_stopped |= is_stopped != 0;
	return status < 0 ? status : calls_end(c);
}

/* Files that names or lines were wanted of. */
static void builds_say(const struct calls *c)
{
	char text[1000] = "";
	unsigned int n = 0;

	for (const struct object *o = names_objects(&c->merge); o; o = o->next) {
		const size_t used = strlen(text);

		if (o->symbols && symbols_state(o->symbols) == SYMBOLS_OTHER_FILE)
			snprintf(text + used, sizeof(text) - used, "%s%s", n++ ? ", " : "", o->path);
	}
	if (n)
		say_warning("not used for names and lines, as the build-id is another than the trace's: %s. See --root, --debug-dir",
			text);
}

static void missing_say(const struct reading *r)
{
	const struct calls *c = &r->calls;

	merge_tell(&c->merge);
	builds_say(c);
	if (r->is_without_calls || (reading_is_live(r) && !c->number))
		return;			/* a program that made no call */
	if (c->has_no_vtid)
		say_warning("the trace has no context vtid: calls of several threads are not told apart. Add it with "
			"`lttng add-context -u -t vpid -t vtid` before the session starts");
	if (r->is_stopped)
		say_warning("stopped: this is what was read by then");
	else if (!c->calls && c->events && !c->others)
		say_warning("no call in the trace%s", r->from || r->to ? " then" : "");
	else if (!c->events)
		say_warning("the trace is empty: no event in it");
	else if (!c->number && !c->others)
		say_warning("no call of the trace passes the filters");
	if (c->has_whole && (*r->callers || r->depth))
		say_warning("events of whole calls (--one-event) do not say what is around them: --caller leaves them out, --depth "
			"does not");
}

void reading_flow(struct reading *r, struct flow *flow, int (*take)(void *data, const struct flow_message *message),
	void *data)
{
	flow->take = take;
	flow->data = data;
	r->see = flow_see;
	r->seer = flow;
}

int reading_run(struct reading *r, int (*take)(void *data, const struct call *call), void *data)
{
	const struct sigaction action = { .sa_handler = stop, .sa_flags = (int) SA_RESETHAND };
	const int passes = r->longer || r->only_errors ? 2 : 1;
	struct calls *c = &r->calls;
	struct source *source;
	uint8_t *wanted = NULL;
	uint64_t wanted_size = 0, most = UINT64_MAX;
	int64_t first = 0, last = 0;
	char why[2000];
	int status = 0;

	if (symbols_places(r->root, list_of(r->debug_directories)) == -ENOMEM) {
		say_error("no memory");
		return 1;
	}
	for (int pass = 0; pass < passes && status == 0; pass++) {
		is_stopped = 0;
		sigaction(SIGINT, &action, NULL);
		calls_init(c, take, data);
		c->stop = &is_stopped;
		c->merge.is_files = !reading_is_live(r);
		c->filter = (struct call_filter) { .functions = list_of(r->functions), .callers = list_of(r->callers),
			.objects = list_of(r->objects), .threads = list_of(r->threads), .processes = list_of(r->processes),
			.from = INT64_MIN, .to = INT64_MAX, .longer = r->longer, .depth = r->depth, .only_errors = r->only_errors };
		c->is_choosing = pass + 1 < passes;
		c->has_lines = r->has_lines && !c->is_choosing;
		c->has_events = r->has_events && !r->longer && !r->depth && !r->only_errors;	/* these are of calls */
		c->wanted = wanted;
		c->wanted_size = wanted_size;
		source = reading_is_live(r) ? source_open_live(r->directories[0], take_message, r, why, sizeof(why)) :
			source_open(r->directories, take_message, r, why, sizeof(why));
		if (!source) {
			progress_end();
			say_error("%s", why);
			calls_free(c);
			return 1;
		}
		if (*source_cut(source) && !r->is_damaged) {
			say_warning("the trace is damaged, what is whole is shown: %s", source_cut(source));
			r->is_damaged = 1;
		}
		if (!reading_is_live(r) && times_read(r, source, &c->filter, &first, &last) < 0)
			status = -EINVAL;
		else
			status = read_once(r, source, first, last, (double) pass / passes, 1.0 / passes, most);
		source_close(source);
		if (!c->is_choosing)
			break;
		wanted = c->wanted;
		wanted_size = c->wanted_size;
		if (!wanted)
			wanted = calloc(1, 1);
		c->wanted = NULL;
		if (is_stopped)
			most = c->number;	/* no later call was looked at */
		calls_free(c);
	}
	progress_end();
	if (status == -ENOMEM)
		say_error("no memory");
	else if (status < 0 && status != -EPIPE && status != -EINVAL)	/* that was said */
		say_error("%s: %s", r->output ? r->output : "stdout", strerror(-status));
	return status == 0 || status == -EPIPE ? 0 : 1;
}

/* Something could not be written, maybe long ago, and nobody kept why: one byte more is refused likewise. */
static int why_not_written(FILE *out)
{
	clearerr(out);
	errno = 0;
	return (putc(' ', out) == EOF || fflush(out) != 0) && errno ? -errno : -EIO;
}

int reading_end(struct reading *r, int status)
{
	if (r->out && (status == 0 || status == -EPIPE) && ferror(r->out))
		status = why_not_written(r->out);
	if (r->out && fflush(r->out) != 0 && status == 0)
		status = -errno;
	if (r->output && r->out && fclose(r->out) != 0 && status == 0)
		status = -errno;
	if (!r->output)
		pager_end();
	if (status != -EPIPE)
		missing_say(r);
	calls_free(&r->calls);
	if (status == 0 || status == -EPIPE)
		return 0;
	say_error("%s: %s", r->output ? r->output : "stdout", strerror(-status));
	return 1;
}
