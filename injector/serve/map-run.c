/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * One run of spi-codemap: its arguments, the child, a deadline, and the answer that follows from
 * what the child wrote and how it ended.
 *
 * The object belongs to the target's user. So a child with that user's id and no privileges reads
 * the object (map-child.c, map-object.c); the controller does not.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "injector/base/foreign-fd.h"
#include "injector/base/paths.h"
#include "injector/procfs/procfs.h"
#include "injector/serve/map-child.h"
#include "injector/serve/map-job.h"
#include "injector/serve/prototypes.h"

#define DEADLINE_SECONDS	60
#define NO_MATCH_STATUS		3	/* spi-codemap's exit status when nothing matches */

void spi_map_job_answer(struct spi_map_job *job, int status, const char *text)
{
	struct spi_msg_map head = { .status = status };
	char body[PATH_MAX + 256 + SPI_MAP_LACKS_MAX * sizeof(uint64_t)];
	uint64_t hashes[SPI_MAP_LACKS_MAX];
	size_t size = snprintf(body, PATH_MAX + 256, "%s", text) + 1;

	if (size > PATH_MAX + 256)
		size = PATH_MAX + 256;
	if (job->agent && !job->is_silent) {
		head.lacks = spi_map_lacks(job, hashes);
		memcpy(body + size, hashes, head.lacks * sizeof(*hashes));
		spi_agent_send(job->agent, SPI_MSG_MAP, job->id, &head, sizeof(head), body, size + head.lacks * sizeof(*hashes),
			       status ? -1 : fcntl(job->map_fd, F_DUPFD_CLOEXEC, 3));
	}
	job->finished = true;
}

void spi_map_job_fail(struct spi_map_job *job, int status, const char *what)
{
	char text[PATH_MAX + 128];

	snprintf(text, sizeof(text), "%s: %s", job->path, what);
	spi_map_job_answer(job, status, text);
}

/* The argument list; patterns are cut into strings in place. NULL: out of memory. */
static char **make_arguments(struct spi_map_job *job, char *limit, bool root, bool prototypes, char ***name)
{
	size_t lines = 1 + job->nr_batch, n = 0;
	char **argv;

	for (const char *c = job->patterns; *c; c++)
		lines += *c == '\n';
	argv = calloc(16 + 2 * lines, sizeof(*argv));
	if (!argv)
		return NULL;
	argv[n++] = "spi-codemap";
	argv[n++] = "map";
	argv[n++] = "--fd";
	argv[n++] = "3";
	argv[n++] = "--output-fd";
	argv[n++] = "4";
	if (job->request.flags & SPI_MAP_REQUEST_TREE) {
		argv[n++] = "--tree";
		if (job->request.flags & SPI_MAP_REQUEST_DETAIL)
			argv[n++] = "--detail";
	} else if (job->request.limit) {
		argv[n++] = "--limit";
		argv[n++] = limit;
	}
	if (root) {
		argv[n++] = "--root";
		argv[n++] = "/proc/self/fd/5";
	}
	if (prototypes) {
		argv[n++] = "--prototypes-fd";
		argv[n++] = "8";
	}
	if (job->batch) {
		char *pattern = job->batch;

		argv[n++] = "--each";
		for (unsigned int i = 0; i < job->nr_batch; i++, pattern += strlen(pattern) + 1) {
			argv[n++] = "--pattern";
			argv[n++] = pattern;
		}
		*name = &argv[n];
		return argv;
	}
	for (char *line = job->patterns, *next; *line && !(job->request.flags & SPI_MAP_REQUEST_TREE); line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = 0;
		if (!*line)
			continue;
		argv[n++] = "--pattern";
		argv[n++] = line;
	}
	*name = &argv[n];
	return argv;
}

static void read_words(struct spi_map_job *job)
{
	ssize_t n;

	while ((n = read(job->words.fd, job->said + job->said_size, sizeof(job->said) - 1 - job->said_size)) > 0)
		job->said_size += n;
	/* Nobody wants more than this, but the child must not block on a full pipe. */
	if (job->said_size == sizeof(job->said) - 1) {
		char rest[512];

		while (read(job->words.fd, rest, sizeof(rest)) > 0)
			;
	}
	job->said[job->said_size] = 0;
}

static void words_ready(struct spi_control *control, struct spi_source *source, uint32_t events)
{
	struct spi_map_job *job = (void *) ((char *) source - offsetof(struct spi_map_job, words));

	read_words(job);
	if (events & EPOLLHUP)
		spi_source_remove(control, source);
}

static void timer_ready(struct spi_control *control, struct spi_source *source, uint32_t events)
{
	struct spi_map_job *job = (void *) ((char *) source - offsetof(struct spi_map_job, timer));

	job->late = true;
	syscall(SYS_pidfd_send_signal, job->process.fd, SIGKILL, NULL, 0);
	spi_source_remove(control, source);
}

