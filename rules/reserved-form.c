/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The reserved forms: call(TARGET;one-event;pid=N;exec=NAME) and
 * tree(ROOT;depth=N;...;pid=N;exec=NAME).
 *
 * Reading is lenient (raw stars and parentheses are fine where they mean
 * nothing else), writing is canonical: every byte that the lttng command, XML or
 * the form itself has a use for is written as %xx, scopes are sorted. So two
 * users who ask for the same thing get the same tag, the tag survives save and
 * load, and another thing gets another tag.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/form-writer.h"
#include "rules/reserved-form.h"

#define WHY_SIZE 256
#define HOW "write spi:call(FUNCTION;one-event;pid=N;exec=NAME) or spi:tree(ROOT;depth=N;...)"

#define REFUSE(why, ...) (snprintf(why, WHY_SIZE, __VA_ARGS__), -EINVAL)

bool spi_reserved_is(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz-");

	if (!n || text[n] != '(')
		return false;
	/* The forms there are; of others only what looks like a whole one: `operator()_entry` is an event. */
	return (n == 4 && (!memcmp(text, "call", 4) || !memcmp(text, "tree", 4))) || text[strlen(text) - 1] == ')';
}

/* ---- targets ---------------------------------------------------------- */

/* As the agent does: the first ':' that is no half of a "::", before any '<' or '('. */
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
	if (!*target || !*spi_target_function(target))
		return REFUSE(why, "no function is named in '%.80s': give FUNC or OBJECT:FUNC", target);
	if (is_wrong_address(spi_target_function(target)))
		return REFUSE(why, "%.80s is no address: give 0x and up to 16 hexadecimal digits", spi_target_function(target));
	for (const unsigned char *c = (const unsigned char *) target; *c; c++) {
		if (*c < 0x20 || *c == 0x7f)
			return REFUSE(why, "a control character in a function's name");
		if (*c == ';')
			return REFUSE(why, "no function has a ';' in its name: '%.80s'", target);
	}
	if (target[0] == ' ' || target[strlen(target) - 1] == ' ')
		return REFUSE(why, "a blank around '%.80s': take it away", target);
	return 0;
}

int spi_root_check(const char *root, char *why)
{
	return *root ? spi_target_check(root, why) : 0;
}

/* ---- the scope ---------------------------------------------------------- */

int spi_reserved_add_pid(struct spi_reserved_form *form, long pid, char *why)
{
	unsigned int at = 0;

	if (pid <= 0 || pid > 0x7fffffff)
		return REFUSE(why, "pid %ld is no process id: give a positive number", pid);
	while (at < form->nr_pids && form->pids[at] < pid)
		at++;
	if (at < form->nr_pids && form->pids[at] == pid)
		return 0;
	if (form->nr_pids == SPI_EVENT_SCOPE_MAX)
		return REFUSE(why, "more than %d pids in one rule: make another rule", SPI_EVENT_SCOPE_MAX);
	memmove(form->pids + at + 1, form->pids + at, (form->nr_pids++ - at) * sizeof(*form->pids));
	form->pids[at] = (pid_t) pid;
	return 0;
}

int spi_reserved_add_exec(struct spi_reserved_form *form, const char *name, char *why)
{
	unsigned int at = 0;
	size_t size = strlen(name);

	if (!size || strchr(name, '/'))
		return REFUSE(why, "exec '%.80s' is no file name: give the executable's, without directories", name);
	if (size >= sizeof(form->execs[0]))
		return REFUSE(why, "exec '%.80s' is longer than %zu bytes", name, sizeof(form->execs[0]) - 1);
	for (const unsigned char *c = (const unsigned char *) name; *c; c++)
		if (*c < 0x20 || *c == 0x7f)
			return REFUSE(why, "a control character in an executable's name");
	while (at < form->nr_execs && strcmp(form->execs[at], name) < 0)
		at++;
	if (at < form->nr_execs && !strcmp(form->execs[at], name))
		return 0;
	if (form->nr_execs == SPI_EVENT_SCOPE_MAX)
		return REFUSE(why, "more than %d executables in one rule: make another rule", SPI_EVENT_SCOPE_MAX);
	memmove(form->execs + at + 1, form->execs + at, (form->nr_execs++ - at) * sizeof(*form->execs));
	memcpy(form->execs[at], name, size + 1);
	return 0;
}

/* ---- reading ------------------------------------------------------------- */

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One field without its %xx. `out` has room for `n` bytes and NUL. */
static int field_decode(const char *in, size_t n, char *out, char *why)
{
	for (size_t i = 0; i < n; i++) {
		int high, low;

		if (in[i] != '%') {
			*out++ = in[i];
			continue;
		}
		high = i + 2 < n ? hex_value(in[i + 1]) : -1;
		low = i + 2 < n ? hex_value(in[i + 2]) : -1;
		if (high < 0 || low < 0 || !(high | low))
			return REFUSE(why, "'%%' without two hex digits in '%.*s': write %%25 for it",
				      (int) (n < 80 ? n : 80), in);
		*out++ = (char) (high << 4 | low);
		i += 2;
	}
	*out = 0;
	return 0;
}

