/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * FUNC: what the user asked to trace, checked against the functions that the
 * objects really have before anything is started.
 */
#ifndef SPI_CLI_FUNCTIONS_FUNC_H
#define SPI_CLI_FUNCTIONS_FUNC_H

#include <stddef.h>

struct objects;
struct spi_control;
struct spi_rule;

struct func {
	const char *text;	/* as typed; "" for a tree without ROOT */
	const struct spi_rule *tree;	/* what is asked of a tree whose root the function is; NULL: it is none */
	const struct spi_rule *asked;	/* the options that a function's rule has; NULL: none that its text says */
	char *object;		/* file name before the `:`, or NULL */
	const char *pattern;	/* behind it; points into text */
	int is_glob;
	int is_plain;		/* a C function's name: the event begins with exactly this */
	int is_late;		/* its object is not loaded at the beginning, or a program has it that COMMAND executes */
	int is_optional;	/* one of many: that it is not there is not said, and it is waited for */
	int is_recorded;	/* payloads get the calls, and LTTng as well: */
	char *rule;		/* what the agent is told: OBJECT as its process names it */
	char *recorded;		/* the rule by which LTTng gets the calls, too; NULL: none */
};

/* func_parse() - take FUNC, or ROOT when `tree` is not NULL, apart. Returns 0 or -ENOMEM. */
int func_parse(struct func *func, const char *text, const struct spi_rule *tree);
void func_free(struct func *func);

/*
 * funcs_look() - ask of all these files at once which of the FUNCs they have: each file once, however many processes have it and
 * however many FUNCs there are. What cannot be asked so, func_resolve() asks by itself, and says why. 0 or -EINTR.
 */
int funcs_look(const struct func *funcs, unsigned int count, struct objects *const *lists, unsigned int list_count, int stop_fd);

/*
 * func_resolve_anywhere() - FUNC as it is, for programs that are not known yet: each is asked for it. 0, or an exit
 * status after one line was said.
 */
int func_resolve_anywhere(struct func *func);

/* funcs_tell_lacks() - what funcs_look() found not to be there, the agents of a process with these objects need not ask for. */
void funcs_tell_lacks(const struct func *funcs, unsigned int count, const struct objects *objects, struct spi_control *control);

/*
 * func_resolve() - does FUNC name functions of `whose` (a program's or process's
 * name, for messages)? Fills func->rule. Returns 0; -EINTR when stop_fd became
 * readable; or a positive exit status after one line was said, or none where say_quiet.
 * `index`: which of those that funcs_look() was given. `stripped`: the executable has no symbol table.
 */
int func_resolve(struct func *func, unsigned int index, const struct objects *objects, const char *whose, int stripped, int stop_fd);

/* func_rule_on_message() - a tree's rule, for a process that a message has brought in: the tree waits for that alone. */
int func_rule_on_message(const char *rule, char *text, size_t size);

#endif /* SPI_CLI_FUNCTIONS_FUNC_H */
