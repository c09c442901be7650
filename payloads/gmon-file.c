/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Profiles in the format of gmon.out, version 1 (gmon_out.h of glibc, gprof's gmon_io.c): a header, the histogram, an
 * entry for each arc. Addresses are those of the file. What does not fit into a count of 32 bits, or a bin of 16, is
 * written as several entries, which gprof adds up.
 *
 * The executable's file is gmon.out, a library's NAME.gmon.out, in the directory that the process is in; with a prefix
 * PREFIX.PID and PREFIX.NAME.PID. A forked child's have its process id at the end. Where the program is built with -pg,
 * and so writes a file of the first name itself, ours ends in ".spi".
 *
 * All of it may run in a signal handler: no memory is allocated, and nothing of stdio's is used.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <lttng/spi.h>
#include "payloads/gprof.h"
#include "payloads/text.h"

#define TAG_HISTOGRAM	0
#define TAG_ARC		1
#define BIN_MOST	65535u
#define BUFFER		32768u
#define WAIT_US		1000u
#define WAITS		5000u
#define FOREIGN		10000		/* beside errno's: the file is no regular file of this user's alone */

static char prefix[PATH_MAX];		/* "": none */
static int first_pid;			/* of the process that began */
static int writes_its_own;		/* the program does, at its end */
static int writer;			/* the process that writes; 0: none does */

static struct {
	int fd, error;
	size_t used;
	char data[BUFFER];
} out;					/* the writer's */

void gprof_files_begin(struct spi_agent *agent)
{
	const char *asked = spi_agent_argument(agent, "prefix");

	if (!asked)
		asked = secure_getenv("GMON_OUT_PREFIX");
	prefix[0] = 0;
	if (asked && strlen(asked) < sizeof(prefix) - 300)
		strcpy(prefix, asked);
	first_pid = (int) getpid();
	writes_its_own = gprof_program_profiles_itself();
}

/* ---- bytes ---- */

static void out_flush(void)
{
	size_t done = 0;

	while (!out.error && done < out.used) {
		ssize_t n = write(out.fd, out.data + done, out.used - done);

		if (n > 0)
			done += (size_t) n;
		else if (n == 0 || errno != EINTR)
			out.error = n == 0 ? EIO : errno;
	}
	out.used = 0;
}

static void put(const void *from, size_t size)
{
	if (out.used + size > sizeof(out.data))
		out_flush();
	memcpy(out.data + out.used, from, size);
	out.used += size;
}

static void put_number(uint64_t number, size_t size)
{
	put(&number, size);		/* little endian, as the processor */
}

/* ---- the parts of a file ---- */

static void put_header(void)
{
	static const char spare[12];

	put("gmon", 4);
	put_number(1, 4);
	put(spare, sizeof(spare));
}

/*
 * Bins that have more than fits go on in a further histogram of the same addresses. Returns how many samples there
 * are.
 */
static uint64_t put_histogram(const struct profile *p)
{
	static const char dimension[15] = "seconds";
	uint64_t samples = 0, most = 0;

	for (uint64_t i = 0; i < p->bin_count; i++) {
		samples += p->bins[i];
		most = p->bins[i] > most ? p->bins[i] : most;
	}
	for (uint64_t done = 0; done == 0 || done < most; done += BIN_MOST) {
		put_number(TAG_HISTOGRAM, 1);
		put_number(p->low - p->base, 8);
		put_number(p->low - p->base + p->size, 8);
		put_number(p->bin_count, 4);
		put_number(1000000 / GPROF_US, 4);
		put(dimension, sizeof(dimension));
		put("s", 1);
		for (uint64_t i = 0; i < p->bin_count; i++) {
			const uint64_t left = p->bins[i] > done ? p->bins[i] - done : 0;

			put_number(left < BIN_MOST ? left : BIN_MOST, 2);
		}
	}
	return samples;
}

/* Of a call from another object gprof knows nothing but that there was one. Returns how many calls there are. */
static uint64_t put_arcs(const struct profile *p)
{
	uint64_t all = 0;

	for (uint64_t i = 0; i < p->room; i++) {
		const uint64_t key = p->arcs[i].key, from = key >> 32, to = key & UINT32_MAX;
		uint64_t calls = p->arcs[i].calls;

		all += calls;
		for (; calls; calls -= calls < UINT32_MAX ? calls : UINT32_MAX) {
			put_number(TAG_ARC, 1);
			put_number(from ? p->low - p->base + from - 1 : 0, 8);
			put_number(p->low - p->base + to - 1, 8);
			put_number(calls < UINT32_MAX ? calls : UINT32_MAX, 4);
		}
	}
	return all;
}

/* Does the limit of a file's size leave room? To write beyond it would be the program's end, by SIGXFSZ. */
static int has_room(const struct profile *p)
{
	uint64_t size = 20, most = 1;
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return 1;
	for (uint64_t i = 0; i < p->bin_count; i++)
		most = p->bins[i] > most ? p->bins[i] : most;
	size += (most / BIN_MOST + 1) * (p->bin_count * 2 + 41);
	for (uint64_t i = 0; i < p->room; i++)
		size += p->arcs[i].calls ? (p->arcs[i].calls / UINT32_MAX + 1) * 21 : 0;
	return size <= limit.rlim_cur;
}

static int has_something(const struct profile *p)
{
	for (uint64_t i = 0; i < p->room; i++)
		if (p->arcs[i].calls)
			return 1;
	for (uint64_t i = 0; i < p->bin_count; i++)
		if (p->bins[i])
			return 1;
	return 0;
}

/* ---- names ---- */

static void name_make(struct text *t, const struct profile *p, int pid)
{
	const int is_program = p->object == spi_object_executable();

	t->size = 0;
	if (*prefix)
		text_put(t, prefix);
	if (!is_program) {
		text_put(t, *prefix ? "." : "");
		text_put(t, spi_object_name(p->object));
	}
	if (p->twin) {
		text_byte(t, '.');
		text_number(t, p->twin + 1, 0);
	}
	if (!*prefix)
		text_put(t, is_program && !p->twin ? "gmon.out" : ".gmon.out");
	if (*prefix || pid != first_pid) {
		text_byte(t, '.');
		text_number(t, (uint64_t) pid, 0);
	}
	if (is_program && writes_its_own)
		text_put(t, ".spi");
	t->line[t->size] = 0;
}

/* Never through a link that somebody else may have put there, nor into a file that others may have open. */
static int file_open(const char *path)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink == 1 &&
			ftruncate(fd, 0) == 0)
		return fd;
	close(fd);
	return -FOREIGN;
}

