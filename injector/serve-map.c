/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Code maps for agents: run spi-codemap on the object that the target has
 * mapped, and pass the result on.
 *
 * The object belongs to whoever owns the target, so it is read by a child that
 * has the target's user id and no privileges, never by us (map-child.c, map-object.c).
 *
 * A map that was made a moment ago is handed out again (kept-map.c); one that is being made is waited for, and what
 * an agent will ask next about the same object is made in the same run (batch_make()). So each object is read once,
 * however many processes have it and however many rules name functions of it.
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

#include "codemap/map/each.h"
#include "injector/control-internal.h"
#include "injector/foreign.h"
#include "injector/kept-map.h"
#include "injector/map-child.h"
#include "injector/paths.h"
#include "injector/target.h"

#define DEADLINE_SECONDS	60
#define RUNNING_MAX		4u	/* children at a time for one user; the others wait */
#define RUNNING_ALL		16u	/* for all of them */
#define BATCH_MIN		2u	/* patterns that are worth a run of their own */
#define BATCH_MAX		100u	/* fewer than maps are kept */
#define BATCH_BYTES		60000u
#define RUNNING_OTHERS		12u	/* for those who have no sessions */
#define JOBS_MAX		256u	/* of one agent; more is nothing that an agent does */
#define JOBS_USER		1024u	/* of one user's agents, but root's */
#define JOBS_OTHERS		2048u	/* of all users who have no sessions; and so many bytes that their questions are, */
#define JOBS_BYTES		(8u << 20)	/* or one user's */
#define JOBS_FEW		8u		/* one user's that are taken whatever others have */
#define JOBS_FEW_BYTES		(128u << 10)
#define LATE_TEXT		"spi-codemap did not finish within a minute"
#define NO_MATCH_STATUS		3	/* spi-codemap's exit status when nothing matches */
#define ALL_SEALS		(F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

struct spi_map_job {
	struct spi_map_job *next;
	struct spi_agent *agent;	/* NULL: gone meanwhile */
	uint32_t id;
	struct spi_msg_map_request request;
	struct spi_msg_map_file file;
	bool has_file;
	char *path, *patterns;		/* in text */
	size_t size;			/* of the question */
	char *text;
	char *batch;			/* not NULL: first are made the maps of these patterns, each with its NUL */
	unsigned int nr_batch;
	bool was_batch;
	const struct spi_map_job *same;	/* it makes what this one wants: NULL, there is none */
	struct spi_map_key key;
	int map_fd;
	pid_t child;
	struct spi_account *account;	/* whose turn it takes */
	bool started, finished, late;
	struct spi_source process, words, timer;	/* pidfd, its stderr, the deadline */
	char said[512];
	size_t said_size;
};

/* ---- the child ------------------------------------------------------ */

