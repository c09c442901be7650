/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Programs that close every descriptor they don't know: daemons, shells,
 * everything that calls close_range(3, ~0). lttng-ust does not survive that (its
 * own answer, liblttng-ust-fd.so, knows close() and fclose() and has to be
 * preloaded as well), and aborts the program or waits for ever.
 *
 * So a preloaded agent stands before libc's close(), close_range() and
 * closefrom(): lttng-ust's descriptors, which its tracker knows, and the agent's
 * are left open, and close() says EBADF for them, as for a number that was never
 * opened. They are close-on-exec: fcntl() says EBADF, too, and readdir()
 * leaves them out of /proc/self/fd. So a program that looks which descriptors it has finds its
 * own, and hands no others on to a program that it executes. Everything else goes to libc, and so
 * does everything while the event module is not loaded.
 *
 * An injected agent comes too late for that, and sets the other objects' pointers to
 * these functions (hooks/got.c). A shell needs no more than one close() too many: the
 * number may be lttng-ust's by then, which a new session gives it before any rule. So the tracker
 * is there, and asked, before lttng-ust opens its first (module/module.c).
 *
 * fork() children are the usual callers, with other threads' locks in any state:
 * lttng-ust's tracker lock is held over fork() by its own handlers.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/process/internal.h"

SPI_HOOK_DECLARE(close)
SPI_HOOK_DECLARE(close_range)
SPI_HOOK_DECLARE(closefrom)
SPI_HOOK_DECLARE(fcntl)
SPI_HOOK_DECLARE(readdir)

static int (*tracker_close)(int fd, int (*real_close)(int fd));	/* lttng-ust's: EBADF for what is its own */

static int result_of(long r)
{
	if (r >= 0)
		return (int) r;
	errno = (int) -r;
	return -1;
}

/* The program's own system call, whoever else stands before libc's close(), and may be who makes it. */
static int close_at_once(int fd)
{
	return result_of(spi_sys(SYS_close, (long) fd));
}

static int close_in_libc(int fd)
{
	if (spi_likely(next_close != NULL))
		return next_close(fd);
	return close_at_once(fd);
}

/* Not libc's own, the thread's faults, and int3, which libc's close() may have. */
#define HELD	(~(SPI_SIGNAL_BIT(33) | SPI_SIGNAL_BIT(SIGSEGV) | SPI_SIGNAL_BIT(SIGBUS) | SPI_SIGNAL_BIT(SIGTRAP)))

/* Instead of closing it. */
static int is_the_programs(int fd)
{
	(void) fd;
	return 1;
}

/*
 * lttng-ust's handler of fork() takes the lock of its list, and libc's fork() takes malloc()'s locks after that. A
 * signal handler that has interrupted malloc() must not wait for the list's lock then. So while a thread forks
 * (`forking`) no thread asks the list, and a fork waits for the threads that are asking (`asking`).
 */
#define ASKING_LOOKS	20000u	/* a close() may take its time: a second */
#define ASKING_US	50u

static SPI_FORK_DATA int asking, forking;

void spi_descriptors_fork_begin(void)
{
	__atomic_store_n(&forking, 1, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < ASKING_LOOKS && __atomic_load_n(&asking, __ATOMIC_SEQ_CST); i++)
		spi_sleep_us(ASKING_US);
}

void spi_descriptors_fork_end(int is_child)
{
	if (is_child)
		asking = 0;	/* the threads that were asking are the parent's */
	__atomic_store_n(&forking, 0, __ATOMIC_SEQ_CST);
}

/*
 * Where the list cannot be asked the number counts as the program's: within a fork, and where the thread's first look
 * would call malloc() within malloc().
 */
static int list_ask(int fd, int (*real_close)(int fd), const uint64_t *frame)
{
	int result;

	if (!tracker_close)
		return real_close(fd);
	__atomic_fetch_add(&asking, 1, __ATOMIC_SEQ_CST);
	if (spi_unlikely(__atomic_load_n(&forking, __ATOMIC_SEQ_CST) || spi_first_close_is_in_malloc(frame))) {
		__atomic_fetch_sub(&asking, 1, __ATOMIC_SEQ_CST);
		return real_close(fd);
	}
	result = tracker_close(fd, real_close);
	__atomic_fetch_sub(&asking, 1, __ATOMIC_SEQ_CST);
	return result;
}

