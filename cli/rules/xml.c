/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The machine interface of lttng-tools (lttng-mi 4): <command> with its name, an <event> for each event
 * rule, and whether all went well. The document is one, so rows are gathered while the command works.
 * Contexts are left out: the command's own schema has no place for them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/rules/xml.h"

struct row {
	char *name, *channel;
	int is_enabled, success;
};

static struct row *rows;
static size_t row_count, row_room;
static int is_on, failed;

void rules_xml_begin(void)
{
	is_on = 1;
}

int rules_xml_on(void)
{
	return is_on;
}

void rules_xml_event(const char *name, const char *channel, int is_enabled, int success)
{
	struct row row = { NULL, NULL, is_enabled, success };

	if (!is_on)
		return;
	if (row_count == row_room) {
		size_t room = row_room ? row_room * 2 : 32;
		struct row *more = realloc(rows, room * sizeof(*rows));

		if (!more) {
			failed = 1;
			return;
		}
		rows = more;
		row_room = room;
	}
	row.name = strdup(name);
	row.channel = strdup(channel);
	failed |= !row.name || !row.channel;
	if (!failed)
		rows[row_count++] = row;
}

static int start(xmlTextWriter *writer, const char *name)
{
	return xmlTextWriterStartElement(writer, (const xmlChar *) name);
}

static int attribute(xmlTextWriter *writer, const char *name, const char *value)
{
	return xmlTextWriterWriteAttribute(writer, (const xmlChar *) name, (const xmlChar *) value);
}

static int write_event(xmlTextWriter *writer, const struct row *row, int by_channel)
{
	int ret = start(writer, "event");

	ret |= xml_element(writer, "name", row->name);
	if (!by_channel)
		ret |= xml_element(writer, "type", "TRACEPOINT");
	ret |= xml_element(writer, "enabled", row->is_enabled ? "true" : "false");
	if (!by_channel) {
		ret |= start(writer, "exclusions");
		ret |= xmlTextWriterEndElement(writer);
	}
	ret |= xml_element(writer, "success", row->success ? "true" : "false");
	ret |= xmlTextWriterEndElement(writer);
	return ret;
}

/* Is it the channel's first row? */
static int is_first(size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (!strcmp(rows[i].channel, rows[at].channel))
			return 0;
	return 1;
}

static int write_channels(xmlTextWriter *writer)
{
	int ret = 0;

	for (size_t first = 0; first < row_count; first++) {
		if (!is_first(first))
			continue;
		ret |= start(writer, "channel");
		ret |= xml_element(writer, "name", rows[first].channel);
		ret |= start(writer, "events");
		for (size_t i = first; i < row_count; i++)
			if (!strcmp(rows[i].channel, rows[first].channel))
				ret |= write_event(writer, &rows[i], 1);
		ret |= xmlTextWriterEndElement(writer);
		ret |= xmlTextWriterEndElement(writer);
	}
	return ret;
}

static int write_all(xmlTextWriter *writer, const char *command, int by_channel, int success)
{
	static const char place[] = "https://lttng.org/xml/ns/lttng-mi";
	int ret = xmlTextWriterStartDocument(writer, NULL, "UTF-8", NULL);

	ret |= start(writer, "command");
	ret |= attribute(writer, "xmlns", place);
	ret |= attribute(writer, "xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance");
	ret |= attribute(writer, "xsi:schemaLocation",
		"https://lttng.org/xml/ns/lttng-mi https://lttng.org/xml/schemas/lttng-mi/4/lttng-mi-4.1.xsd");
	ret |= attribute(writer, "schemaVersion", "4.1");
	ret |= xml_element(writer, "name", command);
	ret |= start(writer, "output");
	if (by_channel) {
		ret |= write_channels(writer);
	} else {
		ret |= start(writer, "events");
		for (size_t i = 0; i < row_count; i++)
			ret |= write_event(writer, &rows[i], 0);
		ret |= xmlTextWriterEndElement(writer);
	}
	ret |= xmlTextWriterEndElement(writer);
	ret |= xml_element(writer, "success", success ? "true" : "false");
	ret |= xmlTextWriterEndDocument(writer);
	return ret;
}

int rules_xml_end(const char *command, int by_channel, int success)
{
	xmlBuffer *buffer = is_on ? xmlBufferCreate() : NULL;
	xmlTextWriter *writer = buffer ? xmlNewTextWriterMemory(buffer, 0) : NULL;
	int ret = !is_on ? 0 : !writer || failed ? -1 : write_all(writer, command, by_channel, success);

	if (writer)
		xmlFreeTextWriter(writer);
	if (is_on && ret >= 0)
		fputs((const char *) xmlBufferContent(buffer), stdout);
	if (buffer)
		xmlBufferFree(buffer);
	while (row_count) {
		free(rows[--row_count].name);
		free(rows[row_count].channel);
	}
	free(rows);
	rows = NULL;
	row_room = 0;
	return ret < 0 ? -ENOMEM : 0;
}
