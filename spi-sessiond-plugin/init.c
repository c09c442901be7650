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
 *
 * The hooks must know whether they run in the daemon or in a child that it
 * forked (its run-as worker, the short time between fork and exec of a consumer
 * daemon), where the plugin's lock may be taken for ever and its descriptors
 * aren't its own. The word that says "armed" lies in a page that the kernel
 * zeroes in children (MADV_WIPEONFORK): no fork handler, no call to ask.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "spi-sessiond-plugin/plugin.h"

pthread_mutex_t plugin_lock = PTHREAD_MUTEX_INITIALIZER;
pid_t plugin_pid;
bool plugin_attached;
static unsigned int *armed;	/* in a page of its own; NULL: the plugin does nothing */

bool plugin_armed(void)
{
	return armed && __atomic_load_n(armed, __ATOMIC_ACQUIRE);
}

int64_t plugin_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* For whoever looks for the reason of something: one line in the file that LTTNG_SPI_DEBUG names. */
void plugin_note(const char *format, ...)
{
	const char *path = secure_getenv("LTTNG_SPI_DEBUG");
	char line[512];
	va_list args;
	int fd, n, m;

	if (!path || !*path)
		return;
	n = snprintf(line, sizeof(line), "spi-sessiond plugin %d: ", (int) plugin_pid);
	va_start(args, format);
	m = vsnprintf(line + n, sizeof(line) - n - 1, format, args);
	va_end(args);
	n += m < (int) sizeof(line) - n - 1 ? m : (int) sizeof(line) - n - 2;
	line[n++] = '\n';
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
	if (fd < 0)
		return;
	if (write(fd, line, n) < 0)
		n = 0;	/* nobody to tell */
	close(fd);
}

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

static int armed_create(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return -1;
	if (madvise(map, page, MADV_WIPEONFORK)) {
		munmap(map, page);
		return -1;
	}
	armed = map;
	return 0;
}

void plugin_start(void)
{
	static bool started;

	if (!armed || __atomic_exchange_n(&started, true, __ATOMIC_ACQ_REL))
		return;
	plugin_pid = getpid();
	if (queue_create() || thread_start()) {
		plugin_note("cannot start: out of descriptors or memory; nothing will be held");
		return;
	}
	__atomic_store_n(armed, 1, __ATOMIC_RELEASE);
	queue_wake();
}

__attribute__((constructor)) static void plugin_load(void)
{
	bool running;

	got_find(plugin_hooks, plugin_nr_hooks);
	if (!hooks_wanted())
		return;
	preload_forget();
	if (plugin_is_second() || armed_create())
		return;
	running = sockets_find();
	if (got_patch(plugin_hooks, plugin_nr_hooks))
		plugin_note("cannot change the daemon's offset table");
	else if (running) {
		plugin_attached = true;
		plugin_start();
	}
}
