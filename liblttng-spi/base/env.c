/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Every environment variable that the agent reads, in one table. In a program
 * that runs with more rights than its caller (AT_SECURE) none is read.
 *
 * A program started by the front end must not see that it is traced, and neither
 * must its children, which could not reach the controller in time or at all: what
 * the front end put into the environment is taken out again before main(), in
 * place, so that `environ`, main's envp and getenv() agree.
 */
#include <string.h>
#include <sys/auxv.h>
#include "liblttng-spi/base/base.h"

#define AGENT_NAME	"liblttng-spi.so"

struct spi_env spi_env;

static const struct {
	const char *name;
	const char **value;
} table[] = {
	{ "LTTNG_SPI_SOCKET", &spi_env.socket },
	{ "LTTNG_SPI_RULES", &spi_env.rules },
	{ "LTTNG_SPI_FOLLOW", &spi_env.follow },
	{ "LTTNG_SPI_TP", &spi_env.tp },
	{ "LTTNG_SPI_CODEMAP", &spi_env.codemap },
	{ "LTTNG_SPI_DEBUG", &spi_env.debug },
	{ "LTTNG_SPI_DEBUG_FILE", &spi_env.debug_dir },
	{ "LTTNG_SPI_DEBUG_TIMES", &spi_env.debug_times },
	{ "LTTNG_SPI_COREDUMP", &spi_env.coredump },
	{ "LTTNG_SPI_NO_TAILCALL", &spi_env.no_tail_call },
	{ "LTTNG_SPI_DIRECTCALL_ONLY", &spi_env.direct_call_only },
	{ "LTTNG_SPI_TRAP", &spi_env.trap },
	{ "LTTNG_SPI_STRING_MAX", &spi_env.string_max },
	{ "LTTNG_UST_REGISTER_TIMEOUT", &spi_env.register_ms },
	{ "LTTNG_SPI_TEST_WORKER", &spi_env.test_worker },
	{ "LTTNG_SPI_TEST_STEPS", &spi_env.test_steps },
	{ "LTTNG_SPI_TEST_NO_TSC", &spi_env.test_no_tsc },
	{ "HOME", &spi_env.home },
	{ "XDG_CACHE_HOME", &spi_env.cache_home },
	{ "LTTNG_SPI_CACHE", &spi_env.cache },
};

static const char *value_of(const char *entry, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(entry, name, n) && entry[n] == '=' ? entry + n + 1 : NULL;
}

/* Copied: programs that set their title write over the area of the environment's strings. */
static const char *keep(const char *value)
{
	static char store[8192];
	static size_t used;
	size_t n = strlen(value) + 1;
	char *copy = store + used;

	if (used + n > sizeof(store))
		return NULL;
	memcpy(copy, value, n);
	used += n;
	return copy;
}

/* The word of a list, separated by colons or spaces, that has `at` in it. */
static const char *keep_word(const char *list, const char *at)
{
	char word[4096];
	size_t n;

	while (at > list && at[-1] != ':' && at[-1] != ' ')
		at--;
	n = strcspn(at, ": ");
	if (n >= sizeof(word))
		return NULL;
	memcpy(word, at, n);
	word[n] = 0;
	return keep(word);
}

uint32_t spi_env_string_max(void)
{
	return spi_env.string_max ? (uint32_t) spi_parse_number(spi_env.string_max, NULL) : 0;
}

/* A switch that is 0 is off. */
static void drop_zero(const char **value)
{
	if (*value && !strcmp(*value, "0"))
		*value = NULL;
}

void spi_env_read(char **envp)
{
	const char *v;

	if (getauxval(AT_SECURE))
		return;
	for (; envp && *envp; envp++) {
		for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
			if ((v = value_of(*envp, table[i].name)) && (*v || table[i].value == &spi_env.cache))	/* "": no cache */
				*table[i].value = keep(v);
		v = value_of(*envp, "LD_PRELOAD");
		if (v && strstr(v, AGENT_NAME)) {
			spi_env.preloaded = 1;
			spi_env.agent = keep_word(v, strstr(v, AGENT_NAME));
		}
	}
	drop_zero(&spi_env.debug_times);
	drop_zero(&spi_env.coredump);
	drop_zero(&spi_env.no_tail_call);
	drop_zero(&spi_env.direct_call_only);
	drop_zero(&spi_env.trap);
}

/* Remove the agent from a LD_PRELOAD value in place; 0 when nothing else is left. */
static int preload_strip(char *value)
{
	char *in = value, *out = value;

	while (*in) {
		char *start = in, *slash = in;

		while (*in && *in != ':' && *in != ' ') {
			if (*in == '/')
				slash = in + 1;
			in++;
		}
		if (strncmp(slash, AGENT_NAME, sizeof(AGENT_NAME) - 1)) {
			if (out != value)
				*out++ = ':';
			memmove(out, start, (size_t) (in - start));
			out += in - start;
		}
		while (*in == ':' || *in == ' ')
			in++;
	}
	*out = 0;
	return out != value;
}

static void entry_remove(char **at)
{
	do
		at[0] = at[1];
	while (*at++);
}

static char **entry_find(char **envp, const char *name, size_t n)
{
	while (*envp && (strncmp(*envp, name, n) || (*envp)[n] != '='))
		envp++;
	return envp;
}

/*
 * LTTNG_SPI_SAVED_<NAME>=value gives back a variable that the front end had to change; empty: it was not set.
 * spi_env_clean() removes all variables that begin with LTTNG_SPI_ afterwards.
 */
static void restore_saved(char **envp)
{
	static const char prefix[] = "LTTNG_SPI_SAVED_";

	for (char **e = envp; *e; e++) {
		char *name = *e + sizeof(prefix) - 1, **changed;
		size_t n;

		if (strncmp(*e, prefix, sizeof(prefix) - 1))
			continue;
		n = strcspn(name, "=");
		changed = entry_find(envp, name, n);
		if (name[n] && *changed)
			*changed = name[n + 1] ? name : *e;
	}
}

void spi_env_clean(char **envp)
{
	if (!envp)
		return;
	restore_saved(envp);
	for (char **e = envp; *e;) {
		int drop = !strncmp(*e, "LTTNG_SPI_", 10);
		char *preload = (char *) value_of(*e, "LD_PRELOAD");

		if (preload && strstr(preload, AGENT_NAME))
			drop = !preload_strip(preload);
		if (drop)
			entry_remove(e);
		else
			e++;
	}
}
