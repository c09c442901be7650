/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The session daemon that the broker serves: what the plugin and the daemon's own files tell of the daemon. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "broker/base/base.h"

static struct daemon served;

const struct daemon *the_daemon(void)
{
	return &served;
}

bool daemon_is_gone(void)
{
	return served.is_gone;
}

int daemon_take(const struct spi_broker_daemon *told)
{
	const char *known, *slash;

	served.told = *told;
	served.told.client_socket[sizeof(served.told.client_socket) - 1] = 0;
	served.told.app_socket[sizeof(served.told.app_socket) - 1] = 0;
	served.is_known = true;
	known = *served.told.app_socket ? served.told.app_socket : served.told.client_socket;
	slash = strrchr(known, '/');
	if (*known != '/' || slash == known)
		return -EPROTO;
	snprintf(served.directory, sizeof(served.directory), "%.*s", (int) (slash - known), known);
	return 0;
}

void daemon_take_front_end(pid_t pid)
{
	served.told.pid = pid;
	served.is_known = served.is_front_end = true;
}

void daemon_set_version(const char *version)
{
	snprintf(served.version, sizeof(served.version), "%s", version);
}

void daemon_set_gone(void)
{
	served.is_gone = true;
}
