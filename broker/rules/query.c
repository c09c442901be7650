/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Keeping the rules up to date.
 *
 * Whenever a client command has ended the daemon is asked again, through the
 * querier; any number of changes while a question is under way make one more.
 * Each session's XML then goes through the parser. Only when everything is there
 * does the new ruleset take the old one's place: first what processes do is
 * brought in line, then the plugin gets its table.
 *
 * Querier and parser are started once and stay. One that does not answer in time
 * is killed and started again; meanwhile the rules stay as they are, and the
 * plugin is not told that they are up to date. A daemon that is busy, as with
 * registrations on a machine that is, would be asked in vain again and again, and
 * be busier for it: so each question is given twice as long as the one before.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/base/base.h"
#include "broker/rules/querier.h"
#include "broker/rules/rules.h"
#include "broker/rules/xml-rules.h"

#define DEADLINE_MS	3000u
#define DEADLINE_DOUBLED	2u	/* times: 12 seconds at most */
#define PARSE_MS	2000u
#define RETRY_MS	200u		/* doubled with each failure */
#define RETRY_MOST_MS	10000u
#define YOUNG_MS	2100u

/* A session whose XML waits for the parser. */
struct unread {
	struct unread *next;
	struct session *session;
	int xml;
};

static struct ruleset *rules;		/* as of the last answer; never NULL */
static struct rules_hooks hooks;
static uint64_t latest;			/* client commands that have ended, as the plugin says */
static const char *directory = "";	/* for saved sessions */
static struct child querier = { .socket.fd = -1 }, parser = { .socket.fd = -1 };
static struct loop_timer deadline, parse_deadline, retry, young;
static bool wanted, asking, answered;
static bool mute;			/* this answer is without some user's part */
static uint64_t started, done;		/* numbers of questions */
static uint64_t generation;		/* that this question's answer accounts for */
static uint64_t accounted;		/* the last answer did */
static struct ruleset *coming;
static uint32_t asked_as;	/* so many users, for it */
static struct unread *unread, **unread_end = &unread;
static int answer_fd = -1;		/* the memfd for the first of them */
static unsigned int failures;
static struct query_ask ask;

static void query_start(void);
static void parse_next(void);

/* ---- who may own sessions ------------------------------------------------------------- */

void query_add_uid(uid_t uid)
{
	for (uint32_t i = 0; i < ask.nr_uids; i++)
		if (ask.uids[i] == uid)
			return;
	if (uid == geteuid())
		return;
	if (ask.nr_uids < QUERY_UIDS_MAX)
		ask.uids[ask.nr_uids++] = uid;
	else
		ask.incomplete = 1;
	query_want();
}

/*
 * Nobody saw who used the daemon before the plugin came into it: those who are
 * members of its group. Without any, it was root.
 */
static void add_group_members(void)
{
	struct group *group;
	struct passwd *user;
	FILE *file;
	gid_t gid;

	if (!querier_group(the_daemon()->told.client_socket, &gid))
		return;
	file = fopen("/etc/group", "re");
	while (file && (group = fgetgrent(file)))
		for (char **name = group->gr_gid == gid ? group->gr_mem : (char *[]) { NULL }; *name; name++) {
			user = getpwnam(*name);
			if (user)
				query_add_uid(user->pw_uid);
		}
	if (file)
		fclose(file);
	file = fopen("/etc/passwd", "re");
	while (file && (user = fgetpwent(file)))
		if (user->pw_gid == gid)
			query_add_uid(user->pw_uid);
	if (file)
		fclose(file);
}

/* ---- results ----------------------------------------------------------------------------- */

static void unread_pop(void)
{
	struct unread *u = unread;

	unread = u->next;
	if (!unread)
		unread_end = &unread;
	close(u->xml);
	free(u);
	if (answer_fd >= 0)
		close(answer_fd);
	answer_fd = -1;
}

static void query_reset(void)
{
	loop_timer_cancel(&deadline);
	loop_timer_cancel(&parse_deadline);
	while (unread)
		unread_pop();
	ruleset_free(coming);
	coming = NULL;
	asking = answered = false;
}

static void retry_due(struct loop_timer *timer)
{
	if (wanted && !asking)
		query_start();
}

