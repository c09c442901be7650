/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Starting daemons. `lttng-sessiond --daemonize` returns when the daemon is ready. A relay daemon of our
 * own runs in the foreground as a child, with its files in a temporary directory, on ports that were
 * free a moment ago (others are tried when another program was faster); it is ready when it answers
 * as a relay daemon.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lttng/lttng.h>

#include "cli/base/child.h"
#include "cli/base/say.h"
#include "cli/daemon/default-program.h"
#include "cli/daemon/directory.h"
#include "cli/daemon/live-protocol.h"
#include "cli/daemon/start.h"
#include "cli/daemon/tcp-owner.h"
#include "cli/ui/trace-options.h"
#include "injector/base/paths.h"

#define RELAY_TRIES	5
#define RELAY_POLL_MS	5
#define RELAY_LIMIT_MS	10000
#define DAEMON_GRACE_MS	5000

/* The option, else the environment, else PATH: as the real lttng chooses. NULL: PATH. */
static const char *daemon_path(const char *option, const char *variable)
{
	const char *value = option ? option : getenv(variable);

	return value && *value ? value : NULL;
}

/* Our environment with one variable, "NAME=value", more or other. NULL: no memory. */
static char **environment_with(char *variable)
{
	size_t n = 0, kept = 0, name = (size_t) (strchr(variable, '=') + 1 - variable);
	char **env;

	while (environ[n])
		n++;
	env = calloc(n + 2, sizeof(*env));
	for (size_t i = 0; env && i < n; i++)
		if (strncmp(environ[i], variable, name))
			env[kept++] = environ[i];
	if (env)
		env[kept] = variable;
	return env;
}

/*
 * Returns 0 when a daemon runs; -EINTR; or another negative errno, nothing said. On a busy machine a program with
 * thousands of functions takes longer to answer than the 5 s after which the daemon gives a program up.
 */
static int sessiond_start(const char *path, const char *group, int stop_fd)
{
	char *argv[] = { (char *) "lttng-sessiond", (char *) "--daemonize", NULL, NULL, NULL };
	struct child_options child = { .path = path, .argv = argv, .err = -1, .flags = CHILD_OWN_GROUP };
	char patience[] = "LTTNG_APP_SOCKET_TIMEOUT=15", **env = NULL;
	int null, status = 0, ret;
	pid_t pid;

	if (group) {
		argv[2] = (char *) "--group";
		argv[3] = (char *) group;
	}
	if (!getenv("LTTNG_APP_SOCKET_TIMEOUT"))
		child.env = env = environment_with(patience);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	child.in = child.out = null;
	pid = child_spawn(&child);
	free(env);
	if (null >= 0)
		close(null);
	if (pid < 0)
		return pid;
	ret = child_wait(pid, -1, stop_fd, &status);
	if (ret == -EINTR) {
		child_end(pid, DAEMON_GRACE_MS);
		return ret;
	}
	return lttng_session_daemon_alive() == 1 ? 0 : -ECHILD;
}

int sessiond_ensure(const struct trace_options *options, int stop_fd)
{
	const char *path = daemon_path(options->sessiond_path, "LTTNG_SESSIOND_PATH");
	int ret = -ENOENT;

	if (lttng_session_daemon_alive() == 1)
		return 0;
	if (options->no_sessiond) {
		say_error("no session daemon is running, and --no-sessiond forbids to start one: start lttng-sessiond");
		return -ENOENT;
	}
	/* The one with the plugin, when the user chose none; tracing works without it as well. */
	if (!path && sessiond_default())
		ret = sessiond_start(sessiond_default(), options->group, stop_fd);
	if (ret < 0 && ret != -EINTR)
		ret = sessiond_start(path, options->group, stop_fd);
	if (ret == -ECHILD)
		say_error("no session daemon is running and %s did not start: run it by hand to see why",
			path ? path : "lttng-sessiond");
	else if (ret < 0 && ret != -EINTR)
		say_error("%s: the session daemon cannot be started: %s", path ? path : "lttng-sessiond",
			strerror(-ret));
	return ret;
}

static int port_free(int *fd, unsigned int *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);

	*fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return -errno;
	if (bind(*fd, (struct sockaddr *) &address, size) < 0 || getsockname(*fd, (struct sockaddr *) &address, &size) < 0)
		return -errno;
	*port = ntohs(address.sin_port);
	return 0;
}

/* Three different free ports: all three are held while they are chosen. */
static int relay_choose_ports(struct relay *relay)
{
	int fds[3] = { -1, -1, -1 }, i, ret;

	ret = port_free(&fds[0], &relay->control);
	if (ret == 0)
		ret = port_free(&fds[1], &relay->data);
	if (ret == 0)
		ret = port_free(&fds[2], &relay->live);
	for (i = 0; i < 3; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return ret;
}

static pid_t relay_spawn(const struct relay *relay, const struct trace_options *options, int log)
{
	char control[40], data[40], live[40];
	char *argv[] = { (char *) "lttng-relayd", (char *) "-C", control, (char *) "-D", data, (char *) "-L", live,
		(char *) "-o", relay->dir, NULL };
	struct child_options child = { .path = daemon_path(options->relayd_path, "LTTNG_RELAYD_PATH"), .argv = argv,
		.out = log, .err = log, .flags = CHILD_OWN_GROUP | CHILD_TIED };
	char preload[PATH_MAX + 16], **env;
	pid_t pid;

	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", spi_path_relay_guard());
	child.env = env = environment_with(preload);
	if (!env)
		return -ENOMEM;
	snprintf(control, sizeof(control), "tcp://127.0.0.1:%u", relay->control);
	snprintf(data, sizeof(data), "tcp://127.0.0.1:%u", relay->data);
	snprintf(live, sizeof(live), "tcp://127.0.0.1:%u", relay->live);
	/* It closes its stdin, and ends where there is none. */
	child.in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	pid = child_spawn(&child);
	if (child.in >= 0)
		close(child.in);
	free(env);
	return pid;
}

static int port_answers(unsigned int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t) port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), ret;

	ret = fd >= 0 && connect(fd, (struct sockaddr *) &address, sizeof(address)) == 0;
	if (fd >= 0)
		close(fd);
	return ret;
}

