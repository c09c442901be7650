/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Which program runs the session daemon with the plugin. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/daemon/default-program.h"

static int file_runnable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

const char *sessiond_default(void)
{
	static char path[4096];
	char self[4096], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	if ((size_t) snprintf(path, sizeof(path), "%s/spi-sessiond", self) < sizeof(path) && file_runnable(path))
		return path;
	slash = strrchr(self, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	if ((size_t) snprintf(path, sizeof(path), "%s/spi-sessiond-plugin/spi-sessiond", self) < sizeof(path) &&
	    file_runnable(path))
		return path;
	return NULL;
}
