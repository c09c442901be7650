/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * An agent's question for a code map, from the moment it is asked to the answer.
 *
 *	map-jobs.c	the queue: which question is taken, and whose turn it is
 *	map-run.c	the run of spi-codemap that answers it
 *	map-batch.c	maps for several questions in one run
 */
#ifndef SPI_INJECTOR_SERVE_MAP_JOB_H
#define SPI_INJECTOR_SERVE_MAP_JOB_H

#include <fcntl.h>
#include <signal.h>

#include "injector/control/internal.h"
#include "injector/serve/kept-map.h"
#include "injector/serve/map-child.h"

#define LATE_TEXT	"spi-codemap did not finish within a minute"
#define ALL_SEALS	(F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

struct spi_map_job {
	struct spi_map_job *next;
	struct spi_agent *agent;	/* NULL: gone meanwhile */
	bool is_silent;			/* it is not answered: SPI_MAP_REQUEST_SOON */
	struct spi_map_target target;	/* agent NULL: whose file it is; */
	void (*over)(void *data);	/* not NULL: spi_control_analyse() */
	void *data;
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

/* ---- map-run.c ---- */

/* Answer from what is kept, or start a run of spi-codemap; the answer may also be a failure. */
void spi_map_job_start(struct spi_control *control, struct spi_map_job *job);
/* Send the answer: a map (status 0), or why there is none. The job is finished. */
void spi_map_job_answer(struct spi_map_job *job, int status, const char *text);
void spi_map_job_fail(struct spi_map_job *job, int status, const char *what);
/* End what still runs, and free the job. */
void spi_map_job_free(struct spi_control *control, struct spi_map_job *job);

/* ---- map-batch.c ---- */

/*
 * Rules that the agent works on next: each would be a run of spi-codemap for each object, nearly
 * all of them in vain, and the others would read the same symbols, debug info and code. So one
 * run makes the maps of all of them first (`batch`), where there are enough.
 */
void spi_map_batch_make(struct spi_control *control, struct spi_map_job *job);
/* Keep the map of each pattern of the batch; the job itself begins again. */
void spi_map_batch_conclude(struct spi_control *control, struct spi_map_job *job, const siginfo_t *end);
/* Does a run under way make what this job wants? Then the job waits for that run. */
bool spi_map_is_made(struct spi_control *control, struct spi_map_job *job);
/* Jobs that waited for this one's run go on. After a run that took too long, they fail as well. */
void spi_map_waiters_release(struct spi_control *control, const struct spi_map_job *job);
/* What the agent would ask about this object for its next rules, in vain: hashes of those patterns. How many. */
unsigned int spi_map_lacks(struct spi_map_job *job, uint64_t hashes[SPI_MAP_LACKS_MAX]);

#endif /* SPI_INJECTOR_SERVE_MAP_JOB_H */
