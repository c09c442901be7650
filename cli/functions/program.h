/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * COMMAND before it is started: which file will run, and whether the agent can
 * be preloaded into it. Nothing is started that could not be traced.
 */
#ifndef SPI_CLI_FUNCTIONS_PROGRAM_H
#define SPI_CLI_FUNCTIONS_PROGRAM_H

struct program {
	char *name;	/* the word the user typed */
	char *path;	/* what is executed: the program or script */
	char *elf;	/* the ELF file that will run: path, or a script's interpreter */
	char *interp;	/* its dynamic loader */
	char **argv;	/* NULL-terminated; COMMAND's words but for `#!/usr/bin/env NAME`, see program.c */
	int is_script;	/* elf is the interpreter */
	int linker_words;	/* of `ld.so [OPTION]... PROGRAM`: those before PROGRAM, the linker's included; else 0 */
	int stripped;	/* elf has no symbol table of its own */
};

/*
 * program_check() - find and check COMMAND. Returns 0, or the exit status after
 * one line was said: 127 missing, 126 not executable, 1 not traceable.
 */
int program_check(struct program *p, char **argv);
void program_free(struct program *p);

/* program_names_another() - is there a program, or a file that may be a script, among the words behind COMMAND, or within one of them? */
int program_names_another(const struct program *p);

/* program_path() - the file that a command word names, as execvp() would find it; malloc'ed, NULL with errno. */
char *program_path(const char *word);

#endif /* SPI_CLI_FUNCTIONS_PROGRAM_H */