static int close_guarded(int fd, int (*real_close)(int fd))
{
	uint64_t held;
	int result;

	/* the link itself must not be looked at: it goes when a controller detaches, while this thread is here */
	if (fd >= 0 && (fd == __atomic_load_n(&spi_link_fd, __ATOMIC_RELAXED) || fd == __atomic_load_n(&spi_nursery_fd, __ATOMIC_RELAXED) ||
			fd == __atomic_load_n(&spi_link_renewed_fd, __ATOMIC_RELAXED) ||
			fd == __atomic_load_n(&spi_control_event_own, __ATOMIC_RELAXED) ||
			fd == __atomic_load_n(&spi_output_fd, __ATOMIC_RELAXED))) {
		errno = EBADF;
		return -1;
	}
	if (!tracker_close)		/* nobody is to be asked: a payload alone */
		return real_close(fd);
	/* what lttng-ust calls on the way is not the program's doing; its tracker blocks signals, too */
	held = spi_signals_hold(HELD);
	spi_busy_begin(&spi_thread, (uint64_t) __builtin_frame_address(0));
	result = list_ask(fd, real_close, __builtin_frame_address(0));
	spi_thread.busy--;
	spi_signals_release(held);
	return result;
}

/* Nothing leads here before there is a tracker: hooks come first (module/module.c). */
static int is_guarding(void)
{
	return tracker_close != NULL || spi_output_fd >= 0;	/* a payload alone needs no tracker */
}

static int is_close_traced;		/* a rule has libc's, or had */

/*
 * A call that is to be recorded is made outside of the tracker's lock. Nobody but the program closes a number that is open
 * and the program's, so none of the tracer's comes to be there meanwhile.
 */
static int is_to_be_recorded(int fd)
{
	return spi_unlikely(__atomic_load_n(&is_close_traced, __ATOMIC_RELAXED)) && spi_sys(SYS_fcntl, (long) fd, (long) F_GETFD) >= 0 &&
		close_guarded(fd, is_the_programs) == 1;
}

void (*spi_descriptor_closes)(int fd);

SPI_EXPORT int close(int fd)
{
	void (*told)(int fd) = __atomic_load_n(&spi_descriptor_closes, __ATOMIC_ACQUIRE);

	if (spi_unlikely(told != NULL))
		told(fd);
	return spi_likely(!is_guarding()) || is_to_be_recorded(fd) ? close_in_libc(fd) : close_guarded(fd, close_in_libc);
}

const char *spi_descriptors_trace(uint64_t address)
{
	static const char *const own[] = { "close_range", "closefrom", "_exit" };
	static uint64_t addresses[3], address_of_close;

	if (!address_of_close) {
		address_of_close = (uint64_t) spi_find_in_libc("close");
		for (unsigned int i = 0; i < 3; i++)
			addresses[i] = (uint64_t) spi_find_in_libc(own[i]);
	}
	if (address == address_of_close)
		__atomic_store_n(&is_close_traced, 1, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < 3; i++)
		if (address == addresses[i])
			return "the tracer replaces it in a traced program";
	return NULL;
}

/* Close what is open in [first, last], one by one. -1: the open ones cannot be listed. */
static int close_listed(unsigned int first, unsigned int last)
{
	char path[SPI_PROC_PATH];
	struct spi_numbers fd;
	int again = 1;

	if (spi_numbers_open(&fd, spi_proc_path(path, "fd")) < 0)
		return -1;
	/* closing changes the directory: read it again until a pass closes nothing */
	while (again) {
		again = 0;
		spi_numbers_again(&fd);
		while (spi_numbers_next(&fd))
			if ((unsigned int) fd.number >= first && (unsigned int) fd.number <= last &&
					fd.number != fd.dir && close_guarded(fd.number, close_at_once) == 0)
				again = 1;
	}
	spi_numbers_close(&fd);
	return 0;
}

static int close_range_guarded(unsigned int first, unsigned int last, int flags)
{
	int error_was = errno;
	struct rlimit limit;

	if ((flags & CLOSE_RANGE_CLOEXEC) || first > last || (flags & ~CLOSE_RANGE_UNSHARE))
		return result_of(spi_sys(SYS_close_range, (long) first, (long) last, (long) flags));
	if ((flags & CLOSE_RANGE_UNSHARE) && spi_sys(SYS_unshare, CLONE_FILES) < 0)
		return result_of(-ENOMEM);
	if (close_listed(first, last) < 0) {
		if (spi_sys(SYS_prlimit64, 0L, RLIMIT_NOFILE, NULL, &limit) < 0 || limit.rlim_cur > 65536)
			limit.rlim_cur = 65536;
		for (unsigned int fd = first; fd <= last && fd < limit.rlim_cur; fd++)
			close_guarded((int) fd, close_at_once);
	}
	errno = error_was;
	return 0;
}

