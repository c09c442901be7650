/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Files that are opened to be executed (fanotify(7), FAN_OPEN_EXEC): the process that opens them still runs the old
 * program, so there is time to have it stopped at the very start of the new one.
 *
 * Files that are known to have a name that a rule has, because they were executed before or lie where programs do,
 * are guarded: a process that executes one waits in the kernel until it is being stopped, a millisecond or two,
 * however busy the machine is. None of ours is, as we would wait for ourselves. Should we end, the kernel lets all go
 * on; should we hang, the plugin ends us.
 *
 * This machine's own file systems that are mounted when the rule is made are listened to; on others nothing is heard.
 * What is executed on other file names (by a link, by a name of its own) is looked at a moment later, unless the
 * kernel's process events tell of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "broker/scope/internal.h"
#include "injector/procfs/procfs.h"

#define EXECUTED_TRIES	50u		/* until a process that is to be stopped stands in the new program */
#define EXECUTED_NS	100000		/* between them */
#define TRACED_TRIES	20u		/* likewise, until it is about to be stopped; */
#define TRACED_TRIES_OWN 300u		/* where a front end asks for these programs alone */
#define KNOWN_MAX	32u
#define LATER_MS	2u
#define LATER_TRIES	50u
#define LATER_MAX	64u

static struct loop_source files = { .fd = -1 }, guarded = { .fd = -1 };
static bool (*executes)(pid_t pid, const char *name, bool (*has_executed)(void));

/* Whose event is at hand. */
static struct opened {
	pid_t pid;
	unsigned int tries;
	int fd;			/* of a guarded file, to be answered; -1: none */
	char path[512];
} now, later[LATER_MAX];
static pid_t answered;		/* the last one that has executed a guarded file: it is told of in both ways */
static unsigned int nr_later;
static bool named_only;		/* files of other names are not looked at */
static struct loop_timer later_timer;

static void read_link(char *to, size_t size, const char *format, int number)
{
	char link[40];
	ssize_t n;

	snprintf(link, sizeof(link), format, number);
	n = readlink(link, to, size - 1);
	to[n > 0 ? n : 0] = 0;
}

static bool runs_it(const struct opened *file)
{
	char path[sizeof(file->path)];

	read_link(path, sizeof(path), "/proc/%d/exe", (int) file->pid);
	return !strcmp(path, file->path);
}

static const struct timespec moment = { 0, EXECUTED_NS };

static bool is_traced(pid_t pid)
{
	char *status = spi_proc_read(NULL, "%d/status", (int) pid);
	const char *tracer = status ? spi_status_value(status, "TracerPid") : NULL;
	bool is = tracer && atoi(tracer);

	free(status);
	return is;
}

/* As what it is from now on: while a program is executed not all that is to be known of it is there. */
static bool is_stopped(pid_t pid)
{
	char *stat = spi_proc_read(NULL, "%d/stat", (int) pid);
	const char *state = stat ? spi_stat_field(stat, 3) : NULL;
	bool is = state && *state == 't';

	free(stat);
	return is;
}

/*
 * Lets it go on. Up to Linux 6.7 no process can be traced within execve(): a tracer that tries waits, and is first
 * afterwards.
 */
static void answer(void)
{
	struct fanotify_response response = { .fd = now.fd, .response = FAN_ALLOW };

	if (now.fd < 0)
		return;
	if (write(guarded.fd, &response, sizeof(response)) != sizeof(response))
		loop_remove(&guarded);		/* the kernel lets all of them go on */
	close(now.fd);
	now.fd = -1;
}

/* Within a few milliseconds. */
static bool now_executed(void)
{
	const unsigned int tries = the_daemon()->is_front_end ? TRACED_TRIES_OWN : TRACED_TRIES;

	for (unsigned int i = 0; now.fd >= 0 && i < tries && !is_traced(now.pid); i++)
		nanosleep(&moment, NULL);
	answer();
	for (unsigned int i = 0; i < EXECUTED_TRIES && !(runs_it(&now) && is_stopped(now.pid)); i++)
		nanosleep(&moment, NULL);
	return runs_it(&now);
}

static void look_later(struct loop_timer *timer)
{
	unsigned int n = nr_later;

	nr_later = 0;
	for (unsigned int i = 0; i < n; i++) {
		struct opened file = later[i];

		if (runs_it(&file))
			executes(file.pid, NULL, NULL);
		else if (++file.tries < LATER_TRIES)
			later[nr_later++] = file;
	}
	if (nr_later)
		loop_timer_set(timer, LATER_MS, look_later);
}

/* It does not run the new program yet, or one by whose file it cannot be told. */
static void now_later(void)
{
	if (nr_later < LATER_MAX)
		later[nr_later++] = now;
	if (!later_timer.armed)
		loop_timer_set(&later_timer, LATER_MS, look_later);
}

/*
 * The kernel gives such a program no rights of its file's while somebody without rights traces it: that is met when
 * it runs.
 */
static bool gives_rights(int fd)
{
	struct stat st;

	return fstat(fd, &st) || st.st_mode & (S_ISUID | S_ISGID) || fgetxattr(fd, "security.capability", NULL, 0) >= 0;
}

static bool now_take(const struct fanotify_event_metadata *event)
{
	now = (struct opened) { .pid = event->pid, .fd = -1 };
	if (gives_rights(event->fd))
		return false;
	read_link(now.path, sizeof(now.path), "/proc/self/fd/%d", event->fd);
	/* 0: of a process that is not in our namespace */
	return now.pid && now.pid != getpid() && strrchr(now.path, '/') && !spi_name_is_linker(strrchr(now.path, '/') + 1);
}

