/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The querier: the one process that talks to the session daemon as a client, and
 * what passes between it and the broker. A question is a struct query_ask, the
 * answer a struct query_item for each thing found and one QUERY_DONE.
 */
#ifndef SPI_BROKER_QUERIER_H
#define SPI_BROKER_QUERIER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define QUERY_UIDS_MAX 512u

struct query_ask {
	uint32_t incomplete;	/* there are more who may: what is nobody's listed here is not ours for sure */
	uint32_t nr_uids;	/* who may own sessions, beside ourselves */
	uint32_t uids[QUERY_UIDS_MAX];
};

enum query_kind {
	QUERY_SESSION = 1,	/* name, uid: its owner; with a descriptor: its rules as XML */
	QUERY_UNKNOWN,		/* name, text: a session whose rules or owner could not be had */
	QUERY_TRIGGER,		/* name, text: its event name pattern, uid: its owner, status: 1 when its log level keeps functions out */
	QUERY_MUTE,		/* uid: a user who cannot be asked for his sessions, text: why */
	QUERY_DONE,		/* status: 0 or what liblttng-ctl said, text */
};

struct query_item {
	uint32_t kind;
	uint32_t uid;
	int32_t status;
	uint32_t young;		/* made a moment ago: its owner is known for good, or at all, when asked again in two seconds */
	uint64_t created;	/* QUERY_SESSION: second since 1970 */
	char name[256];
	char text[256];
	char filter[2048];	/* QUERY_TRIGGER: the beginning of it */
};

struct querier_setup {
	const char *socket;	/* of the daemon, for clients; its group is that of those who may use it */
	const char *directory;	/* an empty directory of ours */
	const struct ruleset *rules;	/* as of the last answer: what this querier knows of owners before it asks */
};

/* The group of those who may use the daemon: its socket's, or "tracing" when that cannot be seen. False: there is none. */
bool querier_group(const char *socket, gid_t *gid);
/* What the child runs (child.h); data: struct querier_setup. */
int querier_work(void *data);

#endif /* SPI_BROKER_QUERIER_H */
