/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The child that becomes spi-codemap: which rights it has, and what it is given.
 *
 * The child gets open descriptors instead of paths, so it needs no rights of its own to reach into a
 * container: a memfd for the map (4), the target's root directory for debug files (5), a
 * directory for its cache (7), and the files of prototypes of the controller's user (8). It opens the object (3) itself, before it takes the target's rights
 * as a whole, but with the target's rights to files: the process may have become a program that its
 * user can execute but not read; and a process that has become another user's is answered nothing.
 * Whatever the child waits for there, the controller does not wait.
 *
 * The child's end raises no SIGCHLD and is not seen by waitpid(-1): the caller's own children are
 * the caller's business.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injector/control/internal.h"
#include "injector/procfs/procfs.h"
#include "injector/serve/map-child.h"

/* Where memory runs short, it goes before what people run the machine for. */
static void be_first_to_go(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "800", 3) == 3)
		close(fd);
}

static void fail_if(int ret)
{
	if (ret < 0)
		_exit(ret <= -128 ? 255 : SPI_MAP_CHILD_FAILED - ret);
}

static void object_open(const struct spi_map_child *l)
{
	static const char other = SPI_MAP_CHILD_OTHER;
	static char name[PATH_MAX];
	int object;

	if (l->change_user) {
		if (syscall(SYS_setgroups, 0ul, NULL))
			_exit(126);
		setfsgid(l->gid);
		setfsuid(l->uid);
		prctl(PR_SET_PDEATHSIG, SIGKILL);	/* a change of user clears it */
	}
	object = spi_object_open(l, name);
	if (l->change_user) {
		setfsuid(geteuid());
		setfsgid(getegid());
	}
	fail_if(object);
	fail_if(spi_object_check(l));
	if (!spi_object_is_exact(l, object) && write(2, &other, 1) != 1)
		_exit(126);
	*l->name = name;
	if (object != 3) {
		dup2(object, 3);
		close(object);
	}
	fcntl(3, F_SETFD, 0);
}

/* Runs in the child: nothing but system calls. */
static __attribute__((noreturn)) void child_run(const struct spi_map_child *l)
{
	const int from[] = { l->words, -1, l->map, l->root < 0 ? l->map : l->root, l->program, l->cache < 0 ? l->map : l->cache,
			     l->prototypes };
	int high[7];
	sigset_t none;

	for (int i = 0; i < 7; i++)
		high[i] = from[i] < 0 ? -1 : fcntl(from[i], F_DUPFD, 64);
	for (int i = 0; i < 7; i++)
		if (high[i] >= 0)
			dup2(high[i], 2 + i);
	close(0);
	close(1);
	open("/dev/null", O_RDONLY);
	open("/dev/null", O_WRONLY);
	close(3);
	if (l->root < 0)
		close(5);
	if (l->cache < 0)
		close(7);
	fcntl(6, F_SETFD, FD_CLOEXEC);
	syscall(SYS_close_range, l->prototypes < 0 ? 8u : 9u, ~0u, 0u);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	be_first_to_go();
	if (l->is_ahead)
		setpriority(PRIO_PROCESS, 0, 19);
	object_open(l);
	if (l->change_user && (syscall(SYS_setgroups, 0ul, NULL) || syscall(SYS_setresgid, l->gid, l->gid, l->gid) ||
			       syscall(SYS_setresuid, l->uid, l->uid, l->uid)))
		_exit(126);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* a change of user clears it */
	setrlimit(RLIMIT_CORE, &(struct rlimit) { 0, 0 });
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	syscall(SYS_execveat, 6, "", l->argv, l->envp, AT_EMPTY_PATH);
	_exit(127);
}

/* fork() without SIGCHLD, with a pidfd. */
pid_t spi_map_child_start(const struct spi_map_child *launch, int *pidfd)
{
	struct clone_args args = { .flags = CLONE_PIDFD, .pidfd = (uint64_t) (uintptr_t) pidfd };
	pid_t pid = syscall(SYS_clone3, &args, sizeof(args));

	if (!pid)
		child_run(launch);
	return pid < 0 ? -errno : pid;
}

int spi_map_child_identity(struct spi_map_child *l, const struct spi_map_target *target)
{
	char *status = spi_proc_read(NULL, "%d/status", (int) target->pid);
	unsigned int uids[4], gids[4];
	int ret = 0;

	if (!status || !spi_status_ids(status, "Uid", uids) || !spi_status_ids(status, "Gid", gids) || !target->start_time ||
	    spi_process_start_time(target->pid) != target->start_time)
		ret = -ESRCH;
	free(status);
	if (ret)
		return ret;
	l->pid = target->pid;
	l->living = spi_living_thread(target->pid);
	l->start_time = target->start_time;
	l->uid = uids[0];
	l->gid = gids[0];
	l->change_user = !geteuid() && l->uid;
	for (unsigned int i = 0; i < 4 && !geteuid(); i++)
		if (uids[i] != target->uid || gids[i] != l->gid)
			return -EPERM;
	return 0;
}
