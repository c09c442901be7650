/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * FUNC: what the user asked to trace, checked against the functions that the
 * objects really have before anything is started.
 */
#ifndef SPI_CLI_NAMES_H
#define SPI_CLI_NAMES_H

struct objects;
struct spi_tree_options;

struct func {
	const char *text;	/* as typed; "" for a tree without ROOT */
	const struct spi_tree_options *tree;	/* the function is a tree's root; NULL: it is none */
	char *object;		/* file name before the `:`, or NULL */
	const char *pattern;	/* behind it; points into text */
	int is_glob;
	int is_plain;		/* a C function's name: the event begins with exactly this */
	int is_late;		/* its object is not loaded at the beginning */
	char *rule;		/* what the agent is told: OBJECT as its process names it */
};

/* func_parse() - take FUNC, or ROOT when `tree` is not NULL, apart. Returns 0 or -ENOMEM. */
int func_parse(struct func *func, const char *text, const struct spi_tree_options *tree);
void func_free(struct func *func);

/*
 * func_resolve() - does FUNC name functions of `whose` (a program's or process's
 * name, for messages)? Fills func->rule. Returns 0; -EINTR when stop_fd became
 * readable; or a positive exit status after one line was said. `stripped`: the
 * executable has no symbol table.
 */
int func_resolve(struct func *func, const struct objects *objects, const char *whose, int stripped, int stop_fd);

#endif /* SPI_CLI_NAMES_H */
