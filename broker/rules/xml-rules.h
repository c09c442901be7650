/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Saved sessions, read by a process that can do nothing else.
 *
 * A question is one byte and two descriptors: the XML, and a memfd for the
 * answer. The answer is one byte, 0 or 1 (could not be read). In the memfd then
 * stand lines of tab-separated fields, %xx for what a field must not contain:
 *
 *   channel NAME on|off	what follows belongs to it
 *   event   NAME on|off[ deaf] [FILTER]	of provider spi; deaf: its log level keeps functions out
 *   tracker vpid|vuid|vgid	there is one: only who is named is traced
 *   id      NUMBER		of the last tracker
 *   name    USER-OR-GROUP
 *   end			the whole file was read
 */
#ifndef SPI_BROKER_XML_RULES_H
#define SPI_BROKER_XML_RULES_H

#define XML_FILE_MAX	(16u << 20)
#define XML_ANSWER_MAX	(8u << 20)

/* What the child runs (child.h). */
int xml_rules_work(void *data);

/* The same without the process: read `xml`, write lines to `out`. 0 or -1. */
int xml_rules_convert(int xml, int out);

#endif /* SPI_BROKER_XML_RULES_H */
