#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What the environment asks of a preloaded payload's agent: which parts of the agent say what they do, where, with times; and
# core dumps instead of payloads that are switched off.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
spi_cc calls payload-calls.c -O1 -fno-optimize-sibling-calls
payload_cc says.so payload-says.c
payload_cc fails.so payload-fails.cc
./calls 5 >plain.out

# run PAYLOAD VARIABLE=VALUE... - what is not the payload's own, in ./said
run() {
	local payload=$1
	shift
	may_die env LD_PRELOAD="$PWD/$payload" "$@" ./calls 5 >out 2>err
	status=$?
	grep -vE '^(enter|leave) |^fini$' err >said
}
run says.so
is "$(grep -c . said)" 0 'nothing: unless it is asked for' || diag "$(cat said)"
for part in rules tree worker payload objects; do
	run says.so LTTNG_SPI_DEBUG=$part
	same_file out plain.out "$part: the program's output"
	is "$(grep -cE "^$part [0-9]+: ." said)" "$(grep -c . said)" "$part: this part alone" || diag "$(cat said)"
	isnt_empty=$(grep -c . said)
	check "$part: it says something" [ "$isnt_empty" -gt 0 ]
done
run says.so LTTNG_SPI_DEBUG=tree,worker
check 'two parts: the first' grep -qE '^tree [0-9]+: into leaf of calls' said
check 'two parts: the second' grep -qE '^worker [0-9]+: site [0-9a-f]+: in place by worker call' said
run says.so LTTNG_SPI_DEBUG=1 LTTNG_SPI_DEBUG_TIMES=1
is "$(grep -cE '^\[[0-9]+\.[0-9]{6}\] [a-z]+ [0-9]+: ' said)" "$(grep -c . said)" 'all parts, with times: each line' || diag "$(cat said)"
mkdir logs
run says.so LTTNG_SPI_DEBUG=all LTTNG_SPI_DEBUG_FILE="$PWD/logs"
is "$(grep -c . said)" 0 'to a file: nothing elsewhere' || diag "$(cat said)"
is "$(ls logs | grep -cE '^lttng-spi\.[0-9]+\.log$')" 1 'to a file: one for the process'
check 'to a file: the lines' grep -qE '^payload [0-9]+: says.so is number 0' logs/*
rm logs/*
run says.so LTTNG_SPI_DEBUG_FILE="$PWD/logs"
check 'a directory alone: all parts' grep -qE '^worker ' logs/*
run says.so LTTNG_SPI_DEBUG="$PWD/notes"
is "$(grep -c . said)" 0 'a file of notes, as ever: nothing elsewhere' || diag "$(cat said)"

run fails.so LTTNG_SPI_PAYLOAD_ARGS='how=segv;at=entry'
is "$status" 0 'a fault: the program goes on'
run fails.so LTTNG_SPI_PAYLOAD_ARGS='how=segv;at=entry' LTTNG_SPI_COREDUMP=1
is "$status" 139 'a fault that is to dump core: it ends the program' || diag "$(cat err)"
run fails.so LTTNG_SPI_PAYLOAD_ARGS='how=abort;at=entry' LTTNG_SPI_COREDUMP=1
is "$status" 134 'abort() that is to dump core: it ends the program'
run fails.so LTTNG_SPI_PAYLOAD_ARGS='how=segv;at=entry' LTTNG_SPI_COREDUMP=0
is "$status" 0 'a switch that is 0 is off'
tap_done
