/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Which processes hold a pipe or a socket: /proc/PID/fd.
 *
 * The links there are read, which asks no file system: "socket:[INODE]", "pipe:[INODE]". A FIFO with a name shows that
 * name: what kernels know of its inode is asked for (AT_STATX_DONT_SYNC). Which ends of a pipe a descriptor has is in
 * /proc/PID/fdinfo. Runs in a child of the broker's, as a process may have very many descriptors.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "broker/peers/find.h"
#include "injector/procfs/procfs.h"

#define QUICK_MOST	4096u	/* descriptors of one process that a quick look takes in */

/* ---- one descriptor -------------------------------------------------------------------------------------------- */

/* The number in "KIND:[NUMBER]"; 0: it is another kind. */
static uint64_t link_inode(const char *link, const char *kind)
{
	size_t n = strlen(kind);

	return !strncmp(link, kind, n) && link[n] == ':' && link[n + 1] == '[' ? strtoull(link + n + 2, NULL, 10) : 0;
}

/* Is it a FIFO of that inode, with a name? Its device, or 0. */
static uint64_t fifo_device(int fds, const char *name, uint64_t inode)
{
	struct statx st;

	if (statx(fds, name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE | STATX_INO, &st) || !S_ISFIFO(st.stx_mode) ||
	    st.stx_ino != inode)
		return 0;
	return (uint64_t) st.stx_dev_major << 32 | st.stx_dev_minor | UINT64_C(1) << 63;
}

/* The beginning of a small file of /proc/PID, which is open as `directory`; "": it cannot be read. */
static const char *text_of(int directory, const char *name, char *text, size_t size)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	return text;
}

static bool descriptor_reads(int directory, const char *name)
{
	char path[32], text[512];
	const char *flags;

	snprintf(path, sizeof(path), "fdinfo/%.12s", name);
	flags = strstr(text_of(directory, path, text, sizeof(text)), "flags:");
	return flags && (strtoul(flags + strlen("flags:"), NULL, 8) & O_ACCMODE) != O_WRONLY;
}

/* As fstat() says it. */
static bool is_file(int fds, const char *name, uint64_t device, uint64_t inode)
{
	struct statx st;

	return !statx(fds, name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_INO, &st) && st.stx_ino == inode &&
	       makedev(st.stx_dev_major, st.stx_dev_minor) == device;
}

static bool is_of_end(const struct end *end, int directory, int fds, const char *name, const char *link)
{
	uint64_t inode = end->is_file ? 0 : link_inode(link, end->is_pipe ? "pipe" : "socket");

	if (end->is_file)
		return *link == '/' && is_file(fds, name, end->device, end->inodes[0]);
	for (unsigned int i = 0; i < end->nr_inodes; i++) {
		if (!end->device && inode != end->inodes[i])
			continue;
		if (end->device && (*link != '/' || fifo_device(fds, name, end->inodes[i]) != end->device))
			continue;
		return !end->is_pipe || descriptor_reads(directory, name);
	}
	return false;
}

/* ---- all descriptors of a process ------------------------------------------------------------------------------ */

/* 0: it has ended. */
static uint64_t start_time(int directory)
{
	char text[1024];
	const char *start = spi_stat_field(text_of(directory, "stat", text, sizeof(text)), 22);

	return start ? strtoull(start, NULL, 10) : 0;
}

int process_directory(const struct one *one)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d", (int) one->pid);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	/* that number may be another's by now; while the directory is open it shows this one or none */
	if (start_time(fd) == one->start_time)
		return fd;
	close(fd);
	return -1;
}

bool process_is_of(int directory, uid_t uid)
{
	char status[4096];
	unsigned int ids[4] = { 0 };
	bool is = spi_status_ids(text_of(directory, "status", status, sizeof(status)), "Uid", ids);

	for (int i = 0; i < 4; i++)
		is = is && ids[i] == uid;
	return is;
}

typedef bool (*sees_fn)(void *data, int directory, int fds, const char *name, const char *link);

static DIR *directory_open(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/*
 * So many of /proc/PID, or /proc/PID/task/TID, at most are shown to `sees`, until that is true. How many there were, as
 * far as it has looked: not further than to one that we may not know of.
 */
static unsigned int each_of(int directory, unsigned int most, sees_fn sees, void *data, bool *seen)
{
	DIR *dir = directory_open(directory, "fd");
	struct dirent *entry;
	unsigned int n = 0;

	while (dir && !*seen && n < most && (entry = readdir(dir))) {
		char link[64];
		ssize_t size;

		if (!isdigit((unsigned char) *entry->d_name))
			continue;
		n++;
		size = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);
		if (size < 0 && errno == EACCES)
			break;
		if (size <= 0)
			continue;
		link[size] = 0;
		*seen = sees(data, directory, dirfd(dir), entry->d_name, link);
	}
	if (dir)
		closedir(dir);
	return n;
}

