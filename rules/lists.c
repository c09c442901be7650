/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Lists of names and of processes that options have: sorted, each once. What a name may be is checked here. */
#include <string.h>

#include "rules/options.h"
#include "rules/writer.h"

#define PATTERN_MAX	200u	/* bytes */
#define PROGRAM_MAX	63u	/* bytes */
#define FILE_MAX	255u	/* bytes */

static bool has_control(const char *text)
{
	for (const unsigned char *c = (const unsigned char *) text; *c; c++)
		if (*c < 0x20 || *c == 0x7f)
			return true;
	return false;
}

static int check_function(const char *value, char *why)
{
	int ret = strlen(value) > PATTERN_MAX ? spi_refuse(why, "a pattern has at most %u bytes", PATTERN_MAX) :
		spi_target_check(value, why);

	if (!ret && spi_target_function(value) != value)
		return spi_refuse(why, "'%s' names an object: give the function alone", value);
	return ret;
}

static int check_object(const char *value, char *why)
{
	if (strlen(value) > PATTERN_MAX)
		return spi_refuse(why, "a pattern has at most %u bytes", PATTERN_MAX);
	if (!*value || strchr(value, '/'))
		return spi_refuse(why, "'%s' is not the file name of a library: give the part behind the last /",
				  value);
	if (has_control(value) || strchr(value, ';'))
		return spi_refuse(why, "no library has a ';' or a control character in its name");
	return 0;
}

static int check_program(const char *value, char *why)
{
	if (!*value || strchr(value, '/'))
		return spi_refuse(why, "%s is not a file name: give the part behind the last /", *value ? value : "''");
	if (strlen(value) > PROGRAM_MAX)
		return spi_refuse(why, "'%s' is longer than %u bytes", value, PROGRAM_MAX);
	if (has_control(value))
		return spi_refuse(why, "a control character in an executable's name");
	return 0;
}

/* A path, the name of a payload that comes with the agent, or the number of one that is loaded (#1). */
static int check_file(const char *value, char *why)
{
	if (!*value || (*value != '/' && strchr(value, '/')))
		return spi_refuse(why, "'%s' is not an absolute path, nor a name without a /", value);
	if (strlen(value) > FILE_MAX)
		return spi_refuse(why, "a path has at most %u bytes here", FILE_MAX);
	if (has_control(value) || strchr(value, ';'))
		return spi_refuse(why, "a path with a ';' or a control character");
	return 0;
}

static int check_setting(const char *value, char *why)
{
	if (*value == '=' || !strchr(value, '='))
		return spi_refuse(why, "'%s' is not NAME=VALUE", value);
	if (strlen(value) > PATTERN_MAX)
		return spi_refuse(why, "an argument has at most %u bytes", PATTERN_MAX);
	if (has_control(value) || strchr(value, ';'))
		return spi_refuse(why, "an argument with a ';' or a control character");
	return 0;
}

static int check_name(enum spi_value kind, const char *value, char *why)
{
	switch (kind) {
	case SPI_VALUE_FUNCTIONS: return check_function(value, why);
	case SPI_VALUE_OBJECTS: return check_object(value, why);
	case SPI_VALUE_FILES: return check_file(value, why);
	case SPI_VALUE_SETTINGS: return check_setting(value, why);
	default: return check_program(value, why);
	}
}

int spi_list_take(struct spi_rule_names *to, enum spi_value kind, const char *value, char *why)
{
	uint32_t at = 0;
	int ret = check_name(kind, value, why);

	if (ret)
		return ret;
	while (at < to->count && strcmp(to->name[at], value) < 0)
		at++;
	if (at < to->count && !strcmp(to->name[at], value))
		return 0;
	if (to->count == SPI_RULE_LIST_MAX)
		return spi_refuse(why, "at most %u of them: use patterns, or make another rule", SPI_RULE_LIST_MAX);
	memmove(to->name + at + 1, to->name + at, (to->count++ - at) * sizeof(to->name[0]));
	to->name[at] = value;
	return 0;
}

int spi_rule_take_pid(struct spi_rule *rule, int64_t pid, char *why)
{
	uint32_t at = 0;

	if (pid <= 0 || pid > INT32_MAX)
		return spi_refuse(why, "a process id is a positive number");
	while (at < rule->nr_pids && rule->pids[at] < pid)
		at++;
	if (at < rule->nr_pids && rule->pids[at] == pid)
		return 0;
	if (rule->nr_pids == SPI_RULE_LIST_MAX)
		return spi_refuse(why, "one rule is for at most %u processes: make another", SPI_RULE_LIST_MAX);
	memmove(rule->pids + at + 1, rule->pids + at, (rule->nr_pids++ - at) * sizeof(rule->pids[0]));
	rule->pids[at] = (int32_t) pid;
	return 0;
}
