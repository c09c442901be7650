/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Whether the plugin is at work in this process, its lock and its clock.
 *
 * The hooks must know whether they run in the daemon or in a child that it
 * forked (its run-as worker, the short time between fork and exec of a consumer
 * daemon), where the plugin's lock may be taken for ever and its descriptors
 * aren't its own. The word that says "armed" lies in a page that the kernel
 * zeroes in children (MADV_WIPEONFORK): no fork handler, no call to ask.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "spi-sessiond-plugin/base/base.h"

pthread_mutex_t plugin_lock = PTHREAD_MUTEX_INITIALIZER;
pid_t plugin_pid;
bool plugin_attached;
static unsigned int *armed;	/* in a page of its own; NULL: the plugin does nothing */

int plugin_armed_create(void)
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

bool plugin_armed_is_created(void)
{
	return armed;
}

void plugin_arm(void)
{
	__atomic_store_n(armed, 1, __ATOMIC_RELEASE);
}

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
