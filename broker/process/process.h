/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The processes that the broker has to do with: what each is to the broker, what its agent is told, and how long it
 * is held. For the broker's one thread.
 *
 * A handler tells the state machine what has happened (process_event(), state.c) and marks the process
 * (process_mark()). The loop looks at all marked processes once a turn (processes_look(), look.c). Only that look
 * compares a process with the rules, and it never leads to another look. A handler that takes several events at once
 * looks after each one.
 *
 * process_get(), process_registered(), agents_hear() and process_hear_agents() may free a process. No look frees one.
 */
#ifndef SPI_BROKER_PROCESS_PROCESS_H
#define SPI_BROKER_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "broker/base/base.h"
#include "broker/rules/rules.h"
#include "injector/control/control.h"

struct injection;

/* ---- states (state.c) -------------------------------------------------------------------------------------- */

/* How the agent of a process stands. */
enum process_state {
	PROCESS_ALONE,		/* no agent, and none is on its way */
	PROCESS_INJECTING,	/* .injection: queued or under way */
	PROCESS_ENTERING,	/* .coming: injected, and its agent has not said HELLO yet */
	PROCESS_PUT_OFF,	/* no agent for now, as one comes by itself or could not be brought in: .refusal */
	PROCESS_SERVED,		/* .agent: an agent that has said HELLO */
	NR_PROCESS_STATES
};

enum process_event {
	EVENT_WANTED,		/* a rule that is on concerns it */
	EVENT_HOPELESS,		/* likewise, and it was put off under the same rules */
	EVENT_UNWANTED,		/* no rule that is on concerns it */
	EVENT_INJECTION_OVER,	/* its injection has ended; what came of it follows */
	EVENT_ENTERS,		/* injected. data: struct spi_agent, its connection */
	EVENT_ENTRY_OVER,	/* the connection of .coming is over */
	EVENT_COMES,		/* its agent comes by itself. data: struct setback */
	EVENT_FAILED,		/* its agent cannot be brought in. data: struct setback */
	EVENT_HELLO,		/* data: struct hello */
	EVENT_AGENT_OVER,	/* the connection of .agent is over, or is of a program that the process no longer is */
	EVENT_BEGINS,		/* it is another program: whatever was met before counts no more */
	EVENT_AGAIN,		/* what was met before is tried again */
	EVENT_ENDS,		/* it has ended */
	NR_PROCESS_EVENTS
};

/* Why an agent is not there yet, or will not be. */
struct setback {
	const char *why;
	unsigned int again_ms;	/* 0: it is not tried again by itself */
	bool holds;		/* a registration that is held stays held */
};

struct hello {
	struct spi_agent *agent;
	const struct facts *facts;	/* of the process that says HELLO */
};

/* ---- one process ------------------------------------------------------------------------------------------- */

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

struct line {
	struct line *next;
	char text[];
};

/*
 * A bounded list. Of a line beyond `max`, or beyond what may be kept of the processes of its user, the list only keeps
 * that there was one.
 */
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

/* A registration with the session daemon that the plugin holds until its rules are in force (hold.c). */
struct hold {
	uint64_t id;		/* 0: none is held */
	uint64_t query;		/* 0, or the query that must have ended before it is let go */
	uint64_t unsure;	/* 0, or that query, when it was let go all the same */
	uint64_t since;		/* 0, or when waiting began */
	struct loop_timer patience;
};

/* The last reason why there is no agent (refusal.c). */
struct refusal {
	char why[400];			/* "": none */
	uint64_t serial;		/* of the rules that the process was refused under */
	unsigned int failures;
	struct loop_timer again;	/* armed: it is looked at again then */
};

/* What the agent waits for before its program goes on. */
enum agent_waits {
	AGENT_RUNS,
	AGENT_WAITS,		/* until it is told to go on */
	AGENT_WAITS_BRIEFLY,	/* likewise, but it goes on by itself soon */
};

#define FOLLOWS_MAX 24u

/* What the agent was told, and what it has answered. */
struct talk {
	enum agent_waits waits;
	/*
	 * The agent may have rules that the broker does not know: of a parent, of another broker. That is known before
	 * the agent says HELLO, and stays true when the agent's connection is another one.
	 */
	bool has_unknown_rules;
	bool is_silent;			/* it did not answer in time as a rule went off, and said nothing since */
	struct applied *applied;
	struct command *commands, **last_command;	/* without an answer yet */
	unsigned int nr_commands;
	unsigned int awaited;		/* so many of them are waited for while a rule is switched off */
	uint64_t flushing;		/* the flush that it has not answered yet; 0: none */
	uint32_t closing;		/* likewise: the closing of calls of a rule that is switched off */
	uint32_t follows[FOLLOWS_MAX];	/* requests that the program came under as it was executed, or by a message */
	unsigned int nr_follows;
};

