#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng trace` prints calls on a terminal, as they come, and events in a pipe; --format chooses; --report prints a table at
# the end. Trees that only our reader sees are recorded compact.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_cc shop views-shop.cc -O1
PATH=$SPI_TOP_BUILDDIR/reader:$PATH

spi_trace -f 'shop::*' -o kept ./shop
names() { grep -o 'shop::[a-z]*' "$@"; }
lttng-spi calls kept | names >kept.names

spi_trace -f 'shop::*' --format calls ./shop >calls
is $? 0 '--format calls: status' || diag "$(cat trace.err)"
same_file <(names calls) kept.names 'the same calls as of the recorded trace'
like "$(cat calls)" 'shop::pay = -1 +<' 'with results and times'
spi_trace -f 'shop::*' ./shop >events
like "$(cat events)" 'spi:shop::pay_entry: \{' 'a pipe gets events'
spi_trace -f 'shop::*' --format json ./shop >json
is "$(grep -c '^{"kind":"entry"' json)" "$(lttng-spi calls --format json kept | grep -c '"entry"')" '--format json: an object a line'

# ---- a terminal ----
script -qec "$SPI_LTTNG trace -f 'shop::*' ./shop 2>tty.err" /dev/null </dev/null | tr -d '\r' >tty
same_file <(sed 's/\x1b\[[0-9;]*m//g' tty | names) kept.names 'a terminal gets calls'
check 'in colours' grep -q $'\x1b\\[36mshop::pay' tty
NO_COLOR=1 script -qec "$SPI_LTTNG trace -f 'shop::*' ./shop 2>tty.err" /dev/null </dev/null >tty.plain
check 'without with NO_COLOR' test "$(grep -c $'\x1b' tty.plain)" = 0
script -qec "$SPI_LTTNG trace -f 'shop::*' --format events ./shop 2>tty.err" /dev/null </dev/null >tty.events
like "$(cat tty.events)" 'spi:shop::pay_entry' '--format events on a terminal'
check 'what is recorded reaches no terminal: an escape sequence in a string' test "$(grep -c $'\x1b\\[31m' tty)" = 0

like "$(COLUMNS=80 script -qec "LTTNG_SPI_PAGER=cat lttng-spi report --sort p99 kept" /dev/null </dev/null | head -1)" \
	' calls +total +self +average +p99 +function' 'a table fits a narrow terminal, with the column that it is sorted by'
like "$(script -qec "LTTNG_SPI_PAGER=./none lttng-spi report kept" /dev/null </dev/null)" 'none: not found.*shop::pay' \
	'a pager that is not there: the text comes without'

# ---- the table ----
spi_trace --tree=main --lib shop --report ./shop >report
is $? 0 '--report: status' || diag "$(cat trace.err)"
is "$(awk '$NF == "[shop]" { print $(NF - 1), $1 }' report | sort | head -3 | tr '\n' ' ')" 'main 1 shop::check 1 shop::fail 1 ' 'the table counts calls'
like "$(head -1 report)" '^ +calls +total +self +average +min +max +p50 +p99 +function' 'and has its columns'
spi_trace -f 'shop::*' --report -o reported ./shop >report
check '--report -o DIR: the table' grep -q '^ *2 .* shop::pay \[shop\]$' report
check 'and the trace' test -s reported/ust/uid/0/64-bit/metadata
spi_trace --tree=main --report "$SPI_PROGRAMS/../programs/nothing" >report
is $? 127 '--report: a command that is missing'

# ---- a program that goes on: calls are there before its end ----
mkfifo in
"$SPI_LTTNG" trace -f libc.so.6:read --format calls cat in >going 2>going.err &
going=$!
exec {to}<>in
echo one >&"$to"
check 'a call is printed while the program runs' spi_wait 20 grep -q 'read' going
exec {to}>&-
wait "$going"
is $? 0 'and the command ends with the program'

for bad in '--format table' '--format calls -o there' '--report --payload count'; do
	# shellcheck disable=SC2086
	spi_trace -f main $bad ./shop >/dev/null
	is "$? $(wc -l <trace.err)" '2 1' "$bad: refused in one line" || diag "$(cat trace.err)"
done
tap_done