/* The kernel refuses to execute what it finds no descriptor for, to ask us by. */
static bool has_descriptor(int fd)
{
	int spare = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (spare >= 0)
		close(spare);
	return spare >= 0;
}

static void guarded_heard(struct loop_source *source, uint32_t events)
{
	struct fanotify_event_metadata event;		/* one at a time, as each takes a descriptor */

	(void) events;
	while (source->fd >= 0) {
		bool is_news;

		if (!has_descriptor(source->fd)) {
			loop_remove(source);
			return;
		}
		if (read(source->fd, &event, sizeof(event)) != sizeof(event))
			return;
		is_news = event.fd >= 0 && now_take(&event);
		now.fd = event.fd;
		answered = now.pid;
		if (is_news && !executes(now.pid, now.path, now_executed))
			now_later();
		answer();
	}
}

static bool is_named(void)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int) now.pid);
	/* one that has ended by now: its file is guarded, or a front end is told */
	return rules_name(strrchr(now.path, '/') + 1, stat(path, &st) ? OF_ENDED : st.st_uid);
}

static void files_heard(struct loop_source *source, uint32_t events)
{
	_Alignas(struct fanotify_event_metadata) char buffer[4096];
	ssize_t n = read(source->fd, buffer, sizeof(buffer));
	const struct fanotify_event_metadata *event = (const struct fanotify_event_metadata *) buffer;

	(void) events;
	if (guarded.fd >= 0)
		guarded_heard(&guarded, EPOLLIN);	/* that of the same file waits */
	for (; FAN_EVENT_OK(event, n); event = FAN_EVENT_NEXT(event, n)) {
		bool is_news;

		if (event->fd < 0)
			continue;	/* too many for the kernel to keep: the next look finds them */
		is_news = now_take(event) && now.pid != answered;
		close(event->fd);
		if (is_news && (is_named() ? !executes(now.pid, now.path, now_executed) : !named_only))
			now_later();
	}
}

/* The policy of SELinux may refuse to execute a program in another domain while the process is traced. */
static int group_open(unsigned int class)
{
	int fd;

	if (!access("/sys/fs/selinux/enforce", F_OK))
		return -EPERM;
	fd = fanotify_init(class | FAN_CLOEXEC | FAN_NONBLOCK, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd >= 0 ? fd : -errno;
}

/* Those of this machine: to come to one of a server that does not answer may take for ever. */
static bool is_local(const char *type)
{
	static const char *const types[] = {
		"ext2", "ext3", "ext4", "xfs", "btrfs", "bcachefs", "zfs", "f2fs", "jfs", "squashfs", "erofs", "overlay", "tmpfs", "ramfs",
	};

	for (unsigned int i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i], type))
			return true;
	return false;
}

/* Twice is no harm: several mounts may be of one file system. */
static void mark_all(int fd)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *mount;

	while (mounts && (mount = getmntent(mounts)))
		if (is_local(mount->mnt_type))
			fanotify_mark(fd, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_OPEN_EXEC, AT_FDCWD, mount->mnt_dir);
	if (mounts)
		endmntent(mounts);
}

int opened_listen(bool (*heard)(pid_t pid, const char *file, bool (*has_executed)(void)))
{
	int fd = files.fd >= 0 ? -EALREADY : group_open(FAN_CLASS_NOTIF), ret;

	if (fd < 0)
		return fd == -EALREADY ? 0 : fd;
	ret = fanotify_mark(fd, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_OPEN_EXEC, AT_FDCWD, "/") ? -errno : 0;
	if (!ret)
		ret = loop_add(&files, fd, EPOLLIN, files_heard);
	if (ret) {
		close(fd);
		return ret;
	}
	executes = heard;
	named_only = false;
	mark_all(fd);
	return 0;
}

/* Those that were executed, also under rules that are over: a session is often made anew. The oldest goes. */
static char known[KNOWN_MAX][512];
static unsigned int nr_known;

static void guard(const char *path)
{
	if (guarded.fd >= 0)
		fanotify_mark(guarded.fd, FAN_MARK_ADD, FAN_OPEN_EXEC_PERM, AT_FDCWD, path);
}

void opened_guard(const char *path)
{
	guard(path);
	for (unsigned int i = 0; i < KNOWN_MAX; i++)
		if (!strcmp(known[i], path))
			return;
	if (strlen(path) < sizeof(known[0]))
		strcpy(known[nr_known++ % KNOWN_MAX], path);
}

void opened_guard_begin(bool (*heard)(pid_t pid, const char *file, bool (*has_executed)(void)))
{
	int fd = guarded.fd >= 0 ? -EALREADY : group_open(FAN_CLASS_CONTENT);

	executes = heard;
	if (fd >= 0 && loop_add(&guarded, fd, EPOLLIN, guarded_heard)) {
		close(fd);
		return;
	}
	for (unsigned int i = 0; fd >= 0 && i < KNOWN_MAX && *known[i]; i++)
		if (rules_name(strrchr(known[i], '/') + 1, OF_ROOT))
			guard(known[i]);
}

void opened_guard_end(void)
{
	loop_remove(&guarded);
}

void opened_named_only(void)
{
	named_only = true;
}

void opened_end(void)
{
	loop_timer_cancel(&later_timer);
	nr_later = 0;
	loop_remove(&files);
}
