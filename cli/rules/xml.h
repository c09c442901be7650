/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* `lttng --mi xml enable-event --spi` and `disable-event --spi`: what was done, in the real lttng's own form. */
#ifndef SPI_CLI_RULES_XML_H
#define SPI_CLI_RULES_XML_H

#include <libxml/xmlwriter.h>

/* rules_xml_begin() - from now on nothing but XML goes to stdout. */
void rules_xml_begin(void);
int rules_xml_on(void);
/* rules_xml_event() - one event rule: what became of it. Does nothing without rules_xml_begin(). */
void rules_xml_event(const char *name, const char *channel, int is_enabled, int success);
/* rules_xml_end() - the whole of it, when it was begun; disable-event has its events by channel. 0 or -ENOMEM. */
int rules_xml_end(const char *command, int by_channel, int success);

/* status-xml.c: an element with text, of which XML gets what is UTF-8. */
int xml_element(xmlTextWriter *writer, const char *name, const char *value);

#endif /* SPI_CLI_RULES_XML_H */
