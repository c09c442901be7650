/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A broker of the run's own, for payloads: it finds the programs that are named, those that run and those that
 * start, and the processes that messages go to (peers.h), and brings the agent in with the rights of each process's
 * user. The agents are then the run's. No session daemon has a part in that, so nobody but the user of this command
 * says which payload comes into a program.
 */
#ifndef SPI_CLI_RUN_FINDER_H
#define SPI_CLI_RUN_FINDER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct run;

struct finder {
	int fd;			/* -1: it has ended */
	pid_t pid;		/* 0: it was not started */
	int has_failed;		/* it could not be started, which was said */
	int is_wanted;		/* the programs are what the run is for; 0: it was started for messages */
	int has_looked;		/* what ran at the start has its agents, or was told of */
	unsigned int found;
	unsigned int refused;	/* and how many of them were named at once */
};

/* finder_begin() - 0, or an exit status after one line was said. finder_end() may be called after any result. */
int finder_begin(struct finder *finder, struct run *run);

/* finder_reach() - the same, where it does not run yet. Negative: it has ended, or could not be started; that was said. */
int finder_reach(struct finder *finder, struct run *run);

/* finder_send() - one message of that enum spi_broker_type. 0 or a negative errno. */
int finder_send(struct finder *finder, uint16_t type, const void *body, size_t size);

/* finder_hear() - take what it has found; when `fd` polls readable. 0, or an exit status after one line was said. */
int finder_hear(struct finder *finder, struct run *run);

/* finder_end() - nothing more is found. What it remarks goes to the report. */
void finder_end(struct finder *finder, struct run *run);

#endif /* SPI_CLI_RUN_FINDER_H */
