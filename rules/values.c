/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The kinds of values that options have: how a text becomes a value, and a value a text. What can be told without a
 * program is checked here. Numbers are kept as fixed point, so that one value has one text.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "rules/options.h"
#include "rules/writer.h"

#define RTMIN		34u	/* the first signal that libc leaves to programs */
#define SIGNALS		64u

/* ---- bytes, without locale ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char) (c - 'a' + 'A') : c;
}

/* Does the text begin with these capitals, in whatever case? */
static bool begins(const char *text, const char *capitals)
{
	while (*capitals && upper(*text) == *capitals) {
		text++;
		capitals++;
	}
	return !*capitals;
}

/* ---- decimals ---- */

/* The first n bytes ("12", "0.5") to a whole number of 1/scale. -1: no such number, 0, or above `max`. */
static int64_t read_decimal(const char *text, size_t n, uint32_t scale, uint32_t max)
{
	const char *end = text + n;
	uint64_t value = 0;
	uint32_t unit = scale;

	if (n > 12 || !is_digit(*text))
		return -1;
	for (; text < end && is_digit(*text); text++)
		value = value * 10 + (uint64_t) (*text - '0');
	value *= scale;
	if (text < end && *text == '.' && unit > 1) {
		for (text++; text < end && is_digit(*text) && unit > 1; text++) {
			unit /= 10;
			value += unit * (uint64_t) (*text - '0');
		}
		if (text[-1] == '.')
			return -1;
	}
	return text < end || !value || value > (uint64_t) max * scale ? -1 : (int64_t) value;
}

static int take_decimal(const struct spi_rule_option *option, uint32_t *to, const char *value, char *why)
{
	size_t n = strlen(value);
	int64_t number;

	n -= option->value == SPI_VALUE_PERCENT && n && value[n - 1] == '%';
	number = read_decimal(value, n, option->scale, option->max);
	if (number < 0)
		return spi_refuse(why, option->wrong, value);
	*to = (uint32_t) number;
	return 0;
}

/* ---- signals ---- */

static const char signal_names[][8] = {
	"", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM",
	"TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF",
	"WINCH", "POLL", "PWR", "SYS",
};
#define SIGNAL_NAMES (sizeof(signal_names) / sizeof(signal_names[0]))

/* 0: there is no such signal. */
static uint32_t signal_number(const char *name)
{
	int64_t number = read_decimal(name, strlen(name), 1, SIGNALS);

	if (number > 0)
		return (uint32_t) number;
	if (begins(name, "SIG"))
		name += 3;
	if (begins(name, "RTMIN")) {
		if (!name[5])
			return RTMIN;
		number = name[5] == '+' ? read_decimal(name + 6, strlen(name + 6), 1, SIGNALS - RTMIN) : -1;
		return number < 0 ? 0 : RTMIN + (uint32_t) number;
	}
	for (uint32_t i = 1; i < SIGNAL_NAMES; i++)
		if (begins(name, signal_names[i]) && !name[strlen(signal_names[i])])
			return i;
	return 0;
}

/* Not what a program cannot wait for, nor what the tracer has a use for. */
static bool signal_is_usable(uint32_t number)
{
	static const unsigned char unusable[] = { SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, 32, 33 };

	return !memchr(unusable, (int) number, sizeof(unusable));
}

static int take_signal(const struct spi_rule_option *option, uint32_t *to, const char *value, char *why)
{
	uint32_t number = signal_number(value);

	if (!number)
		return spi_refuse(why, option->wrong, value);
	if (!signal_is_usable(number))
		return spi_refuse(why, "'%s' cannot be waited for: USR1, USR2 and RTMIN+1 can", value);
	*to = number;
	return 0;
}

/* Users read a name; the agent is told the number. */
static void put_signal(struct spi_writer *w, uint32_t number, enum spi_rule_form form)
{
	if (form == SPI_FORM_EVENT && number < SIGNAL_NAMES)
		spi_put(w, signal_names[number]);
	else
		spi_put_number(w, number);
}

/* ---- sets of words: what a tree follows, and along which channels ---- */

struct word {
	const char *name, *said;	/* NULL: the list ends */
};

