/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * FUNC is [OBJECT:]PATTERN. A `:` that stands alone separates, and `::` belongs to a C++ name. Nothing
 * behind a `(` or `<` separates, for those begin a C++ parameter or template list.
 *
 * `spi-codemap map --which` tells for all files at once whether PATTERNs match. The agent's code maps
 * are made by the same program, so the two cannot disagree. `spi-codemap find` tells which function a
 * PATTERN that matches nowhere may have been meant for.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cli/base/child.h"
#include "cli/base/say.h"
#include "cli/functions/func.h"
#include "cli/functions/objects.h"
#include "cli/ui/trace-options.h"
#include "cli/ui/tree-options.h"
#include "injector/base/paths.h"
#include "injector/control/control.h"

int func_parse(struct func *func, const char *text, const struct spi_rule *tree)
{
	const char *function = spi_target_function(text), *at;

	memset(func, 0, sizeof(*func));
	func->text = text;
	func->tree = tree;
	func->pattern = function;
	if (function != text) {
		func->object = strndup(text, (size_t) (function - 1 - text));
		if (!func->object)
			return -ENOMEM;
	}
	func->is_glob = strpbrk(func->pattern, "*?[") != NULL;
	func->is_plain = isalpha((unsigned char) *func->pattern) || *func->pattern == '_';
	/* What is named as the linker does is recorded under its name in the source. */
	if (!strncmp(func->pattern, "_Z", 2) || !strncmp(func->pattern, "_R", 2))
		func->is_plain = 0;
	for (at = func->pattern; *at; at++)
		if (!isalnum((unsigned char) *at) && *at != '_')
			func->is_plain = 0;
	return 0;
}

void func_free(struct func *func)
{
	free(func->object);
	free(func->rule);
	free(func->recorded);
	memset(func, 0, sizeof(*func));
}

/*
 * The agent knows the executable by the name behind symbolic links (python3 is
 * python3.11) and a library by the one that the dynamic linker uses.
 */
static int func_make_rule(struct func *func, const struct object *object, int is_executable)
{
	if (!func->object)
		func->rule = strdup(func->text);
	else if (!object || strpbrk(func->object, "*?["))
		func->rule = strdup(func->text);
	else if (asprintf(&func->rule, "%s:%s", is_executable ? object->real : object->name, func->pattern) < 0)
		func->rule = NULL;
	return func->rule ? 0 : -ENOMEM;
}

/* "a\nb\nc\n" to "a, b, c". */
static void lines_to_list(char *lines)
{
	size_t n = strlen(lines);
	char *at;

	while (n && lines[n - 1] == '\n')
		lines[--n] = '\0';
	for (at = lines; *at; at++)
		if (*at == '\n')
			*at = at[1] ? '\v' : '\0';
}

static void say_near(const char *problem, char *near, int is_warning)
{
	char list[1024];
	size_t used = 0;
	char *at;

	lines_to_list(near);
	for (at = near; *at && used < sizeof(list) - 3; at++) {
		if (*at == '\v')
			list[used++] = ',';
		list[used++] = *at == '\v' ? ' ' : *at;
	}
	list[used] = '\0';
	(is_warning ? say_warning : say_error)("%s%s%s%s", problem, used ? "; did you mean: " : "", list, used ? "?" : "");
}

/* `*` is the program, not the world: as the agent reads a rule without object. */
static int func_means_executable(const struct func *func)
{
	return spi_rule_is_wild(func->pattern);
}

/* Each program that comes is given the rule, and is traced where it has the function. */
static int func_wait(struct func *func)
{
	func->is_late = 1;
	return func_make_rule(func, NULL, 0) < 0 ? TRACE_STATUS_ERROR : 0;
}

