#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
# soak-timeout: 3600
#
# Rules of a running program: added, disabled, enabled, removed, added again.
# Disabled and removed, the function's bytes are the file's; enabled, its calls
# are recorded. Over and over, while four threads run the functions and throw.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc thrower thrower.cc
times=50
[ -z "${SPI_SOAK:-}" ] || times=5000

quiet() { "$@" >/dev/null 2>>lttng.log; }
quiet lttng create s -o "$PWD/t"
quiet lttng enable-channel -u c --subbuf-size 1M --num-subbuf 4 --overwrite
quiet lttng add-context -u -c c -t vpid -t vtid
quiet lttng enable-event -u -c c 'spi:*'
quiet lttng start

coproc CONTROL { python3 "$SPI_TOP_SRCDIR/tests/lib/controller.py" ./thrower 0 4 2>control.err; }
exec {to}>&"${CONTROL[1]}" {from}<&"${CONTROL[0]}"
answer=
ask() { echo "$*" >&"$to"; read -r -t 40 -u "$from" answer; }
# points: how many functions are instrumented, says the status page
points() { ask status; awk '{ for (i = 1; i < NF; i++) if ($i == "points") print $(i + 1) }' <<<"$answer"; }
text() { python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$target" >text.out; }
# recording: counters move on
entries() { ask status; awk '{ print $2 }' <<<"$answer"; }

ask pid; target=$answer
ask add 1 t_catcher
like "$answer" '^rule 1 0 1 1 0' "a rule for one function" || diag "$(cat control.err)"
ask add 2 't_m*'
like "$answer" '^rule 2 0 1 1 0' "a second, with a glob"
ask go
spi_wait 10 file_has target.out ready
is "$(points)" 2 "two functions instrumented"
text && fail "the code differs" || pass "their code says so"
ask disable 1
like "$answer" '^rule 1 0' "one disabled"
is "$(points)" 1 "one left"
ask disable 2
is "$(points)" 0 "none left"
check "disabled: the code is the files'" text
ask enable 1
ask enable 2
is "$(points)" 2 "enabled again"
ask remove 2
is "$(points)" 1 "one removed"
ask remove 1
check "removed: the code is the files'" text
ask add 3 'zoo::Keeper::t_method'
like "$answer" '^rule 3 0 1 1 0' "a new rule for a method"

bad=0 differs=0
for i in $(seq "$times"); do
	ask add 4 't_*'; [[ $answer == 'rule 4 0 3 3 0' ]] || bad=$((bad + 1))
	ask disable 4; [[ $answer == 'rule 4 0'* ]] || bad=$((bad + 1))
	ask enable 4; [[ $answer == 'rule 4 0'* ]] || bad=$((bad + 1))
	ask remove 4; [[ $answer == 'rule 4 0'* ]] || bad=$((bad + 1))
	[ "$((i % 10))" != 0 ] || { ask disable 3; text || differs=$((differs + 1)); ask enable 3; }
	kill -0 "$target" 2>/dev/null || { diag "dead in round $i: $answer"; break; }
done
is "$bad" 0 "$times times added, disabled, enabled and removed"
is "$differs" 0 "the code was the files' each time"
ask detach
is "$answer" detached "detached"
check "detached: the code is the files'" text
ask end
is "$answer" "ended 0" "the program ends as ever"
is "$(tail -n 1 target.out)" "wrong 0" "every value was right"
is "$(cat target.err)" "" "nothing on its stderr"
quiet lttng stop
quiet lttng destroy
spi_read t
[ "$(spi_count t t_catcher_entry)" -gt 0 ]
ok $? "events were recorded"
tap_done
