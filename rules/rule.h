/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A rule: its text, and what the text says (doc/rules.md). One grammar for the agent, its controllers, the broker, the
 * session daemon's plugin and the front end:
 *
 *	rule   = target | kind "(" [ target ] *( ";" option ) ")"
 *	target = [ object ":" ] function
 *	option = name [ "=" value ]
 *
 * kinds.c has the list of kinds, options.c the table of options. The text has two forms. The agent's form has every
 * byte as it is, and no scope. The form of an LTTng event's name (event-name.h) writes bytes as %xx, and has a scope.
 *
 * Everything here works in any thread, without malloc, locale, errno or other state.
 */
#ifndef SPI_RULES_RULE_H
#define SPI_RULES_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spi_writer;
struct spi_rule_option;

#define SPI_RULE_WHY		256u	/* bytes of a reason, with NUL */
#define SPI_RULE_TAG_SIZE	16u	/* with NUL */
#define SPI_RULE_LIST_MAX	16u	/* members of one list: patterns, names, processes */
#define SPI_PID_STARTED		INT32_MAX	/* no process has this id: the rule is for a program that is started with the rule's number */
#define SPI_RULE_OBJECT_MAX	255u	/* bytes without NUL */
#define SPI_RULE_FUNCTION_MAX	1023u
#define SPI_RULE_TEXT_MAX	5632u	/* room for any text of a rule, with NUL */

enum spi_rule_form {
	SPI_FORM_AGENT,
	SPI_FORM_EVENT,
};

enum spi_rule_follow {
	SPI_FOLLOW_THREADS	= 1,
	SPI_FOLLOW_DLOPEN	= 2,
	SPI_FOLLOW_FORK		= 4,
	SPI_FOLLOW_EXEC		= 8,
	SPI_FOLLOW_ALL		= 15,
};

/* Kinds of channels to other processes. */
enum spi_rule_channels {
	SPI_CHANNELS_PIPE	= 1,
	SPI_CHANNELS_UNIX	= 2,
	SPI_CHANNELS_TCP	= 4,
	SPI_CHANNELS_UDP	= 8,
	SPI_CHANNELS_ALL	= 15,
	SPI_CHANNELS_OTHER	= 16,	/* what a payload's own worker knows: no word of the text's */
};

/* Sorted, each once. */
struct spi_rule_names {
	uint32_t count;
	const char *name[SPI_RULE_LIST_MAX];
};

/* All zero: nothing is said. Strings are borrowed: from the room that the text was read into, or from who fills it. */
struct spi_rule {
	const struct spi_rule_kind *kind;
	const char *object;			/* a glob; "": any */
	const char *function;			/* a glob; of a tree its root, or "" */
	uint32_t one_event, compact, parse_only;
	uint32_t libcalls;			/* functions that objects offer each other, and calls from other objects alone */
	uint32_t depth;				/* 0: no limit */
	struct spi_rule_names exclude, lib, exclude_lib, calls_of;
	uint32_t unfollowed;			/* enum spi_rule_follow: not to be followed */
	uint32_t after;				/* ms */
	uint32_t on_signal;
	uint32_t ipc;				/* enum spi_rule_channels: processes at their other ends are brought under the rule */
	uint32_t ipc_wait;			/* ms that a first message waits; 0: a second */
	uint32_t on_message;			/* it was brought into the process so, and begins at the message */
	uint32_t budget;			/* tenths of a percent */
	uint32_t backtrace;			/* frames; 0: none */
	uint32_t nr_pids;			/* the scope; none: every process */
	int32_t pids[SPI_RULE_LIST_MAX];	/* ascending */
	struct spi_rule_names exec;		/* names of programs, globs */
	struct spi_rule_names payloads;		/* files, or names of the agent's own; none: LTTng records the calls */
	struct spi_rule_names payload_args;	/* NAME=VALUE, for all of them */
	char tag[SPI_RULE_TAG_SIZE];
};

/* ---- kinds.c ---- */

enum { SPI_KIND_CALL, SPI_KIND_TREE, SPI_KINDS };

struct spi_rule_kind {
	unsigned int number;	/* SPI_KIND_* */
	const char *name;	/* before the parenthesis */
	bool needs_function;	/* false: the target may be "" */
	/* What must not stand together. 0, or -EINVAL with `why`. */
	int (*check)(const struct spi_rule *rule, char *why);
	/* What the target means to a user. The options' own words follow. */
	void (*describe)(struct spi_writer *w, const struct spi_rule *rule);
};
extern const struct spi_rule_kind spi_rule_kinds[SPI_KINDS];
#define spi_kind_call	(&spi_rule_kinds[SPI_KIND_CALL])
#define spi_kind_tree	(&spi_rule_kinds[SPI_KIND_TREE])

/* The kind whose form the text begins ("tree(..."); NULL: none. */
const struct spi_rule_kind *spi_rule_kind_of(const char *text);

static inline bool spi_rule_is_tree(const struct spi_rule *rule)
{
	return rule->kind == spi_kind_tree;
}

/* The whole rule as a user reads it ("parse_* of libfoo.so, in processes named server"); cut to text[size]. */
void spi_rule_describe(const struct spi_rule *rule, char *text, size_t size);

/* ---- text.c ---- */

/*
 * spi_rule_read() - take a text apart. The rule's strings are in room[size] then, which a copy of the text must fit in.
 * 0, or -EINVAL: `why` (SPI_RULE_WHY bytes) says what is wrong.
 */
int spi_rule_read(struct spi_rule *rule, const char *text, enum spi_rule_form form, char *room, size_t size, char *why);

/* spi_rule_write() - the canonical text: the same rule always has the same. 0 or -E2BIG. */
int spi_rule_write(const struct spi_rule *rule, enum spi_rule_form form, char *text, size_t size);

/* spi_rule_set_tag() - the rule's tag: eight hex digits that stand for the canonical text of its event form. */
void spi_rule_set_tag(struct spi_rule *rule);

/* spi_rules_next() - copy the next rule of a list; NULL at its end. A rule that does not fit is cut, and then refused. */
const char *spi_rules_next(const char *list, char *one, size_t size);

/* ---- target.c ---- */

/* Where the function begins in OBJECT:FUNCTION; `target` itself when there is no object. */
const char *spi_target_function(const char *target);

/* spi_rule_set_target() - check the target, and have it in the rule, copied to room[size]. 0, or -EINVAL with `why`. */
int spi_rule_set_target(struct spi_rule *rule, const char *target, char *room, size_t size, char *why);

/* Is it a target with a function? 0, or -EINVAL with `why`. */
int spi_target_check(const char *target, char *why);

static inline bool spi_rule_is_wild(const char *glob)
{
	return *glob == '*' || *glob == '?' || *glob == '[';
}

#endif /* SPI_RULES_RULE_H */
