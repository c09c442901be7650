/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The injector as functions: the command spi-inject is run, as it stops and drives another process from outside, and
 * what it says is read from a pipe. The command gets no variables of the agent's nor LD_PRELOAD: it is not to be
 * traced.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "liblttng-spi/api/internal.h"

#define MESSAGE_MAX	1024u

extern char **environ;

/* In the build tree beside the library, or where it is installed. */
static int command_find(char path[PATH_MAX])
{
	Dl_info info;
	const char *slash;

	if (dladdr(spi_slot_code_base, &info) && info.dli_fname && (slash = strrchr(info.dli_fname, '/')) &&
			(size_t) (slash - info.dli_fname) < PATH_MAX - 100) {
		memcpy(path, info.dli_fname, (size_t) (slash - info.dli_fname));
		strcpy(path + (slash - info.dli_fname), "/../../injector/spi-inject");
		if (access(path, X_OK) == 0)
			return 0;
	}
	strcpy(path, SPI_INJECT_PATH);
	return access(path, X_OK) == 0 ? 0 : -ENOENT;
}

/* Where code maps are made and kept is as good for the command. */
static int is_dropped(const char *variable)
{
	if (!strncmp(variable, "LTTNG_SPI_CODEMAP=", 18) || !strncmp(variable, "LTTNG_SPI_CACHE=", 16))
		return 0;
	return !strncmp(variable, "LD_PRELOAD=", 11) || !strncmp(variable, "LTTNG_SPI_", 10);
}

/* Without what would bring a payload or the agent into the command. NULL: no memory. */
static char **environment(void)
{
	size_t count = 0, n = 0;
	char **env;

	while (environ && environ[count])
		count++;
	env = malloc((count + 1) * sizeof(*env));
	for (size_t i = 0; env && i < count; i++)
		if (!is_dropped(environ[i]))
			env[n++] = environ[i];
	if (env)
		env[n] = NULL;
	return env;
}

/* All that comes, of which the last line that fits is kept. */
static void message_read(int fd, char *error, size_t size)
{
	char text[MESSAGE_MAX];
	size_t used = 0;
	ssize_t n;

	while ((n = read(fd, text + used, sizeof(text) - 1 - used)) > 0 || (n < 0 && errno == EINTR)) {
		used += n > 0 ? (size_t) n : 0;
		if (used == sizeof(text) - 1)
			used = 0;
	}
	while (used && text[used - 1] == '\n')
		used--;
	text[used] = 0;
	if (size)
		spi_format(error, size, "%s", text);
}

static int command_run(const char *command, char *const argv[], char *error, size_t size)
{
	posix_spawn_file_actions_t actions;
	char **env = environment();
	int out[2], r, status = 0;
	pid_t pid;

	if (!env)
		return -ENOMEM;
	if (pipe2(out, O_CLOEXEC) < 0) {
		r = -errno;
		free(env);
		return r;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out[1], STDERR_FILENO);
	r = -posix_spawn(&pid, command, &actions, NULL, argv, env);
	posix_spawn_file_actions_destroy(&actions);
	close(out[1]);
	free(env);
	if (r == 0)
		message_read(out[0], error, size);
	close(out[0]);
	while (r == 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			r = -errno;	/* the program ignores SIGCHLD, or waits for all children */
	if (r < 0)
		return r;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EPERM;
}

static int inject(const char *what, uint32_t number, const char *path, char *error, size_t size)
{
	const uint32_t busy = spi_thread.busy;
	char command[PATH_MAX], text[16];
	char *argv[] = { command, (char *) what, text, (char *) path, NULL };
	int was = errno, r;

	if (size)
		error[0] = 0;
	if (!path)
		return -EINVAL;
	spi_format(text, sizeof(text), "%u", number);
	spi_thread.busy |= SPI_BUSY_ALWAYS;	/* none of the program's doing */
	r = command_find(command);
	if (r < 0 && size)
		spi_format(error, size, "%s is not there", SPI_INJECT_PATH);
	if (r == 0)
		r = command_run(command, argv, error, size);
	spi_thread.busy = busy;
	errno = was;
	return r;
}

SPI_API int spi_inject_pid(int32_t pid, const char *path, char *error, size_t size)
{
	return pid <= 0 ? -ESRCH : inject("pid", (uint32_t) pid, path, error, size);
}

SPI_API int spi_inject_port(uint16_t port, const char *path, char *error, size_t size)
{
	return inject("port", port, path, error, size);
}
