/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Texts of rules: read, written, and told apart in a list.
 *
 * Reading is lenient (raw stars and parentheses are fine where they mean nothing else). Writing is canonical: options
 * have one order, lists are sorted, and in an event's name every byte that the lttng command, XML or the form has a use
 * for is %xx. What is not said is left out: so a text means after an option came into being what it meant before. Two
 * users who ask for the same thing get the same tag, and the tag survives lttng save and load.
 */
#include <errno.h>
#include <string.h>

#include "liblttng-spi/base/hash.h"
#include "rules/options.h"
#include "rules/writer.h"

struct reader {
	struct spi_rule *rule;
	enum spi_rule_form form;
	char *room;		/* what is left of it */
	size_t size;
	char *why;
};

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One field, in an event's name without its %xx, to the room. NULL, with the reason: it cannot be. */
static char *field_read(struct reader *r, const char *in, size_t n)
{
	char *field = r->room, *out = field;

	if (n >= r->size) {
		spi_refuse(r->why, "the rule is too long");
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		int high, low;

		if (in[i] != '%' || r->form == SPI_FORM_AGENT) {
			*out++ = in[i];
			continue;
		}
		high = i + 2 < n ? hex_value(in[i + 1]) : -1;
		low = i + 2 < n ? hex_value(in[i + 2]) : -1;
		if (high < 0 || low < 0 || !(high | low)) {
			*out = 0;
			spi_refuse(r->why, "'%%' without two hex digits behind '%s': write %%25 for it", field);
			return NULL;
		}
		*out++ = (char) (high << 4 | low);
		i += 2;
	}
	*out++ = 0;
	r->size -= (size_t) (out - field);
	r->room = out;
	return field;
}

static int target_read(struct reader *r, const char *in, size_t n)
{
	char *target = field_read(r, in, n);

	return target ? spi_rule_set_target(r->rule, target, target, n + 1, r->why) : -EINVAL;
}

static int option_unknown(struct reader *r, const char *name)
{
	struct spi_writer w = { r->why, SPI_RULE_WHY, 0 };
	const char *before = "'; known: ";

	spi_put(&w, "unknown option '");
	spi_put_some(&w, name, 60);
	for (unsigned int i = 0; i < spi_rule_options_count; i++)
		if (spi_rule_options[i].where & SPI_IN(r->rule->kind->number, r->form)) {
			spi_put(&w, before);
			spi_put(&w, spi_rule_options[i].name);
			before = ", ";
		}
	spi_put_end(&w);
	return -EINVAL;
}

static int option_read(struct reader *r, const char *in, size_t n)
{
	char *name = field_read(r, in, n), *value, problem[SPI_RULE_WHY];
	const struct spi_rule_option *option;

	if (!name)
		return -EINVAL;
	value = strchr(name, '=');
	if (value)
		*value++ = 0;
	option = spi_rule_option_find(name, SPI_IN(r->rule->kind->number, r->form));
	if (!option)
		return option_unknown(r, name);
	if (spi_rule_take(r->rule, option, value, problem)) {
		struct spi_writer w = { r->why, SPI_RULE_WHY, 0 };

		spi_put(&w, name);
		spi_put(&w, ": ");
		spi_put(&w, problem);
		spi_put_end(&w);
		return -EINVAL;
	}
	return 0;
}

/* What is between the parentheses. */
static int fields_read(struct reader *r, const char *at, const char *end)
{
	bool is_first = true;
	int ret = 0;

	for (; !ret && at <= end; is_first = false) {
		const char *next = memchr(at, ';', (size_t) (end - at));

		next = next ? next : end;
		ret = is_first ? target_read(r, at, (size_t) (next - at)) : option_read(r, at, (size_t) (next - at));
		at = next + 1;
	}
	return ret ? ret : r->rule->kind->check(r->rule, r->why);
}

int spi_rule_read(struct spi_rule *rule, const char *text, enum spi_rule_form form, char *room, size_t size, char *why)
{
	struct reader r = { rule, form, room, size, why };
	size_t n, word = strcspn(text, "(");

	memset(rule, 0, sizeof(*rule));
	if (form == SPI_FORM_AGENT)
		text += strspn(text, " \t");
	n = strlen(text);
	while (form == SPI_FORM_AGENT && n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		n--;
	rule->kind = spi_rule_kind_of(text);
	if (!rule->kind && form == SPI_FORM_AGENT) {
		rule->kind = spi_kind_call;
		return target_read(&r, text, n);
	}
	if (!rule->kind) {
		char name[SPI_RULE_WHY / 4];

		word = word < sizeof(name) ? word : sizeof(name) - 1;
		memcpy(name, text, word);
		name[word] = 0;
		return spi_refuse(why, "unknown form '%s(...)': there are call(FUNCTION;OPTION...) and tree(ROOT;OPTION...)",
				  name);
	}
	if (text[n - 1] != ')')
		return spi_refuse(why, "no ')' at the end of '%s'", text);
	return fields_read(&r, text + strlen(rule->kind->name) + 1, text + n - 1);
}

int spi_rule_write(const struct spi_rule *rule, enum spi_rule_form form, char *text, size_t size)
{
	struct spi_writer w = { text, size, 0 };

	spi_put(&w, rule->kind->name);
	spi_put(&w, "(");
	if (*rule->object) {
		spi_put_field(&w, rule->object, form);
		spi_put(&w, ":");
	}
	spi_put_field(&w, rule->function, form);
	for (unsigned int i = 0; i < spi_rule_options_count; i++)
		if (spi_rule_options[i].where & SPI_IN(rule->kind->number, form))
			spi_option_put(&w, rule, &spi_rule_options[i], form);
	spi_put(&w, ")");
	return spi_put_end(&w);
}

void spi_rule_set_tag(struct spi_rule *rule)
{
	char text[SPI_RULE_TEXT_MAX];
	uint64_t sum;

	if (spi_rule_write(rule, SPI_FORM_EVENT, text, sizeof(text)))
		*text = 0;	/* more than any event's name */
	sum = spi_hash_text(SPI_HASH_SEED, text);
	sum ^= sum >> 32;
	for (unsigned int i = 0; i < 8; i++)
		rule->tag[i] = "0123456789abcdef"[sum >> (28 - 4 * i) & 15];
	rule->tag[8] = 0;
}

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
