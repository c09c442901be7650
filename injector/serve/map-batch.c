/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * One run of spi-codemap for many questions. An agent with many rules asks about each of them in
 * each object; the rules that it works on are known (control/awaited-rules.c). And a question
 * whose answer is being made for another process waits for that run.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codemap/map/each.h"
#include "injector/serve/map-child.h"
#include "injector/serve/map-job.h"

#define BATCH_MIN		2u	/* patterns that are worth a run of their own */
#define BATCH_MAX		100u	/* fewer than maps are kept */
#define BATCH_BYTES		60000u

unsigned int spi_map_lacks(struct spi_map_job *job, uint64_t hashes[SPI_MAP_LACKS_MAX])
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

void spi_map_batch_make(struct spi_control *control, struct spi_map_job *job)
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

bool spi_map_is_made(struct spi_control *control, struct spi_map_job *job)
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

void spi_map_waiters_release(struct spi_control *control, const struct spi_map_job *job)
{
	for (struct spi_map_job *j = control->jobs; j; j = j->next) {
		if (j->same != job)
			continue;
		j->same = NULL;
		j->was_batch |= job->late;
		if (job->late && job->finished)
			spi_map_job_fail(j, -ETIMEDOUT, LATE_TEXT);
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

void spi_map_batch_conclude(struct spi_control *control, struct spi_map_job *job, const siginfo_t *end)
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
