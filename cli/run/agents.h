/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The front end's side of the agents: give each its rules, let a preloaded
 * program go when all of them are in force, collect what they report.
 */
#ifndef SPI_CLI_RUN_AGENTS_H
#define SPI_CLI_RUN_AGENTS_H

#include <stdint.h>
#include <sys/types.h>

struct peers;
struct spi_agent;
struct spi_control;
struct func;
struct report;
struct session;

/* The FUNCs as one process has them: another executable may know an object by another name, or not at all. */
struct agents_set {
	pid_t pid;
	const struct func *funcs;	/* as many as in struct agents; one whose rule is NULL is not for this process */
};

struct agents {
	struct spi_control *control;
	const struct func *funcs;	/* of a process that has no set of its own */
	const struct agents_set *sets;
	unsigned int set_count;
	unsigned int func_count;
	unsigned char *found;		/* of each FUNC: some program has had it */
	uint32_t rule_flags;		/* SPI_RULE_* */
	struct report *report;
	struct session *session;	/* generic events are enabled in it when an agent needs them */
	/* The first agent has its rules in force; a program that waits for GO has not been let go yet. */
	void (*on_ready)(void *data);
	void *data;
	struct peers *peers;	/* of agents that ask which process is at the other end of a channel; NULL: nobody answers */
	int seen;			/* agents that said HELLO */
	int ready;			/* agents whose rules were all answered */
	int failed;			/* rules that could not be carried out at all */
	int is_ending;			/* nobody else is brought in */
	int is_over;			/* who comes now is let go of at once */
	int hopeless;			/* agents whose rules all failed; a program that waits was not let go, unless */
	int lets_go;			/* programs go on without: they run for others' sake than this run's */
	unsigned int left;		/* so many did */
	struct {			/* objects that are being analysed, for as long as that takes */
		char object[64];
		int64_t since;		/* ms of run_now() */
		int told;
	} analyses[16];
	unsigned int analysis_count;
	struct {			/* processes that live on without their agents: they have executed something */
		pid_t pid;
		char exe[256];
	} lost[16];
	unsigned int lost_count;
	char failure[512];		/* the first of them */
};

/*
 * agents_create() - `report`, `session` and `funcs` are borrowed and must outlive it.
 * Returns 0 or a negative errno.
 */
int agents_create(struct agents *a, const struct func *funcs, unsigned int func_count, uint32_t rule_flags,
		  uint32_t string_max, struct report *report, struct session *session);

/* agents_say_absent() - name each FUNC that was waited for and that no program has had. Returns how many there are. */
unsigned int agents_say_absent(const struct agents *a);

/*
 * agents_detach() - un-instrument what is still connected and take the last
 * counters; bounded by `limit` ms. Returns how many did not answer.
 */
int agents_detach(struct agents *a, int limit);
void agents_destroy(struct agents *a);

/* agents_unsettled() - how many agents have rules that were not answered yet. */
unsigned int agents_unsettled(const struct agents *a);

/* agents_say_left() - a program that runs without, and why: it is named at once; of many the first ones are. */
void agents_say_left(struct agents *a, const char *name, pid_t pid, const char *why);

/*
 * agents_adopt() - the connection to an agent that was brought in, taken over. by_message: its trees wait for the
 * message that has brought it in. 0; or negative, errno set.
 */
int agents_adopt(struct agents *a, int fd, pid_t pid, int by_message);

/* agents_tree_rules() - the numbers of the trees that an agent whose rules were answered has, `most` at most. */
unsigned int agents_tree_rules(const struct agents *a, const struct spi_agent *agent, uint32_t *rules,
			       unsigned int most);

/* agents_settled() - does process `pid` have an agent whose rules were all answered? */
int agents_settled(const struct agents *a, pid_t pid);

/*
 * agents_tell_progress() - say which analyses take long; for a user at a terminal. In how many ms to look again, -1: when
 * something comes.
 */
int agents_tell_progress(struct agents *a);

#endif /* SPI_CLI_RUN_AGENTS_H */
