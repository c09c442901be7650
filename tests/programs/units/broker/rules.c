/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The grammar of event names: what each asks for, what each wish becomes, and that nothing breaks it. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "liblttng-spi/base/agent-proto.h"
#include "rules/event-name.h"
#include "rules/options.h"

static unsigned int checks, failures;

static void check(int good, const char *name, const char *got)
{
	checks++;
	failures += !good;
	printf("%sok %u - %s\n", good ? "" : "not ", checks, name);
	if (!good)
		fprintf(stderr, "# got: %s\n", got);
}

/* All that a name asks for, in one line. */
static void parse_line(const char *name, char *line, size_t size)
{
	struct spi_event_rule rule;
	char why[SPI_RULE_WHY];
	int ret = spi_event_name_parse(name, &rule, why);
	size_t at = 0;

	at += snprintf(line + at, size - at, "%s", ret == -ENOENT ? "nothing" : ret ? "refused" : "");
	for (unsigned int i = 0; i < rule.nr_requests; i++)
		at += snprintf(line + at, size - at, "%s%s%s", i ? " | " : "", rule.requests[i].text,
			       rule.requests[i].flags & SPI_RULE_ONE_EVENT ? " !" : "");
	for (unsigned int i = 0; i < rule.asked.nr_pids; i++)
		at += snprintf(line + at, size - at, " pid=%d", (int) rule.asked.pids[i]);
	for (unsigned int i = 0; i < rule.asked.exec.count; i++)
		at += snprintf(line + at, size - at, " exec=%s", rule.asked.exec.name[i]);
	if ((ret == -EINVAL) != !!*why || (ret && rule.nr_requests))
		snprintf(line, size, "inconsistent result %d, why '%s'", ret, why);
	spi_event_rule_clear(&rule);
}

/* What is expected says "TAG" when it is about something else: then so does the line. */
static void tag_forget(char *line, const char *expected)
{
	char *tag = strstr(line, ";tag=");

	if (!tag || strlen(tag) < 13 || !strstr(expected, ";tag=TAG"))
		return;
	memcpy(tag + 5, "TAG", 3);
	memmove(tag + 8, tag + 13, strlen(tag + 13) + 1);
}

__attribute__((nonnull, noinline))
static void asks(const char *name, const char *expected)
{
	char line[20000], title[400];

	parse_line(name, line, sizeof(line));
	tag_forget(line, expected);
	snprintf(title, sizeof(title), "%.120s asks for %.200s", name, expected);
	check(!strcmp(line, expected), title, line);
}

/* What a user asks for, before its names are checked. */
struct wish {
	const char *target, *exec;
	struct spi_rule rule;
};

static int wish_format(const struct wish *wish, const char *filter, struct spi_event_recipe recipes[8], char *why)
{
	struct spi_rule rule = wish->rule;
	char room[400];
	int ret;

	*why = 0;
	rule.kind = rule.kind ? rule.kind : spi_kind_call;
	ret = spi_rule_set_target(&rule, wish->target, room, sizeof(room), why);
	if (!ret && wish->exec)
		ret = spi_rule_take(&rule, spi_rule_option_find("exec", SPI_IN_EVENT), wish->exec, why);
	return ret ? ret : spi_event_name_format(&rule, filter, recipes, 8, why);
}

static void wish_line(const struct wish *wish, const char *filter, char *line, size_t size)
{
	struct spi_event_recipe recipes[8];
	char why[SPI_RULE_WHY];
	int n = wish_format(wish, filter, recipes, why);
	size_t at = 0;

	if (n < 0)
		snprintf(line, size, "%s", n == -E2BIG ? "too long" : n == -EINVAL ? "refused" : "?");
	*line = n < 0 ? *line : 0;
	for (int i = 0; i < n; i++) {
		at += snprintf(line + at, size - at, "%s%s%s%s", i ? " , " : "", recipes[i].name,
			       recipes[i].filter ? " if " : "", recipes[i].filter ?: "");
		free(recipes[i].name);
		free(recipes[i].filter);
	}
}

static void becomes(const struct wish *wish, const char *filter, const char *expected)
{
	char line[4096], title[400];

	wish_line(wish, filter, line, sizeof(line));
	snprintf(title, sizeof(title), "the wish for %.100s becomes %.200s", wish->target, expected);
	check(!strcmp(line, expected), title, line);
}