/* A trace goes to no daemon of another user's. */
static int relay_is_trusted(const struct relay *relay)
{
	return tcp_listener_is_trusted(relay->control) && tcp_listener_is_trusted(relay->data) && tcp_listener_is_trusted(relay->live);
}

/* Its threads open the three ports in no certain order. */
static int relay_is_ready(const struct relay *relay)
{
	return relay_is_trusted(relay) && live_answers(relay->live) && port_answers(relay->control) && port_answers(relay->data);
}

/* Until it answers, or ends. Returns 0, -ECHILD when it ended, -ETIMEDOUT or -EINTR (then it still runs). */
static int relay_wait_ready(const struct relay *relay, int stop_fd)
{
	int waited, status, ret;

	for (waited = 0; waited < RELAY_LIMIT_MS; waited += RELAY_POLL_MS) {
		if (relay_is_ready(relay) && kill(relay->pid, 0) == 0)
			return 0;
		ret = child_wait(relay->pid, RELAY_POLL_MS, stop_fd, &status);
		if (ret != -ETIMEDOUT)
			return ret == 0 ? -ECHILD : ret;
	}
	return -ETIMEDOUT;
}

static void relay_say_failed(int log, int error)
{
	char text[2048], *line, *start = text;
	ssize_t n = pread(log, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	/* The first error is the cause; warnings about limits often come before. */
	line = strstr(text, "Error: ");
	if (line)
		start = line + strlen("Error: ");
	start[strcspn(start, "\n")] = '\0';
	say_error("lttng-relayd did not start: %s (record to a directory with -o DIR instead)",
		*start ? start : strerror(error));
}

static int relay_make_dir(struct relay *relay)
{
	const char *parent = getenv("TMPDIR");

	if (!parent || *parent != '/')
		parent = "/tmp";
	if (asprintf(&relay->dir, "%s/lttng-trace-XXXXXX", parent) < 0) {
		relay->dir = NULL;
		return -ENOMEM;
	}
	if (!mkdtemp(relay->dir)) {
		int error = errno;

		say_error("%s: no temporary directory for the live view: %s", parent, strerror(error));
		free(relay->dir);
		relay->dir = NULL;
		return -error;
	}
	return 0;
}

/* Has it loaded what keeps others' connections out? Not where it runs with raised rights, or the path has a space or a colon. */
static int relay_is_guarded(const struct relay *relay)
{
	char path[32], line[PATH_MAX + 100];
	FILE *maps;
	int found = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int) relay->pid);
	maps = fopen(path, "re");
	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, "/lttng-spi-relay.so") != NULL;
	if (maps)
		fclose(maps);
	return found;
}

static int relay_start(struct relay *relay, const struct trace_options *options, int stop_fd)
{
	int log = memfd_create("lttng-relayd", MFD_CLOEXEC), tries, ret;

	if (log < 0)
		return -errno;
	for (tries = 0, ret = -ECHILD; ret == -ECHILD && tries < RELAY_TRIES; tries++) {
		ret = relay_choose_ports(relay);
		if (ret < 0)
			break;
		if (ftruncate(log, 0) == 0)
			lseek(log, 0, SEEK_SET);
		relay->pid = relay_spawn(relay, options, log);
		if (relay->pid < 0) {
			ret = relay->pid;
			relay->pid = 0;
			break;
		}
		ret = relay_wait_ready(relay, stop_fd);
		if (ret == -ECHILD)
			relay->pid = 0;
	}
	if (ret == 0 && !relay_is_guarded(relay)) {
		say_error("lttng-relayd has not loaded %s, so other users could read the trace: record to a directory with -o DIR",
			spi_path_relay_guard());
		ret = -EPERM;
	} else if (ret < 0 && ret != -EINTR) {
		relay_say_failed(log, -ret);
	}
	close(log);
	return ret;
}

int relay_ensure(struct relay *relay, const struct trace_options *options, int stop_fd)
{
	int ret;

	*relay = (struct relay) { .control = LIVE_DEFAULT_PORT - 2, .data = LIVE_DEFAULT_PORT - 1, .live = LIVE_DEFAULT_PORT };
	if (relay_is_trusted(relay) && live_answers(relay->live))
		return 0;
	memset(relay, 0, sizeof(*relay));
	if (!spi_path_relay_guard()) {
		say_error("lttng-spi-relay.so, which keeps the live view from other users, is not there: install lttng-spi again, or record to "
			"a directory with -o DIR");
		return -ENOENT;
	}
	ret = relay_make_dir(relay);
	if (ret == 0)
		ret = relay_start(relay, options, stop_fd);
	if (ret < 0)
		relay_end(relay);
	return ret;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

void directory_remove(const char *path)
{
	if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) < 0)
		say_warning("%s: cannot be removed: %s", path, strerror(errno));
}

void relay_end(struct relay *relay)
{
	if (relay->pid > 0)
		child_end(relay->pid, DAEMON_GRACE_MS);
	if (relay->dir)
		directory_remove(relay->dir);
	free(relay->dir);
	memset(relay, 0, sizeof(*relay));
}