/* Where the first thread has ended, another one shows the process's descriptors. */
static bool each_descriptor(int directory, unsigned int most, sees_fn sees, void *data)
{
	bool seen = false;
	unsigned int n = each_of(directory, most, sees, data, &seen);
	struct dirent *entry;
	struct stat st;
	DIR *tasks;

	if (n || fstatat(directory, "task", &st, 0) || st.st_nlink <= 3)
		return seen;
	tasks = directory_open(directory, "task");
	while (tasks && !n && (entry = readdir(tasks))) {
		int task = isdigit((unsigned char) *entry->d_name) ?
			openat(dirfd(tasks), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

		if (task < 0)
			continue;
		n = each_of(task, most, sees, data, &seen);
		close(task);
	}
	if (tasks)
		closedir(tasks);
	return seen;
}

/* The same of the descriptor fd alone. */
static bool one_descriptor(int directory, unsigned int fd, sees_fn sees, void *data)
{
	int fds = openat(directory, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char name[16], link[64];
	bool seen = false;
	ssize_t size;

	snprintf(name, sizeof(name), "%u", fd);
	size = fds < 0 ? -1 : readlinkat(fds, name, link, sizeof(link) - 1);
	if (size > 0) {
		link[size] = 0;
		seen = sees(data, directory, fds, name, link);
	}
	if (fds >= 0)
		close(fds);
	return seen;
}

struct own {
	bool is_pipe;
	uint64_t inode, device;
};

static bool sees_own(void *data, int directory, int fds, const char *name, const char *link)
{
	struct own *own = data;

	if (*link == '/')
		return own->is_pipe && (own->device = fifo_device(fds, name, own->inode));
	return link_inode(link, own->is_pipe ? "pipe" : "socket") == own->inode;
}

bool process_holds(int directory, bool is_pipe, uint64_t inode, uint32_t likely, uint64_t *device)
{
	struct own own = { is_pipe, inode, 0 };
	bool holds = inode && ((likely && one_descriptor(directory, likely - 1, sees_own, &own)) ||
			       each_descriptor(directory, -1u, sees_own, &own));

	*device = own.device;
	return holds;
}

/* ---- what lttng trace itself holds ------------------------------------------------------------------------------ */

#define ANCESTORS	16u

static pid_t parent_of(int directory)
{
	char text[1024];
	const char *parent = spi_stat_field(text_of(directory, "stat", text, sizeof(text)), 4);

	return parent ? (pid_t) strtol(parent, NULL, 10) : 0;
}

static bool is_front_end(int directory)
{
	char exe[PATH_MAX];
	ssize_t n = readlinkat(directory, "exe", exe, sizeof(exe) - 1);
	const char *name;

	if (n <= 0)
		return false;
	exe[n] = 0;
	name = strrchr(exe, '/');
	return name && (!strcmp(name, "/lttng") || !strcmp(name, "/lttng (deleted)"));
}

bool front_end_holds(int asker, bool is_pipe, uint64_t inode)
{
	pid_t pid = parent_of(asker);
	bool holds = false;

	for (unsigned int i = 0; i < ANCESTORS && pid > 1 && !holds; i++) {
		char path[32];
		uint64_t device;
		int directory;

		snprintf(path, sizeof(path), "/proc/%d", (int) pid);
		directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (directory < 0)
			break;
		holds = is_front_end(directory) && process_holds(directory, is_pipe, inode, 0, &device);
		pid = parent_of(directory);
		close(directory);
	}
	return holds;
}

static void holder_add(struct found *found, const struct one *one)
{
	if (found->nr < HOLDERS_MAX)
		found->holders[found->nr++] = *one;
	else
		found->beyond++;
}

/* ---- a quick look, and all processes --------------------------------------------------------------------------- */

/*
 * Where sockets were seen, so that of a process with thousands of them each is found at once when its turn comes. A
 * place may be out of date, and is looked at again.
 */
#define PLACES	16384u
static struct place {
	uint64_t inode;
	pid_t pid;
	unsigned int fd;
} places[PLACES];

static struct place *place_of(pid_t pid, uint64_t inode)
{
	return &places[(inode + (uint64_t) pid * 31) % PLACES];
}

static void place_note(pid_t pid, const char *name, const char *link)
{
	uint64_t inode = link_inode(link, "socket");

	if (inode)
		*place_of(pid, inode) = (struct place) { inode, pid, (unsigned int) strtoul(name, NULL, 10) };
}

struct sight {
	struct found *found;
	unsigned int count;
	uint32_t seen;			/* a bit each */
	pid_t noted;			/* of all of this process's sockets places are noted; 0: of none */
};
_Static_assert(FOUND_MAX <= 32, "a bit each");

static bool sees_end(void *data, int directory, int fds, const char *name, const char *link)
{
	struct sight *sight = data;

	if (sight->noted)
		place_note(sight->noted, name, link);
	for (unsigned int i = 0; i < sight->count; i++)
		if (!(sight->seen & 1u << i) && is_of_end(&sight->found[i].end, directory, fds, name, link))
			sight->seen |= 1u << i;
	return !sight->noted && sight->seen == (sight->count == 32 ? ~0u : (1u << sight->count) - 1);
}

/* Is one of the end's sockets where it was seen before? */
static bool sees_again(struct sight *sight, int directory)
{
	const struct end *end = &sight->found->end;

	for (unsigned int i = 0; i < end->nr_inodes && !end->is_pipe && !end->is_file; i++) {
		const struct place *place = place_of(sight->noted, end->inodes[i]);

		if (place->pid == sight->noted && place->inode == end->inodes[i])
			one_descriptor(directory, place->fd, sees_end, sight);
	}
	return sight->seen;
}

void holders_named(const struct question *question, struct found *found)
{
	const int32_t *pids = question->channel.pids;

	for (unsigned int i = 0; i < SPI_PEER_PIDS_MAX && pids[i] > 0; i++) {
		struct one one = { .pid = pids[i] };
		char path[32];
		int directory;

		snprintf(path, sizeof(path), "/proc/%d", (int) one.pid);
		directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (directory < 0)
			continue;
		one.start_time = start_time(directory);
		if (one.start_time && process_is_of(directory, question->uid))
			holder_add(found, &one);
		close(directory);
	}
}

void holders_among(const struct question *question, struct found *found)
{
	for (unsigned int i = 0; i < question->nr_known; i++) {
		struct sight sight = { found, 1, 0, question->known[i].pid };
		int directory = process_directory(&question->known[i]);

		if (directory < 0)
			continue;
		if ((!found->end.is_file || process_is_of(directory, question->uid)) && !sees_again(&sight, directory))
			each_descriptor(directory, QUICK_MOST, sees_end, &sight);
		if (sight.seen)
			holder_add(found, &question->known[i]);
		close(directory);
	}
}

static void look_at(int proc, const char *name, const struct question *questions, struct found *found,
		    unsigned int count)
{
	struct sight sight = { found, count, 0, 0 };
	struct one one = { .pid = atoi(name) };
	int directory = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (directory < 0)
		return;
	each_descriptor(directory, -1u, sees_end, &sight);
	one.start_time = sight.seen ? start_time(directory) : 0;
	for (unsigned int i = 0; i < count && one.start_time; i++)
		if (sight.seen & 1u << i && (!found[i].end.is_file || process_is_of(directory, questions[i].uid)))
			holder_add(&found[i], &one);
	close(directory);
}

void holders_scan(const struct question *questions, struct found *found, unsigned int count)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc)))
		if (isdigit((unsigned char) *entry->d_name))
			look_at(dirfd(proc), entry->d_name, questions, found, count);
	if (proc)
		closedir(proc);
}

