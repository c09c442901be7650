/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Arguments that no payload has asked for: the user is told of them, with the names that the payloads ask for. A
 * payload asks while its agent is configured, so all has been asked for once the payload's file is loaded.
 */
#include <string.h>
#include "liblttng-spi/payload/internal.h"

#define LINE_SIZE	500u

/* "a, b" */
static int list_has(const char *list, const char *name, size_t size)
{
	for (; *list; list += strcspn(list, ","), list += strspn(list, ", "))
		if (strcspn(list, ",") == size && !strncmp(list, name, size))
			return 1;
	return 0;
}

/* 0; -1: there is no room. */
static int list_add(char *list, size_t room, const char *name)
{
	const size_t used = strlen(list), size = strlen(name);

	if (list_has(list, name, size))
		return 0;
	if (used + size + 3 > room)
		return -1;
	spi_format(list + used, room - used, "%s%s", used ? ", " : "", name);
	return 0;
}

void spi_client_asks(struct spi_client *client, const char *name)
{
	if (list_add(client->asked, sizeof(client->asked), name) < 0)
		client->asks_more = 1;
}

static int is_asked_for(uint32_t which, const char *name, size_t size)
{
	for (; which; which &= which - 1) {
		const struct spi_client *client = spi_clients[__builtin_ctz(which)];

		if (client->asks_more || list_has(client->asked, name, size))
			return 1;
	}
	return 0;
}

void spi_arguments_tell(const char *arguments, uint32_t which)
{
	static char told[LINE_SIZE];	/* each rule has them; under the control lock, or at the process's end */
	char line[LINE_SIZE], names[200] = "", name[100];
	int n;

	for (; arguments && *arguments; arguments += strcspn(arguments, "\n"), arguments += *arguments == '\n') {
		const size_t size = strcspn(arguments, "=\n");

		if (size >= sizeof(name) || is_asked_for(which, arguments, size))
			continue;
		memcpy(name, arguments, size);
		name[size] = 0;
		list_add(names, sizeof(names), name);
	}
	if (!names[0])
		return;
	n = spi_format(line, sizeof(line), "payload arguments that no payload asks for: %s", names);
	for (; which && n < (int) sizeof(line); which &= which - 1) {
		const struct spi_client *client = spi_clients[__builtin_ctz(which)];

		n += spi_format(line + n, sizeof(line) - (size_t) n, "; %s asks for %s", client->name,
			client->asked[0] ? client->asked : "none");
	}
	if (!strcmp(told, line))
		return;
	memcpy(told, line, sizeof(told));
	spi_client_say(line);
}
