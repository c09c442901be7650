/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * `lttng trace -l`: prototypes, one a line, as spi-codemap prints them. Of a process, each line begins
 * with the object and a colon, so that it can be copied behind -f as it stands. The analysis of a
 * large object takes a moment: on a terminal one line says which object it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/child.h"
#include "cli/base/say.h"
#include "cli/base/signals.h"
#include "cli/commands/commands.h"
#include "cli/functions/elf-file.h"
#include "cli/functions/func.h"
#include "cli/functions/objects.h"
#include "cli/functions/program.h"
#include "cli/functions/prototypes.h"
#include "cli/ui/trace-options.h"
#include "injector/base/paths.h"
#include "rules/harmless.h"

#define LIST_PROGRESS_MS	1000
#define LIST_NOTHING		3	/* spi-codemap: no function matches */

struct list {
	const struct trace_options *options;
	struct func *funcs;
	int signals;
	int matched;		/* objects that had something to show */
	int failed;		/* exit status, the first that was not 0 */
};

/* The arguments for one object; NULL when no FUNC is about it (*wanted = 0) or memory is short. */
static char **list_argv(const struct list *list, const struct object *object, int *wanted)
{
	unsigned int i, count = list->options->func_count;
	unsigned int prototypes = list->options->prototype_count;
	char **argv = calloc(2 * count + 2 * prototypes + 8, sizeof(*argv));
	size_t n = 0;

	*wanted = count == 0;
	if (!argv)
		return NULL;
	argv[n++] = (char *) "spi-codemap";
	argv[n++] = (char *) "list";
	for (i = 0; i < count; i++) {
		if (list->funcs[i].object && !object_matches(object, list->funcs[i].object))
			continue;
		argv[n++] = (char *) "--pattern";
		argv[n++] = (char *) list->funcs[i].pattern;
		*wanted = 1;
	}
	for (i = 0; i < prototypes; i++) {
		argv[n++] = (char *) "--prototypes";
		argv[n++] = (char *) list->options->prototypes[i];
	}
	argv[n++] = object->open;
	return argv;
}

/* Wait for the child; after a second tell a user at a terminal what takes so long. */
static int list_wait(const struct list *list, pid_t pid, const char *name, int *status)
{
	int shown = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO) && !say_quiet;
	int ret = child_wait(pid, shown ? LIST_PROGRESS_MS : -1, list->signals, status);

	if (ret == -ETIMEDOUT) {
		char shown_name[256];

		snprintf(shown_name, sizeof(shown_name), "%s", name);
		spi_make_harmless(shown_name, strlen(shown_name), "");
		dprintf(STDERR_FILENO, "Reading %s ...", shown_name);
		ret = child_wait(pid, -1, list->signals, status);
		dprintf(STDERR_FILENO, "\r\033[K");
	}
	return ret;
}

/* Exit status of a child that was not interrupted; our own for one that never ran. */
static int list_status(const char *name, int ret, int status)
{
	if (ret < 0) {
		say_error("%s: %s", name, strerror(-ret));
		return TRACE_STATUS_ERROR;
	}
	if (WIFSIGNALED(status)) {
		if (WTERMSIG(status) == SIGPIPE)
			signals_die(SIGPIPE);
		say_error("%s: spi-codemap was ended by signal %d", name, WTERMSIG(status));
		return TRACE_STATUS_ERROR;
	}
	return WEXITSTATUS(status);
}

static int list_interrupted(int ret)
{
	int signal;

	if (ret != -EINTR)
		return 0;
	signal = signals_next(NULL);
	if (signal)
		signals_die(signal);
	return 1;
}

/* One object straight to our stdout. */
static int list_object(struct list *list, const struct object *object)
{
	struct child_options child = { .path = spi_path_codemap(), .in = -1, .out = -1, .err = -1 };
	int wanted, status = 0, ret;
	pid_t pid;

	child.argv = list_argv(list, object, &wanted);
	if (!child.argv || !wanted) {
		free((void *) child.argv);
		say_error("%s: -f names another object", object->name);
		return TRACE_STATUS_ERROR;
	}
	pid = child_spawn(&child);
	free((void *) child.argv);
	ret = pid < 0 ? (int) pid : list_wait(list, pid, object->name, &status);
	if (ret == -EINTR)
		child_end(pid, 1000);
	list_interrupted(ret);
	status = list_status(object->name, ret, status);
	return status == 0 ? 0 : TRACE_STATUS_ERROR;
}

static int list_print(const char *prefix, char *text)
{
	char *line, *save = NULL;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		spi_put_harmless(prefix, strlen(prefix), stdout);
		putchar(':');
		spi_put_harmless(line, strlen(line), stdout);
		if (putchar('\n') < 0)
			return -errno;
	}
	return fflush(stdout) ? -errno : 0;
}