static void parsing(void)
{
	asks("spi:main_entry", "main");
	asks("spi:main_exit", "main");
	asks("spi:main", "main !");
	asks("spi:parse_*_entry", "parse_*");
	asks("spi:parse_*", "parse | parse_*");
	asks("spi:parse*", "parse*");
	asks("spi:f_e*", "f | f_e*");
	asks("spi:f_entr*", "f | f_entr*");
	asks("spi:f_ex*", "f | f_ex*");
	asks("spi:f*_*", "f*");
	asks("spi:f*try", "f*");
	asks("spi:f*_foo", "f*_foo !");
	asks("spi:f**_entry", "f*");
	asks("spi:x_entry_entry", "x_entry");
	asks("spi:*", "nothing");
	asks("spi:*_entry", "nothing");
	asks("spi:", "nothing");
	asks("sp*", "nothing");
	asks("s*", "nothing");
	asks("*", "nothing");
	asks("other:main_entry", "nothing");
	asks("spi*main_entry", "nothing");
	asks("spi:_entry", "_entry !");
	asks("spi:\\*x*_entry", "\\*x*");
	asks("spi:a?b*_entry", "a\\?b*");
	asks("spi:a[0]_entry", "a\\[0\\]");
	asks("spi:a\\b_entry", "a\\\\b");
	asks("spi:a\\b*_entry", "ab*");
	asks("spi:f@2_entry", "f");
	asks("spi:f@*_exit", "f");
	asks("spi:f@2", "f !");
	asks("spi:f@*", "f !");
	asks("spi:ns::C::m_entry", "ns::C::m");
	asks("spi:ns::C::m@*_entry", "ns::C::m");
	asks("spi:libc.so.6:malloc_entry", "nothing");
	asks("spi:operator()_entry", "operator()");
	asks("spi:call(main)", "call(main;tag=3eea13ed)");
	asks("spi:call(libc.so.6:malloc;one-event)", "call(libc.so.6:malloc;one-event;tag=c252185a) !");
	asks("spi:call(%2a;pid=12;pid=7;exec=server%2a)", "call(*;tag=1cb443ba) pid=7 pid=12 exec=server*");
	asks("spi:call(*;exec=server*;pid=7;pid=12)", "call(*;tag=1cb443ba) pid=7 pid=12 exec=server*");
	asks("spi:call(f%28int%29)", "call(f(int);tag=05b585af)");
	asks("spi:call(f(int))", "call(f(int);tag=05b585af)");
	asks("spi:call()", "refused");
	asks("spi:call(f;)", "refused");
	asks("spi:call(f", "refused");
	asks("spi:call(f)x", "refused");
	asks("spi:call(f;depth=8)", "refused");
	asks("spi:call(f;pid=0)", "refused");
	asks("spi:call(f;pid=-1)", "refused");
	asks("spi:call(f;pid=99999999999999999999)", "refused");
	asks("spi:call(f;exec=/bin/sh)", "refused");
	asks("spi:call(f%)", "refused");
	asks("spi:call(f%4)", "refused");
	asks("spi:call(f%00)", "refused");
	asks("spi:call(f%0a)", "refused");
	asks("spi:call(f%3bg)", "refused");
	asks("spi:call(libc.so.6:)", "refused");
	asks("spi:tree(f;one-event)", "refused");
	asks("spi:call(f;compact)", "refused");
	asks("spi:wood(main)", "refused");
}