static int func_unknown(struct func *func, const char *whose, int stripped, const struct objects *objects, char *near)
{
	const char *debug = stripped ? " (stripped of its symbols: install its -dbg or -dbgsym package)" : "";
	const int is_named = strncmp(func->pattern, "0x", 2);
	char problem[1024];

	if (func->is_optional)
		return func_wait(func);
	if (objects->executes)
		snprintf(problem, sizeof(problem), "%s: %s in %s: it is looked for in the programs that %s executes", func->text,
			func->is_glob ? "no function matches" : "no such function", func->object ? func->object : whose, whose);
	else if (func->object)
		snprintf(problem, sizeof(problem), "%s: %s %s in %s", func->text,
			func->is_glob ? "no function matches" : "no function", func->pattern, func->object);
	else if (func_means_executable(func))
		snprintf(problem, sizeof(problem), "%s: no function matches in %s%s; OBJECT:%s is for a library",
			func->text, whose, debug, func->pattern);
	else
		snprintf(problem, sizeof(problem), "%s: %s in %s%s and its %u libraries%s%s%s", func->text,
			func->is_glob ? "no function matches" : "no such function", whose, debug, objects->count - 1,
			is_named ? "; LIBRARY.so:" : "", is_named ? func->pattern : "", is_named ? " waits for one that is loaded later" : "");
	say_near(problem, near, objects->executes);
	return objects->executes ? func_wait(func) : TRACE_STATUS_ERROR;
}

/*
 * No loaded object has that file name. A shared library may still be loaded
 * later (a plugin, an extension module), or that of a program which is executed, or
 * it is that program. Anything else can only be a mistake.
 */
static int func_object_absent(struct func *func, const struct objects *objects, const char *whose)
{
	char list[1024];
	size_t used = 0;
	unsigned int i;

	if (strstr(func->object, ".so")) {
		say_warning("%s: %s has no %s at its start: %s", func->text, whose, func->object,
			func->tree && func->tree->unfollowed & SPI_FOLLOW_DLOPEN ?
			"with this --follow it is traced in programs that are executed with it" :
			"it is traced from when it is loaded, there or in a program that is executed");
		return func_wait(func);
	}
	if (objects->executes) {
		say_warning("%s: %s is not %s: the function is looked for in the programs that %s executes", func->text, whose, func->object,
			whose);
		return func_wait(func);
	}
	for (i = 0; i < objects->count && used < sizeof(list); i++)
		used += (size_t) snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
			objects->list[i].name);
	say_error("%s: %s has no object %s; it has: %s", func->text, whose, func->object, list);
	return TRACE_STATUS_ERROR;
}

/* May FUNC mean functions of this object, the first of its process or not? */
static int func_concerns(const struct func *func, const struct object *object, int is_first)
{
	if (func->tree && (!*func->text || !strcmp(func->text, "main")))	/* the agent knows where main() is without a symbol */
		return 0;
	return func->object ? object_matches(object, func->object) : is_first || !func_means_executable(func);
}

/* The one of them that is the same file. */
static struct object *same_file(struct object *const *list, unsigned int count, const struct stat *st)
{
	for (unsigned int i = 0; i < count; i++)
		if (list[i]->st.st_dev == st->st_dev && list[i]->st.st_ino == st->st_ino)
			return list[i];
	return NULL;
}

/* One run for all files; each is answered in `func_count` characters. */
static int files_ask(const struct func *funcs, unsigned int func_count, struct object *const *files, unsigned int count, int stop_fd)
{
	char **argv = calloc(5 + 2 * func_count + count, sizeof(*argv)), *out = NULL, *err = NULL;
	struct child_options child = { .path = spi_path_codemap(), .argv = argv, .in = -1, .out = -1, .err = -1 };
	int status = 0, ret = argv ? 0 : -ENOMEM;
	unsigned int i, n = 0;

	if (argv) {
		argv[n++] = (char *) "spi-codemap";
		argv[n++] = (char *) "map";
		argv[n++] = (char *) "--which";
		for (i = 0; i < func_count; i++) {
			argv[n++] = (char *) "--pattern";
			argv[n++] = (char *) funcs[i].pattern;
		}
		argv[n++] = (char *) "--";
		/* no --root: what is opened for a process in a container is named from here (objects.c) */
		for (i = 0; i < count; i++)
			argv[n++] = files[i]->open;
		ret = child_capture(&child, stop_fd, &out, &err, &status);
	}
	for (i = 0; ret == 0 && !status && strlen(out) == (size_t) func_count * count && i < count; i++) {
		char *has = strndup(out + (size_t) i * func_count, func_count);

		if (has) {
			free(files[i]->has);
			files[i]->has = has;
		}
	}
	free(argv);
	free(out);
	free(err);
	return ret == -EINTR ? ret : 0;
}

