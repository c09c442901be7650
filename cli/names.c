/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * FUNC is [OBJECT:]PATTERN. A `:` that stands alone separates, `::` belongs to a
 * C++ name; nothing behind a `(` or `<` separates, for those begin a C++
 * parameter or template list. Whether PATTERN matches is asked of `spi-codemap
 * find` over all objects at once, which is also what the agent's code maps are
 * made by: the two cannot disagree.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/child.h"
#include "cli/names.h"
#include "cli/objects.h"
#include "cli/options.h"
#include "cli/say.h"
#include "cli/tree.h"
#include "injector/paths.h"

static const char *func_separator(const char *text)
{
	const char *at;

	for (at = text; *at && !strchr("(<", *at); at++) {
		if (*at != ':')
			continue;
		if (at[1] != ':' || at[2] == ':')
			return at > text ? at : NULL;
		at++;	/* `::` */
	}
	return NULL;
}

int func_parse(struct func *func, const char *text, const struct spi_tree_options *tree)
{
	const char *colon = func_separator(text), *at;

	memset(func, 0, sizeof(*func));
	func->text = text;
	func->tree = tree;
	func->pattern = colon ? colon + 1 : text;
	if (colon) {
		func->object = strndup(text, (size_t) (colon - text));
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

static void say_near(const char *problem, char *near)
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
	if (used)
		say_error("%s; did you mean: %s?", problem, list);
	else
		say_error("%s", problem);
}

/* `*` is the program, not the world: as the agent reads a rule without object (liblttng-spi/rule.c). */
static int func_means_executable(const struct func *func)
{
	return strchr("*?[", *func->pattern) != NULL;
}

static int func_unknown(const struct func *func, const char *whose, int stripped, unsigned int objects, char *near)
{
	const char *debug = stripped ? " (stripped of its symbols: install its -dbg or -dbgsym package)" : "";
	const int is_named = strncmp(func->pattern, "0x", 2);
	char problem[1024];

	if (func->object)
		snprintf(problem, sizeof(problem), "%s: %s %s in %s", func->text,
			func->is_glob ? "no function matches" : "no function", func->pattern, func->object);
	else if (func_means_executable(func))
		snprintf(problem, sizeof(problem), "%s: no function matches in %s%s; OBJECT:%s is for a library",
			func->text, whose, debug, func->pattern);
	else
		snprintf(problem, sizeof(problem), "%s: %s in %s%s and its %u libraries%s%s%s", func->text,
			func->is_glob ? "no function matches" : "no such function", whose, debug, objects - 1,
			is_named ? "; LIBRARY.so:" : "", is_named ? func->pattern : "", is_named ? " waits for one that is loaded later" : "");
	say_near(problem, near);
	return TRACE_STATUS_ERROR;
}

/*
 * No loaded object has that file name. A shared library may still be loaded
 * later (a plugin, an extension module), or that of a program which is executed.
 * Anything else can only be a mistake.
 */
static int func_object_absent(struct func *func, const struct objects *objects, const char *whose)
{
	char list[1024];
	size_t used = 0;
	unsigned int i;

	if (strstr(func->object, ".so")) {
		say_warning("%s: %s has no %s at its start: %s", func->text, whose, func->object,
			func->tree && func->tree->unfollowed & SPI_TREE_DLOPEN ?
			"with this --follow it is traced in programs that are executed with it" :
			"it is traced from when it is loaded, there or in a program that is executed");
		func->is_late = 1;
		return func_make_rule(func, NULL, 0) < 0 ? TRACE_STATUS_ERROR : 0;
	}
	for (i = 0; i < objects->count && used < sizeof(list); i++)
		used += (size_t) snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
			objects->list[i].name);
	say_error("%s: %s has no object %s; it has: %s", func->text, whose, func->object, list);
	return TRACE_STATUS_ERROR;
}

static int func_find(struct func *func, const struct objects *objects, const char *whose, int stripped, int stop_fd)
{
	char **argv = calloc(objects->count + 6, sizeof(*argv)), *out = NULL, *err = NULL;
	struct child_options child = { .path = spi_path_codemap(), .argv = argv, .in = -1, .out = -1, .err = -1 };
	const struct object *first = NULL;
	unsigned int i, n = 0;
	int status = 0, ret;

	if (!argv || !*func->pattern || *func->pattern == '-') {
		say_error("%s: %s", func->text, argv ? "names no function" : strerror(ENOMEM));
		free(argv);
		return TRACE_STATUS_ERROR;
	}
	argv[n++] = (char *) "spi-codemap";
	argv[n++] = (char *) "find";
	/* no --root: what is opened for a process in a container is named from here (objects.c) */
	argv[n++] = (char *) func->pattern;
	for (i = 0; i < objects->count; i++) {
		if (func->object ? !object_matches(&objects->list[i], func->object) : i && func_means_executable(func))
			continue;
		if (!first)
			first = &objects->list[i];
		argv[n++] = objects->list[i].open;
	}
	if (!first) {
		free(argv);
		return func_object_absent(func, objects, whose);
	}
	ret = child_capture(&child, stop_fd, &out, &err, &status);
	free(argv);
	if (ret < 0 && ret != -EINTR)
		say_error("%s: %s", spi_path_codemap(), strerror(-ret));
	else if (ret == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		ret = func_make_rule(func, first, first == objects->list);
	else if (ret == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 1 && !*err)
		ret = func_unknown(func, whose, stripped && !func->object, objects->count, out);
	else if (ret == 0) {
		err[strcspn(err, "\n")] = '\0';
		say_error("%s: %s", func->text, *err ? err : "spi-codemap failed");
		ret = TRACE_STATUS_ERROR;
	}
	free(out);
	free(err);
	return ret == -EINTR || ret >= 0 ? ret : TRACE_STATUS_ERROR;
}

/* What was found becomes the root in a tree's rule. */
static int func_make_tree(struct func *func)
{
	char text[SPI_TREE_RULE_MAX], why[256] = "";
	int ret = spi_tree_rule(func->rule, func->tree, NULL, text, sizeof(text), why);

	free(func->rule);
	func->rule = ret ? NULL : strdup(text);
	if (ret || !func->rule)
		say_error("%s: %s", tree_title(func->text), *why ? why : strerror(ret ? -ret : ENOMEM));
	return func->rule ? 0 : TRACE_STATUS_ERROR;
}

int func_resolve(struct func *func, const struct objects *objects, const char *whose, int stripped, int stop_fd)
{
	int ret = 0;

	if (!func->tree)
		return func_find(func, objects, whose, stripped, stop_fd);
	/* The agent knows where main() is without a symbol. */
	if (*func->text && strcmp(func->text, "main"))
		ret = func_find(func, objects, whose, stripped, stop_fd);
	else
		func->rule = strdup(func->text);
	if (ret || !func->rule)
		return ret ? ret : TRACE_STATUS_ERROR;
	return func_make_tree(func);
}
