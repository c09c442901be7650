/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A ruleset is built anew from each answer of the daemon and then never changed. What its rules request outlives it
 * (requests.c).
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "broker/rules/ruleset.h"

#define RULES_MAX	20000u	/* of one user, of whom another's do not depend */
#define NAMED_MAX	1000u	/* beyond them: they do nothing and are listed; and then only counted */

unsigned int nr_exec_rules;

/* ---- how many ------------------------------------------------------------------ */

static struct account *account_find(const struct ruleset *set, uid_t uid)
{
	struct account *account = set->accounts;

	while (account && account->uid != uid)
		account = account->next;
	return account;
}

/* NULL: no memory. */
static struct account *account_get(struct ruleset *set, uid_t uid)
{
	struct account *account = account_find(set, uid);

	if (account)
		return account;
	account = calloc(1, sizeof(*account));
	if (!account)
		return NULL;
	account->uid = uid;
	account->next = set->accounts;
	set->accounts = account;
	return account;
}

/* Is one more of his counted only? Then it has been. */
static bool is_counted_only(struct ruleset *set, uid_t uid)
{
	struct account *account = account_find(set, uid);
	bool is_full = account && account->rules >= RULES_MAX + NAMED_MAX;

	if (is_full)
		account->rules++;
	return is_full;
}

bool ruleset_describe_beyond(const struct ruleset *set, const struct account *account, char *text, size_t size)
{
	const struct rule *rule = set->rules;
	int n;

	if (account->rules <= RULES_MAX)
		return false;
	while (rule && (rule->owner != account->uid || rule->parsed != -EDQUOT))
		rule = rule->next;
	n = snprintf(text, size, "uid %u has %u rules of provider spi: one user may have %u, and %u instrument nothing",
		     account->uid, account->rules, RULES_MAX, account->rules - RULES_MAX);
	if (rule && (size_t) n < size)
		snprintf(text + n, size - n, ", the first of them %s of %s %s", rule->name, rule->session ? "session" : "trigger",
			 rule->session ? rule->session->name : rule->trigger);
	return true;
}

/* ---- building ------------------------------------------------------------------ */

struct ruleset *ruleset_create(void)
{
	static uint64_t serial;
	struct ruleset *set = calloc(1, sizeof(*set));

	if (set) {
		set->serial = ++serial;
		set->last_rule = &set->rules;
	}
	return set;
}

static void rule_free(struct rule *rule)
{
	for (unsigned int i = 0; rule->requests && i < rule->wants.nr_requests; i++)
		request_put(rule->requests[i]);
	request_put(rule->on_message);
	spi_event_rule_clear(&rule->wants);
	free(rule->requests);
	free(rule->filter);
	free(rule);
}

void ruleset_free(struct ruleset *set)
{
	if (!set)
		return;
	while (set->rules) {
		struct rule *rule = set->rules;

		set->rules = rule->next;
		nr_exec_rules -= rule->wants.asked.exec.count != 0;
		rule_free(rule);
	}
	while (set->sessions) {
		struct session *session = set->sessions;

		set->sessions = session->next;
		for (int i = 0; i < NR_TRACKERS; i++)
			free(session->trackers[i].ids);
		free(session);
	}
	while (set->accounts) {
		struct account *account = set->accounts;

		set->accounts = account->next;
		free(account);
	}
	free(set);
}

struct session *ruleset_add_session(struct ruleset *set, const char *name, uid_t owner, const char *why)
{
	struct session *session = calloc(1, sizeof(*session)), **at = &set->sessions;

	if (!session)
		return NULL;
	snprintf(session->name, sizeof(session->name), "%s", name);
	snprintf(session->why, sizeof(session->why), "%s", why);
	session->owner = owner;
	while (*at)
		at = &(*at)->next;
	*at = session;
	return session;
}

void ruleset_take_over(struct ruleset *set, const struct ruleset *former)
{
	for (struct session *s = set->sessions; s; s = s->next)
		for (const struct session *f = former->sessions; f; f = f->next)
			if (s->owner == f->owner && !strcmp(s->name, f->name))
				s->ended = f->ended;
}

/* A process that a message brings in waits for the message, and for nothing else. NULL: no memory. */
static struct request *request_on_message(const struct spi_event_rule *wants)
{
	struct spi_rule asked = wants->asked;
	char text[sizeof(wants->requests->text)];