/* ---- listening sockets ------------------------------------------------------------------------------------------ */

struct listener {
	const struct listening *list;
	unsigned int count;
	uint32_t channels;
};

static int inode_compare(const void *key, const void *listening)
{
	uint64_t a = *(const uint64_t *) key, b = ((const struct listening *) listening)->inode;

	return (a > b) - (a < b);
}

static bool sees_listening(void *data, int directory, int fds, const char *name, const char *link)
{
	struct listener *listener = data;
	uint64_t inode = link_inode(link, "socket");
	const struct listening *found = inode ?
		bsearch(&inode, listener->list, listener->count, sizeof(*listener->list), inode_compare) : NULL;

	listener->channels |= found ? found->channels : 0;
	return false;
}

void holders_listening(const struct listening *list, unsigned int count,
		       void (*sees)(const struct one *one, uint32_t channels))
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		struct listener listener = { list, count, 0 };
		struct one one = { .pid = atoi(entry->d_name) };
		int directory = -1;

		if (one.pid > 0)
			directory = openat(dirfd(proc), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (directory < 0)
			continue;
		each_descriptor(directory, QUICK_MOST, sees_listening, &listener);
		one.start_time = listener.channels ? start_time(directory) : 0;
		close(directory);
		if (one.start_time)
			sees(&one, listener.channels);
	}
	if (proc)
		closedir(proc);
}
