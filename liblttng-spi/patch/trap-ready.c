/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * May there be int3? One that is hit with SIGTRAP blocked kills the process. So
 * none is put where threads are known to run with signals blocked: in the C
 * library (it blocks everything while it makes threads and processes, and a
 * vforked child has no handlers at all), in a process in which some thread blocks
 * SIGTRAP now, or one that a debugger is attached to. Threads that only run the
 * tracer are not counted: they call the C library, not the program.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "liblttng-spi/core.h"
#include "liblttng-spi/patch/internal.h"
#include "liblttng-spi/base/proc.h"

#define THREAD_LOOKS	400	/* at a thread that blocks SIGTRAP, before that counts: it may be in our own handler */
#define THREAD_LOOK_NS	UINT64_C(1000000)	/* one in so long */

/* Libraries that run with all signals blocked at times, or that the tracer's own threads run. */
int spi_object_is_runtime(const struct spi_object *object)
{
	static const char *const names[] = { "libc.so", "libc-2", "ld-linux", "ld-2", "libpthread", "libdl.", "libdl-",
		"librt.", "librt-", "libnuma", "liblttng", "liburcu", "libgcc_s" };

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(object->name, names[i], strlen(names[i])))
			return 1;
	return 0;
}

/* The text behind "\nKEY:\t" in a status file; NULL when there is none. */
static const char *status_value(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? at + strlen(key) : NULL;
}

/* An injector that finds an agent here, as another daemon has a rule for this program, is gone in a moment. */
static int is_injector(long pid)
{
	char path[32], name[17];

	spi_format(path, sizeof(path), "/proc/%ld/comm", pid);
	return spi_proc_text(path, name, sizeof(name)) == 0 && (!strncmp(name, "spi-", 4) || !strncmp(name, "lttng", 5));
}

/*
 * Look at one thread; tid NULL: at the process, whose only thread this one is. NULL, or what forbids int3. *again is
 * set when that may be over in a moment: libc blocks everything while a thread starts or ends.
 */
static const char *thread_look(int task_dir, const char *tid, int *again)
{
	int number = tid ? (int) strtol(tid, NULL, 10) : 0;
	char path[48], text[2048];
	const char *value;

	spi_format(path, sizeof(path), tid ? "/proc/self/task/%s/status" : "/proc/self/status", tid);
	if (spi_proc_text(path, text, sizeof(text)) < 0)
		return tid ? NULL /* it has ended */ : "needs int3, and /proc cannot be read";
	value = status_value(text, "\nTracerPid:\t");
	if (value && *value != '0') {
		*again = is_injector(strtol(value, NULL, 10));
		return "needs int3, and a debugger is attached";
	}
	/* "Name:\tNAME\n" is the first line */
	if (!tid || number == spi_raw3(SYS_gettid, 0, 0, 0) || spi_thread_is_tracer_other(task_dir, tid, number, text))
		return NULL;
	value = status_value(text, "\nSigBlk:\t");
	if (!value)
		return "needs int3, and a thread's signal mask cannot be read";
	*again = strtoull(value, NULL, 16) & SPI_SIGNAL_BIT(SIGTRAP) ? 1 : 0;
	return *again ? "needs int3, and a thread blocks SIGTRAP" : NULL;
}

/* Give a thread that is just being started, or is in our own handler, the time to get out of that. */
static const char *look_long(int task_dir, const char *tid)
{
	const char *reason = NULL;

	for (int look = 0, again = 1; again && look < THREAD_LOOKS; look++) {
		uint64_t left[2] = { 0, THREAD_LOOK_NS };

		/* All of it, whatever signals come: in a storm of them the looks would be over in no time. */
		while (look && spi_raw3(SYS_nanosleep, (uint64_t) left, (uint64_t) left, 0) == -EINTR)
			;
		again = 0;
		reason = thread_look(task_dir, tid, &again);
	}
	return reason;
}

const char *spi_trap_threads_look(void)
{
	_Alignas(8) char buffer[2048];
	const char *reason = NULL;
	long fd, got = 0;

	if (spi_tracer_is_alone())
		return look_long(-1, NULL);
	fd = spi_raw4(SYS_openat, (uint64_t) AT_FDCWD, (uint64_t) "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		0);
	if (fd < 0)
		return "needs int3, and /proc cannot be read";
	while (!reason && (got = spi_raw3(SYS_getdents64, (uint64_t) fd, (uint64_t) buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < got && !reason; at += *(const uint16_t *) (buffer + at + 16)) {
			const char *name = buffer + at + 19;	/* linux_dirent64.d_name */

			if (name[0] >= '0' && name[0] <= '9')
				reason = look_long((int) fd, name);
		}
	spi_proc_close(fd);
	return reason;
}

/* A handler of the program's that blocks SIGTRAP while it runs might run into int3. */
const char *spi_trap_handlers_look(void)
{
	struct spi_sigaction action;

	for (int number = 1; number <= 64; number++)
		if (spi_signal_query(number, &action) == 0 && action.handler != (uint64_t) SIG_DFL
			&& action.handler != (uint64_t) SIG_IGN && action.restorer != (uint64_t) spi_signal_return
			&& (action.mask & SPI_SIGNAL_BIT(SIGTRAP)))
			return "needs int3, and a signal handler of the program blocks SIGTRAP";
	return NULL;
}
