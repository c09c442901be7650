/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Targets: OBJECT:FUNCTION, or FUNCTION alone. */
#include <errno.h>
#include <string.h>

#include "rules/rule.h"
#include "rules/writer.h"

/* The first ':' that is no half of a "::", before any '<' or '(', ends the object. */
const char *spi_target_function(const char *target)
{
	for (const char *c = target; *c; c++) {
		if (*c == '<' || *c == '(')
			break;
		if (*c != ':')
			continue;
		if (c[1] != ':')
			return c == target ? target : c + 1;
		c++;
	}
	return target;
}

/* No function has a name like that. */
static bool is_wrong_address(const char *function)
{
	size_t n;

	if (function[0] != '0' || (function[1] | 0x20) != 'x' || strpbrk(function, "*?["))
		return false;
	n = strspn(function + 2, "0123456789abcdefABCDEF");
	return !n || n > 16 || function[2 + n];
}

int spi_target_check(const char *target, char *why)
{
	const char *function = spi_target_function(target);

	if (!*function)
		return spi_refuse(why, "no function is named in '%s': give FUNC or OBJECT:FUNC", target);
	if (is_wrong_address(function))
		return spi_refuse(why, "%s is no address: give 0x and up to 16 hexadecimal digits", function);
	for (const unsigned char *c = (const unsigned char *) target; *c; c++) {
		if (*c < 0x20 || *c == 0x7f)
			return spi_refuse(why, "a control character in a function's name");
		if (*c == ';')
			return spi_refuse(why, "no function has a ';' in its name: '%s'", target);
	}
	if (target[0] == ' ' || target[strlen(target) - 1] == ' ')
		return spi_refuse(why, "a blank around '%s': take it away", target);
	if (function - target > SPI_RULE_OBJECT_MAX + 1 || strlen(function) > SPI_RULE_FUNCTION_MAX)
		return spi_refuse(why, "a rule's object or function name is too long");
	return 0;
}

int spi_rule_set_target(struct spi_rule *rule, const char *target, char *room, size_t size, char *why)
{
	size_t n = strlen(target), at = (size_t) (spi_target_function(target) - target);
	int ret = *target || rule->kind->needs_function ? spi_target_check(target, why) : 0;

	if (ret)
		return ret;
	if (n >= size)
		return spi_refuse(why, "a rule's object or function name is too long");
	memmove(room, target, n + 1);	/* which may be the same */
	if (at)
		room[at - 1] = 0;
	rule->object = at ? room : "";
	rule->function = room + at;
	return 0;
}
