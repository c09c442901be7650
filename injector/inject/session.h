/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* One injection, from looking the process over to letting its thread go. Internal to the injector. */
#ifndef SPI_INJECTOR_INJECT_SESSION_H
#define SPI_INJECTOR_INJECT_SESSION_H

#include "injector/inject/carry.h"
#include "injector/inject/remote.h"
#include "injector/inject/safe-point.h"

struct spi_session {
	struct spi_inject_options options;
	struct spi_inject_result *result;
	struct spi_target target;
	struct spi_carry carry;
	struct spi_gadgets gadgets;
	struct spi_safe *safe;
	struct spi_first first;
	struct spi_remote remote;
	bool attach, already;
	bool held;			/* the remote thread stands at the program's first instruction */
	bool registers;			/* at its start: the session daemon will hear of it */
	int memfd;			/* the library's in the target; -1: none */
	uint64_t attach_offset;		/* of lttng_spi_attach() in the agent; or its address, when already */
	uint64_t wait_offset;		/* of lttng_spi_wait(), in one that is loaded now */
	struct user_regs_struct looked_at;	/* at the last look */
	uint64_t deadline;		/* CLOCK_MONOTONIC, ns */
	const char *why;		/* why the last look was not good */
	pid_t why_tid;
	pid_t pid;
	int ret;
};

#define FAIL(s, error, format, ...) \
	spi_inject_fail((s)->result, error, "process %d (%s): " format, (int) (s)->pid, (s)->target.name, ##__VA_ARGS__)

/*
 * perform.c. All with the thread of s->remote just stopped; they let it go. 0 or
 * a negative errno with s->result->text set.
 */
int spi_session_put_library(struct spi_session *s);	/* a filled memfd in the target; any place will do */
int spi_session_perform(struct spi_session *s);		/* the calls; at a safe place only */
/* program-start.c: with s->target just opened. Sets held, or registers, or neither. */
void spi_start_hold(struct spi_session *s);
/* Does the caller want no more of it? (inject.c) */
bool spi_session_is_unwanted(const struct spi_session *s);
/* The last stop was not the one for the calls: remember the longest such. */
void spi_session_note_stop(struct spi_session *s);
/* In the middle of calls: close a descriptor of the target's. */
void spi_session_close(struct spi_session *s, int fd);

#endif /* SPI_INJECTOR_INJECT_SESSION_H */
