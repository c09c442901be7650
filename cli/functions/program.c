/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Follows COMMAND the way the kernel will: PATH, then `#!` lines down to an ELF file. That file must be
 * a 64-bit x86-64 program that glibc's dynamic loader starts without secure mode (setuid, setgid and
 * file capabilities make the loader drop LD_PRELOAD).
 *
 * `#!/usr/bin/env NAME` would spend the preloaded agent on env, which then executes NAME without it.
 * So env's part is done here: NAME is looked up in PATH and executed with the words that env would
 * have given it. Only that form (and `env -S NAME WORD...` without quotes) is taken over; others run
 * as they are.
 *
 * In `ld.so [OPTION]... PROGRAM`, by which bundles with a C library of their own are started, the
 * kernel executes the dynamic loader, and PROGRAM is the file to look at.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/base/say.h"
#include "cli/functions/elf-file.h"
#include "cli/functions/program.h"
#include "cli/ui/trace-options.h"
#include "injector/procfs/procfs.h"

#define PROGRAM_SCRIPT_DEPTH 5	/* as the kernel */
#define PROGRAM_ADDRESS_SPACE (UINT64_C(768) << 20)	/* bytes: the agent, lttng-ust's buffers, and a little program */

static int file_can_run(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || access(path, X_OK) < 0)
		return -EACCES;
	return 0;
}

char *program_path(const char *word)
{
	const char *path = getenv("PATH"), *end;
	int error = ENOENT, ret;
	char *file = NULL;

	if (strchr(word, '/')) {
		ret = file_can_run(word);
		errno = -ret;
		return ret < 0 ? NULL : strdup(word);
	}
	if (!path)
		path = "/bin:/usr/bin";
	for (; *word && path; path = *end ? end + 1 : NULL) {
		end = strchrnul(path, ':');
		if (asprintf(&file, "%.*s%s%s", (int) (end - path), path, end > path ? "/" : "./", word) < 0)
			return NULL;
		ret = file_can_run(file);
		if (ret == 0)
			return file;
		if (ret == -EACCES)
			error = EACCES;
		free(file);
	}
	errno = error;
	return NULL;
}

static int program_missing(const char *name, int error)
{
	struct stat st;

	if (error == ENOENT || error == ENOTDIR) {
		say_error("%s: command not found", name);
		return TRACE_STATUS_NO_FILE;
	}
	if (stat(name, &st) == 0 && S_ISDIR(st.st_mode))
		say_error("%s: is a directory, not a program", name);
	else
		say_error("%s: cannot be executed: %s", name, strerror(error));
	return TRACE_STATUS_NO_EXEC;
}

static int program_refuse(const struct program *p, const char *file, const char *why)
{
	if (strcmp(p->name, file) && strcmp(p->path, file))
		say_error("%s: its interpreter %s cannot be traced: %s", p->name, file, why);
	else
		say_error("%s: cannot be traced: %s", p->name, why);
	return TRACE_STATUS_ERROR;
}

/* Put n words before p->argv[skip] and what follows. */
static int program_argv_splice(struct program *p, char **words, int n, int skip)
{
	int count = 0, i;
	char **argv;

	while (p->argv[count])
		count++;
	argv = calloc((size_t) (n + count - skip) + 1, sizeof(*argv));
	if (!argv)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		argv[i] = strdup(words[i]);
		if (!argv[i])
			return -ENOMEM;
	}
	for (i = skip; i < count; i++)
		argv[n + i - skip] = p->argv[i];
	for (i = 0; i < skip; i++)
		free(p->argv[i]);
	free(p->argv);
	p->argv = argv;
	return 0;
}

static int program_is_env(const char *interpreter)
{
	return !strcmp(interpreter, "/usr/bin/env") || !strcmp(interpreter, "/bin/env");
}

