/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The rules of a session. The daemon is made to save the session into a directory made for this, and
 * the XML is read. lttng_list_events() would be the obvious call, but a stock 2.13.9 daemon crashes in
 * it when any rule has an exclusion.
 *
 * The daemon writes the file with our own uid and gid, whoever's session it is. A root daemon becomes
 * our user for that, and a 2.13.9 one aborts when no name belongs to our uid: then it is not asked.
 */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <lttng/lttng.h>
#include <lttng/save.h>

#include "cli/base/say.h"
#include "cli/rules/saved.h"

struct saved_place {
	char *directory, *file;
};

static int place_make(struct saved_place *place, const char *session)
{
	const char *parent = getenv("TMPDIR");
	int ret;

	if (!parent || *parent != '/')
		parent = "/tmp";
	if (asprintf(&place->directory, "%s/lttng-rules-XXXXXX", parent) < 0) {
		place->directory = NULL;
	} else if (!mkdtemp(place->directory)) {
		ret = -errno;
		free(place->directory);
		place->directory = NULL;
		say_error("%s: no temporary directory for the rules of session %s: %s", parent, session,
			strerror(-ret));
		return ret;
	}
	if (!place->directory || asprintf(&place->file, "%s/%s.lttng", place->directory, session) < 0) {
		place->file = NULL;
		say_error("%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	return 0;
}

static void place_remove(struct saved_place *place)
{
	if (place->file)
		unlink(place->file);
	if (place->directory && rmdir(place->directory) < 0)
		say_warning("%s: cannot be removed: %s", place->directory, strerror(errno));
	free(place->file);
	free(place->directory);
}

static int session_save(const char *session, const char *directory)
{
	struct lttng_save_session_attr *attr = lttng_save_session_attr_create();
	int ret = attr ? 0 : -LTTNG_ERR_NOMEM;

	if (ret == 0)
		ret = lttng_save_session_attr_set_session_name(attr, session);
	if (ret == 0)
		ret = lttng_save_session_attr_set_output_url(attr, directory);
	if (ret == 0)
		ret = lttng_save_session(attr);
	lttng_save_session_attr_destroy(attr);
	if (ret >= 0)
		return 0;
	say_error("%s: its rules cannot be read: %s", session, lttng_strerror(ret));
	return -EIO;
}

static xmlNode *node_child(const xmlNode *node, const char *name)
{
	xmlNode *child;

	for (child = node ? node->children : NULL; child; child = child->next)
		if (child->type == XML_ELEMENT_NODE && !strcmp((const char *) child->name, name))
			return child;
	return NULL;
}

/* Text of the child element `name`, malloc'ed by libxml2 (whose allocator is malloc); NULL: there is none. */
static char *node_text(const xmlNode *node, const char *name)
{
	xmlNode *child = node_child(node, name);

	return child ? (char *) xmlNodeGetContent(child) : NULL;
}

static int node_says(const xmlNode *node, const char *name, const char *value)
{
	char *text = node_text(node, name);
	int same = text && !strcmp(text, value);

	xmlFree(text);
	return same;
}

static int saved_add(struct saved *saved, const char *channel, const xmlNode *event)
{
	struct saved_rule *rules = realloc(saved->rules, (saved->count + 1) * sizeof(*rules)), *rule;

	if (!rules)
		return -ENOMEM;
	saved->rules = rules;
	rule = &rules[saved->count];
	memset(rule, 0, sizeof(*rule));
	rule->name = node_text(event, "name");
	if (!rule->name)
		return 0;
	saved->count++;
	rule->channel = strdup(channel);
	rule->filter = node_text(event, "filter");
	if (rule->filter && !*rule->filter) {
		xmlFree(rule->filter);
		rule->filter = NULL;
	}
	rule->enabled = node_says(event, "enabled", "true");
	rule->simple = !node_child(event, "exclusions") &&
		(!node_child(event, "loglevel_type") || node_says(event, "loglevel_type", "ALL"));
	return rule->channel ? 0 : -ENOMEM;
}

static unsigned int contexts_of(const xmlNode *channel)
{
	xmlNode *contexts = node_child(channel, "contexts"), *context;
	unsigned int found = 0;

	for (context = contexts ? contexts->children : NULL; context; context = context->next)
		if (context->type == XML_ELEMENT_NODE)
			found |= (node_says(context, "type", "VPID") ? SAVED_VPID : 0) | (node_says(context, "type", "VTID") ? SAVED_VTID : 0) |
				(node_says(context, "type", "IP") ? SAVED_IP : 0);
	return found;
}

static int saved_take_channel(struct saved *saved, const xmlNode *channel)
{
	xmlNode *events = node_child(channel, "events"), *event;
	char *name = node_text(channel, "name");
	int ret = name ? 0 : -ENOMEM;

	if (name && saved->channel && !strcmp(name, saved->channel))
		saved->contexts = contexts_of(channel);
	for (event = events ? events->children : NULL; event && ret == 0; event = event->next)
		if (event->type == XML_ELEMENT_NODE && !strcmp((const char *) event->name, "event"))
			ret = saved_add(saved, name, event);
	xmlFree(name);
	return ret;
}

/* sessions/session/domains/domain/channels/channel/events/event */
static int saved_take(struct saved *saved, const xmlNode *root)
{
	xmlNode *domains = node_child(node_child(root, "session"), "domains"), *domain, *channels, *channel;
	int ret = 0;

	for (domain = domains ? domains->children : NULL; domain && ret == 0; domain = domain->next) {
		if (domain->type != XML_ELEMENT_NODE || !node_says(domain, "type", "UST"))
			continue;
		channels = node_child(domain, "channels");
		for (channel = channels ? channels->children : NULL; channel && ret == 0; channel = channel->next)
			if (channel->type == XML_ELEMENT_NODE)
				ret = saved_take_channel(saved, channel);
	}
	return ret;
}

static int saved_parse(struct saved *saved, const char *file, const char *session)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), ret;
	struct stat st;
	xmlDoc *doc;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		ret = fd < 0 ? -errno : -EINVAL;
		if (fd >= 0)
			close(fd);
		say_error("%s: its rules cannot be read: %s: %s (does the session daemon see this directory?)", session,
			file, strerror(-ret));
		return ret;
	}
	doc = xmlReadFd(fd, NULL, NULL, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	close(fd);
	ret = doc ? saved_take(saved, xmlDocGetRootElement(doc)) : -EINVAL;
	xmlFreeDoc(doc);
	if (ret < 0)
		say_error("%s: its rules cannot be read: %s", session,
			ret == -ENOMEM ? strerror(ENOMEM) : "what the session daemon saved is no complete XML");
	return ret;
}

int saved_read(struct saved *saved, const char *session, const char *channel)
{
	struct saved_place place = { 0 };
	int ret;

	memset(saved, 0, sizeof(*saved));
	saved->channel = channel;
	if (geteuid() != 0 && !getpwuid(geteuid())) {
		say_error("%s: its rules cannot be read: uid %u has no entry in passwd, and the session daemon would end "
			"over it", session, (unsigned int) geteuid());
		return -EPERM;
	}
	ret = place_make(&place, session);
	if (ret == 0)
		ret = session_save(session, place.directory);
	if (ret == 0)
		ret = saved_parse(saved, place.file, session);
	place_remove(&place);
	if (ret < 0)
		saved_free(saved);
	return ret;
}

void saved_free(struct saved *saved)
{
	unsigned int i;

	for (i = 0; i < saved->count; i++) {
		free(saved->rules[i].channel);
		xmlFree(saved->rules[i].name);
		xmlFree(saved->rules[i].filter);
	}
	free(saved->rules);
	memset(saved, 0, sizeof(*saved));
}
