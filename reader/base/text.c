/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "reader/base/text.h"

#define SECOND	INT64_C(1000000000)

/* Seconds and the rest, also before 1970. */
static time_t seconds_of(int64_t ns, int64_t *rest)
{
	int64_t seconds = ns / SECOND;

	*rest = ns % SECOND;
	if (*rest < 0) {
		*rest += SECOND;
		seconds--;
	}
	return (time_t) seconds;
}

void time_text(int64_t ns, char *text)
{
	static time_t known = -1;
	static char clock[32];		/* of `known`: lines come in order of time */
	int64_t rest;
	const time_t seconds = seconds_of(ns, &rest);
	struct tm tm;

	if (seconds != known && localtime_r(&seconds, &tm)) {
		snprintf(clock, sizeof(clock), "%02d:%02d:%02d.", tm.tm_hour, tm.tm_min, tm.tm_sec);
		known = seconds;
	}
	rest /= 1000;
	memcpy(text, clock, 9);
	for (int i = 14; i >= 9; i--, rest /= 10)
		text[i] = (char) ('0' + rest % 10);
	text[15] = 0;
}

/* A number with so many digits behind the point, and its unit. */
static void decimal_text(uint64_t number, unsigned int digits, const char *unit, char *text)
{
	char reversed[32];
	size_t n = 0;

	for (unsigned int i = 0; i < digits; i++, number /= 10)
		reversed[n++] = (char) ('0' + number % 10);
	reversed[n++] = '.';
	do {
		reversed[n++] = (char) ('0' + number % 10);
	} while (number /= 10);
	while (n)
		*text++ = reversed[--n];
	strcpy(text, unit);
}

/* The digits of a fraction, in ns. */
static int fraction_read(const char **at, int64_t *ns)
{
	int64_t unit = SECOND;

	if (**at != '.')
		return 0;
	if (!isdigit((unsigned char) *++*at))
		return -1;
	for (; isdigit((unsigned char) **at); ++*at) {
		unit /= 10;
		*ns += (**at - '0') * unit;
	}
	return 0;
}

int time_read(const char *text, int64_t near, int64_t *ns)
{
	int64_t rest = 0;
	const time_t day = seconds_of(near, &rest);
	struct tm tm;
	const char *at = text;
	int n = 0, year, month, date;
	char *end;

	localtime_r(&day, &tm);
	rest = 0;
	if (sscanf(at, "%4d-%2d-%2d%n", &year, &month, &date, &n) == 3 && n && (at[n] == ' ' || at[n] == 'T')) {
		if (month < 1 || month > 12 || date < 1 || date > 31)
			return -1;
		tm.tm_year = year - 1900;
		tm.tm_mon = month - 1;
		tm.tm_mday = date;
		at += n + 1;
	} else if (!strchr(text, ':')) {
		int64_t seconds = strtoll(at, &end, 10);

		if (end == at || fraction_read((const char **) &end, &rest) < 0 || *end || seconds > INT64_MAX / SECOND - 1 ||
				seconds < 0)
			return -1;
		*ns = seconds * SECOND + rest;
		return 0;
	}
	n = 0;
	tm.tm_sec = 0;
	tm.tm_isdst = -1;
	if (strpbrk(at, "+- T") || sscanf(at, "%2d:%2d%n", &tm.tm_hour, &tm.tm_min, &n) != 2 || !n || tm.tm_hour > 23 ||
			tm.tm_min > 59)
		return -1;
	at += n;
	if (*at == ':') {
		n = 0;
		if (sscanf(at, ":%2d%n", &tm.tm_sec, &n) != 1 || !n || tm.tm_sec > 60)
			return -1;
		at += n;
		if (fraction_read(&at, &rest) < 0)
			return -1;
	}
	if (*at)
		return -1;
	*ns = (int64_t) mktime(&tm) * SECOND + rest;
	return 0;
}

void duration_text(int64_t ns, char *text)
{
	const uint64_t n = ns > 0 ? (uint64_t) ns : 0;

	if (n < 9995)
		decimal_text((n + 5) / 10, 2, " us", text);
	else if (n < 999950)
		decimal_text((n + 50) / 100, 1, " us", text);
	else if (n < (uint64_t) SECOND)
		decimal_text((n + 5000) / 10000, 2, " ms", text);
	else
		decimal_text((n + 500000) / 1000000, 3, " s", text);
}

int duration_read(const char *text, int64_t *ns)
{
	char *end;
	double value = strtod(text, &end);
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "", 1 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 } };

	while (*end == ' ')
		end++;
	for (size_t i = 0; end != text && i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(end, units[i].unit) && value >= 0 && value * units[i].ns < 9e18) {
			*ns = (int64_t) (value * units[i].ns);
			return 0;
		}
	return -1;
}

int output_status(FILE *out)
{
	if (!ferror(out))
		return 0;
	return errno ? -errno : -EPIPE;
}

void text_clean(char *text)
{
	for (unsigned char *s = (unsigned char *) text; *s; s++)
		if (*s < 0x20 || *s == 0x7f || (*s == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0))
			*s = '?';
}

const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The length of the character of UTF-8 there; 0: it is none. */
static size_t utf8_length(const unsigned char *s)
{
	const size_t n = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) || (*s == 0xf0 && s[1] < 0x90) ||
			(*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

void json_string(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *) text;

	putc('"', out);
	while (*s) {
		const size_t n = utf8_length(s);

		if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (*s < 0x20 || *s == 0x7f || *s == '<' || *s == '>')
			fprintf(out, "\\u%04x", *s);	/* so that it may stand in a page */
		else if (n)
			fwrite(s, 1, n, out);
		else
			fputs("\\ufffd", out);
		s += n ? n : 1;
	}
	putc('"', out);
}

void csv_field(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}
