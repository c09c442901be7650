/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the parts of the broker share. */
#ifndef SPI_BROKER_BROKER_H
#define SPI_BROKER_BROKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "broker/child.h"
#include "broker/loop.h"
#include "broker/ruleset.h"
#include "injector/control/control.h"
#include "spi-sessiond-plugin/broker/proto.h"

struct injection;

/* ---- the whole ------------------------------------------------------------------ */

extern struct broker {
	struct spi_broker_daemon daemon;
	bool greeted;			/* daemon is known */
	bool ending;			/* the daemon is gone: agents are being detached */
	char directory[108];		/* of the daemon's sockets, and ours */
	struct spi_control *control;
	struct ruleset *rules;		/* never NULL */
	uint64_t generation;		/* of client commands that have ended, as far as we were told */
	char version[32];		/* of lttng-tools; "" until it is known */
} broker;

/* main.c */
bool broker_is_root(void);
/* A line of the broker's own for `lttng list --spi`; one for each key. */
void broker_note(const char *key, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct note {
	struct note *next;
	char key[32], text[400];
};
void broker_note_clear(const char *key);
extern struct note *broker_notes;

/* link.c: the plugin. Each returns 0 or a negative errno. */
int link_open(void);
int link_release(uint64_t id);
int link_table(void);		/* from broker.rules */
int link_querier(pid_t pid);
int link_disabled(uint64_t id);
int link_flushed(uint64_t id);
bool link_table_matches(const struct facts *facts);	/* what was sent last */

/* version.c */
void version_ask(void);		/* fills broker.version in, soon */
void version_stop(void);

/* rundir.c: sockets beside the daemon's. 0 or a negative errno, and a note that says what. */
int rundir_open(void);
void rundir_close(void);
const char *rundir_query_directory(void);

/* query.c */
void query_want(void);		/* the rules may have changed; any number of times */
bool query_idle(void);		/* nothing is under way or wanted */
uint64_t query_next(void);	/* number of the first query that begins from now on */
uint64_t query_done(void);	/* number of the last one that has ended */
uint64_t query_generation(void);	/* client commands that its answer accounts for */
void query_add_uid(uid_t uid);	/* someone who may own sessions */
void query_stop(void);

/* ---- processes --------------------------------------------------------------------- */

enum applied_state { APPLIED_ADDING, APPLIED_ACTIVE, APPLIED_FAILED, APPLIED_OFF };

/* A request in a process that has an agent. */
struct applied {
	struct applied *next;
	struct request *request;
	enum applied_state state;
	unsigned int pending;		/* answers that are due */
	bool known;			/* the agent has the rule, on or off */
	uint32_t matched, instrumented, declined;
	char text[256];
};

/* What the agent was told and has not answered yet; it answers in order. */
enum command_kind { COMMAND_ADD, COMMAND_ENABLE, COMMAND_DISABLE, COMMAND_REMOVE, COMMAND_KEEP };
struct command {
	struct command *next;
	enum command_kind kind;
	struct request *request;	/* NULL: of COMMAND_KEEP, which is about all */
};

struct line {
	struct line *next;
	char text[];
};

/* Bounded: of what comes beyond `max`, or beyond what may be kept of its user's processes, is known only that it came. */
struct lines {
	struct line *first, **last;
	unsigned int n, max;
	uid_t uid;
	size_t bytes;
	bool more;
};

/* A function of call trees and how often it was called there. */
struct hot {
	uint64_t count;
	char object[64], function[192];
};

#define FOLLOWS_MAX 24u
struct process {
	struct process *next;
	uint64_t serial;		/* no other has had it */
	struct facts facts;
	char name[20];
	struct loop_source end;		/* its pidfd: readable when it has ended */
	bool application;		/* registered with the daemon, or preloaded with the agent */
	bool registered;		/* ever, as whatever program it was then */
	bool registered_since;		/* its agent came: that has loaded lttng-ust, or it has executed a program */
	bool first_ahead;		/* its first thread had the place of those whose turn it is before it had one */
	bool scoped;			/* looked for by a rule's scope */
	bool starts;			/* it has executed its program just now, and is to be held before that begins */
	bool own;			/* the session daemon's or ours: no rule is for it */
	/* registration held by the plugin */
	uint64_t held;			/* id, 0: not held */
	uint64_t held_query;		/* 0, or the query that must have ended before it is let go */
	uint64_t unsure;		/* 0, or that query, when it was let go all the same */
	uint64_t waits_since;
	struct loop_timer patience;
	struct spi_status_page lost;	/* a program's counts that has ended there and lost events */
	char missed[200];		/* not "": why its first calls may be missing */
	/* the agent */
	struct spi_agent *agent;
	bool waits_for_go;
	bool is_short_of_time;		/* it goes on by itself soon */
	bool served;			/* it had an agent, as the program that it is */
	struct facts served_as;		/* when its agent said HELLO */
	bool inherited;			/* may have rules from before: of a parent, of another broker */
	bool carries;			/* its parent's rules, without having come to us */
	struct applied *applied;
	struct command *commands, **last_command;
	unsigned int nr_commands;
	unsigned int awaited;		/* so many of them are waited for while a rule is switched off */
	bool silent;			/* what it was told was waited for in vain, and it has said nothing since */
	uint64_t flushing;		/* what it has not answered yet; 0: nothing */
	uint32_t closing;		/* likewise: of calls of a rule that is switched off */
	struct lines declined, notes;
	struct hot *hot;		/* its busiest functions, any order; NULL: none were told of */
	unsigned int nr_hot;
	struct spi_budget_told budget;	/* .budget 0: no tree with one */
	struct lines left_out;		/* "STATE\tCALLS\tSHARE\tOBJECT\tFUNCTION" */
	/* injection */
	uint32_t follows[FOLLOWS_MAX];	/* requests that it came under as it was executed */
	unsigned int nr_follows;
	struct injection *injection;
	uint64_t begins_until;		/* injected while held, its agent is at its rules now; 0: not, or no more */
	struct spi_agent *coming;	/* injected, and has not said HELLO yet */
	char why[400];			/* not "": refused */
	uint64_t refused_serial;	/* of the rules that it was refused under */
	unsigned int failures;
	struct loop_timer again;
};

/* process.c */
extern struct process *processes;
struct process *process_find(pid_t pid);
/*
 * All that agents have to say is heard. A process may be found to have ended by that, and what we knew of it is freed: who
 * goes on with it goes on with what this returns, the same one or NULL.
 */
struct process *process_hear_agents(const struct process *process);
/*
 * Within fork(), of a traced program that has told of it (hear first): it has its parent's rules, and comes by itself. Which
 * child that is the parent cannot tell; one that has executed another program is none. Is it the parent's still?
 */
bool process_is_forked(const struct process *p);
bool process_may_be_forked(const struct process *p);
/* The one with that pid, known or not; a new one takes pidfd over (-1: it is opened). NULL: gone, or no memory. */
struct process *process_get(pid_t pid, int pidfd);
void process_forget(struct process *process);
void process_facts_set(struct process *process, const struct facts *facts);	/* as they are now; of another program it begins */
void process_begins(struct process *process);	/* as another one than it was: it may be injected, whatever was met before */
void processes_apply(void);		/* all of them, after the rules changed */
void lines_add(struct lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lines_clear(struct lines *lines);

/* apply.c: bring what its agent does in line with the rules; inject, release, let go as needed. */
void process_apply(struct process *process);
void process_expect(struct process *process, struct spi_agent *agent);	/* it has been injected, and will say HELLO */
void process_expect_no_more(struct process *process);			/* its connection ended before */
void process_adopt(struct process *process, struct spi_agent *agent);	/* its agent said HELLO */
void process_answered(struct process *process, const struct spi_msg_rule_done *done, const char *text);
void process_abandoned(struct process *process);	/* its agent's connection is over */
void process_executed(struct process *process);	/* the same, and it may have become another program */

/* ended.c: what is remembered of processes that have ended, or have become another program. */
struct ended {				/* one that has ended and whose trace has holes */
	pid_t pid;
	uid_t uid;
	char name[64], missed[200];
	struct spi_status_page counts;
};
#define ENDED_MAX 64u
extern struct ended ended[ENDED_MAX];
extern unsigned int nr_ended;		/* ever; the last ENDED_MAX of them are in ended[n % ENDED_MAX] */
struct ended *ended_add(pid_t pid, uid_t uid, const char *name);
bool ended_has_missed(pid_t pid, uid_t uid);	/* such a one is there already */
void ended_program(struct process *process);	/* while its agent and rules are known still */
void ended_remember(const struct process *process);	/* the process itself: its trace's holes */
/* What was not instrumented in them. */
enum failure_of { FAILURE_PROCESS, FAILURE_RULE, FAILURE_FUNCTION };
struct failure {
	enum failure_of of;
	bool is_mismatch;		/* a rule that no function matches */
	uid_t uid;
	char name[64];			/* of their executable */
	char what[192];			/* the first of the rules or functions */
	char reason[400];
	unsigned int processes, things;	/* so many rules or functions in one process, at most */
	unsigned int things_here;
	pid_t last;
	uint64_t used;
};
#define FAILURES_MAX 64u
extern struct failure failures_met[FAILURES_MAX];
extern unsigned int nr_failures_met;

/* apply.c: bring what its agent does in line with the rules; inject, release, let go as needed. */
void process_apply(struct process *process);
void process_expect(struct process *process, struct spi_agent *agent);	/* it has been injected, and will say HELLO */
void process_expect_no_more(struct process *process);			/* its connection ended before */
void process_adopt(struct process *process, struct spi_agent *agent);	/* its agent said HELLO */
void process_answered(struct process *process, const struct spi_msg_rule_done *done, const char *text);
void process_answered_more(struct process *process, const struct spi_msg_rule_done *more, const char *text);
void process_abandoned(struct process *process);	/* its agent's connection is over */
void process_executed(struct process *process);	/* the same, and it may have become another program */
/* holding.c */
void process_wait(struct process *process);		/* it is held: for so long and no longer */
void process_settle(struct process *process);		/* its agent has answered: it may go when nothing is due any more */
void process_let_go(struct process *process);		/* its registration, when held */
void process_let_go_late(struct process *process, const char *format, ...) __attribute__((format(printf, 2, 3)));
void process_refuse(struct process *process, bool again, const char *format, ...) __attribute__((format(printf, 3, 4)));
void process_try_again(struct process *process, unsigned int ms);
void process_comes(struct process *process, const char *why);	/* its agent comes by itself; is looked for again if not */
void process_comes_forked(struct process *process);
bool process_may_inject(const struct process *process);	/* or was it refused, under the rules that there are? */
void process_missed(struct process *process, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define MISSED_PREFIX "its first calls may be missing: "
void missed_count(void);				/* one more that began too early */

/* unheld.c: of a registration that was not held */
void unheld_tell(struct process *process, const struct facts *facts, const struct spi_broker_app *app);
void unheld_served(const struct process *process);	/* it has ended, and had its rules */
void unheld_ended(const struct spi_broker_app *app);	/* its program has ended, and nothing is known of it */

/* hot.c */
void hot_add(struct process *process, uint64_t count, const char *object, const char *function);
void hot_sort(struct process *process);		/* busiest first */
void hot_clear(struct process *process);

/* disabling.c: the daemon waits until link_disabled(id). */
void disabling_begin(const struct spi_broker_disabling *message, const char *name);
void disabling_joined(struct process *process);		/* its agent is new */
void disabling_recall(struct ruleset *rules, uint64_t question);	/* the answer to that one: a rule that goes is off in it */

/* flushing.c: the daemon waits until link_flushed(id). */
void flushing_begin(uint64_t id);
void flushing_answered(void);		/* a process has answered, or will not */

/* agents.c */
int agents_open(int listener);		/* takes the descriptor over */
void agents_hear(void);			/* each that has something to say */
void agent_is_former(struct process *process);	/* it belongs to a program that this process no longer is */
void agents_detach_all(void);

/* inject-pool.c */
void injection_want(struct process *process);		/* queued; process->injection until it is done */
/*
 * A program that was executed just now is stopped, if there is an idle worker of its user, before it is known whether a rule names it;
 * ..._end(): if it is not being injected by now, it goes on.
 */
void injection_stop_ahead(pid_t pid, uid_t uid, gid_t gid);
void injection_stop_ahead_end(pid_t pid);
void injections_keep_ready(bool wanted);		/* a worker of our own user, for that */
void injection_drop(struct process *process);		/* the process is gone or needs none */
void pool_advance(void);				/* there may be room for the next */
void injections_stop(void);

/* inject-room.c */
unsigned int room_most(void);				/* injections at a time, at most */
#define ROOM_EACH 2u					/* times room_most(): the bound where each is its user's first one; users with sessions are beyond it */
unsigned int room_taken(void);				/* agents that begin now */
bool room_for_agent(const struct process *next, unsigned int taken);	/* may it be injected, its agent being one more that begins? */
void room_agent_begins(struct process *process);	/* it was injected while held: its agent is at its rules now */
void injection_begun(struct process *process);		/* it has its rules, or goes on without */

/*
 * scope.c: processes that a rule names and that never register. And is it the session daemon, a child of its or of ours? They
 * carry the trace: instrumented, they would wait for themselves. `deep`: also those further below.
 */
bool facts_are_own(const struct facts *facts, bool deep);
void scope_update(void);
void scope_close(void);
void scope_look_soon(void);	/* one that a rule names was not held at its start, and may have forked meanwhile */
bool rules_name(const char *name, uid_t uid);	/* does any that is for this user's programs name them so? */
#define OF_ROOT ((uid_t) -1)			/* any that is for everybody's, by a name that is no pattern */

/*
 * opened.c. `heard`: process pid is about to execute the file of that name, which a rule has; has_executed() waits until it runs it. NULL: it has
 * executed one of another name. Returns whether it did. 0 or a negative errno: then nothing is heard.
 */
int opened_listen(bool (*heard)(pid_t pid, const char *file, bool (*has_executed)(void)));
void opened_end(void);
void opened_named_only(void);	/* from now on: others are told of in another way */
/* The same for files that are named one by one, with certainty; where root may. A path that is no file is none. */
void opened_guard_begin(bool (*heard)(pid_t pid, const char *file, bool (*has_executed)(void)));
void opened_guard(const char *path);
void opened_guard_end(void);

/* status.c */
int status_open(int listener);		/* takes the descriptor over */

#endif /* SPI_BROKER_BROKER_H */
