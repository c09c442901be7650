#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 180
# soak-timeout: 3600
#
# A tree of a program that runs already, switched off and on while four threads
# call, throw and catch below it. Off, the code is the files', byte for byte; what
# was recorded nests, and a call under way when its tree went has its exit.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
spi_cc thrower thrower.cc
times=30
[ -z "${SPI_SOAK:-}" ] || times=2000

TREE_EVENTS='lttng_ust_cyg_profile:*' tree_session "$PWD/t"
coproc CONTROL { LTTNG_UST_ALLOW_BLOCKING=1 python3 "$SPI_TOP_SRCDIR/tests/lib/controller.py" ./thrower 0 4 2>control.err; }
exec {to}>&"${CONTROL[1]}" {from}<&"${CONTROL[0]}"
answer=
ask() { echo "$*" >&"$to"; read -r -t 60 -u "$from" answer; }
points() { ask status; awk '{ for (i = 1; i < NF; i++) if ($i == "points") print $(i + 1) }' <<<"$answer"; }
entries() { ask status; awk '{ for (i = 1; i < NF; i++) if ($i == "entries") print $(i + 1) }' <<<"$answer"; }
text() { python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$target" >text.out; }
more_than() { [ "$(entries)" -gt "$1" ]; }

ask pid; target=$answer
ask go
spi_wait 10 file_has target.out ready
check "before any rule the code is the files'" text
ask add 1 'tree(main;lib=thrower)'
like "$answer" '^rule 1 0 ' "a tree from what is on the threads' stacks" || diag "$answer $(cat control.err)"
spi_wait 20 more_than 1000
ok $? "calls are recorded"
text && fail "the code differs" || pass "the code says so"
more=$(points)
[ "$more" -gt 3 ]
ok $? "it has moved on from where it began" || diag "points $more"
bad=0 differs=0 silent=0
for i in $(seq "$times"); do
	ask disable 1; [[ $answer == 'rule 1 0'* ]] || bad=$((bad + 1))
	[ "$(points)" = 0 ] || bad=$((bad + 1))
	text || { differs=$((differs + 1)); [ "$differs" -gt 1 ] || cp text.out first.out; }
	before=$(entries)
	ask enable 1; [[ $answer == 'rule 1 0'* ]] || bad=$((bad + 1))
	spi_wait 10 more_than "$before" || silent=$((silent + 1))
	kill -0 "$target" 2>/dev/null || { diag "dead in round $i: $answer"; break; }
done
is "$bad" 0 "$times times off and on"
is "$differs" 0 "off, the code is the files'" || diag "$(cat first.out)"
is "$silent" 0 "on, calls are recorded again"
ask add 2 'tree(*t_catch*;lib=thrower;depth=1)'
like "$answer" '^rule 2 0 ' "a second tree beside it" || diag "$answer"
ask remove 1
like "$answer" '^rule 1 0 ' "the first goes"
ask remove 2
like "$answer" '^rule 2 0 ' "the second goes"
is "$(points)" 0 "nothing is left"
ask detach
is "$answer" detached "detached"
check "the code is the files'" text || diag "$(cat text.out)"
ask end
is "$answer" "ended 0" "the program ends as ever"
is "$(tail -n 1 target.out)" "wrong 0" "every value was right"
tree_session_end
tree_balanced "$PWD/t" "what was recorded nests"
tap_done