static void query_failed(const char *what)
{
	unsigned int ms = RETRY_MS << (failures < 6 ? failures : 6);

	query_reset();
	failures++;
	if (failures > 1)
		broker_note("query", "the session daemon cannot be asked for its rules: %s", what);
	wanted = true;
	loop_timer_set(&retry, ms < RETRY_MOST_MS ? ms : RETRY_MOST_MS, retry_due);
}

static void young_grown(struct loop_timer *timer)
{
	query_want();
}

/* Everything is there. */
static void query_conclude(void)
{
	struct ruleset *former = rules;
	bool same;

	/* Somebody has come to the daemon since it was asked: what nobody claimed may be his, and would count as ours. */
	if (ask.nr_uids + ask.incomplete != asked_as) {
		query_reset();
		query_start();
		return;
	}
	hooks.answered(coming, started);
	same = ruleset_equal(former, coming);
	done = started;
	accounted = generation;
	failures = 0;
	broker_note_clear("query");
	if (!mute)
		broker_note_clear("mute");
	else if (!young.armed)
		loop_timer_set(&young, RETRY_MOST_MS, young_grown);
	if (same) {
		former = coming;
	} else {
		ruleset_take_over(coming, former);
		rules = coming;
	}
	coming = NULL;
	ruleset_free(former);
	query_reset();
	table_send(generation);
	hooks.taken(!same);
	if (wanted)
		query_start();
}

/* ---- the parser --------------------------------------------------------------------------- */

static void parse_take(bool good)
{
	struct session *session = unread->session;
	FILE *lines = NULL;
	struct stat st;
	int fd = answer_fd;

	loop_timer_cancel(&parse_deadline);
	answer_fd = -1;
	/* The parser could have it mapped and change it still: a stream reads each byte once. */
	if (good && !fstat(fd, &st) && st.st_size <= (off_t) XML_ANSWER_MAX && !lseek(fd, 0, SEEK_SET))
		lines = fdopen(fd, "r");
	if (!lines)
		close(fd);
	if (!lines || ruleset_add_lines(coming, session, lines))
		snprintf(session->why, sizeof(session->why), "what the session daemon saved of it cannot be read");
	if (lines)
		fclose(lines);
	unread_pop();
	parse_next();
}

static void parser_ready(struct loop_source *source, uint32_t events)
{
	unsigned int nr_fds;
	char byte = 1;
	ssize_t n = packet_receive(source->fd, &byte, 1, NULL, 0, &nr_fds);

	if (n == -EAGAIN)
		return;
	if (n != 1)
		child_stop(&parser);
	if (unread && answer_fd >= 0)
		parse_take(n == 1 && !byte);
}

static void parser_late(struct loop_timer *timer)
{
	child_stop(&parser);
	if (unread && answer_fd >= 0)
		parse_take(false);
}

static void parse_next(void)
{
	int ret = 0;

	if (answer_fd >= 0)
		return;
	if (!unread) {
		if (answered)
			query_conclude();
		return;
	}
	answer_fd = memfd_create("spi-rules", MFD_CLOEXEC);
	if (!parser.pid)
		ret = child_start(&parser, xml_rules_work, NULL, parser_ready);
	if (!ret && answer_fd >= 0)
		ret = packet_send(parser.socket.fd, "", 1, (int[]) { unread->xml, answer_fd }, 2);
	if (ret || answer_fd < 0) {
		child_stop(&parser);
		child_stop(&querier);	/* what is left of its answer is none to the next question */
		query_failed("no process to read them");
		return;
	}
	loop_timer_set(&parse_deadline, PARSE_MS, parser_late);
}

/* ---- the querier -------------------------------------------------------------------------- */

static void take_session(const struct query_item *item, int xml)
{
	struct session *session = ruleset_add_session(coming, item->name, item->uid, item->text);
	struct unread *u = session && xml >= 0 ? calloc(1, sizeof(*u)) : NULL;

	if (session)
		session->created = item->created;
	if (!u) {
		if (xml >= 0)
			close(xml);
		return;
	}
	u->session = session;
	u->xml = xml;
	*unread_end = u;
	unread_end = &u->next;
	parse_next();
}

