/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The environment of a program that is executed and shall be traced as well: the
 * caller's, in the same order, with the agent in LD_PRELOAD and the variables that
 * tell it where its controller is. env.c took these out of this process's own
 * environment before main(), and will do so in the new one's.
 *
 * The caller's array is not touched, as vforked children have their parent's. What
 * is added is made once, before main().
 */
#include <dlfcn.h>
#include <string.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/process/internal.h"

#define TIMEOUT		"LTTNG_UST_REGISTER_TIMEOUT="
#define OWN_MAX		10u

static char own_text[8192];
static char *own[OWN_MAX];
static unsigned int own_count;

static void own_add(const char *name, const char *value)
{
	static size_t used;
	size_t left = sizeof(own_text) - used;
	int n;

	if (!value || own_count == OWN_MAX)
		return;
	n = spi_format(own_text + used, left, "%s=%s", name, value);
	if ((size_t) n >= left)
		return;
	own[own_count++] = own_text + used;
	used += (size_t) n + 1;
}

static char socket_entry[17 + 128] = "LTTNG_SPI_SOCKET=", agent_path[4096];
#define SOCKET_PATH	(socket_entry + 17)

/* This library's file, where no environment named it. */
static void agent_find(void)
{
	Dl_info self;

	if (spi_env.agent)
		spi_format(agent_path, sizeof(agent_path), "%s", spi_env.agent);
	else if (dladdr(own_text, &self) && self.dli_fname && self.dli_fname[0] == '/' && strlen(self.dli_fname) < sizeof(agent_path))
		spi_format(agent_path, sizeof(agent_path), "%s", self.dli_fname);
	if (strpbrk(agent_path, " :"))		/* the dynamic linker knows no quoting */
		agent_path[0] = 0;
}

void spi_exec_env_init(const char *path, size_t size)
{
	if (!path && spi_env.socket) {
		path = spi_env.socket;
		size = strlen(path) + 1;
	}
	if (!path || size > sizeof(socket_entry) - 17 || !memchr(path, 0, size) || *path != '/')
		return;
	if (strcmp(SOCKET_PATH, path))		/* who executes something in this moment may miss the new controller */
		memcpy(SOCKET_PATH, path, strlen(path) + 1);
	if (own_count)
		return;
	agent_find();
	if (!agent_path[0])
		return;
	own_add("LTTNG_SPI_TP", spi_env.tp);
	own_add("LTTNG_SPI_CODEMAP", spi_env.codemap);
	own_add("LTTNG_SPI_CACHE", spi_env.cache);
	own_add("LTTNG_SPI_DEBUG", spi_env.debug);
	own_add("LTTNG_SPI_STRING_MAX", spi_env.string_max);
	own_add("LTTNG_SPI_TEST_WORKER", spi_env.test_worker);
	own_add("LTTNG_SPI_TEST_NO_TSC", spi_env.test_no_tsc);
	own[own_count++] = socket_entry;
}

/*
 * One buffer is read while the other is written: whoever executes something now gets the numbers from before. It would
 * have to be interrupted for as long as two changes take to get neither; then its rules' own scope decides.
 */
static char follow_entry[2][17 + SPI_FOLLOW_MAX] = { "LTTNG_SPI_FOLLOW=", "LTTNG_SPI_FOLLOW=" };
static uint32_t follow_current;

void spi_exec_env_follow(const char *numbers)
{
	uint32_t other = !follow_current;

	if (!strcmp(follow_entry[follow_current] + 17, numbers))
		return;
	spi_format(follow_entry[other] + 17, SPI_FOLLOW_MAX, "%s", numbers);
	__atomic_store_n(&follow_current, other, __ATOMIC_RELEASE);
}

const char *spi_exec_env_followed(void)
{
	return follow_entry[follow_current] + 17;
}

const char *spi_exec_socket(void)
{
	return own_count ? SOCKET_PATH : NULL;
}

const char *spi_exec_agent(void)
{
	return agent_path;
}

static const char *value_of(const char *entry, const char *name)
{
	size_t n = strlen(name);

	return strncmp(entry, name, n) ? NULL : entry + n;
}

static int is_own(const char *entry)
{
	for (unsigned int i = 0; i < own_count; i++)
		if (!strncmp(entry, own[i], strcspn(own[i], "=") + 1))
			return 1;
	return 0;
}

static char *put(char *to, const char *text)
{
	return strcpy(to, text) + strlen(text);
}

/* The dynamic linker takes the last of several. */
static const char *preload_of(char *const envp[])
{
	const char *value = NULL, *v;

	for (; envp && *envp; envp++)
		if ((v = value_of(*envp, "LD_PRELOAD=")))
			value = v;
	return value;
}

size_t spi_exec_env_size(char *const envp[])
{
	const char *preload = preload_of(envp);
	size_t n = 0;

	if (!own_count)
		return 0;
	while (envp && envp[n])
		n++;
	return (n + own_count + 5) * sizeof(char *) + sizeof("LD_PRELOAD=:") + strlen(agent_path) +
		(preload ? strlen(preload) : 0) + 16;
}

char **spi_exec_env_fill(void *room, char *const envp[])
{
	static char timeout[] = TIMEOUT "60000", saved[] = "LTTNG_SPI_SAVED_" TIMEOUT;
	const char *preload = preload_of(envp);
	char *follow = follow_entry[__atomic_load_n(&follow_current, __ATOMIC_ACQUIRE)];
	char **env = room, **to = env, *text;
	int has_timeout = 0;
	size_t n = 0;

	while (envp && envp[n])
		n++;
	text = (char *) (env + n + own_count + 5);
	for (size_t i = 0; i < n; i++) {
		const char *value = value_of(envp[i], "LD_PRELOAD=");

		if (value && value == preload)
			*to++ = text;
		else if (!is_own(envp[i]) && !value_of(envp[i], "LTTNG_SPI_RULES=") && !value_of(envp[i], "LTTNG_SPI_FOLLOW="))
			*to++ = envp[i];
		has_timeout |= value_of(envp[i], TIMEOUT) != NULL;
	}
	if (!preload)
		*to++ = text;
	text = put(put(text, "LD_PRELOAD="), agent_path);
	if (preload && *preload)
		put(put(text, ":"), preload);
	for (unsigned int i = 0; i < own_count; i++)
		*to++ = own[i];
	if (follow[17])
		*to++ = follow;
	if (!has_timeout) {
		*to++ = timeout;
		*to++ = saved;
	}
	*to = NULL;
	return env;
}
