/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * own-descriptors - which descriptors it has, by each way of looking; then the same of programs that it executes after it has told
 * each number, in one way after the other, to stay open. With "wait" once more when there is a byte to be read. -DLISTED: those that it has, once.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST	1024

__attribute__((noinline, noipa)) int t_look(int fd, int how)
{
	int copy;

	switch (how) {
	case 0: return fcntl(fd, F_GETFD) >= 0;
	case 1: return fcntl(fd, F_GETFL) >= 0;
	case 2: return syscall(SYS_fcntl, fd, F_GETFD) >= 0;
	default: copy = fcntl(fd, F_DUPFD_CLOEXEC, 1000); break;
	}
	if (copy >= 0)
		close(copy);
	else if (errno != EBADF)
		printf("%s ", strerror(errno));
	return copy >= 0;
}

__attribute__((noinline, noipa)) int t_keep(int fd, int how)
{
	switch (how) {
	case 0: return fcntl(fd, F_SETFD, 0);
	default: return syscall(SYS_fcntl, fd, F_SETFD, 0);
	}
}

static void list(const char *path)
{
	int found[MOST] = { 0 }, self;
	DIR *directory = opendir(path);
	struct dirent *entry;

	if (!directory)
		return;
	self = dirfd(directory);
	while ((entry = readdir(directory)))
		if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' && atoi(entry->d_name) < MOST)
			found[atoi(entry->d_name)] = 1;
	closedir(directory);
	found[self] = 0;
	for (int fd = 0; fd < MOST; fd++)
		if (found[fd])
			printf("%d ", fd);
	puts(path);
}

static void look(void)
{
	for (int how = 0; how < 4; how++) {
		for (int fd = 0; fd < 1000; fd++)
			if (t_look(fd, how))
				printf("%d ", fd);
		puts("");
	}
	list("/proc/self/fd");
	if (!chdir("/proc/self"))
		list("fd");
}

int main(int argc, char **argv)
{
#ifdef LISTED
	for (int fd = 0; fd < MOST; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("%d ", fd);
	puts("");
	return 0;
#endif
	setvbuf(stdout, NULL, _IOLBF, 0);
	fcntl(open("/dev/null", O_RDONLY | O_CLOEXEC), F_DUPFD_CLOEXEC, 400);
	look();
	if (argc > 1 && !strcmp(argv[1], "wait")) {
		puts("ready");
		if (read(0, &argc, 1) == 1)
			look();
	}
	for (int how = 0; argc < 2 && how < 2; how++) {
		if (!fork()) {
			for (int fd = 3; fd < 600; fd++)
				t_keep(fd, how);
			execl("/proc/self/exe", argv[0], "again", NULL);
			_exit(1);
		}
		wait(NULL);
	}
	return 0;
}