/* ---- what the user reads ---- */

static void say(struct spi_agent *agent, struct text *t)
{
	text_byte(t, '\n');
	spi_agent_write(agent, t->line, t->size);
}

static void text_path(struct text *t, const char *name)
{
	char directory[PATH_MAX];

	text_put(t, "gprof: ");
	if (*name != '/' && getcwd(directory, sizeof(directory)) && strcmp(directory, "/")) {
		text_put(t, directory);
		text_byte(t, '/');
	}
	text_put(t, name);
	text_put(t, ": ");
}

static void text_count(struct text *t, uint64_t number, const char *what)
{
	text_number(t, number, 0);
	text_put(t, what);
}

static const char *error_text(int error)
{
	switch (error) {
	case FOREIGN:
		return "there is another user's file, or something else than a file";
	case ELOOP:
		return "there is a symbolic link";
	case EACCES:
	case EPERM:
		return "this process may not write there: give GMON_OUT_PREFIX or --payload-arg prefix=PATH";
	case EROFS:
		return "the file system is read-only: give GMON_OUT_PREFIX or --payload-arg prefix=PATH";
	case ENOENT:
		return "there is no such directory";
	case EFBIG:
		return "it would be larger than files may be (ulimit -f)";
	case ENOSPC:
	case EDQUOT:
		return "the disk is full";
	default:
		return "an error of the file system";
	}
}

static void say_failed(struct spi_agent *agent, const char *name, int error)
{
	struct text t = { .size = 0 };

	text_path(&t, name);
	text_put(&t, "not written: ");
	text_put(&t, error_text(error));
	say(agent, &t);
}

static void say_written(struct spi_agent *agent, const struct profile *p, const char *name, uint64_t calls,
	uint64_t samples)
{
	const char *reason = spi_agent_sampler_reason(agent);
	struct text t = { .size = 0 };

	text_path(&t, name);
	text_count(&t, calls, " calls, ");
	if (reason && !samples) {
		text_put(&t, "no samples: ");
		text_put(&t, reason);
	} else {
		text_count(&t, samples, " samples of 10 ms");
		if (reason) {
			text_put(&t, "; ");
			text_put(&t, reason);
		}
	}
	if (p->lost) {
		text_put(&t, "; ");
		text_count(&t, p->lost, " further calls are not in it, as its table of arcs is full");
	}
	say(agent, &t);
}

/* ---- a file ---- */

static void profile_write(struct spi_agent *agent, const struct profile *p, int pid)
{
	struct text name;
	uint64_t calls, samples;

	name_make(&name, p, pid);
	out.fd = has_room(p) ? file_open(name.line) : -EFBIG;
	if (out.fd < 0) {
		say_failed(agent, name.line, -out.fd);
		return;
	}
	out.error = 0;
	out.used = 0;
	put_header();
	samples = put_histogram(p);
	calls = put_arcs(p);
	out_flush();
	close(out.fd);
	if (out.error)
		say_failed(agent, name.line, out.error);
	else
		say_written(agent, p, name.line, calls, samples);
}

/* A forked child finds the writer that its parent had, which is none of its own. */
static int writer_take(int pid, int is_last)
{
	for (unsigned int i = 0; i < (is_last ? WAITS : 1u); i++) {
		int seen = __atomic_load_n(&writer, __ATOMIC_RELAXED);

		if (seen != pid && __atomic_compare_exchange_n(&writer, &seen, pid, 0, __ATOMIC_ACQUIRE,
				__ATOMIC_RELAXED))
			return 1;
		if (is_last)
			usleep(WAIT_US);
	}
	return 0;
}

void gprof_files_write(struct spi_agent *agent, int is_last)
{
	const int pid = (int) getpid();
	struct text t = { .size = 0 };

	if (!writer_take(pid, is_last))
		return;
	for (uint32_t i = 0; i < __atomic_load_n(&gprof_count, __ATOMIC_ACQUIRE); i++)
		if (has_something(&gprof_profiles[i]) || (pid == first_pid && !i))
			profile_write(agent, &gprof_profiles[i], pid);
	if (gprof_missed) {
		text_put(&t, "gprof: ");
		text_count(&t, gprof_missed, " calls are in no file");
		say(agent, &t);
	}
	__atomic_store_n(&writer, 0, __ATOMIC_RELEASE);
}