/* The argument list; patterns are cut into strings in place. NULL: out of memory. */
static char **make_arguments(struct spi_map_job *job, char *limit, bool root, char ***name)
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
	} else if (job->request.limit) {
		argv[n++] = "--limit";
		argv[n++] = limit;
	}
	if (root) {
		argv[n++] = "--root";
		argv[n++] = "/proc/self/fd/5";
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

/* ---- results -------------------------------------------------------- */

/* What the agent would ask about this object for its next rules, in vain: it need not. */
static unsigned int find_lacks(struct spi_map_job *job, uint64_t hashes[SPI_MAP_LACKS_MAX])
{
	const char *slash = strrchr(job->path, '/'), *name = slash ? slash + 1 : job->path, *pattern, *why;
	bool is_exe = job->request.flags & SPI_MAP_REQUEST_EXE;
	struct spi_awaited *at = NULL;
	unsigned int n = 0;

	if (job->request.flags & SPI_MAP_REQUEST_TREE || !job->key.same.object.inode)
		return 0;
	while (n < SPI_MAP_LACKS_MAX && (pattern = spi_awaited_next(job->agent, &at, name, is_exe))) {
		struct spi_map_key key;
		int fd = -1;

		if (spi_map_key_other(&key, &job->key, job->path, pattern))
			break;
		if (spi_kept_map_find(job->agent->control, &key, &fd, &why) && fd < 0)
			hashes[n++] = spi_pattern_hash(pattern);
		if (fd >= 0)
			close(fd);
		spi_map_key_free(&key);
	}
	return n;
}

static void answer(struct spi_map_job *job, int status, const char *text)
{
	struct spi_msg_map head = { .status = status };
	char body[PATH_MAX + 256 + SPI_MAP_LACKS_MAX * sizeof(uint64_t)];
	uint64_t hashes[SPI_MAP_LACKS_MAX];
	size_t size = snprintf(body, PATH_MAX + 256, "%s", text) + 1;

	if (size > PATH_MAX + 256)
		size = PATH_MAX + 256;
	if (job->agent) {
		head.lacks = find_lacks(job, hashes);
		memcpy(body + size, hashes, head.lacks * sizeof(*hashes));
		spi_agent_send(job->agent, SPI_MSG_MAP, job->id, &head, sizeof(head), body, size + head.lacks * sizeof(*hashes),
			       status ? -1 : fcntl(job->map_fd, F_DUPFD_CLOEXEC, 3));
	}
	job->finished = true;
}

static void answer_failure(struct spi_map_job *job, int status, const char *what)
{
	char text[PATH_MAX + 128];

	snprintf(text, sizeof(text), "%s: %s", job->path, what);
	answer(job, status, text);
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

/*
 * Many rules at once: the one that is asked about now, and those that will be next. Each would be a run of spi-codemap for each
 * object, nearly all of them in vain, and those that are not would read the same symbols, debug info and code.
 */
static void batch_make(struct spi_control *control, struct spi_map_job *job)
{
	const char *slash = strrchr(job->path, '/'), *name = slash ? slash + 1 : job->path, *pattern;
	bool is_exe = job->request.flags & SPI_MAP_REQUEST_EXE;
	struct spi_awaited *at = NULL;
	size_t bytes = 0;

	if (job->was_batch || !job->key.same.object.inode || job->request.limit || (job->request.flags & SPI_MAP_REQUEST_TREE) || strchr(job->patterns, '\n') ||
	    !(job->batch = malloc(BATCH_BYTES)))
		return;
	job->was_batch = true;
	while (job->nr_batch < BATCH_MAX && (pattern = spi_awaited_next(job->agent, &at, name, is_exe))) {
		size_t size = strlen(pattern) + 1;
		struct spi_map_key key;
		const char *why;
		int fd = -1;

		if (bytes + size > BATCH_BYTES || spi_map_key_other(&key, &job->key, job->path, pattern))
			continue;
		if (!spi_kept_map_find(control, &key, &fd, &why)) {
			memcpy(job->batch + bytes, pattern, size);
			bytes += size;
			job->nr_batch++;
		} else if (fd >= 0) {
			close(fd);
		}
		spi_map_key_free(&key);
	}
	if (job->nr_batch >= BATCH_MIN)
		return;
	free(job->batch);
	job->batch = NULL;
	job->nr_batch = 0;
}

/* Does a run under way make what this job wants? Then it waits for that. */
static bool is_made(struct spi_control *control, struct spi_map_job *job)
{
	for (const struct spi_map_job *j = control->jobs; j && !job->same; j = j->next) {
		const char *pattern = j->batch;
		bool has = false;

		if (j == job || j->child <= 0 || j->finished || !spi_map_key_same_object(&j->key, &job->key, job->path))
			continue;
		for (unsigned int i = 0; !has && i < j->nr_batch; i++, pattern += strlen(pattern) + 1)
			has = !strcmp(pattern, job->patterns);
		if (has || spi_map_key_same(&j->key, &job->key))
			job->same = j;
	}
	return job->same;
}

/* They find what was made, or make it themselves; where it took too long, none of them tries that again. */
static void waiters_release(struct spi_control *control, const struct spi_map_job *job)
{
	for (struct spi_map_job *j = control->jobs; j; j = j->next) {
		if (j->same != job)
			continue;
		j->same = NULL;
		j->was_batch |= job->late;
		if (job->late && job->finished)
			answer_failure(j, -ETIMEDOUT, LATE_TEXT);
	}
}

/* A memfd with `size` bytes of `from`; or -1. What is read was written with the target's rights. */
static int map_cut(int from, off_t at, uint64_t size)
{
	char *bytes = malloc(size);
	int fd = bytes ? memfd_create("spi-code-map", MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;

	if (fd >= 0 && (pread(from, bytes, size, at) != (ssize_t) size || write(fd, bytes, size) != (ssize_t) size ||
			fcntl(fd, F_ADD_SEALS, ALL_SEALS))) {
		close(fd);
		fd = -1;
	}
	free(bytes);
	return fd;
}

/* Keep what was made of each; then the job begins as if it had just come. */
static void batch_conclude(struct spi_control *control, struct spi_map_job *job, const siginfo_t *end)
{
	bool is_done = *job->said != SPI_MAP_CHILD_OTHER && end->si_code == CLD_EXITED && !end->si_status && !job->late;
	char *pattern = job->batch;
	struct spi_map_key key;
	uint64_t size;
	off_t at = 0;

	for (unsigned int i = 0; is_done && i < job->nr_batch; i++, pattern += strlen(pattern) + 1) {
		if (pread(job->map_fd, &size, sizeof(size), at) != sizeof(size) || size > SPI_KEPT_BYTES)
			break;
		at += sizeof(size);
		if (size == EACH_ALONE || spi_map_key_other(&key, &job->key, job->path, pattern))
			continue;
		if (size == EACH_NONE) {
			spi_kept_map_add(control, &key, -1, "no function matches");
		} else {
			int fd = map_cut(job->map_fd, at, size);

			if (fd >= 0) {
				spi_kept_map_add(control, &key, fd, "");
				close(fd);
			}
			at += (size + 7) & ~UINT64_C(7);
		}
		spi_map_key_free(&key);
	}
	spi_source_remove(control, &job->process);
	spi_source_remove(control, &job->words);
	spi_source_remove(control, &job->timer);
	spi_map_key_free(&job->key);
	free(job->batch);
	job->batch = NULL;
	close(job->map_fd);
	job->map_fd = -1;
	job->child = 0;
	job->said_size = job->nr_batch = 0;
	job->started = job->late = false;
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
		answer_failure(job, -ETIMEDOUT, LATE_TEXT);
	else if (end->si_code != CLD_EXITED)
		answer_failure(job, -EIO, "spi-codemap crashed");
	else if (end->si_status >= SPI_MAP_CHILD_FAILED)
		answer_failure(job, SPI_MAP_CHILD_FAILED - end->si_status, explain_object(SPI_MAP_CHILD_FAILED - end->si_status));
	else if (end->si_status == 126 || end->si_status == 127)
		answer_failure(job, -ENOEXEC, "spi-codemap could not be started with the target's rights");
	else if (end->si_status)
		answer(job, end->si_status == NO_MATCH_STATUS ? -ENOENT : -EINVAL,
		       *job->said ? job->said : "spi-codemap failed and gave no reason");
	else if (fstat(job->map_fd, &st) || !st.st_size)
		answer_failure(job, -EIO, "spi-codemap wrote no map");
	else if (((fcntl(job->map_fd, F_GET_SEALS) & ALL_SEALS) != ALL_SEALS) &&
		 fcntl(job->map_fd, F_ADD_SEALS, ALL_SEALS))
		answer_failure(job, -EIO, "the map cannot be sealed");
	else {
		spi_kept_map_add(control, &job->key, job->map_fd, "");
		answer(job, 0, "");
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
	waiters_release(control, job);
	if (job->batch)
		batch_conclude(control, job, &end);
	control->jobs_running--;
	job->account->running--;
}

/* ---- jobs ----------------------------------------------------------- */

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

static void job_start(struct spi_control *control, struct spi_map_job *job)
{
	/* Another user's child must not use our environment, nor our cache directory. */
	static char *const plain[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", "LTTNG_SPI_CACHE=", NULL };
	static char *const cached[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", "LTTNG_SPI_CACHE=/proc/self/fd/7", NULL };
	struct spi_map_child launch = { .program = -1, .root = -1, .cache = -1, .request = &job->request, .path = job->path,
					.file = job->has_file ? &job->file : NULL };
	struct spi_root root = { .fd = -1 };
	const char *program = spi_path_codemap();
	int words[2] = { -1, -1 }, pidfd = -1;
	char limit[16];
	const char *why;
	int ret;

	job->started = true;
	if (!program || (launch.program = open(program, O_PATH | O_CLOEXEC)) < 0) {
		answer(job, -ENOENT,
				"spi-codemap is neither beside the controller nor installed: set LTTNG_SPI_CODEMAP");
		return;
	}
	ret = spi_map_child_identity(&launch, job->agent);
	if (ret) {
		answer_failure(job, ret, explain_object(ret));
		goto out;
	}
	ret = spi_root_open(&root, launch.living);
	launch.root = root.fd;
	if (ret) {
		answer_failure(job, ret, "the root directory of its process cannot be opened");
		goto out;
	}
	spi_map_key_make(&job->key, &root, launch.uid, launch.gid, &job->request, job->has_file ? &job->file : NULL, job->path, job->patterns);
	if (spi_kept_map_find(control, &job->key, &job->map_fd, &why)) {
		answer(job, job->map_fd < 0 ? -ENOENT : 0, why);
		goto out;
	}
	if (is_made(control, job)) {
		spi_map_key_free(&job->key);
		job->started = false;
		goto out;
	}
	batch_make(control, job);
	if (launch.change_user)
		launch.cache = spi_user_cache_open(launch.uid, launch.gid);
	launch.envp = !launch.change_user ? environ : (char **) (launch.cache < 0 ? plain : cached);
	snprintf(limit, sizeof(limit), "%u", job->request.limit);
	launch.argv = make_arguments(job, limit, launch.root >= 0, &launch.name);
	job->map_fd = launch.map = memfd_create("spi-code-map", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (!launch.argv || launch.map < 0 || pipe2(words, O_CLOEXEC | O_NONBLOCK)) {
		answer_failure(job, -ENOMEM, "no memory or no descriptors for spi-codemap");
	} else {
		launch.words = words[1];
		job->child = spi_map_child_start(&launch, &pidfd);
		if (job->child < 0) {
			answer_failure(job, job->child, "spi-codemap cannot be started");
			close(words[0]);
		} else {
			control->jobs_running++;
			job->account->running++;
			tell_analysis(control, job, 1);
			fcntl(pidfd, F_SETFD, FD_CLOEXEC);
			if (job_watch(control, job, pidfd, words[0]))
				syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
		}
		close(words[1]);
	}
	free(launch.argv);
out:
	if (launch.root >= 0)
		close(launch.root);
	if (launch.cache >= 0)
		close(launch.cache);
	close(launch.program);
}

static void job_free(struct spi_control *control, struct spi_map_job *job)
{
	if (job->child > 0 && !job->finished) {
		syscall(SYS_pidfd_send_signal, job->process.fd, SIGKILL, NULL, 0);
		/* It has its user's rights, and may be within a file system of his, where it cannot be killed: it is not waited for. */
		spi_foreign_leave(job->child, job->account->uid);
		control->jobs_running--;
		job->account->running--;
	}
	waiters_release(control, job);
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

/* Another one may run. One user's must not keep all the others waiting, nor those who have no sessions those who have. */
static bool has_turn(const struct spi_control *control, const struct spi_account *account, const struct spi_account *others)
{
	const bool has_room = control->jobs_running < RUNNING_ALL;

	if (account->running >= RUNNING_MAX || (account->running && !has_room))
		return false;
	if (!(has_room && (others->running < RUNNING_OTHERS || !account->running)) && !spi_account_has_sessions(control, account))
		return false;
	return !spi_foreign_has_many(account->uid);
}

/* Its process has become another user, and its questions are that one's from now on. */
void spi_map_jobs_move(struct spi_agent *agent, struct spi_account *to)
{
	for (struct spi_map_job *job = agent->control->jobs; job; job = job->next) {
		struct spi_account *from = job->account;
		unsigned int runs = job->child > 0 && !job->finished;

		if (job->agent != agent)
			continue;
		from->jobs--;
		from->job_bytes -= job->size;
		from->running -= runs;
		to->jobs++;
		to->job_bytes += job->size;
		to->running += runs;
		to->holders++;
		job->account = to;
		spi_account_put(agent->control, from);
	}
}

void spi_map_jobs_reap(struct spi_control *control)
{
	struct spi_account others;

	spi_accounts_sum(control, &others);
	for (struct spi_map_job **at = &control->jobs; *at;) {
		struct spi_map_job *job = *at;

		if (!job->finished && !job->started && !job->same && has_turn(control, job->account, &others)) {
			job_start(control, job);
			spi_accounts_sum(control, &others);
		}
		if (!job->finished) {
			at = &job->next;
			continue;
		}
		*at = job->next;
		job_free(control, job);
	}
}

void spi_map_jobs_forget(struct spi_control *control, struct spi_agent *agent)
{
	for (struct spi_map_job **at = &control->jobs; *at;) {
		struct spi_map_job *job = *at;

		if (agent && job->agent != agent) {
			at = &job->next;
			continue;
		}
		*at = job->next;
		job_free(control, job);
	}
}

/* So much is asked by its user already, or by all users who have no sessions, that there is no room for another one. */
static bool is_beyond(const struct spi_control *control, const struct spi_account *account)
{
	struct spi_account others;

	if (!account->uid || account->uid == geteuid())
		return false;
	if (account->jobs >= JOBS_USER || account->job_bytes >= JOBS_BYTES)
		return true;
	if (spi_account_has_sessions(control, account) || (account->jobs < JOBS_FEW && account->job_bytes < JOBS_FEW_BYTES))
		return false;
	spi_accounts_sum(control, &others);
	return others.jobs >= JOBS_OTHERS || others.job_bytes >= JOBS_BYTES;
}

/* A request: the struct, the path and its NUL, the patterns and their NUL, perhaps the file. Nothing of it is trusted. */
int spi_map_serve(struct spi_agent *agent, uint32_t id, const char *body, size_t size)
{
	struct spi_control *control = agent->control;
	struct spi_map_job *job, **end = &control->jobs;
	size_t path, patterns, left;

	if (size <= sizeof(job->request) || agent->jobs >= JOBS_MAX)
		return -EPROTO;
	job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	memcpy(&job->request, body, sizeof(job->request));
	body += sizeof(job->request);
	size -= sizeof(job->request);
	path = strnlen(body, size);
	patterns = path < size ? strnlen(body + path + 1, size - path - 1) : 0;
	if (path + 1 + patterns >= size || !path || path >= PATH_MAX || job->request.build_id_size > 32 ||
	    !(job->text = malloc(path + patterns + 2))) {
		free(job);
		return -EPROTO;
	}
	job->account = spi_account_hold(control, agent->uid);
	if (!job->account) {
		free(job->text);
		free(job);
		return -ENOMEM;
	}
	job->size = path + patterns + 2;
	memcpy(job->text, body, job->size);
	left = size - job->size;
	job->has_file = left >= sizeof(job->file);
	if (job->has_file)
		memcpy(&job->file, body + job->size, sizeof(job->file));
	job->path = job->text;
	job->patterns = job->text + path + 1;
	job->agent = agent;
	job->id = id;
	job->map_fd = job->process.fd = job->words.fd = job->timer.fd = -1;
	if (is_beyond(control, job->account))
		answer_failure(job, -EBUSY, "not analysed: too much of what its user's processes ask for waits already");
	agent->jobs++;
	job->account->jobs++;
	job->account->job_bytes += job->size;
	while (*end)
		end = &(*end)->next;
	*end = job;		/* started at the end of this dispatch */
	return 0;
}
