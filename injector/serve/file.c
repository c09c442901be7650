/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Files for agents: what an agent in a container needs and does not have.
 *
 * Libraries travel as sealed memfds, copied once and handed to every agent that asks. Only the names
 * in the list are served. "payload-output" is where payloads write text for the user. "daemon-home" is the way to the host's session daemon: daemon-home.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "injector/base/paths.h"
#include "injector/serve/daemon-home.h"
#include "injector/serve/serve.h"

struct spi_file {
	struct spi_file *next;
	const char *name;
	int fd;
};

static const char *const served[] = {
	"liblttng-spi-tp.so", "liblttng-ust.so.1", "liblttng-ust-common.so.1", "liblttng-ust-tracepoint.so.1",
	"libnuma.so.1", "libgcc_s.so.1",
};

/* The file's bytes in a memfd that nobody can change any more. A descriptor or a negative errno. */
static int copy_to_memfd(const char *name, const char *path)
{
	int from = open(path, O_RDONLY | O_CLOEXEC), to, error = 0;
	struct stat st;
	off_t left;

	if (from < 0)
		return -errno;
	to = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (to < 0 || fstat(from, &st)) {
		error = errno;
		goto out;
	}
	for (left = st.st_size; left > 0;) {
		ssize_t n = sendfile(to, from, NULL, left);

		if (n <= 0) {
			error = n ? errno : EIO;
			break;
		}
		left -= n;
	}
	if (!error && fcntl(to, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE))
		error = errno;
out:
	close(from);
	if (error && to >= 0)
		close(to);
	return error ? -error : to;
}

static int library_get(struct spi_control *control, const char *name, char *text, size_t text_size)
{
	char path[PATH_MAX];
	struct spi_file *file;
	int fd;

	for (file = control->files; file; file = file->next)
		if (!strcmp(file->name, name))
			return fcntl(file->fd, F_DUPFD_CLOEXEC, 3);
	if (!strcmp(name, "liblttng-spi-tp.so")) {
		const char *tp = spi_path_tp();

		if (!tp) {
			snprintf(text, text_size,
					"%s is neither beside the controller nor installed: set LTTNG_SPI_TP", name);
			return -ENOENT;
		}
		snprintf(path, sizeof(path), "%s", tp);
	} else if (spi_path_library(name, path, sizeof(path))) {
		snprintf(text, text_size, "%s is not installed on the host: install lttng-ust", name);
		return -ENOENT;
	}
	fd = copy_to_memfd(name, path);
	if (fd < 0) {
		snprintf(text, text_size, "%s: %s", path, strerror(-fd));
		return fd;
	}
	file = malloc(sizeof(*file));
	if (!file)
		return fd;	/* not kept, but good */
	file->name = name;
	file->fd = fd;
	file->next = control->files;
	control->files = file;
	return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

static int home_open(struct spi_control *control, char *text, size_t text_size)
{
	char found[PATH_MAX], daemon[PATH_MAX];
	int fd, ret = 0;

	if (!*control->home) {
		if (*control->daemon_directory)
			strcpy(found, control->daemon_directory);
		else
			ret = spi_path_daemon_directory(found, sizeof(found));
		if (ret) {
			snprintf(text, text_size, "no session daemon runs on the host: start lttng-sessiond");
			return ret;
		}
		/* No symbolic link in it may lead into the container's root. */
		if (!realpath(found, daemon))
			ret = -errno;
		else
			ret = spi_home_make(control->home, daemon);
		if (ret) {
			snprintf(text, text_size, "%s: %s", found, strerror(-ret));
			return ret;
		}
	}
	fd = spi_home_open(control->home);
	if (fd < 0) {
		snprintf(text, text_size, "%s: %s", control->home, strerror(-fd));
	}
	return fd;
}

void spi_file_serve(struct spi_agent *agent, uint32_t id, const char *name)
{
	struct spi_msg_file head = { 0 };
	char text[PATH_MAX + 128] = "";
	int fd = -ENOENT;

	if (!strcmp(name, "daemon-home")) {
		fd = home_open(agent->control, text, sizeof(text));
	} else if (!strcmp(name, "payload-output")) {
		fd = agent->control->output < 0 ? -ENOENT : fcntl(agent->control->output, F_DUPFD_CLOEXEC, 3);
	} else {
		snprintf(text, sizeof(text), "no such file is served");
		for (size_t i = 0; i < sizeof(served) / sizeof(served[0]); i++)
			if (!strcmp(name, served[i]))
				fd = library_get(agent->control, served[i], text, sizeof(text));
	}
	head.status = fd < 0 ? fd : 0;
	if (fd >= 0)
		*text = 0;
	spi_agent_send(agent, SPI_MSG_FILE, id, &head, sizeof(head), text, strlen(text) + 1, fd < 0 ? -1 : fd);
}

void spi_files_free(struct spi_control *control)
{
	while (control->files) {
		struct spi_file *file = control->files;

		control->files = file->next;
		close(file->fd);
		free(file);
	}
	if (*control->home)
		spi_home_remove(AT_FDCWD, control->home);
}
