/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Programs that change their user or groups.
 *
 * To the kernel these belong to threads (credentials(7)). So libc's setuid() and its like have every thread make the same
 * system call, and abort() where one fails and another does not (nptl(7)). Capabilities belong to
 * threads as well, and are changed in the calling one alone: a program with one thread that keeps some over its
 * setuid(), as setpriv does, would be ended because the tracer's threads have lost theirs.
 *
 * So before such a call the tracer's threads are given what the calling thread has (signals/tracer-signal.c). They
 * are known by their ids, which are looked for each time, and kept, as a program without rights may not look any more.
 */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/signals/signals.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/process/process.h"

#define LOOKS		10u	/* of a millisecond: one that runs just now cannot be told from the program's */
#define WAITS		5000u	/* of 0.1 ms, for their answers */

#define EACH(X) \
	X(setuid) X(setgid) X(seteuid) X(setegid) X(setreuid) X(setregid) X(setresuid) X(setresgid) \
	X(setgroups) X(initgroups)
EACH(SPI_HOOK_DECLARE)

struct rights {
	long securebits, keep;
	struct __user_cap_data_struct caps[2];
};

static SPI_FORK_DATA uint32_t lock;
static SPI_FORK_DATA int32_t threads[SPI_TRACER_THREADS];	/* the tracer's */
static struct rights wanted;
static SPI_FORK_DATA long told_bits, told_keep;	/* nobody can ask for another thread's */

static int caps_get(int32_t tid, struct __user_cap_data_struct caps[2])
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, tid };

	return (int) spi_raw3(SYS_capget, (uint64_t) &head, (uint64_t) caps, 0);
}

/* ---- in the tracer's threads ---- */

static void rights_take(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };

	spi_raw3(SYS_prctl, PR_SET_SECUREBITS, (uint64_t) wanted.securebits, 0);
	spi_raw3(SYS_prctl, PR_SET_KEEPCAPS, (uint64_t) wanted.keep, 0);
	spi_raw3(SYS_capset, (uint64_t) &head, (uint64_t) wanted.caps, 0);
}

/* ---- which they are ---- */

static void thread_keep(int32_t tid)
{
	for (unsigned int i = 0; i < SPI_TRACER_THREADS; i++)
		if (threads[i] == tid)
			return;
	for (unsigned int i = 0; i < SPI_TRACER_THREADS; i++)
		if (!threads[i]) {
			threads[i] = tid;
			return;
		}
}

/* Returns how many are the program's, or cannot be told in this moment. */
static unsigned int threads_look(int self)
{
	struct spi_numbers task;
	unsigned int unclear = 0;

	if (spi_numbers_open(&task, "/proc/self/task") < 0)
		return 0;
	while (spi_numbers_next(&task))
		if (task.number != self && spi_thread_is_tracer_task(&task) > 0)
			thread_keep(task.number);
		else
			unclear += task.number != self;
	spi_numbers_close(&task);
	return unclear;
}

/* ---- in the calling one ---- */

static void threads_tell(const struct rights *own, int is_told)
{
	struct __user_cap_data_struct theirs[2];
	int32_t asked[SPI_TRACER_THREADS];
	unsigned int n = 0;

	wanted = *own;
	for (unsigned int i = 0; i < SPI_TRACER_THREADS; i++) {
		if (!threads[i])
			continue;
		if (caps_get(threads[i], theirs) < 0)
			threads[i] = 0;		/* it has ended */
		else if (!is_told || memcmp(theirs, own->caps, sizeof(theirs)))
			asked[n++] = threads[i];
	}
	if (!n || spi_tracer_ask(asked, n, rights_take) < 0)
		return;
	spi_tracer_wait(WAITS);
	told_bits = own->securebits;
	told_keep = own->keep;
}

static void rights_even(void)
{
	struct rights own;
	uint64_t mask;

	if (!spi_may(SPI_MAY_TALK | SPI_MAY_HERE) ||
			caps_get(0, own.caps) < 0)
		return;
	mask = spi_signals_hold(~UINT64_C(0));
	if (!__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) {
		int self = (int) spi_sys(SYS_gettid);

		own.securebits = spi_sys(SYS_prctl, (long) PR_GET_SECUREBITS, 0L, 0L, 0L, 0L);
		own.keep = spi_sys(SYS_prctl, (long) PR_GET_KEEPCAPS, 0L, 0L, 0L, 0L);
		for (unsigned int i = 0; i < LOOKS && threads_look(self) && own.keep > 0; i++)
			spi_sleep_us(1000);
		threads_tell(&own, own.securebits == told_bits && own.keep == told_keep);
		__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	}
	spi_signals_release(mask);
}

/* The child has none of these threads, and nobody in the middle of this. */
void spi_rights_fork_child(void)
{
	memset(threads, 0, sizeof(threads));
	lock = 0;
	told_bits = told_keep = 0;
}

/* ---- libc's functions ---- */

#define BEFORE(name, ...) rights_even(); return SPI_NEXT(name)(__VA_ARGS__)
SPI_EXPORT int setuid(uid_t uid) { BEFORE(setuid, uid); }
SPI_EXPORT int setgid(gid_t gid) { BEFORE(setgid, gid); }
SPI_EXPORT int seteuid(uid_t uid) { BEFORE(seteuid, uid); }
SPI_EXPORT int setegid(gid_t gid) { BEFORE(setegid, gid); }
SPI_EXPORT int setreuid(uid_t real, uid_t effective) { BEFORE(setreuid, real, effective); }
SPI_EXPORT int setregid(gid_t real, gid_t effective) { BEFORE(setregid, real, effective); }
SPI_EXPORT int setresuid(uid_t real, uid_t effective, uid_t saved) { BEFORE(setresuid, real, effective, saved); }
SPI_EXPORT int setresgid(gid_t real, gid_t effective, gid_t saved) { BEFORE(setresgid, real, effective, saved); }
SPI_EXPORT int setgroups(size_t n, const gid_t *list) { BEFORE(setgroups, n, list); }
SPI_EXPORT int initgroups(const char *user, gid_t group) { BEFORE(initgroups, user, group); }

#define ROW(name)	{ SPI_HOOK_ROW(name), .ways = SPI_HOOK_ORDER | SPI_HOOK_POINTERS, .flags = SPI_HOOK_SHARED },
const struct spi_hook spi_rights_hooks[] = {
	EACH(ROW)
	{ NULL },
};
