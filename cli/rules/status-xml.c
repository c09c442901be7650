/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * `lttng --mi xml list --spi`: each record becomes an element of its kind with an element for each
 * field; records about a process are inside <process>. Records of unknown kinds are left out, as the
 * protocol of the socket tells its readers to do.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/xmlwriter.h>

#include "broker/status-proto.h"
#include "cli/rules/status.h"
#include "cli/rules/xml.h"

struct xml_kind {
	const char *kind;
	const char *fields[STATUS_FIELDS];	/* NULL ends; "" is left out (the pid of what is inside a process) */
};

static const struct xml_kind xml_kinds[] = {
	{ "daemon", { "pid", "plugin", "lttng_tools" } },
	{ "session", { "name", "ended" } },
	{ "rule", { "session", "channel", "name", "state", "owner_uid", "effect", "text", "filter" } },
	{ "note", { "text" } },
	{ "process", { "pid", "uid", "state", "name", "text" } },
	{ "applied", { "", "rule", "state", "matched", "instrumented", "declined", "text" } },
	{ "brought", { "", "channel", "sender", "name" } },
	{ "asked", { "uid", "channel", "requests", "nobody", "late" } },
	{ "unfollowed", { "uid", "channel", "times", "last_pid", "name", "reason" } },
	{ "declined", { "", "object", "function", "reason" } },
	{ "counts", { "", "entries", "exits", "lost_entries", "lost_exits", "owed_exits", "points", "declined" } },
	{ "message", { "", "text" } },
	{ "budget", { "", "permille", "own_us", "spent_us", "records_us" } },
	{ "left-out", { "", "state", "calls", "share_permille", "object", "function" } },
	{ "lacked", { "uid", "name", "processes", "last_pid", "what", "first", "count", "reason" } },
	{ "hot", { "", "calls", "object", "function" } },
};

/* Names are bytes; XML is UTF-8. */
int xml_element(xmlTextWriter *writer, const char *name, const char *value)
{
	char *copy;
	size_t i;
	int ret;

	if (xmlCheckUTF8((const xmlChar *) value))
		return xmlTextWriterWriteElement(writer, (const xmlChar *) name, (const xmlChar *) value);
	copy = strdup(value);
	if (!copy)
		return -1;
	for (i = 0; copy[i]; i++)
		if ((unsigned char) copy[i] >= 0x80)
			copy[i] = '?';
	ret = xmlTextWriterWriteElement(writer, (const xmlChar *) name, (const xmlChar *) copy);
	free(copy);
	return ret;
}

/* Opens the element and writes its fields; the caller closes it. Returns 1, 0 for an unknown kind, or -1. */
static int xml_record_open(xmlTextWriter *writer, const struct status_record *record)
{
	const struct xml_kind *kind = NULL;
	size_t i;

	for (i = 0; i < sizeof(xml_kinds) / sizeof(xml_kinds[0]); i++)
		if (status_is(record, xml_kinds[i].kind))
			kind = &xml_kinds[i];
	if (!kind)
		return 0;
	if (xmlTextWriterStartElement(writer, (const xmlChar *) kind->kind) < 0)
		return -1;
	for (i = 0; i < STATUS_FIELDS && kind->fields[i]; i++)
		if (*kind->fields[i] && xml_element(writer, kind->fields[i], record->field[i]) < 0)
			return -1;
	return 1;
}

static int xml_record(xmlTextWriter *writer, const struct status_record *record)
{
	int ret = xml_record_open(writer, record);

	if (ret > 0)
		ret = xmlTextWriterEndElement(writer);
	return ret < 0 ? -1 : 0;
}

/* All that is known of one process; *at moves behind it. */
static int xml_process(xmlTextWriter *writer, const struct status *status, unsigned int *at)
{
	pid_t pid = status->records[*at].pid;
	unsigned int i, first = *at, process = *at;
	int ret;

	for (i = first; i < status->count && status->records[i].pid == pid; i++)
		if (status_is(&status->records[i], "process"))
			process = i;
	*at = i;
	if (!status_is(&status->records[process], "process"))
		return 0;
	ret = xml_record_open(writer, &status->records[process]);
	for (i = first; ret >= 0 && i < *at; i++)
		if (!status_is(&status->records[i], "process"))
			ret = xml_record(writer, &status->records[i]);
	return ret < 0 ? ret : xmlTextWriterEndElement(writer);
}

static int xml_write(xmlTextWriter *writer, const struct status *status, pid_t pid)
{
	char version[12];
	unsigned int i = 0;
	int ret;

	snprintf(version, sizeof(version), "%d", SPI_STATUS_VERSION);
	ret = xmlTextWriterStartDocument(writer, NULL, "UTF-8", NULL);
	if (ret >= 0)
		ret = xmlTextWriterStartElement(writer, (const xmlChar *) "spi_status");
	if (ret >= 0)
		ret = xmlTextWriterWriteAttribute(writer, (const xmlChar *) "version", (const xmlChar *) version);
	while (ret >= 0 && i < status->count) {
		const struct status_record *record = &status->records[i];

		if (record->pid && (!pid || record->pid == pid)) {
			ret = xml_process(writer, status, &i);
			continue;
		}
		if (!record->pid && (!pid || status_is_lacked(record, pid)))
			ret = xml_record(writer, record);
		i++;
	}
	if (ret >= 0)
		ret = xmlTextWriterEndDocument(writer);
	return ret;
}

int status_print_xml(const struct status *status, pid_t pid, FILE *out)
{
	xmlBuffer *buffer = xmlBufferCreate();
	xmlTextWriter *writer = buffer ? xmlNewTextWriterMemory(buffer, 0) : NULL;
	int ret = writer ? xml_write(writer, status, pid) : -1;

	if (writer)
		xmlFreeTextWriter(writer);
	if (ret >= 0)
		fputs((const char *) xmlBufferContent(buffer), out);
	if (buffer)
		xmlBufferFree(buffer);
	return ret < 0 ? -ENOMEM : 0;
}
