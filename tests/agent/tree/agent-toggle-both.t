#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
# soak-timeout: 3600
#
# A plain and a compact tree of a program that runs already, each switched off and
# on while the other stays and four threads call, throw and catch below them. What
# was recorded nests in each session; when both are gone the code is the file's.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
spi_cc thrower thrower.cc
times=15
[ -z "${SPI_SOAK:-}" ] || times=1000

both_sessions
coproc CONTROL { LTTNG_UST_ALLOW_BLOCKING=1 python3 "$SPI_TOP_SRCDIR/tests/lib/controller.py" ./thrower 0 4 2>control.err; }
exec {to}>&"${CONTROL[1]}" {from}<&"${CONTROL[0]}"
answer=
ask() { echo "$*" >&"$to"; read -r -t 60 -u "$from" answer; }
entries() { ask status; awk '{ for (i = 1; i < NF; i++) if ($i == "entries") print $(i + 1) }' <<<"$answer"; }
more_than() { [ "$(entries)" -gt "$1" ]; }
goes_on() { before=$(entries); spi_wait 10 more_than "$before" || { silent=$((silent + 1)); diag "round $i: nothing is recorded"; }; }
rule() { ask "$@"; [[ $answer == "rule $2 0"* ]] || { bad=$((bad + 1)); diag "$*: $answer"; }; }

ask pid; target=$answer
ask go
spi_wait 10 file_has target.out ready
bad=0 silent=0
for i in $(seq "$times"); do
	if [ "$i" = 1 ]; then
		rule add 1 'tree(main;lib=thrower)'
		goes_on
		rule add 2 'tree(main;lib=thrower;compact)'
	else
		rule disable $((i % 2 + 1)); goes_on
		rule enable $((i % 2 + 1))
	fi
	goes_on
	kill -0 "$target" 2>/dev/null || { diag "dead in round $i: $answer"; break; }
done
is "$bad" 0 "$times times one off and on, the other stays"
is "$silent" 0 "calls are recorded all the time"
ask remove 1
ask remove 2
spi_wait 10 python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$target" >text.out
ok $? "with both gone the code is the file's" || diag "$(tail -n 5 text.out)"
ask end
is "$answer" "ended 0" "the program ends as ever"
is "$(tail -n 1 target.out)" "wrong 0" "every value was right"
both_sessions_end
both_balanced "each session"
tap_done
