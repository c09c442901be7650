/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The child that finds processes which messages may come to: those with listening sockets, in the broker's network
 * namespace. It says what code they have mapped, one file after the other. A process may make the reader of its
 * mappings wait; the broker ends the child then.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "broker/peers/internal.h"
#include "injector/procfs/procfs.h"

/* Is more of the process wanted? The broker may let the child wait here, for long. */
static bool say(const struct listening_said *said)
{
	unsigned int nr_fds;
	char more = 0;

	if (packet_send(CHILD_FD, said, sizeof(*said), NULL, 0) ||
	    packet_receive(CHILD_FD, &more, sizeof(more), NULL, 0, &nr_fds) != sizeof(more))
		_exit(1);
	return more;
}

/* Its file is mapped from its beginning, and code of it is. */
static bool is_object(const struct spi_maps *maps, const struct spi_mapping *first)
{
	if (first->offset || *first->path != '/' || strlen(first->path) >= PATH_MAX)
		return false;
	for (const struct spi_mapping *m = first; m < maps->all + maps->count; m++)
		if (m->exec && m->inode == first->inode && m->device == first->device)
			return true;
	return false;
}

static bool is_first_of_file(const struct spi_maps *maps, const struct spi_mapping *mapping)
{
	for (const struct spi_mapping *m = maps->all; m < mapping; m++)
		if (!m->offset && m->inode == mapping->inode && m->device == mapping->device)
			return false;
	return true;
}

static void sees_process(const struct one *one, uint32_t channels)
{
	static struct listening_said said;
	char link[32], exe[PATH_MAX];
	struct spi_maps maps;
	ssize_t n;

	memset(&said, 0, sizeof(said));
	said.one = *one;
	said.channels = channels;
	if (!say(&said) || spi_maps_read(&maps, one->pid))
		return;
	snprintf(link, sizeof(link), "/proc/%d/exe", (int) one->pid);
	n = readlink(link, exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = 0;
	for (const struct spi_mapping *m = maps.all; m < maps.all + maps.count; m++) {
		if (!is_object(&maps, m) || !is_first_of_file(&maps, m))
			continue;
		said.device = m->device;
		said.inode = m->inode;
		said.is_executable = !strcmp(m->path, exe);
		strcpy(said.path, m->path);
		if (!say(&said))
			break;
	}
	spi_maps_free(&maps);
}

int listening_work(void *data)
{
	static struct listening list[LISTENING_MAX];
	int count;

	setpriority(PRIO_PROCESS, 0, 19);
	count = sockets_listening(list);
	if (count > 0)
		holders_listening(list, (unsigned int) count, sees_process);
	return 0;
}
