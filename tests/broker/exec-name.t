#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A program that a rule names executes one that no rule names: that one gets no agent, and nobody's rules.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup
cp plain other
cat >named.c <<'C'
#include <stdio.h>
#include <unistd.h>
__attribute__((noipa)) int add(int a, int b) { return a + b; }
int main(int argc, char **argv)
{
	char c;

	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) == 1 && c != 'x')
		add(c, 1);
	execl(argv[1], argv[1], "3", "wait", NULL);
	return 1;
}
C
gcc -O1 -o named named.c

# looked NAME - the broker has looked through /proc since: another program of that name, begun now, is traced
looked() {
	local pid=$app_pid in=$app_in

	app_start "$1" ./named ./other
	spi_wait 10 status_like "^applied.$app_pid.add.*active"
	exec {app_in}>&-
	wait "$app_pid"
	app_pid=$pid app_in=$in
}
has_agent() { grep -q liblttng-spi "/proc/$app_pid/maps"; }
record s 'spi:call(add;exec=named)' 'spi:add_entry'
app_start n ./named ./other
check "the one that is named is traced" spi_wait 10 status_like "^applied.$app_pid.add.*active"
is "$(has_agent; echo $?)" 0 "it has the agent"
: >n.out
echo -n aax >&"$app_in"
spi_wait 10 file_has n.out ready
check "it executes another, which is nobody's" spi_wait 10 status_unlike "^process.$app_pid.[0-9]+.(traced|waiting)"
looked later
is "$(has_agent; echo $?)" 1 "that one gets no agent"
unlike "$(status applied "$app_pid")" add "and no rule" || diag "$(status)"
app_call "$app_in" 2 n.out
exec {app_in}>&-
wait "$app_pid"
is $? 0 "it ends as ever"
recorded s
is "$(spi_count "$SPI_TMP/s" add_entry)" 2 "the calls of the one that is named are recorded, and no others"

# The other way round: who is named after the exec is traced.
cp named first
mkdir to && cp named to/named
record r 'spi:call(add;exec=named)' 'spi:add_entry'
app_start f ./first ./to/named
looked sooner
is "$(has_agent; echo $?)" 1 "one that no rule names has no agent"
: >f.out
echo -n x >&"$app_in"
spi_wait 10 file_has f.out ready
check "what it executes, and is named, is traced" spi_wait 10 status_like "^applied.$app_pid.add.*active"
exec {app_in}>&-
wait "$app_pid"
lttng_ok destroy r
tap_done