static void parsing_trees(void)
{
	asks("spi:tree(main)", "tree(main;tag=TAG)");
	asks("spi:tree()", "tree(;tag=TAG)");
	asks("spi:tree(main;depth=8)", "tree(main;depth=8;tag=TAG)");
	asks("spi:tree(app:ns::C::m%28int%29;exclude=std::%2a;exclude=a)", "tree(app:ns::C::m(int);exclude=a;exclude=std::*;tag=TAG)");
	asks("spi:tree(main;lib=libz%2a;exclude-lib=libc.so.6;calls-of=parse_*)",
	     "tree(main;lib=libz*;exclude-lib=libc.so.6;calls-of=parse_*;tag=TAG)");
	asks("spi:tree(main;follow=threads+dlopen+fork+exec)", "tree(main;tag=TAG)");
	asks("spi:tree(main;follow=exec+threads)", "tree(main;follow=threads+exec;tag=TAG)");
	asks("spi:tree(main;follow=none)", "tree(main;follow=none;tag=TAG)");
	asks("spi:tree(main;after=0.50)", "tree(main;after=0.5;tag=TAG)");
	asks("spi:tree(main;on-signal=SIGUSR1)", "tree(main;on-signal=10;tag=TAG)");
	asks("spi:tree(main;on-signal=rtmin+2)", "tree(main;on-signal=36;tag=TAG)");
	asks("spi:tree(main;budget=5%25)", "tree(main;budget=5;tag=TAG)");
	asks("spi:tree(main;budget=2.5;compact;parse-only)", "tree(main;budget=2.5;compact;parse-only;tag=TAG)");
	asks("spi:tree(main;exec=server;depth=3;pid=7)", "tree(main;depth=3;tag=TAG) pid=7 exec=server");
	asks("spi:tree(main", "refused");
	asks("spi:tree(main;)", "refused");
	asks("spi:tree(libc.so.6:)", "refused");
	asks("spi:tree(main;depth=0)", "refused");
	asks("spi:tree(main;depth=1.5)", "refused");
	asks("spi:tree(main;depth)", "refused");
	asks("spi:tree(main;compact=1)", "refused");
	asks("spi:tree(main;follow=)", "refused");
	asks("spi:tree(main;follow=threads+)", "refused");
	asks("spi:tree(main;follow=none+fork)", "refused");
	asks("spi:tree(main;after=-1)", "refused");
	asks("spi:tree(main;after=1;on-signal=USR1)", "refused");
	asks("spi:tree(main;on-signal=KILL)", "refused");
	asks("spi:tree(main;on-signal=SEGV)", "refused");
	asks("spi:tree(main;on-signal=RTMIN+99)", "refused");
	asks("spi:tree(main;budget=0)", "refused");
	asks("spi:tree(main;budget=5%25%25)", "refused");
	asks("spi:tree(main;lib=)", "refused");
	asks("spi:tree(main;lib=/lib/libc.so.6)", "refused");
	asks("spi:tree(main;exclude=)", "refused");
	asks("spi:tree(main;exclude=a%3bb)", "refused");
	asks("spi:tree(main;exclude=libc.so.6:malloc)", "refused");
	asks("spi:tree(main;depth=2;calls-of=f)", "refused");
	asks("spi:tree(main;pid=0)", "refused");
}

/* The same request has the same tag, another one another. */
static void tagging(void)
{
	static const char *const same[] = { "spi:tree(main;exclude=b;exclude=a;compact)", "spi:tree(main;compact;exclude=a;exclude=b)",
		"spi:tree(m%61in;exclude=a;exclude=b;exclude=a;compact;follow=exec+fork+threads+dlopen)" };
	static const char *const others[] = { "spi:call(main)", "spi:tree()", "spi:tree(main)", "spi:tree(main;compact)",
		"spi:tree(main;exclude=a;compact)", "spi:tree(main;exclude=a;exclude=b;compact;exec=x)",
		"spi:tree(main;exclude=a;exclude=b;compact;depth=1)", "spi:tree(main;exclude=a;lib=b;compact)" };
	struct spi_event_rule rule;
	char first[SPI_RULE_TAG_SIZE] = "", why[SPI_RULE_WHY];
	int good = 1;

	for (unsigned int i = 0; i < sizeof(same) / sizeof(*same); i++) {
		good &= !spi_event_name_parse(same[i], &rule, why) && strlen(rule.asked.tag) == 8;
		if (!i)
			strcpy(first, rule.asked.tag);
		good &= !strcmp(first, rule.asked.tag);
		spi_event_rule_clear(&rule);
	}
	check(good, "one tree in other words has one tag", first);
	for (unsigned int i = 0; i < sizeof(others) / sizeof(*others); i++) {
		good &= !spi_event_name_parse(others[i], &rule, why) && strcmp(first, rule.asked.tag);
		spi_event_rule_clear(&rule);
	}
	check(good, "other trees have other tags", why);
}

