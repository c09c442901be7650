/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Reading files of /proc that may make the reader wait. Some files show a process's memory, or are
 * written with its memory map locked: a reader waits for as long as the process keeps the lock,
 * which a process can do with a page of a file system that it serves itself. So a child reads these
 * files. A child that does not answer in time is killed, should the kernel let it be, and not waited
 * for; and for a while no such file is read of that user's processes.
 *
 * The child has all our rights, as a process may be undumpable, and reads only what the kernel
 * writes.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "injector/base/foreign-fd.h"
#include "injector/procfs/procfs.h"
#include "injector/procfs/timed-reader.h"

#define SPAN_MS		10000u	/* in so long */
#define USER_MS		100u	/* one user's processes keep us waiting for as long as this, */
#define ALL_MS		500u	/* and those of all users but root as this; from then on each answer is waited for */
#define SHORT_MS	10u	/* for no longer than this */
#define USERS_MAX	64u
#define LEFT_MOST	64u	/* children that did not answer: with so many nothing is asked until there was none more for */
#define LEFT_MS		600000u	/* so long */
#define SLOW_MOST	3u	/* so many times as long while the child runs, or could */
#define TEXT_MOST	(16u << 20)

enum what { READ_NAMES, READ_MAPS, READ_ARGUMENTS };

struct question {
	enum what what;
	pid_t pid;
	char text[64];
};

struct answer {
	bool has_text;
	struct spi_names names;
};

static struct {
	pid_t pid;		/* 0: there is none */
	int socket;
} reader;
static unsigned int nr_left;
static uint64_t left_ms;		/* when the latest was left */

/* How long a user's processes have kept us waiting, in the time since then. */
static struct waited {
	uid_t uid;
	unsigned int ms;
	uint64_t since_ms;	/* 0: free */
} waited[USERS_MAX];

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

/* ---- the child ------------------------------------------------------------ */

static bool file_has(pid_t pid, const char *file, const char *text)
{
	static char room[65536 + 64];
	const size_t size = strlen(text);
	size_t kept = 0, all = 0;
	bool found = false;
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && !found && all < TEXT_MOST && (n = read(fd, room + kept, sizeof(room) - kept)) > 0) {
		all += n;
		kept += n;
		found = memmem(room, kept, text, size);
		if (kept >= size) {
			memmove(room, room + kept - (size - 1), size - 1);
			kept = size - 1;
		}
	}
	if (fd >= 0)
		close(fd);
	return found;
}

static __attribute__((noreturn)) void reader_run(int socket)
{
	struct question q;

	dup2(socket, 3);
	syscall(SYS_close_range, 4u, ~0u, 0u);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpriority(PRIO_PROCESS, 0, -20);	/* where permitted: a program that begins does not wait for what is read of it */
	while (recv(3, &q, sizeof(q), 0) == sizeof(q)) {
		struct answer a = { .has_text = false };

		if (q.what == READ_NAMES)
			spi_names_read(&a.names, q.pid, q.text);
		else
			a.has_text = file_has(q.pid, q.what == READ_MAPS ? "maps" : "cmdline", q.text);
		send(3, &a, sizeof(a), MSG_NOSIGNAL);
	}
	_exit(0);
}

static int reader_start(void)
{
	struct clone_args args = { 0 };
	int pair[2], high;
	pid_t pid;

	if (reader.pid)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	high = fcntl(pair[1], F_DUPFD_CLOEXEC, 10);
	close(pair[1]);
	pid = high < 0 ? -1 : syscall(SYS_clone3, &args, sizeof(args));
	if (!pid)
		reader_run(high);
	close(high);
	if (pid < 0) {
		close(pair[0]);
		return -EAGAIN;
	}
	reader.pid = pid;
	reader.socket = pair[0];
	return 0;
}

/* ---- asking --------------------------------------------------------------- */

static void reader_leave(uid_t uid)
{
	kill(reader.pid, SIGKILL);
	spi_foreign_leave(reader.pid, uid);
	close(reader.socket);
	reader.pid = 0;
}

static struct waited *waited_of(uid_t uid)
{
	struct waited *oldest = waited;
	uint64_t now = now_ms();

	for (struct waited *w = waited; w < waited + USERS_MAX; w++) {
		if (w->since_ms && now - w->since_ms > SPAN_MS)
			*w = (struct waited) { .since_ms = 0 };
		if (w->since_ms && w->uid == uid)
			return w;
		if (w->since_ms < oldest->since_ms)
			oldest = w;
	}
	*oldest = (struct waited) { uid, 0, now };
	return oldest;
}

/* May it take still longer? All users but root together have a bound, too, which a new one finds used up by others only for its slower half. */
static unsigned int time_left(const struct waited *of)
{
	unsigned int all = 0;

	if (of->ms >= USER_MS)
		return 0;
	for (const struct waited *w = waited; w < waited + USERS_MAX; w++)
		all += w->uid ? w->ms : 0;
	return of->uid && all >= ALL_MS ? SHORT_MS : USER_MS - of->ms;
}

/* On a busy machine the child may have its turn late; one that waits is in state D or S. */
static bool reader_runs(void)
{
	char *stat = spi_proc_read(NULL, "%d/stat", (int) reader.pid);
	const char *state = stat ? spi_stat_field(stat, 3) : NULL;
	bool runs = state && *state == 'R';

	free(stat);
	return runs;
}

static int ask(const struct question *q, uid_t uid, struct answer *answer)
{
	struct pollfd polled = { .events = POLLIN };
	struct waited *of = waited_of(uid);
	unsigned int ms = time_left(of), times = 0;
	uint64_t begin = now_ms();
	int ret;

	if (nr_left && begin - left_ms > LEFT_MS)
		nr_left = 0;
	if (!ms || spi_foreign_has_many(uid) || nr_left >= LEFT_MOST)
		return -EBUSY;
	ret = reader_start();
	if (ret)
		return ret;
	polled.fd = reader.socket;
	if (send(reader.socket, q, sizeof(*q), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(*q)) {
		reader_leave(uid);
		return -EPIPE;
	}
	do
		ret = poll(&polled, 1, (int) ms);
	while (ret <= 0 && times++ < SLOW_MOST && (ret < 0 || reader_runs()));
	of->ms += (unsigned int) (now_ms() - begin);
	if (ret > 0 && recv(reader.socket, answer, sizeof(*answer), MSG_DONTWAIT) == sizeof(*answer))
		return 0;
	reader_leave(uid);
	nr_left++;
	left_ms = now_ms();
	of->ms += USER_MS;
	return -ETIMEDOUT;
}

int spi_reader_names(struct spi_names *names, pid_t pid, uid_t uid, const char *file)
{
	struct question q = { .what = READ_NAMES, .pid = pid };
	struct answer answer;
	int ret;

	snprintf(q.text, sizeof(q.text), "%s", file);
	ret = ask(&q, uid, &answer);
	if (!ret)
		*names = answer.names;
	else
		spi_names_comm(names, pid);
	return ret;
}

static bool has(enum what what, pid_t pid, uid_t uid, const char *text)
{
	struct question q = { .what = what, .pid = pid };
	struct answer answer;

	snprintf(q.text, sizeof(q.text), "%s", text);
	return !ask(&q, uid, &answer) && answer.has_text;
}

bool spi_reader_maps_have(pid_t pid, uid_t uid, const char *text)
{
	return has(READ_MAPS, pid, uid, text);
}

bool spi_reader_arguments_have(pid_t pid, uid_t uid, const char *text)
{
	return has(READ_ARGUMENTS, pid, uid, text);
}
