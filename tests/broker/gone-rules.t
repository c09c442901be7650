#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Rules of a session that is gone cost nothing any more: fork() in a traced program takes what it took before there were
# a thousand of them. And a child that was forked with a rule that is gone by the time that it begins loses it.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup
spi_cc forks "$SPI_PROGRAMS/child-calls.c" -O2 -Wl,--no-as-needed -llttng-ust

# fork_all - all of forks' children; ms in $took
runs=0 wrong=
fork_all() {
	local begin=$EPOCHREALTIME

	./forks || wrong+=" $?"
	took=$(((${EPOCHREALTIME/./} - ${begin/./}) / 1000))
	runs=$((runs + 1))
}
record s 'spi:in_child_entry'
spi_wait 10 status_like "^rule.s.channel0.spi:in_child_entry"
fork_all
before=$took
lttng_ok create h --output="$SPI_TMP/h"
for k in 0 500; do lttng_ok enable-event -u -s h "$(seq -s, -f 'spi:old_%.0f_entry' "$k" $((k + 499)))"; done
lttng_ok start h
check "a thousand rules" spi_wait 30 status_like "^rule.h.channel0.spi:old_999_entry"
lttng_ok destroy h
check "and they are gone" spi_wait 30 status_unlike "^rule.h"
fork_all
# With the rules still there fork() takes 20 times as long.
spi_soon "$took" $((4 * before + 500)) "60 children, which took $before ms before"
is "$wrong" "" "who forks ends as ever"
recorded s
is "$(spi_count s in_child_entry)" $((60 * runs)) "and every child is recorded"

# A child that is forked while the broker does not listen, with a rule that goes before the child begins with its first call.
cat >late.c <<'C'
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noipa)) int stays(int a) { return a + 1; }
__attribute__((noipa)) int goes(int a) { return a + 2; }
int main(void)
{
	char line[10];
	pid_t child;

	setbuf(stdin, NULL);
	setlinebuf(stdout);
	puts("ready");
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	child = fork();
	if (!child)
		printf("child %d\n", (int) getpid());
	while (!child && fgets(line, sizeof(line), stdin))
		printf("called %d\n", stays(goes(1)));
	return child && waitpid(child, NULL, 0) != child;
}
C
spi_cc late "$PWD/late.c" -O2 -Wl,--no-as-needed -llttng-ust
record stay 'spi:stays_entry'
record go 'spi:goes_entry'
app_start l ./late
pid=$app_pid
check "both rules are in force" spi_wait 10 status_like "^counts.$pid(.[0-9]+){5}.2.0$"
broker=$(pgrep -x spi-broker | head -n 1)
kill -STOP "$broker"
echo >&"$app_in"
spi_wait 20 file_has l.out "child "
child=$(sed -n 's/^child //p' l.out)
lttng_ok destroy go
kill -CONT "$broker"
echo >&"$app_in"
spi_wait 10 file_has l.out "called 4"
check "the child has come, with the one that stays" spi_wait 20 status_like "^applied.$child.stays.active"
check "and has no other function instrumented" spi_wait 20 status_like "^counts.$child(.[0-9]+){5}.1.0$" || diag "$(status counts "$child")"
recorded stay
is "$(spi_count stay stays_entry)" 1 "its call is recorded"
exec {app_in}>&-
wait "$pid"
is $? 0 "it ends as ever"
tap_done
