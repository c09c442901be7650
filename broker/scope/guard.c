/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Which files are guarded (executed-files.c): those of programs that rules name and that may well be executed next. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "broker/scope/internal.h"
#include "broker/process/process.h"
#include "rules/glob.h"

/* What one user's rules name keeps nobody else's programs waiting. */
static bool is_for(const struct rule *rule, uid_t uid)
{
	return rule->enabled && (!rule->owner || rule->owner == uid);
}

/* A pattern would have all sorts of programs wait in the kernel. */
static bool may_guard(const char *pattern, uid_t uid)
{
	return uid != OF_ROOT || !strpbrk(pattern, "*?[");
}

bool rules_name(const char *name, uid_t uid)
{
	for (const struct rule *rule = rules_now()->rules; rule; rule = rule->next)
		for (unsigned int i = 0; is_for(rule, uid) && i < rule->wants.asked.exec.count; i++) {
			const char *pattern = rule->wants.asked.exec.name[i];

			if (may_guard(pattern, uid) && spi_glob_match(pattern, name))
				return true;
		}
	return false;
}

/* Not the tracer's own, which we would wait for. */
void guard_file(const char *path)
{
	static const char *const own[] = {
		"spi-broker", "spi-codemap", "spi-inject", "spi-sessiond", "lttng", "lt-lttng",
	};
	char file[PATH_MAX];
	struct stat st;

	if (!realpath(path, file) || stat(file, &st) || !S_ISREG(st.st_mode))
		return;
	for (unsigned int i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!strncmp(strrchr(file, '/') + 1, own[i], strlen(own[i])))
			return;
	opened_guard(file);
}

static void guard_in(const char *directory, size_t length)
{
	char path[PATH_MAX];

	for (const struct rule *rule = rules_now()->rules; rule; rule = rule->next) {
		const struct spi_rule_names *exec = &rule->wants.asked.exec;

		for (unsigned int i = 0; is_for(rule, OF_ROOT) && i < exec->count; i++) {
			snprintf(path, sizeof(path), "%.*s/%s", (int) length, directory, exec->name[i]);
			guard_file(path);
		}
	}
}

/*
 * What may well be executed next: programs of the names that rules have, where programs lie. Those of a front end are
 * where its user has them, too: in the directories of PATH, and in the one that its user is in.
 */
void guard_programs(void)
{
	static const char *const directories[] = {
		"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
	};
	const char *path = the_daemon()->is_front_end ? getenv("PATH") : NULL;

	for (unsigned int k = 0; k < sizeof(directories) / sizeof(directories[0]); k++)
		guard_in(directories[k], strlen(directories[k]));
	for (size_t n; path && *path; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		if (n)
			guard_in(path, n);
	}
	if (the_daemon()->is_front_end)
		guard_in(".", 1);
}