static void formatting(void)
{
	struct wish w = { .target = "main" };

	becomes(&w, NULL, "spi:main_entry , spi:main_exit , spi:main@*_entry , spi:main@*_exit");
	becomes(&w, "a > 1", "spi:main_entry if a > 1 , spi:main_exit , spi:main@*_entry if a > 1 , spi:main@*_exit");
	becomes(&w, "ret < 0", "refused");
	becomes(&w, "$ctx.ret == 1 && x == \"ret\"", "spi:main_entry if $ctx.ret == 1 && x == \"ret\" , spi:main_exit , "
		"spi:main@*_entry if $ctx.ret == 1 && x == \"ret\" , spi:main@*_exit");
	w.rule.one_event = 1;
	becomes(&w, NULL, "spi:main , spi:main@*");
	w.target = "x_entry";
	becomes(&w, NULL, "spi:*x_entry* if $app.spi:rules == \"*|4595b4f3|*\" , spi:call(x_entry;one-event)");
	w.rule.one_event = 0;
	w.target = "parse_*";
	becomes(&w, NULL, "spi:parse_*_entry , spi:parse_*_exit");
	w.target = "p*x";
	becomes(&w, NULL, "spi:p*x_entry , spi:p*x_exit , spi:p*x@*_entry , spi:p*x@*_exit");
	w.target = "libc.so.6:malloc";
	becomes(&w, "size > 9", "spi:*malloc*_entry if $app.spi:rules == \"*|cf91df52|*\" && (size > 9) , "
		"spi:*malloc*_exit if $app.spi:rules == \"*|cf91df52|*\" , spi:call(libc.so.6:malloc)");
	w.target = "f[ab]?g";
	becomes(&w, NULL, "spi:*f*g*_entry if $app.spi:rules == \"*|b9879a0d|*\" , "
		"spi:*f*g*_exit if $app.spi:rules == \"*|b9879a0d|*\" , spi:call(f[ab]?g)");
	w.target = "f(int, long)";
	becomes(&w, NULL, "spi:*f*_entry if $app.spi:rules == \"*|f682cab9|*\" , "
		"spi:*f*_exit if $app.spi:rules == \"*|f682cab9|*\" , spi:call(f%28int%2c%20long%29)");
	w.target = "*";
	w.exec = "server";
	w.rule.nr_pids = 1;
	w.rule.pids[0] = 4;
	becomes(&w, NULL, "spi:*_entry if $app.spi:rules == \"*|8a27d180|*\" , "
		"spi:*_exit if $app.spi:rules == \"*|8a27d180|*\" , spi:call(%2a;pid=4;exec=server)");
	w.exec = "bin/server";
	becomes(&w, NULL, "refused");
	w.exec = NULL;
	w.rule.nr_pids = 0;
	w.target = "a;b";
	becomes(&w, NULL, "refused");
	w.target = "";
	becomes(&w, NULL, "refused");
}

static void formatting_trees(void)
{
	static const char where[] = "lttng_ust_statedump:* , lttng_ust_lib:* , ";
	struct wish w = { .target = "main", .rule = { .kind = spi_kind_tree, .depth = 8 } };
	char expected[700];

	snprintf(expected, sizeof(expected), "spi_tree:function if $app.spi:rules == \"*|6a39b954|*\" , "
		"lttng_ust_cyg_profile:func_entry if $app.spi:rules == \"*|6a39b954|*\" , "
		"lttng_ust_cyg_profile:func_exit if $app.spi:rules == \"*|6a39b954|*\" , %sspi:tree(main;depth=8)", where);
	becomes(&w, NULL, expected);
	snprintf(expected, sizeof(expected), "spi_tree:function if $app.spi:rules == \"*|6a39b954|*\" , "
		"lttng_ust_cyg_profile:func_entry if $app.spi:rules == \"*|6a39b954|*\" && (addr > 1) , "
		"lttng_ust_cyg_profile:func_exit if $app.spi:rules == \"*|6a39b954|*\" , %sspi:tree(main;depth=8)", where);
	becomes(&w, "addr > 1", expected);
	becomes(&w, "ret == 1", "refused");
	w.rule.depth = 0;
	w.rule.compact = 1;
	w.rule.exclude.count = 1;
	w.rule.exclude.name[0] = "operator,*";
	w.target = "";
	w.exec = "server";
	snprintf(expected, sizeof(expected), "spi_tree:* if $app.spi:rules == \"*|a9bb3db4|*\" , "
		"%sspi:tree(;exclude=operator%%2c%%2a;compact;exec=server)", where);
	becomes(&w, NULL, expected);
	becomes(&w, "addr > 1", "refused");
	w.target = "libc.so.6:";
	becomes(&w, NULL, "refused");
}

