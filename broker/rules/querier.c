/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Asking the daemon for its rules.
 *
 * A session's rules are not listed but saved: listing ends the stock daemon when
 * a rule has an exclusion, and needs a command a channel, while one command saves
 * all sessions, with everything that decides which process a rule acts on.
 *
 * Nothing tells whose a session is. But the daemon shows each user his own
 * sessions only, and root all: so it is asked once as each user who may have
 * any. What it shows to none of them is ours. A session is known by its name and
 * the second of its creation; it counts only when the same one was there before
 * anybody was asked and after all was saved, and when that second is over, so
 * that nobody can have put his own in its place meanwhile. Where nobody else uses
 * the daemon there is nothing to be told apart, and nothing to wait for.
 *
 * A user who cannot be asked does not keep the others' rules back: whose a session
 * was when all could be asked is remembered, and only of one made since nobody knows.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <lttng/condition/event-rule-matches.h>
#include <lttng/lttng.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "broker/base/base.h"
#include "broker/rules/querier.h"
#include "broker/rules/ruleset.h"

#define SETTLED_SECONDS 2	/* a session of that age can't be mistaken for another */

struct known {
	char name[256];
	uint64_t created;
	uid_t owner;
	bool listed;		/* as somebody's own */
};

struct list {
	struct known *sessions;
	int n;
};

static struct list settled;	/* whose sessions were, as of the last time */

static int answer(const struct query_item *item, int fd)
{
	return packet_send(CHILD_FD, item, sizeof(*item), &fd, fd >= 0);
}

static void copy(char *to, const char *from, size_t size)
{
	snprintf(to, size, "%s", from ?: "");
}

/* ---- sessions ------------------------------------------------------------- */

/* Those that `uid` may see. 0 or a negative LTTng error. */
static int list_as(uid_t uid, struct list *list)
{
	struct lttng_session *sessions = NULL;
	uid_t own = geteuid();
	int n;

	memset(list, 0, sizeof(*list));
	if (uid != own && seteuid(uid))
		return -LTTNG_ERR_FATAL;
	n = lttng_list_sessions(&sessions);
	if (uid != own && seteuid(own))
		_exit(1);
	if (n == -LTTNG_ERR_NO_SESSION)
		n = 0;
	if (n <= 0)
		return n;
	list->sessions = calloc(n, sizeof(*list->sessions));
	for (int i = 0; list->sessions && i < n; i++) {
		struct known *k = &list->sessions[list->n++];

		copy(k->name, sessions[i].name, sizeof(k->name));
		k->owner = uid;
		if (lttng_session_get_creation_time(&sessions[i], &k->created) != LTTNG_OK)
			k->created = 0;
	}
	free(sessions);
	return list->sessions ? 0 : -LTTNG_ERR_NOMEM;
}

static struct known *list_find(const struct list *list, const char *name, uint64_t created)
{
	for (int i = 0; i < list->n; i++)
		if (!strcmp(list->sessions[i].name, name) && list->sessions[i].created == created)
			return &list->sessions[i];
	return NULL;
}

static int save(const char *directory, const char *session)
{
	struct lttng_save_session_attr *attr = lttng_save_session_attr_create();
	int ret = attr ? 0 : -LTTNG_ERR_NOMEM;

	if (!ret)
		ret = lttng_save_session_attr_set_output_url(attr, directory);
	if (!ret && session)
		ret = lttng_save_session_attr_set_session_name(attr, session);
	if (!ret)
		ret = lttng_save_session_attr_set_overwrite(attr, 1);
	if (!ret)
		ret = lttng_save_session(attr);
	lttng_save_session_attr_destroy(attr);
	return ret;
}

/* All at once; one that cannot be saved must not hide the others. */
static void save_all(const char *directory, const struct list *list)
{
	if (!list->n || save(directory, NULL) >= 0)
		return;
	for (int i = 0; i < list->n; i++)
		save(directory, list->sessions[i].name);
}