/* One of a process's objects, with its name before each line. */
static int list_mapped(struct list *list, const struct object *object)
{
	struct child_options child = { .path = spi_path_codemap(), .in = -1, .out = -1, .err = -1 };
	char *out = NULL, *err = NULL;
	int wanted, status = 0, ret;

	child.argv = list_argv(list, object, &wanted);
	if (!child.argv || !wanted) {
		free((void *) child.argv);
		return 0;
	}
	ret = child_capture(&child, list->signals, &out, &err, &status);
	free((void *) child.argv);
	list_interrupted(ret);
	status = list_status(object->name, ret, status);
	if (status == 0) {
		list->matched++;
		if (err && *err)	/* what of its debug info cannot be read */
			fputs(err, stderr);
		ret = list_print(object->name, out);
		if (ret == -EPIPE)
			signals_die(SIGPIPE);
		if (ret < 0) {
			say_error("the list cannot be written: %s", strerror(-ret));
			status = TRACE_STATUS_ERROR;
		}
	} else if (status != LIST_NOTHING && err && *err) {
		err[strcspn(err, "\n")] = '\0';
		say_warning("%s", err);
	}
	if (status && status != LIST_NOTHING)
		list->failed = TRACE_STATUS_ERROR;
	free(out);
	free(err);
	return ret < 0 ? ret : 0;
}

static int list_process(struct list *list)
{
	struct objects objects = { 0 };
	int ret = objects_of_process(&objects, list->options->pids[0]);
	unsigned int i;

	if (ret == -ENOENT || ret == -ESRCH)
		say_error("%d: no such process", (int) list->options->pids[0]);
	else if (ret < 0)
		say_error("%d: its loaded objects cannot be read: %s%s", (int) list->options->pids[0], strerror(-ret),
			ret == -EACCES || ret == -EPERM ? ": it is another user's process; try as root" : "");
	for (i = 0; ret == 0 && i < objects.count; i++)
		ret = list_mapped(list, &objects.list[i]);
	objects_free(&objects);
	if (ret == 0 && !list->matched && !list->failed) {
		say_error("%d: no function of its objects matches", (int) list->options->pids[0]);
		return TRACE_STATUS_ERROR;
	}
	/* What one broken or foreign object hides must not hide the others. */
	return ret < 0 || !list->matched ? TRACE_STATUS_ERROR : 0;
}

/* The functions of a static program can be seen, and that is all. */
static void list_say_static(const char *file)
{
	struct elf_facts facts;
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (elf_facts_read(fd, &facts) == 0 && elf_is_static(fd, &facts))
		say_warning("%s is statically linked: its functions cannot be traced, as no agent can be loaded into it", file);
	close(fd);
}

/* A script has no functions; what it is for. 1: an error was said. */
static int list_refuse_script(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK), n = 0;
	char line[256], *word = line + 2;

	if (fd < 0)
		return 0;
	n = (int) read(fd, line, sizeof(line) - 1);
	close(fd);
	if (n < 2 || memcmp(line, "#!", 2))
		return 0;
	line[n] = '\0';
	word[strcspn(word, "\n")] = '\0';
	word += strspn(word, " \t");
	say_error("%s: a script: list the functions of its interpreter (%s)", file, *word ? word : "none is named");
	return 1;
}

/* A file by its path; else a program by its name, as COMMAND would be found. */
static int list_binary(struct list *list)
{
	char *word = list->options->command[0], *path = NULL;
	struct object object = { 0 };
	const char *slash;
	int ret;

	if (!strchr(word, '/') && access(word, F_OK) < 0)
		path = program_path(word);
	object.open = path ? path : word;
	slash = strrchr(object.open, '/');
	object.name = object.real = (char *) (slash ? slash + 1 : object.open);
	if (!path && access(word, F_OK) < 0) {
		say_error("%s: %s", word, errno == ENOENT ? "no such file, and no such program in PATH" : strerror(errno));
		return TRACE_STATUS_ERROR;
	}
	ret = list_refuse_script(object.open) ? TRACE_STATUS_ERROR : list_object(list, &object);
	if (ret == 0)
		list_say_static(object.open);
	free(path);
	return ret;
}

int trace_list(const struct trace_options *options)
{
	struct prototype_files files = { NULL, 0 };
	struct list list = { .options = options };
	unsigned int i, n = 0;
	int ret = 0;

	list.signals = signals_take();
	list.funcs = calloc(options->func_count + 1, sizeof(*list.funcs));
	for (i = 0; list.funcs && i < options->func_count && ret == 0; i++, n++)
		ret = func_parse(&list.funcs[i], options->funcs[i], NULL);
	if (list.signals < 0 || !list.funcs || ret < 0) {
		say_error("%s", strerror(list.signals < 0 ? -list.signals : ENOMEM));
		ret = TRACE_STATUS_ERROR;
	} else if (!spi_path_codemap()) {
		say_error("spi-codemap is not installed: run make, or make install");
		ret = TRACE_STATUS_ERROR;
	} else {
		/* spi-codemap finds those of the directory itself */
		ret = options->prototype_count ? prototype_files_find(&files, options->prototypes, options->prototype_count) : 0;
		prototype_files_free(&files);
		if (ret == 0)
			ret = options->pid_count ? list_process(&list) : list_binary(&list);
	}
	for (i = 0; list.funcs && i < n; i++)
		func_free(&list.funcs[i]);
	free(list.funcs);
	return ret;
}