/* What the agent makes of a text: the canonical text of the rule. */
__attribute__((nonnull, noinline))
static void agent_reads(const char *text, const char *expected)
{
	char room[SPI_RULE_TEXT_MAX], again[SPI_RULE_TEXT_MAX], why[SPI_RULE_WHY] = "", title[400];
	struct spi_rule rule;
	int ret = spi_rule_read(&rule, text, SPI_FORM_AGENT, room, sizeof(room), why);

	if (ret || spi_rule_write(&rule, SPI_FORM_AGENT, again, sizeof(again)))
		snprintf(again, sizeof(again), "%s", ret == -EINVAL && *why ? "refused" : "?");
	snprintf(title, sizeof(title), "the agent reads %.120s as %.200s", text, expected);
	check(!strcmp(again, expected), title, ret ? why : again);
}

static void agent_reading(void)
{
	agent_reads("main", "call(main)");
	agent_reads("  ns::f(int)\t", "call(ns::f(int))");
	agent_reads("libc.so.6:mal%6coc", "call(libc.so.6:mal%6coc)");
	agent_reads("call(f(int);compact;tag=0a)", "call(f(int);compact;tag=0a)");
	agent_reads("call(a.so:f;one-event;tag=12345678)", "call(a.so:f;one-event;tag=12345678)");
	agent_reads("tree()", "tree()");
	agent_reads("tree(;tag=1;follow=fork,exec;on-signal=USR1)", "tree(;follow=fork+exec;on-signal=10;tag=1)");
	agent_reads("tree(p:mid*;lib=p;exclude=b;exclude=a;depth=3)", "tree(p:mid*;depth=3;exclude=a;exclude=b;lib=p)");
	agent_reads("", "refused");
	agent_reads("libc.so.6:", "refused");
	agent_reads("call(f", "refused");
	agent_reads("call(f;pid=1)", "refused");
	agent_reads("call(f;exec=x)", "refused");
	agent_reads("call(f;tag=xyz)", "refused");
	agent_reads("call(f;tag=)", "refused");
	agent_reads("tree(f;one-event)", "refused");
	agent_reads("tree(f;depht=3)", "refused");
}

static void describing(void)
{
	char text[200];

	check(!spi_event_name_describe("spi:call(libfoo.so:parse_%2a;exec=server)", text, sizeof(text)) &&
	      !strcmp(text, "parse_* of libfoo.so, in processes named server"), "the reserved form reads well", text);
	check(!spi_event_name_describe("spi:call(f;one-event;pid=3;pid=2)", text, sizeof(text)) &&
	      !strcmp(text, "f, one event a call, in processes 2, 3"), "so does one with pids", text);
	check(!spi_event_name_describe("spi:tree(app:main;depth=3;lib=app;exclude=log_%2a;exclude=x;follow=threads+fork;budget=5;compact;"
	      "pid=2)", text, sizeof(text)) &&
	      !strcmp(text, "call tree of main of app, 3 deep, in app, without log_*, x, without libraries loaded later, "
	      "executed programs, slow-down at most 5 %, compact, in process 2"), "so does a tree", text);
	check(!spi_event_name_describe("spi:tree(;calls-of=parse;on-signal=USR2)", text, sizeof(text)) &&
	      !strcmp(text, "calls made by parse, from signal USR2 on"), "so does one without root", text);
	check(spi_event_name_describe("spi:f_entry", text, sizeof(text)) == -EINVAL, "a plain name has no other reading", "");
}

/* ---- what nobody thought of ----------------------------------------------- */

static uint64_t state = 88172645463325252u;

static uint32_t draw(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t) (state >> 32) % below;
}

static void draw_text(char *text, size_t most)
{
	static const char *const pieces[] = {
		"spi:", "call(", ")", ";", "*", "?", "[", "]", "\\", "_entry", "_exit", "_e", "@2", "@*", "%2a", "%", "%0",
		"one-event", "pid=", "exec=", "1", "99", "::", ":", "a", "b", "parse", "(", "<", ">", " ", ",", "\x01",
		"\xc3\xa9", "_", "0x1f", "operator", "\"", "tag=", "tree(", "depth=", "exclude=", "lib=", "calls-of=",
		"follow=", "fork", "+", "after=", "on-signal=", "USR1", "budget=", "compact", "parse-only", "0.5",
	};
	size_t n = 0, count = draw(12);

	*text = 0;
	for (size_t i = 0; i < count; i++) {
		const char *piece = pieces[draw(sizeof(pieces) / sizeof(pieces[0]))];

		if (n + strlen(piece) > most)
			break;
		n += snprintf(text + n, most - n + 1, "%s", piece);
	}
}