static void take_item(const struct query_item *item, int fd)
{
	if (item->young)
		loop_timer_set(&young, YOUNG_MS, young_grown);
	if (item->kind == QUERY_SESSION && fd >= 0) {
		take_session(item, fd);
		return;
	}
	if (fd >= 0)
		close(fd);
	if (item->kind == QUERY_UNKNOWN) {
		take_session(item, -1);
	} else if (item->kind == QUERY_TRIGGER) {
		ruleset_add_trigger(coming, item->name, item->uid, item->text, item->status != 0, item->filter);
	} else if (item->kind == QUERY_MUTE) {
		mute = true;
		broker_note("mute", "user %u: the sessions cannot be read: %s; all rules made before stay in force, and all "
			    "sessions made since wait", item->uid, item->text);
	} else if (item->kind == QUERY_DONE && item->status) {
		query_failed(item->text);
	} else if (item->kind == QUERY_DONE) {
		answered = true;
		loop_timer_cancel(&deadline);
		parse_next();
	}
}

static void querier_ready(struct loop_source *source, uint32_t events)
{
	struct query_item item;
	unsigned int nr_fds;
	int fd = -1;
	ssize_t n = packet_receive(source->fd, &item, sizeof(item), &fd, 1, &nr_fds);

	if (n == -EAGAIN)
		return;
	if (n != sizeof(item) || !asking) {
		if (n > 0 && nr_fds)
			close(fd);
		child_stop(&querier);
		if (asking)
			query_failed("the process that asks it ended unexpectedly");
		return;
	}
	item.name[sizeof(item.name) - 1] = item.text[sizeof(item.text) - 1] = item.filter[sizeof(item.filter) - 1] = 0;
	take_item(&item, nr_fds ? fd : -1);
}

static void querier_late(struct loop_timer *timer)
{
	child_stop(&querier);
	query_failed("it does not answer");
}

static void query_start(void)
{
	static struct querier_setup setup;
	static bool looked;
	int ret = 0;

	if (!the_daemon()->is_known || the_daemon()->is_front_end || daemon_is_gone() || asking)
		return;
	if (!looked && broker_is_root() && (the_daemon()->told.flags & SPI_BROKER_DAEMON_ATTACHED))
		add_group_members();
	looked = true;
	setup.directory = directory;
	setup.socket = the_daemon()->told.client_socket;
	setup.rules = rules;
	if (!querier.pid) {
		ret = child_start(&querier, querier_work, &setup, querier_ready);
		if (!ret)
			plugin_querier(querier.pid);
	}
	wanted = mute = false;
	started++;
	generation = latest;
	asked_as = ask.nr_uids + ask.incomplete;
	coming = ret ? NULL : ruleset_create();
	if (!ret && coming)
		ret = packet_send(querier.socket.fd, &ask, sizeof(ask), NULL, 0);
	if (ret || !coming) {
		child_stop(&querier);
		query_failed("no process to ask it");
		return;
	}
	asking = true;
	loop_timer_set(&deadline, DEADLINE_MS << (failures < DEADLINE_DOUBLED ? failures : DEADLINE_DOUBLED), querier_late);
}

void query_want(void)
{
	wanted = true;
	if (!asking && !retry.armed)
		query_start();
}

void query_generation_told(uint64_t told)
{
	latest = told;
}

void query_directory_is(const char *path)
{
	directory = path;
}

bool query_idle(void)
{
	return !wanted && !asking && done;
}

uint64_t query_next(void)
{
	return started + 1;
}

uint64_t query_generation(void)
{
	return accounted;
}

uint64_t query_done(void)
{
	return done;
}

void query_stop(void)
{
	query_reset();
	loop_timer_cancel(&retry);
	loop_timer_cancel(&young);
	child_stop(&querier);
	child_stop(&parser);
}

void rules_take(struct ruleset *given)
{
	ruleset_free(rules);
	rules = given;
	hooks.taken(true);
}

struct ruleset *rules_now(void)
{
	return rules;
}

int rules_open(const struct rules_hooks *given)
{
	hooks = *given;
	return (rules = ruleset_create()) ? 0 : -ENOMEM;
}

void rules_close(void)
{
	ruleset_free(rules);
	rules = NULL;
}
