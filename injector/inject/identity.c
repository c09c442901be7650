/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Is it still the program that was asked for?
 *
 * A process id may be used again; a process may run another program under the
 * same id, a setuid one among them, and addresses that were looked up belong to
 * one program only. Three things together hold against that:
 *
 *   - pidfd, start time and user ids are compared once a thread is seized;
 *   - from then on the kernel reports an exec() before the new program begins
 *     (PTRACE_O_TRACEEXEC);
 *   - memory is written through one descriptor of /proc/PID/mem, which stays with
 *     the memory it was opened for, and never through the process id.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injector/inject/carry.h"
#include "injector/inject/target.h"

#define REFUSE(t, error, format, ...) \
	spi_inject_fail((t)->result, error, "process %d (%s)" format, (int) (t)->pid, (t)->name, ##__VA_ARGS__)

static void parse_uids(const char *status, uid_t uids[4])
{
	const char *value = spi_status_value(status, "Uid");

	for (unsigned int i = 0; i < 4; i++) {
		char *end = NULL;

		uids[i] = value ? (uid_t) strtoul(value, &end, 10) : (uid_t) -1;
		value = end && end != value ? end + strspn(end, "\t ") : NULL;
	}
}

static int check_expected(const struct spi_target *t, const uid_t uids[4])
{
	static const char *const kinds[] = { "real", "effective", "saved", "file system" };

	if (t->expect_start_time && t->start_time != t->expect_start_time)
		return REFUSE(t, ESRCH, " has the id of one that has ended: it started at %llu, not at %llu",
			      (unsigned long long) t->start_time, (unsigned long long) t->expect_start_time);
	for (unsigned int i = 0; i < 4 && t->expect_uid != (uid_t) -1; i++)
		if (uids[i] != t->expect_uid)
			return REFUSE(t, EPERM, " is not uid %u's: its %s uid is %u", (unsigned int) t->expect_uid,
				      kinds[i], (unsigned int) uids[i]);
	return 0;
}

/*
 * In a user namespace that has no name for root, root's files seem to belong to
 * the kernel's overflow uid, as do other strangers'. Our own program's file then
 * tells: who may replace that needs no agent to get code into what we inject.
 */
static int owner_is_ours(uid_t owner)
{
	char text[16] = "";
	int fd = open("/proc/sys/kernel/overflowuid", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	struct stat self;

	if (fd >= 0)
		close(fd);
	return n > 0 && owner == (uid_t) strtoul(text, NULL, 10) && stat("/proc/self/exe", &self) == 0 &&
		self.st_uid == owner;
}

/* Where the kernel put code and stack: tells one program in a process from the next. */
static void read_layout(pid_t pid, uint64_t layout[2], uint64_t *start_time)
{
	static const unsigned int fields[] = { 26, 28 };
	char *stat = spi_proc_read(NULL, "%d/stat", (int) spi_living_thread(pid));

	for (unsigned int i = 0; i < 2; i++) {
		const char *field = stat ? spi_stat_field(stat, fields[i]) : NULL;

		layout[i] = field ? strtoull(field, NULL, 10) : 0;
	}
	*start_time = spi_process_start_time(pid);
	free(stat);
}

static struct {
	pid_t pid;
	int fd;
} memory = { .fd = -1 };

static int memory_open(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int) spi_living_thread(pid));
	return open(path, O_RDWR | O_CLOEXEC);
}

void spi_identity_keep_memory(pid_t pid)
{
	memory.pid = pid;
	memory.fd = memory_open(pid);
}

int spi_identity_read(struct spi_target *t, const char *status)
{
	parse_uids(status, t->uids);
	read_layout(t->pid, t->layout, &t->start_time);
	t->result->start_time = t->start_time;
	if (t->pidfd < 0 || !t->start_time)
		return REFUSE(t, ESRCH, " ended meanwhile");
	t->mem = memory.fd >= 0 && memory.pid == t->pid ? fcntl(memory.fd, F_DUPFD_CLOEXEC, 3) : memory_open(t->pid);
	/* One that we may not trace is refused with a better reason, later. */
	return check_expected(t, t->uids);
}

int spi_identity_check(const struct spi_target *t)
{
	char *status = spi_proc_read(NULL, "%d/status", (int) t->pid);
	uint64_t layout[2], start_time;
	uid_t uids[4];
	int ret = 0;

	read_layout(t->pid, layout, &start_time);
	if (!status || start_time != t->start_time || !spi_target_lives(t)) {
		free(status);
		return REFUSE(t, ESRCH, " ended meanwhile");
	}
	parse_uids(status, uids);
	free(status);
	if (t->expect_uid != (uid_t) -1)
		ret = check_expected(t, uids);
	else if (memcmp(uids, t->uids, sizeof(uids)))
		ret = REFUSE(t, EPERM, " has changed its user meanwhile");
	if (!ret && memcmp(layout, t->layout, sizeof(layout)))
		ret = spi_identity_replaced(t);
	return ret;
}

int spi_identity_replaced(const struct spi_target *t)
{
	return REFUSE(t, ESRCH, " runs another program now: nothing was loaded; try again");
}

int spi_identity_check_file(const struct spi_target *t, const char *path)
{
	struct stat st;

	if (spi_carry_library_stat(path, &st))
		return 0;	/* whoever opens it says so better */
	if (st.st_uid && st.st_uid != geteuid() && st.st_uid != t->uid && !owner_is_ours(st.st_uid))
		return spi_inject_fail(t->result, EPERM, "%s: not loaded into process %d: it belongs to uid %u, and only "
				       "root's, your own or the process's user's may be", path, (int) t->pid,
				       (unsigned int) st.st_uid);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return spi_inject_fail(t->result, EPERM, "%s: not loaded into process %d: others may write to it; chmod "
				       "go-w it", path, (int) t->pid);
	return 0;
}

int spi_target_write(const struct spi_target *t, uint64_t address, const void *buffer, size_t size)
{
	ssize_t n = pwrite(t->mem, buffer, size, (off_t) address);

	return n < 0 ? -errno : (size_t) n == size ? 0 : -EFAULT;
}
