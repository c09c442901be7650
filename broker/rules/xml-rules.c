/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The XML is the daemon's, but names, filters and values in it are its users'.
 * So it is parsed by nobody, under a filter that leaves no more than reading the
 * one descriptor and writing the other. Kernel-side limits (file size, memory)
 * bound what a file can make us do; entities and the network are off.
 */
#include <errno.h>
#include <fcntl.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/base/base.h"
#include "broker/rules/ruleset.h"
#include "broker/rules/xml-rules.h"

#define NOBODY 65534

static const char provider[] = "spi:";

/* ---- the document ------------------------------------------------------------ */

static xmlNode *child_named(const xmlNode *node, const char *name)
{
	for (xmlNode *c = node ? node->children : NULL; c; c = c->next)
		if (c->type == XML_ELEMENT_NODE && !strcmp((const char *) c->name, name))
			return c;
	return NULL;
}

/* The text of an element that has nothing else in it; "" when there is none. */
static const char *text_of(const xmlNode *node)
{
	const xmlNode *t = node ? node->children : NULL;

	return t && t->type == XML_TEXT_NODE && !t->next && t->content ? (const char *) t->content : "";
}

static bool is_on(const xmlNode *node)
{
	const char *text = text_of(child_named(node, "enabled"));

	return !strcmp(text, "true") || !strcmp(text, "1");
}

/* A log level that keeps functions' events out: they have LTTng-UST's default one. */
static bool is_deaf(const xmlNode *event)
{
	const char *type = text_of(child_named(event, "loglevel_type"));
	int level = atoi(text_of(child_named(event, "loglevel")));

	return (!strcmp(type, "RANGE") && level < FUNCTION_LOGLEVEL) || (!strcmp(type, "SINGLE") && level != FUNCTION_LOGLEVEL);
}

static void put_field(FILE *out, const char *field)
{
	for (const unsigned char *c = (const unsigned char *) field; *c; c++)
		fprintf(out, *c < 0x20 || *c == '%' || *c == 0x7f ? "%%%02x" : "%c", *c);
}

#define EACH_CHILD(c, node, tag) \
	for (xmlNode *c = (node) ? (node)->children : NULL; c; c = c->next) \
		if (c->type == XML_ELEMENT_NODE && !strcmp((const char *) c->name, tag))

static void put_events(FILE *out, const xmlNode *channel)
{
	EACH_CHILD(event, child_named(channel, "events"), "event") {
		const char *name = text_of(child_named(event, "name")), *filter = text_of(child_named(event, "filter"));

		if (strncmp(name, provider, strlen(provider)))
			continue;
		fputs("event\t", out);
		put_field(out, name);
		fprintf(out, "\t%s%s%s", is_on(event) ? "on" : "off", is_deaf(event) ? " deaf" : "", *filter ? "\t" : "");
		put_field(out, filter);
		fputc('\n', out);
	}
}

static void put_tracker(FILE *out, const xmlNode *trackers, const char *attribute)
{
	char name[64];
	const xmlNode *tracker, *values;

	snprintf(name, sizeof(name), "%s_process_attr_tracker", attribute);
	tracker = child_named(trackers, name);
	if (!tracker)
		return;
	fprintf(out, "tracker\t%s\n", attribute);
	values = child_named(tracker, "process_attr_values");
	EACH_CHILD(value, values, attribute) {
		const xmlNode *id = child_named(value, "id");

		fputs(id ? "id\t" : "name\t", out);
		put_field(out, text_of(id ? id : child_named(value, "name")));
		fputc('\n', out);
	}
}

static bool is_user_domain(const xmlNode *domain)
{
	return !strcmp(text_of(child_named(domain, "type")), "UST");
}

static void put_session(FILE *out, const xmlNode *session)
{
	EACH_CHILD(domain, child_named(session, "domains"), "domain") {
		const xmlNode *trackers = child_named(domain, "process_attr_trackers");

		if (!is_user_domain(domain))
			continue;
		EACH_CHILD(channel, child_named(domain, "channels"), "channel") {
			fputs("channel\t", out);
			put_field(out, text_of(child_named(channel, "name")));
			fprintf(out, "\t%s\n", is_on(channel) ? "on" : "off");
			put_events(out, channel);
		}
		put_tracker(out, trackers, "vpid");
		put_tracker(out, trackers, "vuid");
		put_tracker(out, trackers, "vgid");
	}
}

static void be_quiet(void *context, const char *format, ...)
{
}

int xml_rules_convert(int xml, int out_fd)
{
	struct stat st;
	char *text, *lines = NULL;
	size_t size = 0, done = 0;
	const xmlNode *root;
	xmlDoc *doc = NULL;
	FILE *out;
	int ret = -1;

	if (fstat(xml, &st) || st.st_size <= 0 || st.st_size > XML_FILE_MAX)
		return -1;
	text = malloc(st.st_size);
	out = open_memstream(&lines, &size);
	if (text && out && pread(xml, text, st.st_size, 0) == st.st_size)
		doc = xmlReadMemory(text, st.st_size, NULL, NULL, XML_PARSE_NONET | XML_PARSE_NOERROR |
				    XML_PARSE_NOWARNING | XML_PARSE_NOCDATA | XML_PARSE_COMPACT);
	root = doc ? xmlDocGetRootElement(doc) : NULL;
	/* No saved session has a document type; what one would bring in is not wanted. */
	if (root && !doc->intSubset && !strcmp((const char *) root->name, "sessions")) {
		EACH_CHILD(session, root, "session")
			put_session(out, session);
		fputs("end\n", out);
		ret = 0;
	}
	if (out && fclose(out))
		ret = -1;
	if (doc)
		xmlFreeDoc(doc);
	if (!ret && size > XML_ANSWER_MAX)
		ret = -1;
	while (!ret && done < size) {
		ssize_t n = pwrite(out_fd, lines + done, size - done, done);

		if (n <= 0)
			ret = -1;
		else
			done += n;
	}
	free(lines);
	free(text);
	return ret;
}

/* ---- the process --------------------------------------------------------------- */

static int confine(void)
{
	static const int allowed[] = {
		SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(pwrite64), SCMP_SYS(recvmsg),
		SCMP_SYS(sendmsg), SCMP_SYS(close), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(lseek),
		SCMP_SYS(brk), SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
		SCMP_SYS(futex), SCMP_SYS(getrandom), SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(restart_syscall),
		SCMP_SYS(rt_sigreturn), SCMP_SYS(clock_gettime),
	};
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int ret = filter ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < sizeof(allowed) / sizeof(allowed[0]); i++)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
	if (!ret)
		ret = seccomp_load(filter);
	if (filter)
		seccomp_release(filter);
	return ret;
}

int xml_rules_work(void *data)
{
	unsigned int nr_fds;
	int fds[2];
	char byte;

#ifndef __SANITIZE_ADDRESS__
	setrlimit(RLIMIT_AS, &(struct rlimit) { 1u << 30, 1u << 30 });
#endif
	xmlInitParser();
	xmlSetGenericErrorFunc(NULL, be_quiet);
	if ((!geteuid() && others_exist() && become(NOBODY, NOBODY)) || confine())
		return 1;
	while (packet_receive(CHILD_FD, &byte, 1, fds, 2, &nr_fds) == 1 && nr_fds == 2) {
		byte = xml_rules_convert(fds[0], fds[1]) ? 1 : 0;
		close(fds[0]);
		close(fds[1]);
		if (packet_send(CHILD_FD, &byte, 1, NULL, 0))
			return 1;
	}
	return 0;
}