	asked.on_message = true;
	asked.after = asked.on_signal = 0;
	return spi_rule_write(&asked, SPI_FORM_AGENT, text, sizeof(text)) ? NULL : request_get(text, wants->requests->flags);
}

static struct rule *rule_create(struct ruleset *set, const char *name, uid_t owner)
{
	struct account *account = account_get(set, owner);
	struct rule *rule = account ? calloc(1, sizeof(*rule)) : NULL;
	unsigned int n;

	if (!rule)
		return NULL;
	snprintf(rule->name, sizeof(rule->name), "%s", name);
	rule->owner = owner;
	if (account->rules < RULES_MAX) {
		rule->parsed = spi_event_name_parse(rule->name, &rule->wants, rule->why);
	} else {
		rule->parsed = -EDQUOT;
		snprintf(rule->why, sizeof(rule->why), "beyond the %u rules that one user may have", RULES_MAX);
	}
	n = rule->wants.nr_requests;
	rule->requests = calloc(n + 1, sizeof(*rule->requests));
	for (unsigned int i = 0; rule->requests && i < n; i++) {
		rule->requests[i] = request_get(rule->wants.requests[i].text, rule->wants.requests[i].flags);
		if (!rule->requests[i])
			rule->parsed = -ENOMEM;
	}
	if (!rule->parsed && rule->wants.asked.ipc && !(rule->on_message = request_on_message(&rule->wants)))
		rule->parsed = -ENOMEM;
	if (!rule->requests || rule->parsed == -ENOMEM) {
		rule_free(rule);
		return NULL;
	}
	nr_exec_rules += rule->wants.asked.exec.count != 0;
	*set->last_rule = rule;
	set->last_rule = &rule->next;
	account->rules++;
	return rule;
}

/* A reserved form matches no event, whatever its log level. */
static bool is_deaf(const char *name, bool level_is_low)
{
	return level_is_low && !spi_event_name_kind(name);
}

/* It is only to be shown: the daemon keeps to it. */
static void rule_set_filter(struct rule *rule, const char *filter)
{
	rule->filter = *filter ? strdup(filter) : NULL;
}

void ruleset_add_trigger(struct ruleset *set, const char *name, uid_t owner, const char *pattern, bool deaf,
			 const char *filter)
{
	struct rule *rule;

	if (strncmp(pattern, SPI_EVENT_PROVIDER, strlen(SPI_EVENT_PROVIDER)) || is_counted_only(set, owner))
		return;
	rule = rule_create(set, pattern, owner);
	if (!rule)
		return;
	rule->enabled = true;
	rule->deaf = is_deaf(pattern, deaf);
	rule_set_filter(rule, filter);
	snprintf(rule->trigger, sizeof(rule->trigger), "%s", name);
}

/* ---- lines ------------------------------------------------------------------------ */

/* Local files only: a name service that hangs must not hang us. -1: not there. */
static int64_t look_up_user(const char *name)
{
	FILE *file = fopen("/etc/passwd", "re");
	struct passwd *entry;
	int64_t uid = -1;

	while (file && uid < 0 && (entry = fgetpwent(file)))
		if (!strcmp(entry->pw_name, name))
			uid = entry->pw_uid;
	if (file)
		fclose(file);
	return uid;
}

static int64_t look_up_group(const char *name)
{
	FILE *file = fopen("/etc/group", "re");
	struct group *entry;
	int64_t gid = -1;

	while (file && gid < 0 && (entry = fgetgrent(file)))
		if (!strcmp(entry->gr_name, name))
			gid = entry->gr_gid;
	if (file)
		fclose(file);
	return gid;
}

static void tracker_add(struct tracker *tracker, int64_t id)
{
	int64_t *ids = id < 0 ? NULL : realloc(tracker->ids, (tracker->n + 1) * sizeof(*ids));

	if (!ids) {
		tracker->any = true;
		return;
	}
	tracker->ids = ids;
	ids[tracker->n++] = id;
}

/* Undo %xx in place. */
static void field_decode(char *field)
{
	char *to = field;

	for (; *field; field++) {
		unsigned int byte;

		if (*field == '%' && sscanf(field + 1, "%2x", &byte) == 1 && byte) {
			*to++ = (char) byte;
			field += 2;
		} else {
			*to++ = *field;
		}
	}
	*to = 0;
}

struct reader {
	struct ruleset *set;
	struct session *session;
	struct tracker *tracker;
	int kind;
	char channel[256];
	bool channel_on, whole;
};