/* `#!/usr/bin/env NAME`: do env's work. 1 when done and p->path is NAME's file, 0 when it is another form. */
static int program_follow_env(struct program *p, char *argument, const char *script)
{
	char *words[16], *save = NULL, *word, *path;
	int n = 0;

	if (!strncmp(argument, "-S", 2)) {
		if (strpbrk(argument, "\\'\"$#"))
			return 0;
		argument += 2;
		for (word = strtok_r(argument, " \t", &save); word && n < 14; word = strtok_r(NULL, " \t", &save))
			words[n++] = word;
		if (word)
			return 0;
	} else {
		words[n++] = argument;
	}
	if (!n || *words[0] == '-' || strchr(words[0], '='))
		return 0;
	path = program_path(words[0]);
	if (!path)
		return -errno;
	words[n++] = (char *) script;
	if (program_argv_splice(p, words, n, 1) < 0) {
		free(path);
		return -ENOMEM;
	}
	free(p->path);
	p->path = path;
	return 1;
}

/*
 * Take a `#!` line apart: *interpreter and *argument ("" when none) point into
 * `line`. 0 when the line names no interpreter.
 */
static int program_script_line(char *line, char **interpreter, char **argument)
{
	char *end = line + strcspn(line, "\n"), *at = line + 2 + strspn(line + 2, " \t");

	*end = '\0';
	while (end > at && strchr(" \t\r", end[-1]))
		*--end = '\0';
	*interpreter = at;
	at += strcspn(at, " \t");
	if (*at)
		*at++ = '\0';
	*argument = at + strspn(at, " \t");
	return **interpreter != '\0';
}

static int program_check_elf(struct program *p, const char *file, int fd, const struct elf_facts *facts)
{
	const char *loader = strrchr(facts->interp, '/');
	struct rlimit limit;
	struct stat st;

	if (facts->bits != 64)
		return program_refuse(p, file, facts->machine == EM_386 || facts->machine == EM_X86_64 ?
			"it is a 32-bit program; only x86-64 programs can be traced" :
			"it is not an x86-64 program");
	if (facts->machine != EM_X86_64)
		return program_refuse(p, file, "it was built for another machine than x86-64");
	if (facts->damaged)
		return program_refuse(p, file, "it is a damaged or truncated ELF file");
	/* ld.so would say on COMMAND's stderr that the agent, 270 MB of address space, cannot be preloaded */
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < PROGRAM_ADDRESS_SPACE)
		return program_refuse(p, file, "the limit on address space is too low for the tracer; raise it (ulimit -v)");
	if (!*facts->interp)
		return program_refuse(p, file, "it is statically linked: no agent can be loaded into it; "
			"what it executes can be traced with -p or --exec");
	if (!loader || strcmp(loader, "/ld-linux-x86-64.so.2")) {
		char why[400];

		snprintf(why, sizeof(why), "it is not linked with glibc (its loader is %s)", facts->interp);
		return program_refuse(p, file, why);
	}
	if (fstat(fd, &st) == 0 && st.st_mode & (S_ISUID | S_ISGID))
		return program_refuse(p, file, st.st_mode & S_ISUID ?
			"it is setuid; trace it while it runs with -p, as root" :
			"it is setgid; trace it while it runs with -p, as root");
	if (fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return program_refuse(p, file, "it has file capabilities; trace it while it runs with -p, as root");
	p->elf = strdup(file);
	if (!p->interp)
		p->interp = strdup(facts->interp);
	p->stripped = !facts->has_symtab;
	return p->elf && p->interp ? 0 : program_refuse(p, file, strerror(ENOMEM));
}

static int program_open(const struct program *p, const char *file, int *fd)
{
	*fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*fd >= 0)
		return 0;
	if (errno != EACCES)
		return program_missing(p->name, errno);
	say_error("%s: cannot be read: its functions cannot be found", file);
	return TRACE_STATUS_ERROR;
}

static int file_is_linker(int fd, const struct elf_facts *facts)
{
	char soname[64];

	return facts->bits == 64 && facts->machine == EM_X86_64 && !*facts->interp &&
		elf_soname_read(fd, soname, sizeof(soname)) == 0 && !strcmp(soname, "ld-linux-x86-64.so.2");
}

/* From the linker to the program that it loads. Returns -1 to go on with that in *file, else the exit status. */
static int program_follow_linker(struct program *p, char **file)
{
	int at = spi_linker_program(p->argv);

	if (!at)
		return program_refuse(p, *file, "its words name no program that the dynamic loader would run");
	if (!strchr(p->argv[at], '/')) {
		say_error("%s: name the program by a path: the dynamic loader looks for it among the libraries", p->argv[at]);
		return TRACE_STATUS_ERROR;
	}
	p->linker_words = at;
	p->interp = *file;
	*file = strdup(p->argv[at]);
	return *file ? -1 : program_refuse(p, p->interp, strerror(ENOMEM));
}

