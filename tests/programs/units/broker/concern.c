/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Whom a rule acts on: owners, trackers, scopes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/rules/ruleset.h"
#include "rules/glob.h"

static unsigned int checks, failures;

static void check(int good, const char *name)
{
	checks++;
	failures += !good;
	printf("%sok %u - %s\n", good ? "" : "not ", checks, name);
}

/* Does a rule of that name, owner and trackers act on the process? */
static bool acts(const char *name, uid_t owner, const char *trackers, const struct facts *facts, bool application)
{
	struct ruleset *set = ruleset_create();
	struct session *session = ruleset_add_session(set, "s", owner, "");
	char text[400];
	FILE *in;
	bool result = false;

	snprintf(text, sizeof(text), "channel\tc\ton\nevent\t%s\ton\n%send\n", name, trackers);
	in = fmemopen(text, strlen(text), "r");
	if (!ruleset_add_lines(set, session, in) && set->rules)
		result = rule_concerns(set->rules, facts, application);
	fclose(in);
	ruleset_free(set);
	return result;
}

int main(void)
{
	struct facts a = { .pid = 70, .inner_pid = 7, .uids = { 1000, 1000, 1000, 1000 },
			   .gids = { 50, 50, 50, 50 }, .exec = "server3",
			   .names = { .comm = "worker", .run_as = "server", .title = "/opt/x: second" } };
	struct facts mixed = a, own;
	char lines[] = "channel\tc\ton\nevent\tspi:call(f;exec=x)\toff\nend\n";
	struct ruleset *set;
	FILE *in;

	check(acts("spi:f_entry", 0, "", &a, true), "root's rule reaches everybody");
	check(acts("spi:f_entry", 1000, "", &a, true), "a user's rule his own process");
	check(!acts("spi:f_entry", 1001, "", &a, true), "and no other's");
	for (int i = 0; i < 4; i++) {
		mixed = a;
		mixed.uids[i] = 0;
		check(!acts("spi:f_entry", 1000, "", &mixed, true), "nor one with another user's id among its own");
	}
	check(!acts("spi:f_entry", 0, "", &a, false), "without a scope only those that registered");
	check(!acts("spi:*_entry", 0, "", &a, true), "a rule that only records acts on nobody");
	check(acts("spi:f_entry", 0, "tracker\tvpid\nid\t7\n", &a, true), "tracked by the pid in its own namespace");
	check(!acts("spi:f_entry", 0, "tracker\tvpid\nid\t70\n", &a, true), "not by that outside");
	check(!acts("spi:f_entry", 0, "tracker\tvpid\n", &a, true), "a tracker without values is nobody");
	check(acts("spi:f_entry", 0, "tracker\tvuid\nid\t1000\ntracker\tvgid\nid\t50\n", &a, true), "by user and group");
	check(!acts("spi:f_entry", 0, "tracker\tvuid\nid\t1000\ntracker\tvgid\nid\t51\n", &a, true), "by all that there are");
	check(acts("spi:call(f;pid=70)", 0, "", &a, false), "a scope by pid needs no registration");
	check(!acts("spi:call(f;pid=7)", 0, "", &a, false), "and is meant as we see it");
	check(acts("spi:call(f;exec=server3)", 0, "", &a, false), "by the executable's name");
	check(acts("spi:call(f;exec=server)", 0, "", &a, false), "by the name that it was started by");
	check(acts("spi:call(f;exec=worker)", 0, "", &a, false), "by its first thread's");
	check(acts("spi:call(f;exec=%2a: second)", 0, "", &a, false), "by what it has made of its first argument");
	check(acts("spi:call(f;exec=x)", 0, "", &a, false), "and by the file name that this begins with");
	check(acts("spi:call(f;exec=ser%2a)", 0, "", &a, false), "by a glob");
	check(!acts("spi:call(f;exec=erver)", 0, "", &a, false), "by nothing less");
	check(!acts("spi:call(f;exec=server3;pid=71)", 0, "", &a, false), "both, when there are both");
	check(!acts("spi:call(f;pid=70)", 1001, "", &a, false), "a scope is no way around the owner");
	check(!facts_read(&own, getpid()) && own.uids[0] == getuid() && own.parent == getppid() &&
	      !strcmp(own.exec, "concern"), "what is read of a process is so");
	check(!*own.names.title && !*own.names.comm, "its other names are not while no rule names programs");
	set = ruleset_create();
	in = fmemopen(lines, strlen(lines), "r");
	ruleset_add_lines(set, ruleset_add_session(set, "s", 0, ""), in);
	fclose(in);
	check(!facts_read(&own, getpid()) && !strcmp(own.names.run_as, "concern") && !strcmp(own.names.comm, "concern") &&
	      spi_glob_match_title("concern", own.names.title), "they are while one does");
	ruleset_free(set);
	check(!facts_read(&own, getpid()) && !*own.names.title, "and no longer");
	check(facts_read(&own, 0x7ffffff0) < 0, "nothing of one that is not there");
	printf("1..%u\n", checks);
	return failures != 0;
}