static int take_line(struct reader *r, const char *word, char *name, const char *state, const char *filter)
{
	static const char *const kinds[NR_TRACKERS] = { "vpid", "vuid", "vgid" };
	bool on = !strncmp(state, "on", 2);
	struct rule *rule;

	if (!strcmp(word, "channel")) {
		snprintf(r->channel, sizeof(r->channel), "%s", name);
		r->channel_on = on;
	} else if (!strcmp(word, "event")) {
		if (is_counted_only(r->set, r->session->owner))
			return 0;
		rule = rule_create(r->set, name, r->session->owner);
		if (!rule)
			return -1;
		rule->session = r->session;
		rule->enabled = on && r->channel_on;
		rule->deaf = is_deaf(name, strstr(state, " deaf"));
		rule_set_filter(rule, filter);
		memcpy(rule->channel, r->channel, sizeof(rule->channel));
	} else if (!strcmp(word, "tracker")) {
		for (r->kind = 0; r->kind < NR_TRACKERS && strcmp(name, kinds[r->kind]); r->kind++)
			;
		if (r->kind == NR_TRACKERS)
			return -1;
		r->tracker = &r->session->trackers[r->kind];
		r->tracker->present = true;
	} else if (!strcmp(word, "id") && r->tracker) {
		tracker_add(r->tracker, strtoll(name, NULL, 10));
	} else if (!strcmp(word, "name") && r->tracker) {
		tracker_add(r->tracker, r->kind == TRACK_VUID ? look_up_user(name) :
			    r->kind == TRACK_VGID ? look_up_group(name) : -1);
	} else if (!strcmp(word, "end")) {
		r->whole = true;
	} else {
		return -1;
	}
	return 0;
}

/* Ends the field at its tab. Returns the next one; "" when there is none. */
static char *field_end(char *field)
{
	field += strcspn(field, "\t");
	if (*field)
		*field++ = 0;
	return field;
}

bool ruleset_has_sessions(const struct ruleset *set, uid_t uid)
{
	const struct session *session = set->sessions;

	while (session && session->owner != uid)
		session = session->next;
	return !uid || session;
}

int ruleset_add_lines(struct ruleset *set, struct session *session, FILE *lines)
{
	struct reader r = { .set = set, .session = session };
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	while (!ret && !r.whole && getline(&line, &size, lines) > 0) {
		char *name, *state, *filter;

		line[strcspn(line, "\n")] = 0;
		name = field_end(line);
		state = field_end(name);
		filter = field_end(state);
		field_decode(name);
		field_decode(filter);
		ret = take_line(&r, line, name, state, filter);
	}
	free(line);
	return ret || !r.whole ? -1 : 0;
}

/* ---- comparing ---------------------------------------------------------------------- */

static bool sessions_equal(const struct session *a, const struct session *b)
{
	if (strcmp(a->name, b->name) || a->created != b->created || a->owner != b->owner || strcmp(a->why, b->why))
		return false;
	for (int i = 0; i < NR_TRACKERS; i++) {
		const struct tracker *s = &a->trackers[i], *t = &b->trackers[i];

		if (s->present != t->present || s->any != t->any || s->n != t->n ||
		    (s->n && memcmp(s->ids, t->ids, s->n * sizeof(*s->ids))))
			return false;
	}
	return true;
}

static bool accounts_equal(const struct ruleset *a, const struct ruleset *b)
{
	for (const struct account *account = a->accounts; account; account = account->next) {
		const struct account *other = account_find(b, account->uid);

		if (!other || other->rules != account->rules)
			return false;
	}
	return true;
}

bool ruleset_equal(const struct ruleset *a, const struct ruleset *b)
{
	const struct session *s = a->sessions, *t = b->sessions;
	const struct rule *p = a->rules, *q = b->rules;

	for (; s && t && sessions_equal(s, t); s = s->next)
		t = t->next;
	if (s || t)
		return false;
	for (; p && q; p = p->next, q = q->next)
		if (strcmp(p->name, q->name) || strcmp(p->channel, q->channel) || strcmp(p->trigger, q->trigger) ||
		    p->owner != q->owner || p->enabled != q->enabled || p->deaf != q->deaf || !p->session != !q->session ||
		    strcmp(p->filter ?: "", q->filter ?: "") ||
		    (p->session && strcmp(p->session->name, q->session->name)))
			return false;
	return !p && !q && accounts_equal(a, b) && accounts_equal(b, a);
}
