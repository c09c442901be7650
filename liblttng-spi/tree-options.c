/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the options of a rule `tree(ROOT;OPTION;...)` say, and which objects and
 * functions they mean.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include "liblttng-spi/tree-rule.h"
#include "rules/glob.h"

/* ---- options ---- */

static int take_glob(struct spi_tree *tree, enum spi_tree_list_kind list, const char *value)
{
	if (!*value || tree->counts[list] == SPI_TREE_GLOBS)
		return -EINVAL;
	tree->lists[list][tree->counts[list]++] = value;
	return 0;
}

static int take_follow(struct spi_tree *tree, const char *value)
{
	static const struct {
		const char *name;
		uint32_t bit;
	} all[] = {
		{ "threads", SPI_FOLLOW_THREADS }, { "dlopen", SPI_FOLLOW_DLOPEN }, { "fork", SPI_FOLLOW_FORK },
		{ "exec", SPI_FOLLOW_EXEC }, { "none", 0 },
	};

	tree->follow = 0;
	while (*value) {
		size_t n = strcspn(value, "+,"), i = 0;

		while (i < sizeof(all) / sizeof(all[0]) && (strlen(all[i].name) != n || memcmp(all[i].name, value, n)))
			i++;
		if (i == sizeof(all) / sizeof(all[0]))
			return -EINVAL;
		tree->follow |= all[i].bit;
		value += n + (value[n] != 0);
	}
	return 0;
}

static int take_number(uint32_t *to, const char *value, uint32_t least)
{
	const char *end;
	uint64_t number = spi_parse_number(value, &end);

	if (end == value || *end || number < least || number > INT32_MAX)
		return -EINVAL;
	*to = (uint32_t) number;
	return 0;
}

/* Seconds, up to three digits behind a point. */
static int take_time(uint32_t *ms, const char *value)
{
	const char *end;
	uint64_t whole = spi_parse_number(value, &end), scale = 100, part = 0;

	if (end == value || whole > 1000000)
		return -EINVAL;
	if (*end == '.')
		for (end++; *end >= '0' && *end <= '9'; end++, scale /= 10)
			part += (uint64_t) (*end - '0') * scale;
	*ms = (uint32_t) (whole * 1000 + part);
	return *end ? -EINVAL : 0;
}

/* To tenths. */
static int take_percent(uint32_t *tenths, const char *value)
{
	const char *end;
	uint64_t whole = spi_parse_number(value, &end);

	if (end == value || whole > 100000)
		return -EINVAL;
	*tenths = (uint32_t) whole * 10;
	if (*end == '.' && end[1] >= '0' && end[1] <= '9') {
		*tenths += (uint32_t) (end[1] - '0');
		end += 2;
	}
	return *end || !*tenths ? -EINVAL : 0;
}

static int take_option(struct spi_tree *tree, const char *name, const char *value)
{
	static const char *const lists[SPI_TREE_LISTS_COUNT] = { "exclude", "lib", "exclude-lib", "calls-of" };

	for (int i = 0; value && i < SPI_TREE_LISTS_COUNT; i++)
		if (!strcmp(name, lists[i]))
			return take_glob(tree, (enum spi_tree_list_kind) i, value);
	if (value && !strcmp(name, "depth"))
		return take_number(&tree->depth, value, 1);
	if (value && !strcmp(name, "after"))
		return take_time(&tree->after_ms, value);
	if (value && !strcmp(name, "on-signal"))
		return take_number(&tree->on_signal, value, 1);
	if (value && !strcmp(name, "budget"))
		return take_percent(&tree->budget, value);
	if (value && !strcmp(name, "follow"))
		return take_follow(tree, value);
	if (value && !strcmp(name, "tag")) {
		if (!*value || strlen(value) >= sizeof(tree->tag) || strspn(value, "0123456789abcdef") != strlen(value))
			return -EINVAL;
		strcpy(tree->tag, value);
		return 0;
	}
	if (!value && !strcmp(name, "compact"))
		tree->compact = 1;
	else if (!value && !strcmp(name, "parse-only"))
		tree->parse_only = 1;
	else
		return -EINVAL;
	return 0;
}

