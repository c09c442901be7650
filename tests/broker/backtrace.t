#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Several sessions record one function, with backtraces of several lengths and without: each has what its rule asks for,
# whichever comes first. What does not go with a backtrace is refused in one line.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
. "$SPI_TOP_SRCDIR/tests/lib/rules.sh"
spi_private "$@"
spi_app
spi_sessiond
export LTTNG_UST_REGISTER_TIMEOUT=-1

session() { quiet lttng create "$1" -o "$PWD/$1"; }
# shape SESSION - how many entries, and how many with a backtrace of which length and end
shape() {
	spi_read "$1"
	grep 'spi:app_work_entry' "$1.txt" |
		sed -E 's/.*backtrace_end = \( "(\w+)".*_backtrace_length = ([0-9]+),.*/\1 \2/; t; s/.*/none/' |
		sort | uniq -c | xargs
}

session first
check "without" "$SPI_LTTNG" enable-event --spi -f app_work
quiet lttng start
session three
check "three frames" "$SPI_LTTNG" enable-event --spi -f app_work --backtrace=3
quiet lttng start
session all
check "all frames, with a scope and a filter" "$SPI_LTTNG" enable-event --spi -f app_work --backtrace --exec app \
	--filter 'number < 2'
quiet lttng start
session scoped
check "without, with a scope" "$SPI_LTTNG" enable-event --spi -f app_work --exec app
quiet lttng start
session stock
quiet lttng enable-event -u 'spi:*'
quiet lttng start
./app 5 >/dev/null
"$SPI_LTTNG" list --spi >list.out 2>&1
check "the rule says so" grep -q 'app_work, with backtraces of at most 3 frames' list.out
quiet lttng destroy -a
is "$(shape first)" "5 none" "a rule without backtraces has none"
is "$(shape three)" "5 limit 3" "a rule for three frames has three"
is "$(shape all)" "2 complete 4" "a rule for more has all, of the calls that its filter takes"
is "$(shape scoped)" "5 none" "a rule with a scope and without backtraces has none"
is "$(shape stock)" "5 none" "a stock rule records what others instrument, without"
exits() { for session; do spi_count "$session" app_work_exit; done | xargs; }
is "$(exits first three all)" "5 5 2" "each has its exits"

# In one session, with both rules.
session late
check "without at first" "$SPI_LTTNG" enable-event --spi -f app_work
check "and with" "$SPI_LTTNG" enable-event --spi -f app_work --backtrace=2
quiet lttng start
./app 3 >/dev/null
check "off again" "$SPI_LTTNG" disable-event --spi -f app_work --backtrace=2
./app 3 >/dev/null
quiet lttng destroy late
is "$(shape late)" "3 limit 2 3 none" "one session with both rules has the backtrace once, until its rule is off"

# In a process that runs: rules come and go between calls. Each line is so many calls, and is answered.
cat >steps.c <<'C'
#include <stdio.h>
__attribute__((noipa)) int step(int n) { __asm__(""); return n + 1; }
int main(void)
{
	for (int n, i; scanf("%d", &n) == 1; printf("%d\n", n), fflush(stdout))
		for (i = 0; i < n; i++)
			step(i);
	return 0;
}
C
spi_cc steps steps.c -Wl,--no-as-needed -llttng-ust
coproc STEPS { exec timeout $((60 * SPI_PATIENCE)) ./steps; }
steps() { echo "$1" >&"${STEPS[1]}" && read -r -t $((20 * SPI_PATIENCE)) <&"${STEPS[0]}"; }
in_force() { [ "$("$SPI_LTTNG" list --spi | grep -Ec "Rule .*step.*: active")" = "$1" ]; }
session plain
check "without, in a running process" "$SPI_LTTNG" enable-event --spi -f step
quiet lttng start
spi_wait 20 in_force 1
steps 3
session both
check "with, meanwhile" "$SPI_LTTNG" enable-event --spi -f step --backtrace=1
quiet lttng start
spi_wait 20 in_force 2
steps 5
check "off again, there" "$SPI_LTTNG" disable-event --spi -f step --backtrace=1
spi_wait 20 in_force 1
steps 7
steps_shape() { spi_read "$1" && grep 'spi:step_entry' "$1.txt" | grep -c "$2" ; }
quiet lttng destroy -a
is "$(steps_shape plain .) $(steps_shape plain backtrace)" "15 0" "the session without has all calls, without backtraces"
is "$(steps_shape both .) $(steps_shape both '_backtrace_length = 1,')" "5 5" "the session with has those of its rule's time"
is "$(spi_count both step_exit)" 5 "and their exits"

session refused
wrong 2 "'0' is not a number of frames, from 1 to 128" enable-event --spi -f app_work --backtrace=0
wrong 2 "'129' is not a number of frames" enable-event --spi -f app_work --backtrace=129
wrong 2 "leave out one-event" enable-event --spi -f app_work --backtrace --one-event
wrong 2 "--backtrace goes with -f FUNC" enable-event --spi --tree=app_work --backtrace
wrong 2 "'many' is not a number of frames" trace -f app_work --backtrace=many ./app
wrong 2 "--backtrace goes with -f FUNC" trace --tree --backtrace ./app
wrong 2 "a payload asks for its backtraces itself" trace -f app_work --backtrace --payload print ./app
tap_done
