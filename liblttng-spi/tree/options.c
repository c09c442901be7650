/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Which objects and functions the options of a rule `tree(ROOT;OPTION;...)` mean. */
#include <string.h>
#include "codemap/map/format.h"
#include "rules/rule.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/rules/rules.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/internal.h"
#include "rules/glob.h"

static int names_mean(const struct spi_rule_names *names, const struct spi_object *object)
{
	for (uint32_t i = 0; i < names->count; i++)
		if (spi_glob_match(names->name[i], object->name) ||
				(object->is_exe && spi_program_is_named(names->name[i])))
			return 1;
	return 0;
}

int spi_tree_covers(const struct spi_tree *tree, const struct spi_object *object)
{
	const struct spi_rule_names *lib = &tree->asked->lib;

	if (!object->seen || spi_object_is_own(object) || !strncmp(object->name, "libunwind", 9))
		return 0;	/* an unwinder finds its own frames by where its functions return to */
	return (!lib->count || names_mean(lib, object)) && !names_mean(&tree->asked->exclude_lib, object);
}

/* What follows the last closed list of parameters is qualifiers. */
size_t spi_tree_name_size(const char *pretty)
{
	size_t size = strlen(pretty), n = size, depth = 0;

	while (n && pretty[n - 1] != ')')
		n--;
	while (n) {
		n--;
		depth += pretty[n] == ')' ? 1 : 0;
		depth -= pretty[n] == '(' ? 1 : 0;
		if (!depth)
			break;
	}
	return !n || (n >= 8 && !memcmp(pretty + n - 8, "operator", 8)) ? size : n;
}

int spi_tree_glob_means(const char *glob, const struct spi_tree_object *to, uint64_t i)
{
	const struct spi_map_func *func = spi_tree_map_func(to, i);
	const char *pretty = spi_map_string(&to->map, func->pretty);
	size_t n = spi_tree_name_size(pretty);
	char shorter[1024];

	if (spi_glob_match(glob, spi_map_string(&to->map, func->name)) || spi_glob_match(glob, pretty))
		return 1;
	if (!pretty[n] || strchr(glob, '(') || n >= sizeof(shorter))
		return 0;
	memcpy(shorter, pretty, n);
	shorter[n] = 0;
	return spi_glob_match(glob, shorter);
}

int spi_tree_names_mean(const struct spi_rule_names *names, const struct spi_tree_object *to, uint64_t i)
{
	for (uint32_t k = 0; k < names->count; k++)
		if (spi_tree_glob_means(names->name[k], to, i))
			return 1;
	return 0;
}