/* For those who wait: only of maps for call trees, which take a while. */
static void tell_analysis(struct spi_control *control, const struct spi_map_job *job, int begins)
{
	const char *slash = strrchr(job->path, '/');

	if (job->agent && control->ops.on_analysis && (job->request.flags & SPI_MAP_REQUEST_TREE))
		control->ops.on_analysis(job->agent, slash ? slash + 1 : job->path, begins, control->data);
}

/* What was made of a file that is not what the agent says is kept for nobody. */
static void other_take(struct spi_map_job *job)
{
	if (*job->said != SPI_MAP_CHILD_OTHER)
		return;
	memmove(job->said, job->said + 1, job->said_size);
	spi_map_key_free(&job->key);
	job->key.same.object.inode = 0;
}

static const char *explain_object(int error)
{
	switch (error) {
	case -ESTALE:
		return "the file was replaced since the program started: restart the program";
	case -EPERM:
		return "not analysed: its process runs with user or group ids of several users, or of another than it connected as";
	case -EACCES:
		return "not analysed: its process's user may not read it";
	default:
		return "cannot be opened";
	}
}

static void job_conclude(struct spi_control *control, struct spi_map_job *job, const siginfo_t *end)
{
	bool no_match = end->si_code == CLD_EXITED && end->si_status == NO_MATCH_STATUS;
	struct stat st;

	other_take(job);
	job->said[strcspn(job->said, "\n")] = 0;
	if (no_match && !job->late)
		spi_kept_map_add(control, &job->key, -1, job->said);
	if (job->late)
		spi_map_job_fail(job, -ETIMEDOUT, LATE_TEXT);
	else if (end->si_code != CLD_EXITED)
		spi_map_job_fail(job, -EIO, "spi-codemap crashed");
	else if (end->si_status >= SPI_MAP_CHILD_FAILED)
		spi_map_job_fail(job, SPI_MAP_CHILD_FAILED - end->si_status, explain_object(SPI_MAP_CHILD_FAILED - end->si_status));
	else if (end->si_status == 126 || end->si_status == 127)
		spi_map_job_fail(job, -ENOEXEC, "spi-codemap could not be started with the target's rights");
	else if (end->si_status)
		spi_map_job_answer(job, end->si_status == NO_MATCH_STATUS ? -ENOENT : -EINVAL,
		       *job->said ? job->said : "spi-codemap failed and gave no reason");
	else if (fstat(job->map_fd, &st) || !st.st_size)
		spi_map_job_fail(job, -EIO, "spi-codemap wrote no map");
	else if (((fcntl(job->map_fd, F_GET_SEALS) & ALL_SEALS) != ALL_SEALS) &&
		 fcntl(job->map_fd, F_ADD_SEALS, ALL_SEALS))
		spi_map_job_fail(job, -EIO, "the map cannot be sealed");
	else {
		spi_kept_map_add(control, &job->key, job->map_fd, "");
		spi_map_job_answer(job, 0, "");
	}
}

static void process_ready(struct spi_control *control, struct spi_source *source, uint32_t events)
{
	struct spi_map_job *job = (void *) ((char *) source - offsetof(struct spi_map_job, process));
	siginfo_t end = { 0 };

	if (waitid(P_PIDFD, source->fd, &end, WEXITED | WNOHANG | __WALL) || !end.si_pid)
		return;
	if (job->words.fd >= 0)
		read_words(job);
	tell_analysis(control, job, 0);
	if (!job->batch)
		job_conclude(control, job, &end);
	spi_map_waiters_release(control, job);
	if (job->batch)
		spi_map_batch_conclude(control, job, &end);
	control->jobs_running--;
	job->account->running--;
}

static int job_watch(struct spi_control *control, struct spi_map_job *job, int pidfd, int words)
{
	const struct itimerspec deadline = { .it_value.tv_sec = DEADLINE_SECONDS };
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), ret;

	ret = spi_source_add(control, &job->process, pidfd, EPOLLIN, process_ready);
	if (!ret)
		ret = spi_source_add(control, &job->words, words, EPOLLIN, words_ready);
	else
		close(words);
	if (!ret && timer >= 0 && !timerfd_settime(timer, 0, &deadline, NULL))
		ret = spi_source_add(control, &job->timer, timer, EPOLLIN, timer_ready);
	return ret;
}