int funcs_look(const struct func *funcs, unsigned int count, struct objects *const *lists, unsigned int list_count, int stop_fd)
{
	unsigned int room = 0, n = 0, i, k, f;
	struct object **files, *same;
	int ret;

	for (i = 0; i < list_count; i++)
		room += lists[i]->count;
	files = calloc(room + 1, sizeof(*files));
	for (i = 0; files && i < list_count; i++)
		for (k = 0; k < lists[i]->count; k++) {
			struct object *o = &lists[i]->list[k];

			for (f = 0; f < count && !func_concerns(&funcs[f], o, k == 0); f++)
				;
			if (stat(o->open, &o->st) == 0 && f < count && !same_file(files, n, &o->st))
				files[n++] = o;
		}
	ret = n ? files_ask(funcs, count, files, n, stop_fd) : 0;
	for (i = 0; files && i < list_count; i++)
		for (k = 0; k < lists[i]->count; k++) {
			struct object *o = &lists[i]->list[k];
			char *has = *o->has || !(same = same_file(files, n, &o->st)) ? NULL : strdup(same->has);

			if (has) {
				free(o->has);
				o->has = has;
			}
		}
	free(files);
	return ret;
}

void funcs_tell_lacks(const struct func *funcs, unsigned int count, const struct objects *objects, struct spi_control *control)
{
	const char **patterns = calloc(count + 1, sizeof(*patterns));
	unsigned int i, f, n;

	/* the files of another root may have debug symbols there, which were not looked for */
	for (i = 0; patterns && !objects->root && i < objects->count; i++) {
		const struct object *o = &objects->list[i];

		for (f = n = 0; *o->has && f < count; f++)
			if (o->has[f] == '0' && !funcs[f].tree)
				patterns[n++] = funcs[f].pattern;
		if (n)
			spi_control_lacks(control, &o->st, patterns, n);
	}
	free(patterns);
}