/* What the agent has told of its process. */
struct report {
	struct lines declined, notes;
	struct lines left_out;		/* "STATE\tCALLS\tSHARE\tOBJECT\tFUNCTION" */
	struct hot *hot;		/* its busiest functions, any order; NULL: none were told of */
	unsigned int nr_hot;
	struct spi_budget_told budget;	/* .budget 0: no tree with one */
};

/* The message that brought it under a rule first. kind 0: none has. */
struct brought {
	bool is_late;			/* a message has waited for it as long as it may, and it has not answered since */
	uint32_t kind;			/* enum spi_channel_kind */
	pid_t by;
	uid_t uid;			/* whose process that is */
	char name[20];			/* of that */
};

enum registration {
	REGISTERED_NEVER,
	REGISTERED,			/* by whatever program it was then */
	REGISTERED_SERVED,		/* the same, while its agent was there: that program stays an application */
};

/* How the program that the process is now came by its rules. Later ones count more. */
enum rules_had {
	RULES_NEVER,
	RULES_OF_PARENT,		/* a forked child has its parent's rules before it comes to us */
	RULES_OF_AGENT,			/* it had an agent that came to us */
};

struct process {
	struct process *next;
	uint64_t serial;		/* no other process has had it */
	struct facts facts;
	char name[20];
	struct loop_source end;		/* its pidfd: readable when it has ended */

	enum process_state state;	/* only process_event() changes it */
	unsigned int marks;		/* MARK_* */
	struct process *next_marked;

	/*
	 * Each of these is true or false in any state, as it says what the process is and not how its agent stands.
	 * is_own and was_ahead never change. is_scoped never becomes false.
	 */
	bool is_own;			/* the session daemon's or the broker's: no rule is for it */
	bool was_ahead;			/* its first thread had the place of those whose turn it is before it had one */
	bool is_scoped;			/* a rule's scope names it */
	bool is_application;		/* rules without a scope concern it: it registered, or its agent came with it */
	bool is_handed;			/* a front end has its agent, for as long as it is this program */
	bool starts;			/* it has just executed its program: its injection stops it at once */
	enum registration registration;
	enum rules_had rules_had;

	struct hold hold;
	struct refusal refusal;

	/*
	 * .agent is there in PROCESS_SERVED only, .injection in PROCESS_INJECTING, .coming in PROCESS_ENTERING. But an
	 * agent may come by itself while an injection is under way: then PROCESS_SERVED has .injection or .coming, too,
	 * never both.
	 */
	struct injection *injection;
	uint64_t begins_until;		/* injected while held: its agent is at its rules until then; 0: no (more) */
	struct spi_agent *coming;
	struct spi_agent *agent;
	struct facts served_as;		/* when its agent said HELLO */
	struct talk talk;
	struct report report;

	struct brought brought;

	/* Holes of its trace */
	char missed[200];		/* not "": why its first calls may be missing */
	struct spi_status_page lost;	/* the counts of a program that has ended there and lost events */
};

/* ---- what the rooms above are asked for -------------------------------------------------------------------- */

struct process_hooks {
	bool (*inject)(struct process *process);	/* queue it, and set .injection. False: no memory */
	void (*drop)(struct process *process);		/* .injection is wanted no more */
	void (*begun)(struct process *process);		/* its program goes on, with its rules or without */
	void (*slipped)(void);	/* a process that a scope names was not held at its start: it may have children */
	void (*looked)(struct process *process);	/* it has been looked at. Within a look: only marks */
	void (*ends)(struct process *process);		/* it is about to be forgotten */
	/* What its agent says: which process is at the other end? It knows what begins where. Its connection is over. */
	void (*asked)(struct process *process, uint32_t id, const struct spi_msg_peer_request *request);
	void (*told)(struct process *process, uint32_t id, int status);
	void (*agent_over)(const struct spi_agent *agent);
};
void processes_set_hooks(const struct process_hooks *hooks);

/* ---- table.c, process.c: the processes ---------------------------------------------------------------------------------- */

struct process *processes_first(void);		/* .next goes on; NULL: there is none */
void processes_forget(void);			/* all of them */
struct process *process_find(pid_t pid);
/* The process with that pid, known or not. A new one takes pidfd over (-1: it is opened). NULL: gone, or no memory. */
struct process *process_get(pid_t pid, int pidfd);
void process_forget(struct process *process);
/* As they are now. Facts of another program make EVENT_BEGINS. */
void process_set_facts(struct process *process, const struct facts *facts);
/*
 * Within fork(), of a traced program that has told of it (hear first)? Such a child has its parent's rules, and comes
 * by itself. Which child that is the parent cannot tell. A child that has executed another program is none.
 */
