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
#define JOBS_USER		1024u	/* of one user's agents, but root's */
#define JOBS_OTHERS		2048u	/* of all users who have no sessions; and so many bytes that their questions are, */
#define JOBS_BYTES		(8u << 20)	/* or one user's */
#define JOBS_FEW		8u		/* one user's that are taken whatever others have */
#define JOBS_FEW_BYTES		(128u << 10)

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
			spi_map_job_start(control, job);
			spi_accounts_sum(control, &others);
		}
		if (!job->finished) {
			at = &job->next;
			continue;
		}
		*at = job->next;
		spi_map_job_free(control, job);
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
		spi_map_job_free(control, job);
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
		spi_map_job_fail(job, -EBUSY, "not analysed: too much of what its user's processes ask for waits already");
	agent->jobs++;
	job->account->jobs++;
	job->account->job_bytes += job->size;
	while (*end)
		end = &(*end)->next;
	*end = job;		/* started at the end of this dispatch */
	return 0;
}
