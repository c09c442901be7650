/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * How the plugin comes to life.
 *
 * The constructor looks whether the main program is a session daemon, by what
 * it imports, and leaves any other program as it is. It takes the plugin's own
 * entry out of LD_PRELOAD, so that consumer daemons and scripts don't inherit
 * it, and puts the hooks in. It starts no thread: `lttng-sessiond --daemonize`
 * forks after it. The thread is started when the daemon makes its application
 * socket listen, which is always after the fork; or at once when that socket
 * listens already, because the plugin was loaded into a running daemon.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "spi-sessiond-plugin/base/base.h"
#include "spi-sessiond-plugin/daemon/daemon.h"
#include "spi-sessiond-plugin/hooks/hooks.h"
#include "spi-sessiond-plugin/thread/thread.h"

/* Entries of LD_PRELOAD are separated by colons or spaces. Only ours goes; an empty rest goes whole. */
static void preload_forget(void)
{
	const char *value = getenv("LD_PRELOAD");
	char *rest, *end;

	if (!value)
		return;
	rest = malloc(strlen(value) + 1);
	if (!rest)
		return;
	end = rest;
	while (*value) {
		size_t n = strcspn(value, ": ");
		const char *slash = memrchr(value, '/', n), *name = slash ? slash + 1 : value;

		if (n && !(value + n - name == sizeof(PLUGIN_LIBRARY) - 1 &&
			   !memcmp(name, PLUGIN_LIBRARY, sizeof(PLUGIN_LIBRARY) - 1))) {
			if (end != rest)
				*end++ = ':';
			end = mempcpy(end, value, n);
		}
		value += n + (value[n] != 0);
	}
	*end = 0;
	if (end == rest)
		unsetenv("LD_PRELOAD");
	else
		setenv("LD_PRELOAD", rest, 1);
	free(rest);
}

/* Another copy of the plugin, from another path, stands there already. */
static bool plugin_is_second(void)
{
	Dl_info info;
	const char *slash;

	if (!dladdr(*plugin_hooks[0].real, &info) || !info.dli_fname)
		return false;
	slash = strrchr(info.dli_fname, '/');
	return !strcmp(slash ? slash + 1 : info.dli_fname, PLUGIN_LIBRARY);
}

__attribute__((constructor)) static void plugin_load(void)
{
	bool running;

	got_find(plugin_hooks, plugin_nr_hooks);
	if (!hooks_wanted())
		return;
	preload_forget();
	if (plugin_is_second() || plugin_armed_create())
		return;
	running = sockets_find();
	if (got_patch(plugin_hooks, plugin_nr_hooks))
		plugin_note("cannot change the daemon's offset table");
	else if (running) {
		plugin_attached = true;
		plugin_start();
	}
}
