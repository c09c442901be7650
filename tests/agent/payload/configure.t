#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What an agent is told before it goes is what it does: what is followed, payloads by name, when and where it begins, and
# that it stops.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
spi_cc ticks payload-ticks.c -O2 -rdynamic -pthread
payload_cc configures.so payload-configures.c

# run ARGUMENTS [UNTIL [COMMAND]] - ./ticks until the payload has said UNTIL; COMMAND runs at the start. What it says is in ./said.
run() {
	local runs
	rm -f in
	mkfifo in
	LTTNG_SPI_PAYLOAD_ARGS=$1 LD_PRELOAD=$PWD/configures.so ./ticks <in >out 2>said &
	runs=$!
	exec {input}>in
	spi_wait 20 file_has out ready
	[ -z "${3:-}" ] || eval "$3" "$runs"
	[ -z "${2:-}" ] || spi_wait 20 file_has said "$2" || diag "$(tail -n 5 said)"
	exec {input}>&-
	wait "$runs"
	is "$?/$(tail -n 1 out)" "0/1" "$1: the program is as ever"
}
count() { grep -c "^enter $1" said; }
instrumented() { ! python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$1" ticks >/dev/null 2>&1; }
equal() { ok "$(instrumented "$1"; echo $((!$?)))" "parse only: the program's code is as it was"; }

run "set=" "enter leaf"
is "$(count 'other in ticks') $(count 'child_calls in ticks')" "2 1" "by default: threads and children" || diag "$(tail said)"
is "$(grep -c '^enter leaf by a tail call in ticks' said)" "$(count leaf)" "a tail call is one, and its point is the program's"
is "$(grep -c '^enter tick by a tail call' said)" 0 "a call is none"
run "set=no-threads" "enter leaf"
is "$(count other) $(count child_calls)" "0 1" "without threads" || diag "$(tail said)"
run "set=no-fork" "enter leaf"
is "$(count other) $(count child_calls)" "2 0" "without children" || diag "$(tail said)"
run "set=parse-only" "" equal
is "$(count .)" 0 "parse only: no calls" || diag "$(head -3 said)"
run "set=names" "leave with data"
is "$(grep -c '^no such function' said)" 1 "by name: one that nothing exports is refused"
[ "$(grep -c '^enter tick .*with data' said)" -gt 0 ]
ok $? "by name: entry and exit payload, with their data"
run "event=none"
is "$(count .)" 0 "no event: no calls"
run "event=functions" "enter leaf"
is "$(count tick) $(count other)" "$(count leaf) 0" "a function and its callees, and no others" || diag "$(head -3 said)"
run "event=combined" "enter leaf"
is "$(count tick) $(count start) $(count other)" "$(count leaf) 1 2" "of two functions" || diag "$(tail said)"
run "event=after" "enter tick"
is "$(grep '^enter' said | grep -vc ' later')" 0 "after a time: not before"
run "event=signal" "enter tick" "kill -USR2"
is "$(grep '^enter' said | grep -vc ' later')" 0 "at a signal: not before"
run "stop=1" "stopped"
is "$(count child_calls)" 0 "after a stop: no calls" || diag "$(tail said)"
run "reason=1"
check "a function says why it is left alone" grep -qxF '_setjmp: returns twice' said || diag "$(head -3 said)"
tap_done