/* The options' text is cut into pieces, which the lists then point to. */
int spi_tree_options_take(struct spi_tree *tree, const char *options, const char **error)
{
	int last = 0;

	*error = "unknown tree option, or a bad value; known: depth, exclude, lib, exclude-lib, calls-of, follow, after, "
		"on-signal, budget, compact, parse-only, tag";
	if (strlen(options) >= sizeof(tree->text))
		return -ENAMETOOLONG;
	strcpy(tree->text, options);
	tree->follow = SPI_FOLLOW_ALL;
	for (char *at = tree->text, *end; *at && !last; at = end + 1) {
		char *equals;

		end = at + strcspn(at, ";");
		last = !*end;
		*end = 0;
		equals = strchr(at, '=');
		if (equals)
			*equals++ = 0;
		if (take_option(tree, at, equals) < 0)
			return -EINVAL;
	}
	return 0;
}

int spi_tree_options_check(const char *options, const char **error)
{
	struct spi_tree *tree = spi_map_pages(sizeof(*tree));
	int r = tree ? spi_tree_options_take(tree, options, error) : -ENOMEM;

	if (tree)
		spi_sys(SYS_munmap, tree, (sizeof(*tree) + 4095) & ~4095ul);
	return r;
}

/* ---- what is left out ---- */

int spi_tree_list_has(const struct spi_tree *tree, enum spi_tree_list_kind list, const char *name)
{
	for (uint32_t i = 0; i < tree->counts[list]; i++)
		if (spi_glob_match(tree->lists[list][i], name))
			return 1;
	return 0;
}

static int object_matches(const struct spi_tree *tree, enum spi_tree_list_kind list, const struct spi_object *object)
{
	if (spi_tree_list_has(tree, list, object->name))
		return 1;
	if (!object->is_exe)
		return 0;
	for (uint32_t i = 0; i < tree->counts[list]; i++)
		if (spi_program_is_named(tree->lists[list][i]))
			return 1;
	return 0;
}

int spi_tree_covers(const struct spi_tree *tree, const struct spi_object *object)
{
	if (!object->seen || spi_object_is_own(object) || !strncmp(object->name, "libunwind", 9))
		return 0;	/* an unwinder finds its own frames by where its functions return to */
	if (tree->counts[SPI_LIST_LIB] && !object_matches(tree, SPI_LIST_LIB, object))
		return 0;
	return !object_matches(tree, SPI_LIST_EXCLUDE_LIB, object);
}

/* A function's name without its parameters, into `to`: what follows the last closed list of them is qualifiers. */
static const char *without_parameters(const char *pretty, char *to, size_t size)
{
	size_t n = strlen(pretty), depth = 0;

	while (n && pretty[n - 1] != ')')
		n--;
	while (n) {
		n--;
		depth += pretty[n] == ')' ? 1 : 0;
		depth -= pretty[n] == '(' ? 1 : 0;
		if (!depth)
			break;
	}
	if (!n || n >= size || (n >= 8 && !memcmp(pretty + n - 8, "operator", 8)))
		return pretty;
	memcpy(to, pretty, n);
	to[n] = 0;
	return to;
}

/* Does the glob mean this function, by its linkage name, or its qualified one with or without parameters? */
int spi_tree_glob_means(const char *glob, const struct spi_tree_object *to, uint64_t i)
{
	const struct spi_map_func *func = spi_tree_map_func(to, i);
	const char *pretty = spi_map_string(&to->map, func->pretty);
	char shorter[1024];

	if (spi_glob_match(glob, spi_map_string(&to->map, func->name)) || spi_glob_match(glob, pretty))
		return 1;
	return strchr(pretty, ')') && !strchr(glob, '(') &&
		spi_glob_match(glob, without_parameters(pretty, shorter, sizeof(shorter)));
}

int spi_tree_func_matches(const struct spi_tree *tree, enum spi_tree_list_kind list, const struct spi_tree_object *to, uint64_t i)
{
	for (uint32_t k = 0; k < tree->counts[list]; k++)
		if (spi_tree_glob_means(tree->lists[list][k], to, i))
			return 1;
	return 0;
}