bool process_is_forked(const struct process *process);	/* agents.c */
bool process_may_be_forked(const struct process *process);	/* without asking the parent's agent */

/* handed.c */
void process_handed(struct process *process);
void process_taken_back(struct process *process);	/* the front end has its agent no more, or it is another program */
bool process_is_forked_with_agent(const struct process *process);	/* by one whose agent a front end has */

/* ---- state.c, look.c: what happens, and what follows ------------------------------------------------------- */

void process_event(struct process *process, enum process_event event, const void *data);

#define MARK_RULES	1u	/* it may have other rules now */
#define MARK_HOLD	2u	/* it may be let go now */
#define MARK_JOINED	4u	/* its agent is new */
void process_mark(struct process *process, unsigned int marks);
void processes_mark(void);	/* all of them, as other rules are there */
void processes_look(void);	/* at those that are marked */
bool processes_are_marked(void);

/* ---- agents.c: agents' connections ------------------------------------------------------------------------- */

int agents_open(void);			/* 0 or a negative errno */
int agents_listen(int listener);	/* takes the descriptor over; likewise */
struct spi_control *agents_control(void);
void agents_detach_all(void);
void agents_close(void);
/* What agents have to say is heard, and the processes that are marked by that are looked at. */
void agents_hear(void);
/* The same. The process may be found to have ended: use what this returns from there on, the same process or NULL. */
struct process *process_hear_agents(const struct process *process);

/* ---- registration.c: what the plugin tells of one ---------------------------------------------------------- */

void process_registered(const struct spi_broker_app *app, int pidfd, bool is_held);	/* takes pidfd over */
void registration_expired(uint64_t id);
void registration_late(const struct spi_broker_late *late);
void registrations_put_back(void);	/* the daemon may have ended in the middle of one's turn */

/* ---- hold.c, refusal.c: waiting, and doing without ---------------------------------------------------------- */

void process_let_go(struct process *process);		/* its registration, when held; its agent, when it waits */
/* The first reason stands. */
void process_missed(struct process *process, const char *format, ...) __attribute__((format(printf, 2, 3)));
void process_slipped(struct process *process, const char *why);	/* likewise; and it may have children */
#define MISSED_PREFIX "its first calls may be missing: "
void missed_count(void);				/* one more that began too early */

/* EVENT_FAILED, for that reason. again: it is tried again, a number of times. */
void process_refuse(struct process *process, bool again, const char *format, ...) __attribute__((format(printf, 3, 4)));
void process_comes(struct process *process, const char *why);	/* EVENT_COMES: looked at again if it does not */
void process_comes_forked(struct process *process);

/* ---- lines.c, busiest.c: what agents have told -------------------------------------------------------------- */

void lines_add(struct lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lines_clear(struct lines *lines);
void hot_sort(struct process *process);			/* busiest first */

/* ---- ended.c: what is remembered of processes that have ended, or have become another program --------------- */

struct ended {				/* one that has ended and whose trace has holes */
	pid_t pid;
	uid_t uid;
	char name[64], missed[200];
	struct spi_status_page counts;
};
#define ENDED_MAX 64u
unsigned int ended_count(void);			/* the last ENDED_MAX of them at most */
const struct ended *ended_at(unsigned int n);	/* below ended_count(), the oldest first */
struct ended *ended_add(pid_t pid, uid_t uid, const char *name);
bool ended_has_missed(pid_t pid, uid_t uid);	/* such a one is there already */

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
unsigned int failures_count(void);
const struct failure *failure_at(unsigned int n);	/* below failures_count(), any order */

/* ---- own.c -------------------------------------------------------------------------------------------------- */

/*
 * Is it the session daemon, a child of the daemon's, or one of the broker's? They carry the trace: instrumented, they
 * would wait for themselves. `deep`: also those further below.
 */
bool facts_are_own(const struct facts *facts, bool deep);

/* ---- disabling.c, flush.c: a command of a client's waits ---------------------------------------------------- */

void disabling_begin(const struct spi_broker_disabling *message, const char *name);	/* until plugin_disabled() */
/* The answer to that question: a rule that goes is off in it. */
void disabling_recall(struct ruleset *rules, uint64_t question);
void flushing_begin(uint64_t id);							/* until plugin_flushed() */

#endif /* SPI_BROKER_PROCESS_PROCESS_H */