/* Bit i of SPI_FOLLOW_*, which the rule has where the option does not name it. */
static const struct word follows[] = {
	{ "threads", "new threads" }, { "dlopen", "libraries loaded later" }, { "fork", "forked children" },
	{ "exec", "executed programs" }, { NULL, NULL },
};

/* Bit i of SPI_CHANNELS_*. */
static const struct word channels[] = {
	{ "pipe", "pipes" }, { "unix", "UNIX sockets" }, { "tcp", "TCP" }, { "udp", "UDP" }, { NULL, NULL },
};

static const struct word *words_of(const struct spi_rule_option *option)
{
	return option->value == SPI_VALUE_FOLLOW ? follows : channels;
}

static unsigned int words_all(const struct word *words)
{
	unsigned int i = 0;

	while (words[i].name)
		i++;
	return (1u << i) - 1;
}

/* Words with '+' between them, or ',' as people type it. NULL: all of them. */
static int take_words(const struct spi_rule_option *option, uint32_t *set, const char *value, char *why)
{
	const struct word *words = words_of(option);
	uint32_t named = value ? 0 : words_all(words);

	for (const char *at = value; value && (option->value != SPI_VALUE_FOLLOW || strcmp(value, "none")); ) {
		size_t n = strcspn(at, "+,");
		unsigned int i = 0;

		while (words[i].name && (strlen(words[i].name) != n || memcmp(words[i].name, at, n)))
			i++;
		if (!words[i].name) {
			char word[SPI_RULE_WHY];

			n = n < sizeof(word) ? n : sizeof(word) - 1;
			memcpy(word, at, n);
			word[n] = 0;
			return spi_refuse(why, option->wrong, word);
		}
		named |= 1u << i;
		if (!at[n])
			break;
		at += n + 1;
	}
	*set = option->value == SPI_VALUE_FOLLOW ? named ^ words_all(words) : named;
	return 0;
}

/* `said`: as a user reads the set. Else as the option names it. */
static void put_words(struct spi_writer *w, const struct word *words, uint32_t set, bool said)
{
	const char *before = "";

	for (unsigned int i = 0; words[i].name; i++)
		if (set & 1u << i) {
			spi_put(w, before);
			spi_put(w, said ? words[i].said : words[i].name);
			before = said ? ", " : "+";
		}
	if (!*before && !said)
		spi_put(w, "none");
}

/* ---- processes, tags ---- */

static int take_pid(struct spi_rule *rule, const struct spi_rule_option *option, const char *value, char *why)
{
	int64_t pid = read_decimal(value, strlen(value), 1, INT32_MAX);

	return pid < 0 ? spi_refuse(why, option->wrong, *value ? value : "''") : spi_rule_take_pid(rule, pid, why);
}

static int take_hex(const struct spi_rule_option *option, char *to, const char *value, char *why)
{
	size_t n = strlen(value);

	if (!n || n >= SPI_RULE_TAG_SIZE || strspn(value, "0123456789abcdef") != n)
		return spi_refuse(why, option->wrong, value);
	memcpy(to, value, n + 1);
	return 0;
}

/* ---- all of them ---- */

int spi_rule_take(struct spi_rule *rule, const struct spi_rule_option *option, const char *value, char *why)
{
	void *to = (char *) rule + option->at;

	if (option->value == SPI_VALUE_CHANNELS)
		return take_words(option, to, value, why);
	if (!value && option->value == SPI_VALUE_COUNT) {
		*(uint32_t *) to = option->standard;
		return 0;
	}
	if (!value != (option->value == SPI_VALUE_FLAG))
		return spi_refuse(why, value ? "it has no value" : "its value is missing");
	switch (option->value) {
	case SPI_VALUE_FLAG:
		*(uint32_t *) to = 1;
		return 0;
	case SPI_VALUE_DECIMAL:
	case SPI_VALUE_COUNT:
	case SPI_VALUE_PERCENT:
		return take_decimal(option, to, value, why);
	case SPI_VALUE_SIGNAL:
		return take_signal(option, to, value, why);
	case SPI_VALUE_CHANNELS:
	case SPI_VALUE_FOLLOW:
		return take_words(option, to, value, why);
	case SPI_VALUE_FUNCTIONS ... SPI_VALUE_SETTINGS:
		return spi_list_take(to, option->value, value, why);
	case SPI_VALUE_PIDS:
		return take_pid(rule, option, value, why);
	case SPI_VALUE_HEX:
		return take_hex(option, to, value, why);
	}
	return -EINVAL;
}