/* Start spi-codemap, and watch it. What the child inherits is in `launch`. */
static void run_begin(struct spi_control *control, struct spi_map_job *job, struct spi_map_child *launch)
{
	/* Another user's child must not use our environment, nor our cache directory. */
	static char *const plain[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", "LTTNG_SPI_CACHE=", NULL };
	static char *const cached[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", "LTTNG_SPI_CACHE=/proc/self/fd/7", NULL };
	int words[2] = { -1, -1 }, pidfd = -1;
	char limit[16];

	if (launch->change_user)
		launch->cache = spi_user_cache_open(launch->uid, launch->gid);
	if (launch->change_user && launch->cache < 0 && launch->is_ahead) {
		spi_map_job_fail(job, -ENOENT, "there is no cache to make it for");
		return;
	}
	launch->envp = !launch->change_user ? environ : (char **) (launch->cache < 0 ? plain : cached);
	snprintf(limit, sizeof(limit), "%u", job->request.limit);
	launch->argv = make_arguments(job, limit, launch->root >= 0, launch->prototypes >= 0, &launch->name);
	job->map_fd = launch->map = memfd_create("spi-code-map", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (!launch->argv || launch->map < 0 || pipe2(words, O_CLOEXEC | O_NONBLOCK)) {
		spi_map_job_fail(job, -ENOMEM, "no memory or no descriptors for spi-codemap");
		goto out;
	}
	launch->words = words[1];
	job->child = spi_map_child_start(launch, &pidfd);
	close(words[1]);
	if (job->child < 0) {
		spi_map_job_fail(job, job->child, "spi-codemap cannot be started");
		close(words[0]);
		goto out;
	}
	control->jobs_running++;
	job->account->running++;
	tell_analysis(control, job, 1);
	fcntl(pidfd, F_SETFD, FD_CLOEXEC);
	if (job_watch(control, job, pidfd, words[0]))
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
out:
	free(launch->argv);
}

void spi_map_job_start(struct spi_control *control, struct spi_map_job *job)
{
	struct spi_map_child launch = { .program = -1, .root = -1, .cache = -1, .prototypes = -1, .request = &job->request,
					.path = job->path, .file = job->has_file ? &job->file : NULL };
	struct spi_prototypes prototypes = { .bytes = NULL };
	struct spi_root root = { .fd = -1 };
	const struct spi_map_target target = job->agent ?
		(struct spi_map_target) { job->agent->pid, job->agent->start_time, job->agent->uid } : job->target;
	const char *program = spi_path_codemap(), *why;
	int ret;

	job->started = true;
	launch.is_ahead = job->over;
	if (!program || (launch.program = open(program, O_PATH | O_CLOEXEC)) < 0) {
		spi_map_job_answer(job, -ENOENT,
				   "spi-codemap is neither beside the controller nor installed: set LTTNG_SPI_CODEMAP");
		return;
	}
	ret = job->agent && !spi_agent_lives(job->agent) ? -ESRCH : spi_map_child_identity(&launch, &target);
	if (ret) {
		spi_map_job_fail(job, ret, explain_object(ret));
		goto out;
	}
	ret = spi_root_open(&root, launch.living);
	launch.root = root.fd;
	if (ret) {
		spi_map_job_fail(job, ret, "the root directory of its process cannot be opened");
		goto out;
	}
	spi_map_key_make(&job->key, &root, launch.uid, launch.gid, &job->request, job->has_file ? &job->file : NULL,
			 job->path, job->patterns);
	if (!(job->request.flags & SPI_MAP_REQUEST_TREE))
		spi_prototypes_take(control, &prototypes);
	job->key.same.prototypes = prototypes.hash;
	if (spi_kept_map_find(control, &job->key, &job->map_fd, &why)) {
		spi_map_job_answer(job, job->map_fd < 0 ? -ENOENT : 0, why);
	} else if (spi_map_is_made(control, job)) {
		spi_map_key_free(&job->key);
		job->started = false;
	} else {
		spi_map_batch_make(control, job);
		launch.prototypes = spi_prototypes_bundle(&prototypes);
		run_begin(control, job, &launch);
	}
out:
	spi_prototypes_drop(&prototypes);
	if (launch.prototypes >= 0)
		close(launch.prototypes);
	if (launch.root >= 0)
		close(launch.root);
	if (launch.cache >= 0)
		close(launch.cache);
	close(launch.program);
}

void spi_map_job_free(struct spi_control *control, struct spi_map_job *job)
{
	if (job->child > 0 && !job->finished) {
		syscall(SYS_pidfd_send_signal, job->process.fd, SIGKILL, NULL, 0);
		/* It has its user's rights, and may be within a file system of his, where it cannot be killed: it is not waited for. */
		spi_foreign_leave(job->child, job->account->uid);
		control->jobs_running--;
		job->account->running--;
	}
	spi_map_waiters_release(control, job);
	spi_source_remove(control, &job->process);
	spi_source_remove(control, &job->words);
	spi_source_remove(control, &job->timer);
	if (job->map_fd >= 0)
		close(job->map_fd);
	spi_map_key_free(&job->key);
	free(job->batch);
	free(job->text);
	if (job->agent)
		job->agent->jobs--;
	job->account->jobs--;
	job->account->job_bytes -= job->size;
	spi_account_put(control, job->account);
	free(job);
}
