/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Which processes have a TCP or UDP port open.
 *
 * /proc/PID/net shows the sockets of the network namespace that a process is in, with their inode
 * numbers; /proc/PID/fd shows which process holds which socket. So the inodes with that local port
 * are collected once from each namespace, and then looked for among all processes' descriptors (a
 * descriptor may have been passed to a process of another namespace).
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "injector/procfs/procfs.h"

struct numbers {
	uint64_t *all;
	size_t count, room;
};

static int numbers_add(struct numbers *n, uint64_t value)
{
	for (size_t i = 0; i < n->count; i++)
		if (n->all[i] == value)
			return 0;
	if (n->count == n->room) {
		size_t room = n->room ? n->room * 2 : 16;
		uint64_t *more = realloc(n->all, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		n->all = more;
		n->room = room;
	}
	n->all[n->count++] = value;
	return 1;
}

static bool numbers_have(const struct numbers *n, uint64_t value)
{
	for (size_t i = 0; i < n->count; i++)
		if (n->all[i] == value)
			return true;
	return false;
}

/* Call `each` with the id of every process. Stops at, and returns, the first negative value. */
static int each_process(int (*each)(pid_t pid, void *data), void *data)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int ret = 0;

	if (!dir)
		return -errno;
	while (ret >= 0 && (entry = readdir(dir)))
		if (isdigit((unsigned char) entry->d_name[0]))
			ret = each(atoi(entry->d_name), data);
	closedir(dir);
	return ret < 0 ? ret : 0;
}

struct search {
	unsigned int port;
	struct numbers namespaces, sockets, pids;
};

/* Lines: "sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode ..."; address is HEX:PORT. */
static int read_table(struct search *s, pid_t pid, const char *name)
{
	char *text = spi_proc_read(NULL, "%d/net/%s", (int) pid, name), *line = text;
	int ret = 0;

	while (ret >= 0 && line && (line = strchr(line, '\n'))) {
		unsigned long long inode;
		unsigned int port;

		line++;
		if (sscanf(line, " %*s %*[0-9A-Fa-f]:%x %*s %*s %*s %*s %*s %*s %*s %llu", &port, &inode) == 2 &&
		    port == s->port && inode)
			ret = numbers_add(&s->sockets, inode);
	}
	free(text);
	return ret;
}

static int collect_sockets(pid_t pid, void *data)
{
	static const char *const tables[] = { "tcp", "tcp6", "udp", "udp6" };
	struct search *s = data;
	char path[64], link[64];
	ssize_t n;
	int ret;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int) spi_living_thread(pid));
	n = readlink(path, link, sizeof(link) - 1);
	if (n <= 0)
		return 0;
	link[n] = 0;
	ret = numbers_add(&s->namespaces, strtoull(link + strcspn(link, "0123456789"), NULL, 10));
	for (size_t i = 0; ret > 0 && i < sizeof(tables) / sizeof(tables[0]); i++) {
		int failed = read_table(s, pid, tables[i]);

		if (failed < 0)
			ret = failed;
	}
	return ret;
}

static int find_holders(pid_t pid, void *data)
{
	struct search *s = data;
	struct dirent *entry;
	char path[64];
	DIR *dir;
	int ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int) spi_living_thread(pid));
	dir = pid == getpid() ? NULL : opendir(path);
	if (!dir)
		return 0;
	while (!ret && (entry = readdir(dir))) {
		char link[64];
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);

		if (n <= 8)
			continue;
		link[n] = 0;
		if (!strncmp(link, "socket:[", 8) && numbers_have(&s->sockets, strtoull(link + 8, NULL, 10)))
			ret = numbers_add(&s->pids, pid);
	}
	closedir(dir);
	return ret;
}

static int compare(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int spi_port_processes(unsigned int port, pid_t **pids)
{
	struct search s = { .port = port };
	int ret = each_process(collect_sockets, &s);

	*pids = NULL;
	if (!ret && s.sockets.count)
		ret = each_process(find_holders, &s);
	if (!ret && s.pids.count) {
		*pids = malloc(s.pids.count * sizeof(**pids));
		ret = *pids ? (int) s.pids.count : -ENOMEM;
		for (int i = 0; i < ret; i++)
			(*pids)[i] = (pid_t) s.pids.all[i];
		if (ret > 0)
			qsort(*pids, ret, sizeof(**pids), compare);
	}
	free(s.namespaces.all);
	free(s.sockets.all);
	free(s.pids.all);
	return ret;
}