SPI_EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
	if (is_guarding())
		return close_range_guarded(first, last, flags);
	if (next_close_range)
		return next_close_range(first, last, flags);
	return result_of(spi_sys(SYS_close_range, (long) first, (long) last, (long) flags));
}

SPI_EXPORT void closefrom(int low)
{
	if (!is_guarding() && next_closefrom)
		next_closefrom(low);
	else
		close_range(low < 0 ? 0 : (unsigned int) low, ~0u, 0);
}

/* ---- looking at descriptors ---- */

/*
 * Is the number the tracer's, and the calling thread the program's? Most of a program's own need not be looked up: they
 * are not close-on-exec.
 */
static int is_tracers(int fd)
{
	int error_was = errno, is;
	long flags;

	if (!is_guarding())
		return 0;
	flags = spi_sys(SYS_fcntl, (long) fd, (long) F_GETFD);
	is = flags >= 0 && (flags & FD_CLOEXEC) && close_guarded(fd, is_the_programs) < 0 && !spi_thread_is_tracer();
	errno = is ? EBADF : error_was;
	return is;
}

/* Record locks and the like are set on descriptors that the program has opened: these calls are many, and are not looked at. */
static int fcntl_is_looked_at(int command)
{
	return (unsigned int) command <= F_SETFL || command == F_DUPFD_CLOEXEC;
}

SPI_EXPORT int fcntl(int fd, int command, ...)
{
	va_list args;
	void *argument;

	va_start(args, command);
	argument = va_arg(args, void *);
	va_end(args);
	return fcntl_is_looked_at(command) && is_tracers(fd) ? -1 : SPI_NEXT(fcntl)(fd, command, argument);
}

/* Of a directory that lists this process's descriptors or threads, one of the tracer's? */
static int entry_is_tracers(DIR *directory, const struct dirent *entry)
{
	struct stat listed, own;
	const char *end;
	uint64_t fd;

	if (entry->d_type == DT_DIR && entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
		return spi_task_is_hidden(dirfd(directory), entry->d_name);
	if (entry->d_type != DT_LNK || entry->d_name[0] < '0' || entry->d_name[0] > '9')
		return 0;
	fd = spi_parse_number(entry->d_name, &end);
	return !*end && fd <= INT32_MAX && spi_sys(SYS_fstat, (long) dirfd(directory), &listed) == 0 &&
		spi_sys(SYS_stat, "/proc/self/fd", &own) == 0 && listed.st_dev == own.st_dev && listed.st_ino == own.st_ino &&
		is_tracers((int) fd);
}

SPI_EXPORT struct dirent *readdir(DIR *directory)
{
	struct dirent *entry;
	int error_was = errno;

	do {
		errno = error_was;
		entry = SPI_NEXT(readdir)(directory);
	} while (entry && is_guarding() && entry_is_tracers(directory, entry));
	return entry;
}

SPI_EXPORT int fcntl64(int fd, int command, ...) __attribute__((alias("fcntl"), copy(fcntl)));
SPI_EXPORT struct dirent64 *readdir64(DIR *directory) __attribute__((alias("readdir")));

/* syscall() of these: lsof has none of libc's for what it closes. */
long spi_descriptors_by_syscall(long number, uint64_t first, uint64_t last, uint64_t flags) SPI_HIDDEN __attribute__((used));
long spi_descriptors_by_syscall(long number, uint64_t first, uint64_t last, uint64_t flags)
{
	if (number == SYS_fcntl && fcntl_is_looked_at((int) last) && is_tracers((int) first))
		return -1;
	if (number == SYS_fcntl || !is_guarding())
		return spi_clones_next_syscall(number, first, last, flags);
	if (number == SYS_close)
		return close_guarded((int) first, close_at_once);
	return close_range_guarded((unsigned int) first, (unsigned int) last, (int) flags);
}

void spi_descriptors_guard(int (*close_fd)(int fd, int (*real_close)(int fd)))
{
	if (close_fd)
		tracker_close = close_fd;
}

/* The tracker's lock may have been anybody's. */
void spi_descriptors_copy_child(void)
{
	tracker_close = NULL;
}

#define WAYS	.ways = SPI_HOOK_ORDER | SPI_HOOK_POINTERS
const struct spi_hook spi_descriptor_hooks[] = {
	{ SPI_HOOK_ROW(close), WAYS },
	{ SPI_HOOK_ROW(close_range), WAYS },
	{ SPI_HOOK_ROW(closefrom), WAYS },
	{ SPI_HOOK_ROW(fcntl), WAYS },
	{ "fcntl64", (void *) own_fcntl, WAYS },
	{ SPI_HOOK_ROW(readdir), WAYS },
	{ "readdir64", (void *) own_readdir, WAYS },
	{ NULL },
};