/* One step down the chain of interpreters. *file is replaced. Returns -1 to go on, else the exit status. */
static int program_step(struct program *p, char **file)
{
	char line[256], *interpreter, *argument, *next;
	struct elf_facts facts;
	ssize_t n = 0;
	int fd, ret;

	ret = program_open(p, *file, &fd);
	if (ret)
		return ret;
	ret = elf_facts_read(fd, &facts);
	if (ret == 0 && !p->is_script && !p->interp && file_is_linker(fd, &facts)) {
		close(fd);
		return program_follow_linker(p, file);
	}
	if (ret == 0 && p->interp && !facts.is_elf)
		ret = program_refuse(p, *file, "it is no ELF program, and its dynamic loader was named");
	else if (ret == 0 && facts.is_elf)
		ret = program_check_elf(p, *file, fd, &facts);
	else if (ret == 0)
		n = pread(fd, line, sizeof(line) - 1, 0);
	close(fd);
	if (ret < 0)
		return program_refuse(p, *file, strerror(-ret));
	if (ret || facts.is_elf)
		return ret;
	line[n > 0 ? n : 0] = '\0';
	if (n < 2 || memcmp(line, "#!", 2) || !program_script_line(line, &interpreter, &argument))
		return program_refuse(p, *file, "it is neither an ELF program nor a script with a #! line");
	ret = 0;
	p->is_script = 1;
	if (program_is_env(interpreter) && *argument && !strcmp(*file, p->path))
		ret = program_follow_env(p, argument, *file);
	if (ret < 0) {
		say_error("%s: its interpreter %s: %s", p->name, argument, strerror(-ret));
		return TRACE_STATUS_NO_FILE;
	}
	next = strdup(ret ? p->path : interpreter);
	if (!next)
		return program_refuse(p, *file, strerror(ENOMEM));
	ret = file_can_run(next);
	if (ret < 0)
		say_error("%s: its interpreter %s: %s", p->name, next, strerror(-ret));
	free(*file);
	*file = next;
	return ret == 0 ? -1 : ret == -ENOENT ? TRACE_STATUS_NO_FILE : TRACE_STATUS_NO_EXEC;
}

int program_check(struct program *p, char **argv)
{
	char *file;
	int depth, n = 0, ret;

	memset(p, 0, sizeof(*p));
	while (argv[n])
		n++;
	p->name = strdup(argv[0]);
	p->argv = calloc(1, sizeof(*p->argv));
	if (!p->name || !p->argv || program_argv_splice(p, argv, n, 0) < 0) {
		say_error("%s", strerror(ENOMEM));
		return TRACE_STATUS_ERROR;
	}
	p->path = program_path(p->name);
	if (!p->path)
		return program_missing(p->name, errno);
	file = strdup(p->path);
	ret = file ? -1 : program_refuse(p, p->path, strerror(ENOMEM));
	for (depth = 0; ret == -1; depth++) {
		if (depth > PROGRAM_SCRIPT_DEPTH)
			ret = program_refuse(p, file, "too many interpreters follow each other");
		else
			ret = program_step(p, &file);
	}
	free(file);
	return ret;
}

int program_names_another(const struct program *p)
{
	static const char between[] = " \t\n;&|()<>{}$`'\"=,";
	char *text, *word, *save = NULL, *path = NULL;
	struct stat st;
	int found = 0;

	for (char **arg = p->argv + p->linker_words + 1; p->argv[p->linker_words] && *arg && !found; arg++) {
		text = strdup(*arg);
		for (word = text ? strtok_r(text, between, &save) : NULL; word && !found; word = strtok_r(NULL, between, &save)) {
			path = program_path(word);
			found = path || (stat(word, &st) == 0 && S_ISREG(st.st_mode));
			free(path);
		}
		free(text);
	}
	return found;
}

void program_free(struct program *p)
{
	int i;

	for (i = 0; p->argv && p->argv[i]; i++)
		free(p->argv[i]);
	free(p->argv);
	free(p->name);
	free(p->path);
	free(p->elf);
	free(p->interp);
	memset(p, 0, sizeof(*p));
}