/* The saved file, and its name is gone. A descriptor or -1. */
static int take_file(const char *directory, const char *session)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s.lttng", directory, session) >= (int) sizeof(path))
		return -1;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	unlink(path);
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid())) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void empty_directory(const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

static void answer_session(const struct known *k, const struct list *after, const char *directory, bool alone,
			   const char *unsure)
{
	struct query_item item = { .kind = QUERY_SESSION, .uid = k->owner };
	int fd = take_file(directory, k->name);

	item.created = k->created;
	item.young = !alone && k->created + SETTLED_SECONDS > (uint64_t) time(NULL);
	copy(item.name, k->name, sizeof(item.name));
	if (!list_find(after, k->name, k->created)) {
		item.kind = 0;		/* gone meanwhile: whoever made its successor has made it dirty */
	} else if (fd < 0) {
		item.kind = QUERY_UNKNOWN;
		copy(item.text, "the session daemon does not save it", sizeof(item.text));
	} else if (unsure && !k->listed) {
		item.kind = QUERY_UNKNOWN;
		copy(item.text, unsure, sizeof(item.text));
	} else if (!k->listed && item.young) {
		item.kind = QUERY_UNKNOWN;
		copy(item.text, "just made; other users are at work: its owner is known in two seconds", sizeof(item.text));
	}
	if (item.kind)
		answer(&item, item.kind == QUERY_SESSION ? fd : -1);
	if (fd >= 0)
		close(fd);
}

static void answer_mute(uid_t uid, int error)
{
	struct query_item item = { .kind = QUERY_MUTE, .uid = uid };

	copy(item.text, lttng_strerror(error), sizeof(item.text));
	answer(&item, -1);
}

/* Whose each is, as far as the users can be asked; false: some could not be. */
static bool find_owners(const struct query_ask *ask, struct list *sessions)
{
	uid_t own = geteuid();
	bool all = true;

	for (uint32_t i = 0; i < ask->nr_uids; i++) {
		struct list theirs;
		int ret;

		if (own || ask->uids[i] == own)
			continue;	/* a daemon that is not root's is for one user */
		ret = list_as(ask->uids[i], &theirs);
		if (ret) {
			answer_mute(ask->uids[i], ret);
			all = false;
		}
		for (int s = 0; s < theirs.n; s++) {
			struct known *k = list_find(sessions, theirs.sessions[s].name, theirs.sessions[s].created);

			if (k) {
				k->owner = ask->uids[i];
				k->listed = true;
			}
		}
		free(theirs.sessions);
	}
	for (int i = 0; !all && i < sessions->n; i++) {
		struct known *k = &sessions->sessions[i], *was = list_find(&settled, k->name, k->created);

		if (!k->listed && was) {
			k->owner = was->owner;
			k->listed = true;
		}
	}
	return all;
}

/* `sure`: those that nobody claims are ours. One that is too young could be mistaken for another. */
static void remember_owners(struct list *sessions, bool sure, time_t now)
{
	int n = 0;

	for (int i = 0; i < sessions->n; i++) {
		const struct known *k = &sessions->sessions[i];

		if ((k->listed || sure) && k->created + SETTLED_SECONDS <= (uint64_t) now)
			sessions->sessions[n++] = *k;
	}
	free(settled.sessions);
	settled = (struct list) { .sessions = sessions->sessions, .n = n };
	memset(sessions, 0, sizeof(*sessions));
}

/* Those of the querier before this one: it may have been ended for being late. */
static void recall_owners(const struct ruleset *rules)
{
	int n = 0;

	for (const struct session *s = rules ? rules->sessions : NULL; s; s = s->next)
		n++;
	settled.sessions = calloc(n, sizeof(*settled.sessions));
	for (const struct session *s = n && settled.sessions ? rules->sessions : NULL; s; s = s->next) {
		struct known *k = &settled.sessions[settled.n];

		if (*s->why || s->created + SETTLED_SECONDS > (uint64_t) time(NULL))
			continue;
		*k = (struct known) { .created = s->created, .owner = s->owner, .listed = true };
		copy(k->name, s->name, sizeof(k->name));
		settled.n++;
	}
}

static int answer_sessions(const struct query_ask *ask, const char *directory)
{
	const char *unsure = NULL;
	uid_t own = geteuid();
	struct list before, after = { 0 };
	time_t now = time(NULL);
	int ret = list_as(own, &before);

	if (!ret && !find_owners(ask, &before))
		unsure = "just made, and not all users can be asked whether it is theirs";
	if (!own && ask->incomplete)
		unsure = "too many users use this session daemon to tell whose it is";
	if (!ret && before.n) {
		empty_directory(directory);
		save_all(directory, &before);
		ret = list_as(own, &after);
	}
	for (int i = 0; !ret && i < before.n; i++)
		answer_session(&before.sessions[i], &after, directory, own || !ask->nr_uids, unsure);
	empty_directory(directory);
	if (!ret)
		remember_owners(&before, !unsure, now);
	free(before.sessions);
	free(after.sessions);
	return ret;
}

/* ---- triggers --------------------------------------------------------------- */

static const char *trigger_pattern(const struct lttng_trigger *trigger)
{
	const struct lttng_condition *condition = lttng_trigger_get_const_condition(trigger);
	const struct lttng_event_rule *rule = NULL;
	const char *pattern = NULL;

	if (!condition || lttng_condition_get_type(condition) != LTTNG_CONDITION_TYPE_EVENT_RULE_MATCHES ||
	    lttng_condition_event_rule_matches_get_rule(condition, &rule) != LTTNG_CONDITION_STATUS_OK ||
	    lttng_event_rule_get_type(rule) != LTTNG_EVENT_RULE_TYPE_USER_TRACEPOINT ||
	    lttng_event_rule_user_tracepoint_get_name_pattern(rule, &pattern) != LTTNG_EVENT_RULE_STATUS_OK)
		return NULL;
	return pattern;
}

/* As is_deaf() of xml-rules.c. */
static bool trigger_is_deaf(const struct lttng_trigger *trigger)
{
	const struct lttng_log_level_rule *level = NULL;
	const struct lttng_event_rule *rule = NULL;
	int value;

	if (lttng_condition_event_rule_matches_get_rule(lttng_trigger_get_const_condition(trigger), &rule) !=
		    LTTNG_CONDITION_STATUS_OK ||
	    lttng_event_rule_user_tracepoint_get_log_level_rule(rule, &level) != LTTNG_EVENT_RULE_STATUS_OK)
		return false;
	if (lttng_log_level_rule_get_type(level) == LTTNG_LOG_LEVEL_RULE_TYPE_EXACTLY)
		return lttng_log_level_rule_exactly_get_level(level, &value) == LTTNG_LOG_LEVEL_RULE_STATUS_OK &&
		       value != FUNCTION_LOGLEVEL;
	return lttng_log_level_rule_at_least_as_severe_as_get_level(level, &value) == LTTNG_LOG_LEVEL_RULE_STATUS_OK &&
	       value < FUNCTION_LOGLEVEL;
}

static void copy_filter(char *to, const struct lttng_trigger *trigger, size_t size)
{
	const struct lttng_event_rule *rule = NULL;
	const char *filter = NULL;

	if (lttng_condition_event_rule_matches_get_rule(lttng_trigger_get_const_condition(trigger), &rule) ==
		    LTTNG_CONDITION_STATUS_OK &&
	    lttng_event_rule_user_tracepoint_get_filter(rule, &filter) == LTTNG_EVENT_RULE_STATUS_OK && filter)
		copy(to, filter, size);
	if (filter && strlen(filter) >= size)
		copy(to + size - 4, "...", 4);
}

static int answer_triggers(void)
{
	struct lttng_triggers *triggers = NULL;
	enum lttng_error_code ret = lttng_list_triggers(&triggers);
	unsigned int count = 0;

	if (ret != LTTNG_OK)
		return -(int) ret;
	lttng_triggers_get_count(triggers, &count);
	for (unsigned int i = 0; i < count; i++) {
		const struct lttng_trigger *trigger = lttng_triggers_get_at_index(triggers, i);
		const char *pattern = trigger ? trigger_pattern(trigger) : NULL, *name = NULL;
		struct query_item item = { .kind = QUERY_TRIGGER };

		if (!pattern || strlen(pattern) >= sizeof(item.text) ||
		    lttng_trigger_get_owner_uid(trigger, &item.uid) != LTTNG_TRIGGER_STATUS_OK)
			continue;
		lttng_trigger_get_name(trigger, &name);
		copy(item.name, name, sizeof(item.name));
		copy(item.text, pattern, sizeof(item.text));
		item.status = trigger_is_deaf(trigger);
		copy_filter(item.filter, trigger, sizeof(item.filter));
		answer(&item, -1);
	}
	lttng_triggers_destroy(triggers);
	return 0;
}

/* ---- the process -------------------------------------------------------------- */

bool querier_group(const char *socket, gid_t *gid)
{
	const struct group *group;
	struct stat st;

	/* lttng-sessiond --group NAME gives it to another than "tracing" */
	if (*socket && !stat(socket, &st)) {
		*gid = st.st_gid;
		return true;
	}
	group = getgrnam("tracing");
	if (group)
		*gid = group->gr_gid;
	return group;
}

/* The daemon's client socket is for its group; asking as another user, we need that group still. */
static void take_group(const char *socket)
{
	gid_t gid;

	if (querier_group(socket, &gid))
		setgroups(1, &gid);
}

int querier_work(void *data)
{
	const struct querier_setup *setup = data;
	struct query_ask ask;
	unsigned int nr_fds;

	umask(077);
	recall_owners(setup->rules);
	if (geteuid())
		lttng_set_tracing_group("");	/* our own daemon is meant, not root's */
	while (packet_receive(CHILD_FD, &ask, sizeof(ask), NULL, 0, &nr_fds) == sizeof(ask)) {
		struct query_item done = { .kind = QUERY_DONE };

		if (ask.nr_uids > QUERY_UIDS_MAX)
			return 1;
		if (!geteuid())
			take_group(setup->socket);
		done.status = answer_sessions(&ask, setup->directory);
		if (!done.status)
			done.status = answer_triggers();
		if (done.status)
			copy(done.text, lttng_strerror(done.status), sizeof(done.text));
		if (answer(&done, -1))
			return 1;
	}
	return 0;
}
