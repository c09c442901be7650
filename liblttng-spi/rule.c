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
 *	function = linkage name, or demangled qualified name, a glob: * ? [...] \x
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

static const char *match_class(const char *p, char c, int *matched)
{
	int negate = 0, hit = 0;

	p++;
	if (*p == '!' || *p == '^') {
		negate = 1;
		p++;
	}
	for (int first = 1; *p && (first || *p != ']'); first = 0, p++) {
		if (p[1] == '-' && p[2] && p[2] != ']') {
			hit |= c >= p[0] && c <= p[2];
			p += 2;
		} else {
			hit |= *p == c;
		}
	}
	*matched = hit != negate;
	return *p ? p + 1 : p;
}

/* Iterative: on a mismatch, go back to the last star and let it take one character more. */
int spi_glob_match(const char *pattern, const char *text)
{
	const char *star = NULL, *star_text = NULL;

	while (*text) {
		const char *next = pattern + 1;
		int matched = 0;

		if (*pattern == '*') {
			star = pattern++;
			star_text = text;
			continue;
		}
		if (*pattern == '?')
			matched = 1;
		else if (*pattern == '[')
			next = match_class(pattern, *text, &matched);
		else if (*pattern == '\\' && pattern[1]) {
			matched = pattern[1] == *text;
			next = pattern + 2;
		} else
			matched = *pattern && *pattern == *text;
		if (matched) {
			pattern = next;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++star_text;
		} else {
			return 0;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

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

/* `python3` may be a link to python3.11: both names are the user's. */
const char *spi_program_name(void)
{
	const char *run_as = (const char *) getauxval(AT_EXECFN), *slash = run_as ? strrchr(run_as, '/') : NULL;

	return slash ? slash + 1 : run_as ? run_as : "";
}

int spi_rule_covers(const struct spi_rule_text *rule, const struct spi_object *object)
{
	if (rule->object[0] && object->is_exe && spi_glob_match(rule->object, spi_program_name()))
		return 1;
	if (rule->object[0])
		return spi_glob_match(rule->object, object->name);
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