static int func_find(struct func *func, unsigned int index, const struct objects *objects, const char *whose, int stripped, int stop_fd)
{
	char **argv = calloc(objects->count + 7, sizeof(*argv)), *out = NULL, *err = NULL;
	struct child_options child = { .path = spi_path_codemap(), .argv = argv, .in = -1, .out = -1, .err = -1 };
	const struct object *first = NULL;
	unsigned int i, n = 0, found = 0, unknown = 0;
	int status = 0, ret;

	if (!argv || !*func->pattern) {
		say_error("%s: %s", func->text, argv ? "names no function" : strerror(ENOMEM));
		free(argv);
		return TRACE_STATUS_ERROR;
	}
	argv[n++] = (char *) "spi-codemap";
	argv[n++] = (char *) "find";
	/* no --root: what is opened for a process in a container is named from here (objects.c) */
	argv[n++] = (char *) "--";
	argv[n++] = (char *) func->pattern;
	for (i = 0; i < objects->count; i++) {
		const char *has = objects->list[i].has;

		if (!func_concerns(func, &objects->list[i], i == 0))
			continue;
		if (!first)
			first = &objects->list[i];
		found += *has && has[index] == '1';
		unknown += !*has;
		argv[n++] = objects->list[i].open;
	}
	if (!first) {
		free(argv);
		return func_object_absent(func, objects, whose);
	}
	if (!found && !unknown && func->is_optional) {
		free(argv);
		return func_wait(func);
	}
	/* nothing else is to be said, or nobody is to be told what else there is */
	if (found || (!unknown && say_quiet)) {
		free(argv);
		return !found || func_make_rule(func, first, first == objects->list) < 0 ? TRACE_STATUS_ERROR : 0;
	}
	ret = child_capture(&child, stop_fd, &out, &err, &status);
	free(argv);
	if (ret < 0 && ret != -EINTR)
		say_error("%s: %s", spi_path_codemap(), strerror(-ret));
	else if (ret == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		ret = func_make_rule(func, first, first == objects->list);
	else if (ret == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 1 && !*err)
		ret = func_unknown(func, whose, stripped && !func->object, objects, out);
	else if (ret == 0) {
		err[strcspn(err, "\n")] = '\0';
		say_error("%s: %s", func->text, *err ? err : "spi-codemap failed");
		ret = TRACE_STATUS_ERROR;
	}
	free(out);
	free(err);
	return ret == -EINTR || ret >= 0 ? ret : TRACE_STATUS_ERROR;
}

/* What was found becomes the target of a rule with options. */
static int func_make_rule_of(struct func *func, const struct spi_rule_kind *kind, const struct spi_rule *asked)
{
	char text[SPI_RULE_TEXT_MAX], room[SPI_RULE_TEXT_MAX], why[SPI_RULE_WHY] = "";
	struct spi_rule rule = *asked;
	int ret;

	rule.kind = kind;
	ret = spi_rule_set_target(&rule, func->rule, room, sizeof(room), why);
	if (ret == 0)
		ret = spi_rule_write(&rule, SPI_FORM_AGENT, text, sizeof(text));
	free(func->rule);
	func->rule = ret ? NULL : strdup(text);
	if (ret == 0 && func->is_recorded) {
		rule.payloads.count = rule.payload_args.count = 0;
		ret = spi_rule_write(&rule, SPI_FORM_AGENT, text, sizeof(text));
		func->recorded = ret ? NULL : strdup(text);
	}
	if (ret || !func->rule)
		say_error("%s: %s", tree_title(func->text), *why ? why : strerror(ret ? -ret : ENOMEM));
	return func->rule ? 0 : TRACE_STATUS_ERROR;
}

int func_resolve(struct func *func, unsigned int index, const struct objects *objects, const char *whose, int stripped, int stop_fd)
{
	int ret = 0;

	if (!func->tree) {
		ret = func_find(func, index, objects, whose, stripped, stop_fd);
		return ret || !func->asked ? ret : func_make_rule_of(func, spi_kind_call, func->asked);
	}
	/* The agent knows where main() is without a symbol. */
	if (*func->text && strcmp(func->text, "main"))
		ret = func_find(func, index, objects, whose, stripped, stop_fd);
	else
		func->rule = strdup(func->text);
	if (ret || !func->rule)
		return ret ? ret : TRACE_STATUS_ERROR;
	return func_make_rule_of(func, spi_kind_tree, func->tree);
}

int func_resolve_anywhere(struct func *func)
{
	const struct spi_rule *asked = func->tree ? func->tree : func->asked;

	func->rule = strdup(func->text);
	if (!func->rule) {
		say_error("%s", strerror(ENOMEM));
		return TRACE_STATUS_ERROR;
	}
	return asked ? func_make_rule_of(func, func->tree ? spi_kind_tree : spi_kind_call, asked) : 0;
}

int func_rule_on_message(const char *text, char *to, size_t size)
{
	char room[SPI_RULE_TEXT_MAX], why[SPI_RULE_WHY];
	struct spi_rule rule;
	int ret = spi_rule_read(&rule, text, SPI_FORM_AGENT, room, sizeof(room), why);

	rule.on_message = 1;
	rule.after = rule.on_signal = 0;
	rule.ipc = rule.ipc ?: SPI_CHANNELS_ALL;	/* its payload asks for them */
	return ret ?: spi_rule_write(&rule, SPI_FORM_AGENT, to, size);
}
