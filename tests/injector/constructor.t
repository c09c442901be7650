#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# A program that waits for the session daemon inside lttng-ust's constructor is
# injected at that moment, by the thread that waits: rules are in force before
# main() begins, and its first call is recorded. The daemon is stopped meanwhile,
# so it waits for as long as the test wants.
. "${SPI_TOP_SRCDIR:?}/tests/lib/injector.sh"
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
build program constructor.c
ust=liblttng-ust.so.1
daemon=$(pgrep -o -x lttng-sessiond)

# waits PID - it has the listener threads of lttng-ust, and its first one waits for a futex (202)
waits() { [ "$(ls "/proc/$1/task" | wc -l)" = 3 ] && [ "$(cut -d' ' -f1 "/proc/$1/syscall")" = 202 ]; }

# launch TIMEOUT PRELOAD [ARG...] - the program, until it waits in the constructor
launch() {
	local timeout=$1 preload=$2
	shift 2
	LTTNG_UST_REGISTER_TIMEOUT=$timeout LD_PRELOAD=$preload ./program "$@" >program.out 2>program.err &
	program=$!
	spi_wait 10 waits "$program"
	ok $? "it waits in the constructor"
}

# traced NAME - its calls in the trace, and its end
traced() {
	kill -CONT "$daemon"
	wait "$program"
	is $? 0 "$1: it ends well"
	like "$(tail -n 1 program.out)" '^main 42 ' "$1: and right"
	is "$(cat program.err)" "" "$1: nothing on its stderr"
	lttng stop >/dev/null
	babeltrace2 trace >events 2>&1
	is "$(grep -c 'spi:first_call_entry.*a = 21' events)" 1 "$1: the first call is recorded" || diag "$(cat events)"
	is "$(grep -c 'spi:first_call_exit.*ret = 42' events)" 1 "$1: and its end"
	lttng destroy >/dev/null
	rm -rf trace
}

session() {
	lttng create --output="$SPI_TMP/trace" >/dev/null
	lttng enable-event -u 'spi:first_call*' >/dev/null
	lttng start >/dev/null
	kill -STOP "$daemon"
}

session
launch -1 "$ust"
LTTNG_SPI_RULES='first_call' "$inject" pid "$program" >inject.out 2>inject.err
is $? 0 "injected before main()" || diag "$(cat inject.err)"
like "$(cat inject.out)" "thread $program stopped" "by the thread that waits"
like "$(cat inject.out)" 'rule 1: 1 function instrumented, 0 not' "the rule is in force"
is "$(cat program.out)" "" "and main() has not begun"
traced "before main()"

session
launch -1 "" dlopen
is "$(cat program.out)" loading "in a dlopen()"
LTTNG_SPI_RULES='first_call' "$inject" pid "$program" >inject.out 2>inject.err
is $? 0 "injected in a dlopen()" || diag "$(cat inject.err)"
like "$(cat inject.out)" 'rule 1: 1 function instrumented, 0 not' "the rule is in force"
traced "in a dlopen()"

kill -STOP "$daemon"
launch 1500 "" dlopen
"$inject" pid "$program" >inject.out 2>inject.err
is $? 0 "injected" || diag "$(cat inject.err)"
wait "$program"
is $? 0 "one that is not accepted in time ends well"
like "$(tail -n 1 program.out)" '^main 42 ms=(1[5-9][0-9]{2}|[2-9][0-9]{3}|[0-9]{5,})$' "and has waited its time"
kill -CONT "$daemon"
tap_done
