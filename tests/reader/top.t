#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng-spi top`: the hottest functions of a running process, and their calls, as far as counting these costs little.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
PATH=$SPI_TOP_BUILDDIR/reader:$PATH
spi_cc busy views-busy.c -O1
./busy 60 </dev/null >busy.out 2>&1 &
busy=$!

timeout 60 lttng-spi top -p "$busy" --no-calls --interval 3 >samples 2>err
is "$? $(wc -c <err)" '0 0' 'samples alone: status' || diag "$(cat err)"
is "$(sed -n '3p' samples | awk '{ print $NF, $(NF - 1), $2 }')" '[busy] spin -' 'the hottest function comes first'
check 'its share is what the source makes it' awk '$4 == "spin" { share = $1 + 0 } END { exit !(share > 70 && share < 99) }' samples
timeout 100 lttng-spi top -p "$busy" --count 8 --interval 1 >tables 2>err
is $? 0 'tables: status' || diag "$(cat err)"
is "$(grep -c '^process' tables)" 8 'so many tables as were asked for'
tac tables | sed '/^process/q' | tac >last
check 'calls of the hottest function are counted, with their time' awk '$4 == "spin" || $5 == "spin" {
	found = $2 > 100 && $3 > 5 && $4 == "us" } END { exit !found }' last || diag "$(cat last)"
check 'what is called too often is given up, and says how often' grep -q '>[0-9]* .* tiny ' last || diag "$(cat last)"
check 'the process goes on' kill -0 "$busy"
is "$(pgrep -P $$ -f 'trace -p' | wc -l)" 0 'nothing of it is left'

# ---- keys ----
{ spi_wait 20 grep -q spin keys; printf 'x'; spi_wait 20 grep -q many keys; printf 'q'; } 2>/dev/null |
	timeout 60 script -qec "lttng-spi top -p $busy --no-calls --interval 1" keys >/dev/null
is $? 0 'q ends it'
check 'x excludes the chosen function' awk -v RS='\033\\[H' 'END { exit /spin/ }' keys
check 'the screen is given back' grep -q $'\x1b\\[?1049l' keys

finish() { kill -KILL "$busy" 2>/dev/null; wait "$busy" 2>/dev/null; }
{ spi_wait 20 grep -q . ended; finish; } &
timeout 60 lttng-spi top -p "$busy" --count 100 --interval 1 >ended 2>err
is "$? $(cat err)" "0 process $busy has ended" 'the process ends: so does top'
finish
timeout 20 lttng-spi top -p 999999 >out 2>err
is "$? $(cat err)" '1 Error: 999999: no such process' 'no such process'
timeout 20 lttng-spi top >out 2>err
is "$? $(wc -l <err)" '1 1' 'no process is named'
tap_done
