/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What lttng-ust takes for granted when it is loaded: where it cannot have that, its constructors abort the process, libc does when a
 * thread's variables are first used, or the process waits for a session daemon that it has not registered with. So everything is tried
 * before lttng-ust is loaded, and given back; what is not there is the reason why it is not loaded. (doc/losses.md has the list.)
 *
 * The control thread, or the only thread of a program that has not come to main() yet.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/module/internal.h"

#define KEYS		3u	/* one of its RCU's, one for perf counters, one to spare */
#define THREADS		3u	/* a listener for each of two daemons, and the event module's own */
#define HEAP_BYTES	(UINT64_C(1) << 20)	/* descriptions of events */
#define MAPPED_BYTES	(UINT64_C(32) << 20)	/* libraries and buffers */

static const char *keys_because(void)
{
	pthread_key_t keys[KEYS];
	unsigned int n = 0;

	while (n < KEYS && pthread_key_create(&keys[n], NULL) == 0)
		n++;
	for (unsigned int i = 0; i < n; i++)
		pthread_key_delete(keys[i]);
	return n == KEYS ? NULL : "the program has no thread keys left (pthread_key_create() gives 1024), and lttng-ust needs two";
}

/* What is registered once stays so, as it does when lttng-ust does it. */
static const char *barrier_because(void)
{
	long known = spi_sys(SYS_membarrier, (long) MEMBARRIER_CMD_QUERY, 0L);

	if (known < 0 || !(known & MEMBARRIER_CMD_PRIVATE_EXPEDITED))
		return NULL;	/* lttng-ust does without */
	if (spi_sys(SYS_membarrier, (long) MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0L) < 0 ||
			spi_sys(SYS_membarrier, (long) MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0L) < 0)
		return "membarrier() is refused to the program, as by a seccomp filter, and lttng-ust would end it";
	return NULL;
}

static const char *memory_because(void)
{
	void *heap = malloc(HEAP_BYTES);
	uint64_t mapped = heap ? spi_mmap(0, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1) : 0;

	free(heap);
	if (mapped)
		spi_munmap(mapped, MAPPED_BYTES);
	return mapped ? NULL : "the program has no memory left (RLIMIT_AS, RLIMIT_DATA, or RLIMIT_MEMLOCK after mlockall()), and "
		"lttng-ust needs some";
}

/* Is the process's cgroup, or one that it is in, full but for some? /proc/self/cgroup says "0::/PATH" of cgroups v2. */
static int cgroup_is_full(void)
{
	char text[PATH_MAX], name[SPI_PROC_PATH], file[PATH_MAX + 64], number[32], *path = text + 3;

	if (spi_proc_text(spi_proc_path(name, "cgroup"), text, sizeof(text)) < 0 || strncmp(text, "0::/", 4))
		return 0;
	path[strcspn(path, "\n")] = 0;
	for (;; *strrchr(path, '/') = 0) {
		uint64_t limit;

		spi_format(file, sizeof(file), "/sys/fs/cgroup%s/pids.max", path);
		if (spi_proc_text(file, number, sizeof(number)) == 0 && number[0] != 'm') {
			limit = spi_parse_number(number, NULL);
			spi_format(file, sizeof(file), "/sys/fs/cgroup%s/pids.current", path);
			if (spi_proc_text(file, number, sizeof(number)) < 0 ||
					spi_parse_number(number, NULL) + 2 * THREADS > limit)
				return 1;
		}
		if (!path[0])
			return 0;
	}
}

static const char *threads_because(void)
{
	return spi_processes_are_few() && !cgroup_is_full() ? NULL :
		"the program may have no more threads (RLIMIT_NPROC, or its cgroup's pids.max), and lttng-ust needs two";
}

/*
 * Where it is not connected to a daemon, lttng-ust looks at a page in /dev/shm, which is made in the moment when there is none:
 * SIGBUS where the file system is full. Without /dev/shm, as in a directory into which a daemon has locked itself, it connects to no daemon.
 */
static const char *shared_because(void)
{
	static const char *const format[] = { "/dev/shm/lttng-ust-wait-8", "/dev/shm/lttng-ust-wait-8-%u" };
	struct statfs room;
	struct stat st;
	char path[64];

	if (spi_sys(SYS_newfstatat, AT_FDCWD, "/dev/shm", &st, 0L) == -ENOENT)
		return "there is no /dev/shm in its root directory, without which lttng-ust records nothing: mount --bind /dev/shm there";
	if (spi_sys(SYS_statfs, "/dev/shm", &room) < 0 || !room.f_blocks || room.f_bavail > 2)
		return NULL;
	for (unsigned int i = 0; i < 2; i++) {
		spi_format(path, sizeof(path), format[i], (unsigned int) spi_sys(SYS_getuid));
		if (spi_sys(SYS_newfstatat, AT_FDCWD, path, &st, 0L) < 0 || !st.st_blocks)
			return "/dev/shm is full, and lttng-ust needs a page there";
	}
	return NULL;
}

const char *spi_ust_because(void)
{
	static const char *(*const looks[])(void) = {
		keys_because, barrier_because, spi_files_because, memory_because, shared_because, threads_because,
	};
	const char *because = NULL;

	if (dlsym(RTLD_DEFAULT, "lttng_ust_init_thread"))
		return NULL;		/* it is there already, and has all that */
	for (unsigned int i = 0; i < sizeof(looks) / sizeof(looks[0]) && !because; i++)
		because = looks[i]();
	return because;
}
