/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The process of an injection, before any of its threads is touched: who it is, what it has
 * mapped, which symbols its C library exports, and whether it can be injected at all.
 */
#ifndef SPI_INJECTOR_INJECT_TARGET_H
#define SPI_INJECTOR_INJECT_TARGET_H

#include <stdint.h>
#include <stdbool.h>
#include <sys/types.h>

#include "injector/inject/inject.h"
#include "injector/procfs/procfs.h"

struct spi_target {
	pid_t pid;
	pid_t inner_pid;	/* in the target's own pid namespace */
	int pidfd;
	int mem;		/* /proc/PID/mem, of the program that was found; -1: not permitted */
	uint64_t start_time;
	uint64_t layout[2];	/* addresses that another program in this process would not have */
	uid_t uids[4];		/* real, effective, saved, file system */
	uint64_t expect_start_time;	/* as in struct spi_inject_options */
	uid_t expect_uid;
	uid_t uid;		/* the effective one */
	gid_t gid;
	char name[32];		/* comm */
	struct spi_maps maps;
	struct spi_image libc, loader;
	uint64_t dlopen, dlerror;	/* addresses; dlerror 0 when there is none */
	uint64_t dlopen_flags;
	struct spi_inject_result *result;	/* where messages go */
};

/* Set result->text and return -error. */
int spi_inject_fail(struct spi_inject_result *result, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * spi_target_open() - which process it is, and whether it may be looked at; then
 * spi_target_look(): at its program and C library, which a new one may not have yet. What cannot be injected is refused,
 * with its reason in result->text. 0 or a negative errno; spi_target_close() in
 * all cases.
 */
int spi_target_open(struct spi_target *target, pid_t pid, const struct spi_inject_options *options,
		    struct spi_inject_result *result);
int spi_target_look(struct spi_target *target);
void spi_target_close(struct spi_target *target);

/* The process's threads, the main one first; how many were stored. */
size_t spi_target_threads(pid_t pid, pid_t *tids, size_t max);

/* Still the same process, alive? */
bool spi_target_lives(const struct spi_target *target);

/* Why ptrace was refused, in words; returns -EPERM or -EBUSY. */
int spi_target_explain_refusal(const struct spi_target *target, int error);

/* Before the caller becomes a user who may not open the memory of that process, as of one that is not dumpable. */
void spi_identity_keep_memory(pid_t pid);
/*
 * identity.c. Each 0, or a negative errno with result->text set.
 * spi_identity_read() - who it is, held against what the caller expects.
 * spi_identity_check() - with a thread seized: still the same program of the same user?
 * spi_identity_replaced() - it is not: says so, returns -ESRCH.
 * spi_identity_check_file() - may this file be loaded as the agent?
 */
int spi_identity_read(struct spi_target *target, const char *status);
int spi_identity_check(const struct spi_target *target);
int spi_identity_replaced(const struct spi_target *target);
int spi_identity_check_file(const struct spi_target *target, const char *path);

/* Write the target's memory: 0 or a negative errno. All or nothing. */
int spi_target_write(const struct spi_target *target, uint64_t address, const void *buffer, size_t size);

#endif /* SPI_INJECTOR_INJECT_TARGET_H */