/* Does the agent read the text as what the broker has written? */
static int agent_agrees(const char *text)
{
	char room[SPI_RULE_TEXT_MAX], again[SPI_RULE_TEXT_MAX], why[SPI_RULE_WHY];
	struct spi_rule rule;

	return !spi_rule_read(&rule, text, SPI_FORM_AGENT, room, sizeof(room), why) &&
		!spi_rule_write(&rule, SPI_FORM_AGENT, again, sizeof(again)) &&
		(!strcmp(again, text) || !spi_rule_kind_of(text));
}

/* A wish's rules ask for what was wished, and those beside the reserved form for nothing. */
static int wish_comes_back(const struct wish *wish, char *trouble, size_t size)
{
	struct spi_event_recipe recipes[8];
	char why[SPI_RULE_WHY];
	int n = wish_format(wish, NULL, recipes, why), good = 1, asking = 0;

	for (int i = 0; i < n; i++) {
		struct spi_event_rule rule;
		int ret = spi_event_name_parse(recipes[i].name, &rule, why);

		if (ret == -EINVAL || (recipes[i].filter && rule.nr_requests))
			good = 0;
		for (unsigned int r = 0; r < rule.nr_requests; r++) {
			asking++;
			good &= !!(rule.requests[r].flags & SPI_RULE_ONE_EVENT) == !!wish->rule.one_event;
			good &= strstr(rule.requests[r].text, wish->target) != NULL;
			good &= agent_agrees(rule.requests[r].text);
			good &= !wish->rule.kind == !!strncmp(rule.requests[r].text, "tree(", 5);
			good &= rule.asked.nr_pids == wish->rule.nr_pids;
			good &= rule.asked.exec.count == (wish->exec != NULL);
		}
		good &= rule.nr_requests <= 1 && strlen(recipes[i].name) <= SPI_EVENT_NAME_MAX;
		if (!good)
			snprintf(trouble, size, "%s -> %s", wish->target, recipes[i].name);
		spi_event_rule_clear(&rule);
		free(recipes[i].name);
		free(recipes[i].filter);
		if (!good)
			break;
	}
	if (n > 0 && good && !asking) {
		snprintf(trouble, size, "%s: nothing asks for it", wish->target);
		good = 0;
	}
	return good && (n >= 0) == !*why;
}

static void fuzzing(void)
{
	char text[300], line[20000], trouble[700] = "";
	int good = 1;

	for (int i = 0; i < 2000; i++) {
		draw_text(text, draw(280));
		parse_line(text, line, sizeof(line));
		good &= strncmp(line, "inconsistent", 12) != 0;
		snprintf(line, sizeof(line), "spi:%.290s", text);
		memmove(text, line, sizeof(text) - 1);
		parse_line(text, line, sizeof(line));
		good &= strncmp(line, "inconsistent", 12) != 0;
		spi_event_name_describe(text, line, draw(80));
	}
	check(good, "4000 names of any shape are taken or refused", line);
	good = 1;
	for (int i = 0; i < 2000 && good; i++) {
		struct wish wish = { .target = text, .rule = { .one_event = draw(2), .depth = draw(2),
			.unfollowed = draw(16), .budget = draw(1000) } };

		draw_text(text, draw(280));
		if (!wish.rule.one_event && draw(2))
			wish.rule.kind = spi_kind_tree;
		if (draw(3) == 0)
			wish.rule.pids[wish.rule.nr_pids++] = 1 + draw(100);
		if (draw(3) == 0)
			wish.exec = "server";
		good = wish_comes_back(&wish, trouble, sizeof(trouble));
	}
	check(good, "2000 wishes come back out of the names they become", trouble);
}

int main(void)
{
	parsing();
	parsing_trees();
	tagging();
	formatting();
	formatting_trees();
	agent_reading();
	describing();
	fuzzing();
	printf("1..%u\n", checks);
	return failures != 0;
}
