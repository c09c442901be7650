/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The queue of agents' questions for code maps: which question is taken, and whose turn it is.
 *
 * Each object is read once, however many processes have it and however many rules name functions
 * of it: a map that was made a moment ago is handed out again (kept-map.c), one that is being made
 * is waited for, and one run of spi-codemap makes what an agent will ask next (map-batch.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "injector/base/foreign-fd.h"
#include "injector/serve/map-job.h"
#include "injector/serve/serve.h"

#define RUNNING_MAX		4u	/* children at a time for one user; the others wait */
#define RUNNING_ALL		16u	/* for all of them */
#define RUNNING_OTHERS		12u	/* for those who have no sessions */
#define JOBS_MAX		256u	/* of one agent; more is nothing that an agent does */
#define JOBS_SOON		128u	/* beyond, what it will ask soon is not begun before */
#define JOBS_USER		1024u	/* of one user's agents, but root's */
#define JOBS_OTHERS		2048u	/* of all users without sessions */
#define JOBS_BYTES		(8u << 20)	/* of questions, of all users without sessions or of one user */
#define JOBS_FEW		8u		/* one user's that are taken whatever others have */
#define JOBS_FEW_BYTES		(128u << 10)

/*
 * May another job of this user run? The jobs of one user must not keep all others waiting, nor jobs
 * of users without sessions those of users who have some.
 */
static bool has_turn(const struct spi_control *control, const struct spi_account *account,
		     const struct spi_account *others)
{
	const bool has_room = control->jobs_running < RUNNING_ALL;

	if (account->running >= RUNNING_MAX || (account->running && !has_room))
		return false;
	if (!(has_room && (others->running < RUNNING_OTHERS || !account->running)) && !spi_account_has_sessions(control, account))
		return false;
	return !spi_foreign_has_many(account->uid);
}

/* The agent's process has become another user: from now on the agent's questions are that user's. */
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
		void (*over)(void *data), *data;

		if (!job->finished && !job->started && !job->same && has_turn(control, job->account, &others)) {
			spi_map_job_start(control, job);
			spi_accounts_sum(control, &others);
		}
		if (!job->finished) {
			at = &job->next;
			continue;
		}
		*at = job->next;
		over = job->over;
		data = job->data;
		spi_map_job_free(control, job);
		if (over)
			over(data);
	}
}

/* A run for a whole object goes on: the next process finds the map in the cache. */
static bool is_left(struct spi_map_job *job)
{
	return job->child > 0 && !job->finished && job->request.flags & SPI_MAP_REQUEST_TREE;
}

void spi_map_jobs_forget(struct spi_control *control, struct spi_agent *agent)
{
	for (struct spi_map_job **at = &control->jobs; *at;) {
		struct spi_map_job *job = *at;

		if (agent && job->agent == agent && is_left(job)) {
			agent->jobs--;
			job->agent = NULL;
		}
		if (agent && job->agent != agent) {
			at = &job->next;
			continue;
		}
		*at = job->next;
		spi_map_job_free(control, job);
	}
}

/* Have this user's processes, or those of all users without sessions, asked so much that there is no room for more? */
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

static void job_enter(struct spi_control *control, struct spi_map_job *job)
{
	struct spi_map_job **end = &control->jobs;

	job->map_fd = job->process.fd = job->words.fd = job->timer.fd = -1;
	job->account->jobs++;
	job->account->job_bytes += job->size;
	while (*end)
		end = &(*end)->next;
	*end = job;
}

int spi_control_analyse(struct spi_control *control, const struct spi_analysis *analysis)
{
	struct spi_map_job *job = calloc(1, sizeof(*job));
	size_t size = strlen(analysis->path) + 1;

	if (!job)
		return -ENOMEM;
	job->text = calloc(1, size + 1);	/* the patterns are empty */
	job->account = job->text ? spi_account_hold(control, analysis->uid) : NULL;
	if (!job->account) {
		free(job->text);
		free(job);
		return -ENOMEM;
	}
	job->size = size + 1;
	memcpy(job->text, analysis->path, size);
	job->path = job->text;
	job->patterns = job->text + size;
	job->request.flags = SPI_MAP_REQUEST_TREE;	/* the file is found by its name: inodes have two faces */
	job->target = (struct spi_map_target) { analysis->pid, analysis->start_time, analysis->uid };
	job->over = analysis->over;
	job->data = analysis->data;
	job_enter(control, job);
	spi_map_jobs_reap(control);
	return 0;
}

/* A request: the struct, the path and its NUL, the patterns and their NUL, perhaps the file. Nothing of it is trusted. */
int spi_map_serve(struct spi_agent *agent, uint32_t id, const char *body, size_t size)
{
	struct spi_control *control = agent->control;
	struct spi_map_job *job;
	size_t path, patterns, left;
	bool is_refused;

	if (size <= sizeof(job->request) || agent->jobs >= JOBS_MAX)
		return -EPROTO;
	job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	memcpy(&job->request, body, sizeof(job->request));
	job->is_silent = job->request.flags & SPI_MAP_REQUEST_SOON;
	job->request.flags &= ~SPI_MAP_REQUEST_SOON;
	if (job->is_silent && agent->jobs >= JOBS_SOON) {
		free(job);
		return 0;
	}
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
	is_refused = is_beyond(control, job->account);
	job_enter(control, job);	/* started at the end of this dispatch */
	if (is_refused)
		spi_map_job_fail(job, -EBUSY, "not analysed: too much of what its user's processes ask for waits already");
	agent->jobs++;
	return 0;
}
