/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The rule grammar: what a request for instrumentation looks like, in
 * LTTNG_SPI_RULES, in a message of the agent socket, and (behind "spi:") as the
 * name of an LTTng event rule.
 *
 *	rule     = target | "call(" target *( ";" option ) ")" | "tree(" [ target ] *( ";" option ) ")"
 *	target   = [ object ":" ] function
 *	object   = file name of an executable or library, a glob
 *	function = linkage name, or demangled qualified name, a glob (rules/glob.h)
 *	option   = "one-event" | "compact" | "tag=" hex digits
 *
 * The first single ':' ends the object; "::" never does. A rule without object
 * means every object, but one whose function begins with a wildcard then means
 * the executable alone: `*` is the program, not the world. In a list, rules are
 * separated by newlines or by ';' outside parentheses. A tree's options are
 * tree-options.c's.
 */
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include "liblttng-spi/tree-rule.h"
#include "rules/glob.h"

/* Length of the object part, or 0: the first ':' that is no half of a "::". */
static size_t object_length(const char *target)
{
	for (const char *c = target; *c; c++) {
		if (*c == '<' || *c == '(')
			return 0;
		if (*c != ':')
			continue;
		if (c[1] == ':') {
			c++;
			continue;
		}
		return (size_t) (c - target);
	}
	return 0;
}

static int parse_option(const char *option, size_t n, struct spi_rule_text *rule)
{
	if (n == 9 && !memcmp(option, "one-event", 9)) {
		rule->flags |= SPI_RULE_ONE_EVENT;
		return 0;
	}
	if (n == 7 && !memcmp(option, "compact", 7)) {
		rule->flags |= SPI_RULE_COMPACT;
		return 0;
	}
	if (n < 5 || memcmp(option, "tag=", 4) || n - 4 >= sizeof(rule->tag))
		return -EINVAL;
	for (size_t i = 4; i < n; i++)
		if (!((option[i] >= '0' && option[i] <= '9') || (option[i] >= 'a' && option[i] <= 'f')))
			return -EINVAL;
	memcpy(rule->tag, option + 4, n - 4);
	rule->tag[n - 4] = 0;
	return 0;
}

/* What follows "tree(" up to its ')': the options apart from the root, which is what *n says then. */
static int parse_tree(const char *text, size_t *n, struct spi_rule_text *rule, const char **error)
{
	const char *end = memchr(text, ';', *n);
	size_t options = end ? *n - (size_t) (end + 1 - text) : 0;

	rule->is_tree = 1;
	*error = "a rule's options are too long";
	if (options >= sizeof(rule->options))
		return -ENAMETOOLONG;
	memcpy(rule->options, end ? end + 1 : "", options);
	rule->options[options] = 0;
	if (end)
		*n = (size_t) (end - text);
	return spi_tree_options_check(rule->options, error);
}

int spi_rule_parse(const char *text, struct spi_rule_text *rule, const char **error)
{
	size_t n, object;
	const char *end;

	memset(rule, 0, sizeof(*rule));
	while (*text == ' ' || *text == '\t')
		text++;
	n = strlen(text);
	while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		n--;
	*error = "a rule form in parentheses does not end with ')'";
	if (n > 5 && !memcmp(text, "call(", 5)) {
		if (text[n - 1] != ')')
			return -EINVAL;
		text += 5;
		n -= 6;
		end = memchr(text, ';', n);
		for (const char *o = end; o;) {
			const char *next = memchr(o + 1, ';', (size_t) (text + n - o - 1));
			size_t size = (size_t) ((next ? next : text + n) - o - 1);

			*error = "unknown rule option; known: one-event, compact, tag=HEX";
			if (parse_option(o + 1, size, rule) < 0)
				return -EINVAL;
			o = next;
		}
		if (end)
			n = (size_t) (end - text);
	} else if (n > 5 && !memcmp(text, "tree(", 5)) {
		int r;

		if (text[n - 1] != ')')
			return -EINVAL;
		text += 5;
		n -= 6;
		r = parse_tree(text, &n, rule, error);
		if (r < 0)
			return r;
		if (!n)
			return 0;
	}
	object = object_length(text);
	if (object >= n)
		object = 0;
	*error = "a rule names no function";
	if (!n || (object && object + 1 >= n))
		return -EINVAL;
	*error = "a rule's object or function name is too long";
	if (object >= sizeof(rule->object) || n - object >= sizeof(rule->pattern))
		return -ENAMETOOLONG;
	memcpy(rule->object, text, object);
	if (object)
		object++;
	memcpy(rule->pattern, text + object, n - object);
	return 0;
}

/*
 * Beside its file's: the name that it was started by (`python3` may be a link to python3.11), its first thread's, and what it
 * has made of its first argument. As they are now; controllers go by the same (spi_names_match()).
 */
int spi_program_is_named(const char *pattern)
{
	const char *run_as = (const char *) getauxval(AT_EXECFN), *slash = run_as ? strrchr(run_as, '/') : NULL;
	char path[SPI_PROC_PATH], text[256];

	if (run_as && spi_glob_match(pattern, slash ? slash + 1 : run_as))
		return 1;
	if (spi_proc_text("/proc/self/comm", text, sizeof(text)) == 0) {
		text[strcspn(text, "\n")] = 0;
		if (spi_glob_match(pattern, text))
			return 1;
	}
	return spi_proc_text(spi_proc_path(path, "cmdline"), text, sizeof(text)) == 0 && spi_glob_match_title(pattern, text);
}

int spi_rule_covers(const struct spi_rule_text *rule, const struct spi_object *object)
{
	if (rule->object[0])
		return spi_glob_match(rule->object, object->name) || (object->is_exe && spi_program_is_named(rule->object));
	if (rule->pattern[0] == '*' || rule->pattern[0] == '?' || rule->pattern[0] == '[')
		return (int) object->is_exe;
	return 1;
}

/* Copies the next rule of a list; NULL at its end. One that does not fit is cut, and will not parse. */
const char *spi_rules_next(const char *list, char *one, size_t size)
{
	size_t n = 0;
	int depth = 0;

	while (*list == '\n' || *list == ';' || *list == ' ')
		list++;
	if (!*list)
		return NULL;
	for (; *list && *list != '\n' && !(*list == ';' && depth == 0); list++) {
		depth += *list == '(' ? 1 : *list == ')' ? -1 : 0;
		if (n + 1 < size)
			one[n++] = *list;
	}
	one[n] = 0;
	return list;
}