void spi_put_field(struct spi_writer *w, const char *field, enum spi_rule_form form)
{
	for (const char *c = field; *c; c++) {
		unsigned char byte = (unsigned char) *c;

		if (form == SPI_FORM_EVENT && (byte <= 0x20 || byte >= 0x7f || strchr("%;(),*\\\"'", byte)))
			spi_put_byte(w, byte);
		else
			spi_put_some(w, c, 1);
	}
}

/* How many values the rule has of this option. */
static uint32_t count_of(const struct spi_rule *rule, const struct spi_rule_option *option)
{
	const void *from = (const char *) rule + option->at;

	switch (option->value) {
	case SPI_VALUE_FUNCTIONS ... SPI_VALUE_SETTINGS:
		return ((const struct spi_rule_names *) from)->count;
	case SPI_VALUE_PIDS:
		return rule->nr_pids;
	case SPI_VALUE_HEX:
		return *(const char *) from != 0;
	default:
		return *(const uint32_t *) from != 0;
	}
}

static void put_value(struct spi_writer *w, const struct spi_rule *rule, const struct spi_rule_option *option,
		      uint32_t i, enum spi_rule_form form)
{
	const void *from = (const char *) rule + option->at;

	switch (option->value) {
	case SPI_VALUE_FLAG:
		break;
	case SPI_VALUE_DECIMAL:
	case SPI_VALUE_COUNT:
	case SPI_VALUE_PERCENT:
		spi_put_decimal(w, *(const uint32_t *) from, option->scale);
		break;
	case SPI_VALUE_SIGNAL:
		put_signal(w, *(const uint32_t *) from, form);
		break;
	case SPI_VALUE_FOLLOW:
		put_words(w, follows, *(const uint32_t *) from ^ SPI_FOLLOW_ALL, false);
		break;
	case SPI_VALUE_CHANNELS:
		put_words(w, channels, *(const uint32_t *) from, false);
		break;
	case SPI_VALUE_FUNCTIONS ... SPI_VALUE_SETTINGS:
		spi_put_field(w, ((const struct spi_rule_names *) from)->name[i], form);
		break;
	case SPI_VALUE_PIDS:
		spi_put_number(w, (uint64_t) rule->pids[i]);
		break;
	case SPI_VALUE_HEX:
		spi_put(w, from);
		break;
	}
}

void spi_option_put(struct spi_writer *w, const struct spi_rule *rule, const struct spi_rule_option *option,
		    enum spi_rule_form form)
{
	for (uint32_t i = 0; i < count_of(rule, option); i++) {
		spi_put(w, ";");
		spi_put(w, option->name);
		if (option->value != SPI_VALUE_FLAG)
			spi_put(w, "=");
		put_value(w, rule, option, i, form);
	}
}

/* Users read lists of names as they are. */
static void say_values(struct spi_writer *w, const struct spi_rule *rule, const struct spi_rule_option *option)
{
	const void *from = (const char *) rule + option->at;
	const struct spi_rule_names *names = from;

	if (option->value == SPI_VALUE_FOLLOW || option->value == SPI_VALUE_CHANNELS) {
		put_words(w, words_of(option), *(const uint32_t *) from, true);
		return;
	}
	if (option->value < SPI_VALUE_FUNCTIONS || option->value > SPI_VALUE_SETTINGS) {
		put_value(w, rule, option, 0, SPI_FORM_EVENT);
		return;
	}
	for (uint32_t i = 0; i < names->count; i++) {
		spi_put(w, i ? ", " : "");
		spi_put(w, names->name[i]);
	}
}

void spi_option_say(struct spi_writer *w, const struct spi_rule *rule, const struct spi_rule_option *option)
{
	if (!count_of(rule, option) || !option->said)
		return;
	for (const char *c = option->said; *c; c++) {
		if (*c != '%')
			spi_put_some(w, c, 1);
		else if (c[1] == '%')
			spi_put_some(w, c++, 1);
		else
			say_values(w, rule, option);
	}
}
