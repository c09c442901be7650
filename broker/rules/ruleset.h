/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The event rules of provider spi that the daemon has now, and on whom each acts. */
#ifndef SPI_BROKER_RULESET_H
#define SPI_BROKER_RULESET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "injector/procfs/procfs.h"
#include "liblttng-spi/base/hash.h"
#include "rules/event-name.h"

/*
 * One rule for agents, of which any number of event rules may want the same. Kept as long as a rule wants it, or an
 * agent has it that we have told of it.
 */
struct request {
	struct spi_hash_link link;	/* by id */
	uint32_t id;		/* the agent's number for it: the same in every process */
	uint32_t flags;		/* SPI_RULE_* */
	uint64_t sum;		/* of flags and text */
	unsigned int index;	/* below request_count(): its place, another one's once it is forgotten */
	unsigned int refs;
	bool is_tree, is_compact;
	bool follows_exec;	/* a tree that goes into programs that are executed */
	char text[];
};

enum { TRACK_VPID, TRACK_VUID, TRACK_VGID, NR_TRACKERS };

struct tracker {
	bool present;		/* false: everybody */
	bool any;		/* names someone whom we cannot look up: LTTng itself keeps to it */
	unsigned int n;
	int64_t *ids;
};

struct session {
	struct session *next;
	char name[256];
	uint64_t created;	/* second since 1970 */
	uid_t owner;
	char why[256];		/* not "": its rules are not known */
	unsigned int ended;	/* programs that it instrumented and that have ended */
	bool counted;		/* in the one that ends now */
	struct tracker trackers[NR_TRACKERS];
};

#define FUNCTION_LOGLEVEL 13	/* of functions' events: DEBUG_LINE, LTTng-UST's default */

struct rule {
	struct rule *next;
	struct session *session;	/* NULL: a trigger's */
	char trigger[256], channel[256], name[257];
	bool enabled;			/* with its channel */
	bool taken_off;			/* not enabled, as it is about to be switched off: disabling.c */
	bool deaf;			/* its log level keeps functions' events out */
	char *filter;			/* NULL: none */
	uid_t owner;
	int parsed;			/* of spi_event_name_parse(); -EDQUOT: beyond those that one user may have */
	char why[256];
	struct spi_event_rule wants;
	struct request **requests;	/* wants.nr_requests of them */
	struct request *on_message;	/* of a tree with ipc, instead of its one request: for processes that messages bring in */
};

/* How many rules one user has. */
struct account {
	struct account *next;
	uid_t uid;
	unsigned int rules;
};

struct ruleset {
	uint64_t serial;	/* another one: the rules are others */
	struct account *accounts;
	struct session *sessions;
	struct rule *rules, **last_rule;
};
extern unsigned int nr_exec_rules;	/* rules of all sets that name programs, switched on or off */

/* What the kernel says of a process, and what it was started as. */
struct facts {
	pid_t pid, inner_pid, parent;
	uint64_t start_time;
	uint64_t stack;		/* where its first stack begins: a fork has its parent's, a program that was executed another one; 0: not known */
	uint64_t read_at;	/* ms of loop_now() */
	uid_t uids[4];		/* real, effective, saved, file system */
	gid_t gids[4];
	char exec[64];		/* file name of its executable */
	bool is_unread;		/* names has only what need not be read of its memory */
	struct spi_names names;	/* its others, some of them its own word; not read while no rule names programs */
};

/* From /proc: 0, or -ESRCH. */
int facts_read(struct facts *facts, pid_t pid);
/* Is it this user's in all of its ids? */
bool facts_are_of(const struct facts *facts, uid_t uid);
/* Of one process, or of a forked one and its parent: the same program, as far as can be told? */
bool facts_same_program(const struct facts *a, const struct facts *b);
/* Read a moment ago, so that reading again tells nothing new? */
bool facts_are_fresh(const struct facts *facts);

struct ruleset *ruleset_create(void);
void ruleset_free(struct ruleset *set);
struct session *ruleset_add_session(struct ruleset *set, const char *name, uid_t owner, const char *why);
/* Has this user a session? Root always counts as having one. */
bool ruleset_has_sessions(const struct ruleset *set, uid_t uid);
/* The lines of xml-rules.h: 0, or -1 when they are not whole. */
int ruleset_add_lines(struct ruleset *set, struct session *session, FILE *lines);
void ruleset_add_trigger(struct ruleset *set, const char *name, uid_t owner, const char *pattern, bool deaf,
			 const char *filter);

/* The sessions of the set take over what is known of the same ones in the former set. */
void ruleset_take_over(struct ruleset *set, const struct ruleset *former);

/* Do both ask for the same of the same? */
bool ruleset_equal(const struct ruleset *a, const struct ruleset *b);

/* Does it want anything of that process? Whether the process is an application counts for rules without a scope. */
bool rule_concerns(const struct rule *rule, const struct facts *facts, bool application);
bool rule_instruments(const struct rule *rule);
/* The same, but for the rule's own scope. */
bool rule_may(const struct rule *rule, const struct facts *facts);
bool rule_has_scope(const struct rule *rule);

/* More rules than one user may have? Then a text that says so. */
bool ruleset_describe_beyond(const struct ruleset *set, const struct account *account, char *text, size_t size);

/* requests.c */
/* The one with that text and mode; made when there is none. To be put. NULL: no memory. */
struct request *request_get(const char *text, uint32_t flags);
unsigned int request_count(void);			/* places, some of which may be empty */
struct request *request_at(unsigned int index);		/* NULL: nobody's place */
struct request *request_hold(struct request *request);	/* until request_put(); NULL stays NULL */
void request_put(struct request *request);
static inline bool request_is_tree(const struct request *request)
{
	return request->is_tree;
}

#endif /* SPI_BROKER_RULESET_H */
