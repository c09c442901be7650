/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * COMMAND's environment: LD_PRELOAD and the LTTNG_SPI_ variables that the agent
 * reads. The agent takes all of them out again before main()
 * (liblttng-spi/base/env.c), and gives back what LTTNG_SPI_SAVED_<NAME> holds, so that
 * neither COMMAND nor its children see a difference.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/child.h"
#include "cli/base/say.h"
#include "cli/functions/program.h"
#include "cli/run/launch.h"
#include "injector/base/paths.h"

#define REGISTER_TIMEOUT	"LTTNG_UST_REGISTER_TIMEOUT"
#define REGISTER_TIMEOUT_MS	"60000"	/* lttng-ust's own 3 s are short where many programs begin at once: they run unrecorded then */

int launch_check(void)
{
	const char *agent = spi_path_agent();

	if (!agent || !spi_path_tp() || !spi_path_codemap()) {
		say_error("%s is not installed: run make, or make install",
			!agent ? "liblttng-spi.so.0" : !spi_path_tp() ? "liblttng-spi-tp.so" : "spi-codemap");
		return -1;
	}
	/* The dynamic linker splits LD_PRELOAD at both and knows no quoting. */
	if (strpbrk(agent, " :")) {
		say_error("%s: a path with a space or colon cannot be preloaded: install lttng-spi elsewhere", agent);
		return -1;
	}
	return 0;
}

static int is_variable(const char *entry, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(entry, name, n) && entry[n] == '=';
}

/* Left out of the copy: what is set anew, and a request that would compete with ours. */
static int is_replaced(const char *entry)
{
	return is_variable(entry, "LD_PRELOAD") || is_variable(entry, REGISTER_TIMEOUT) ||
	       is_variable(entry, "LTTNG_SPI_SOCKET") || is_variable(entry, "LTTNG_SPI_TP") ||
	       is_variable(entry, "LTTNG_SPI_FOLLOW") || is_variable(entry, "LTTNG_SPI_RULES") || is_variable(entry, "LTTNG_SPI_CODEMAP");
}

static int env_add(char **env, size_t *n, const char *name, const char *value, const char *more)
{
	if (asprintf(&env[*n], "%s=%s%s%s", name, value, more ? ":" : "", more ? more : "") < 0)
		return -ENOMEM;
	(*n)++;
	return 0;
}

#define LAUNCH_ADDED 7	/* variables that launch_env() may set */

/* A NULL-terminated copy of our environment with the agent's variables; *own entries at its start are malloc'ed. */
static char **launch_env(const char *socket, const char *follow, size_t *own)
{
	const char *preload = getenv("LD_PRELOAD"), *timeout = getenv(REGISTER_TIMEOUT);
	size_t count = 0, n, i;
	char **env;
	int ret;

	while (environ[count])
		count++;
	env = calloc(count + LAUNCH_ADDED + 1, sizeof(*env));
	if (!env)
		return NULL;
	*own = 0;
	ret = env_add(env, own, "LD_PRELOAD", spi_path_agent(), preload && *preload ? preload : NULL);
	if (!ret)
		ret = env_add(env, own, "LTTNG_SPI_SOCKET", socket, NULL);
	if (!ret && follow)
		ret = env_add(env, own, "LTTNG_SPI_FOLLOW", follow, NULL);
	if (!ret)
		ret = env_add(env, own, "LTTNG_SPI_TP", spi_path_tp(), NULL);
	if (!ret)
		ret = env_add(env, own, "LTTNG_SPI_CODEMAP", spi_path_codemap(), NULL);
	if (!ret)
		ret = env_add(env, own, REGISTER_TIMEOUT, timeout ? timeout : REGISTER_TIMEOUT_MS, NULL);
	if (!ret && !timeout)
		ret = env_add(env, own, "LTTNG_SPI_SAVED_" REGISTER_TIMEOUT, "", NULL);
	n = *own;
	for (i = 0; i < count && !ret; i++)
		if (!is_replaced(environ[i]))
			env[n++] = environ[i];
	return env;
}

pid_t launch(const struct program *program, const char *socket, const char *follow)
{
	struct child_options child = { .path = program->path, .argv = program->argv, .in = -1, .out = -1, .err = -1,
		.flags = CHILD_COMMAND };
	size_t own = 0, i;
	char **env = launch_env(socket, follow, &own);
	pid_t pid;

	if (!env)
		return -ENOMEM;
	child.env = env;
	pid = child_spawn(&child);
	for (i = 0; i < own; i++)
		free(env[i]);
	free(env);
	return pid;
}