/* Is it an option of a tree? Its value is kept in the form. 0, -ENOENT, or -EINVAL with `why`. */
static int tree_option_read(struct spi_reserved_form *form, const char *option, char *why)
{
	size_t n = strcspn(option, "="), size = strlen(option) + 1;
	char *kept = form->strings + form->strings_used, problem[WHY_SIZE];
	int ret;

	if (form->strings_used + size > sizeof(form->strings))
		return -ENOENT;
	memcpy(kept, option, size);
	form->strings_used += size;
	kept[n] = 0;
	ret = spi_tree_option(&form->tree, kept, option[n] ? kept + n + 1 : NULL, problem);
	return ret == -EINVAL ? REFUSE(why, "%s: %.200s", kept, problem) : ret;
}

static int option_read(struct spi_reserved_form *form, const char *option, char *why)
{
	char *end;
	long pid;
	int ret = form->is_tree ? tree_option_read(form, option, why) : -ENOENT;

	if (ret != -ENOENT)
		return ret;
	if (!form->is_tree && !strcmp(option, "one-event")) {
		form->one_event = true;
		return 0;
	}
	if (!strncmp(option, "exec=", 5))
		return spi_reserved_add_exec(form, option + 5, why);
	if (!strncmp(option, "pid=", 4)) {
		errno = 0;
		pid = isdigit((unsigned char) option[4]) ? strtol(option + 4, &end, 10) : 0;
		if (pid <= 0 || errno || *end)
			return REFUSE(why, "'%.80s': a pid is a positive number", option);
		return spi_reserved_add_pid(form, pid, why);
	}
	return REFUSE(why, "unknown option '%.80s': " HOW, option);
}

int spi_reserved_read(const char *text, struct spi_reserved_form *form, char *why)
{
	size_t n = strlen(text), word = strcspn(text, "(");
	const char *at, *end;
	char field[SPI_EVENT_NAME_MAX + 1];
	bool first = true;
	int ret;

	memset(form, 0, sizeof(*form));
	if (n > SPI_EVENT_NAME_MAX)
		return REFUSE(why, "an event name has at most %d bytes", SPI_EVENT_NAME_MAX);
	form->is_tree = word == 4 && !memcmp(text, "tree", 4);
	if (!form->is_tree && (word != 4 || memcmp(text, "call", 4)))
		return REFUSE(why, "unknown form '%.*s(...)': " HOW, (int) (word < 80 ? word : 80), text);
	if (text[n - 1] != ')')
		return REFUSE(why, "no ')' at the end of '%.80s': " HOW, text);
	at = text + 5;
	for (end = text + n - 1; at <= end; first = false) {
		const char *next = memchr(at, ';', end - at);

		if (!next)
			next = end;
		ret = field_decode(at, next - at, field, why);
		if (!ret && first) {
			memcpy(form->target, field, sizeof(field));
			ret = form->is_tree ? spi_root_check(field, why) : spi_target_check(field, why);
		} else if (!ret) {
			ret = option_read(form, field, why);
		}
		if (ret)
			return ret;
		at = next + 1;
	}
	return spi_tree_check(&form->tree, why);
}

/* ---- writing ------------------------------------------------------------- */

int spi_reserved_write(const struct spi_reserved_form *form, char *text, size_t size)
{
	struct spi_form_writer w = { text, size, 0, true };
	char pid[24];

	spi_form_put(&w, form->is_tree ? "tree(" : "call(");
	spi_form_put_field(&w, form->target);
	if (form->one_event)
		spi_form_put(&w, ";one-event");
	if (form->is_tree)
		spi_form_put_tree(&w, &form->tree);
	for (unsigned int i = 0; i < form->nr_pids; i++) {
		snprintf(pid, sizeof(pid), ";pid=%d", (int) form->pids[i]);
		spi_form_put(&w, pid);
	}
	for (unsigned int i = 0; i < form->nr_execs; i++) {
		spi_form_put(&w, ";exec=");
		spi_form_put_field(&w, form->execs[i]);
	}
	spi_form_put(&w, ")");
	return spi_form_end(&w);
}

void spi_reserved_tag(const struct spi_reserved_form *form, char *tag)
{
	char text[SPI_TREE_RULE_MAX];	/* a form that was read is always shorter */
	uint64_t h = 0xcbf29ce484222325u;

	if (spi_reserved_write(form, text, sizeof(text)))
		*text = 0;
	for (const unsigned char *c = (const unsigned char *) text; *c; c++)
		h = (h ^ *c) * 0x100000001b3u;
	snprintf(tag, SPI_EVENT_TAG_SIZE, "%08x", (uint32_t) (h ^ h >> 32));
}
