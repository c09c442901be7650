#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A shell that makes pipelines without end is attached to again and again. It closes
# some numbers once too often, which must not be lttng-ust's: that would end it.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
mkdir listed && touch listed/{a,b,c}
bash -c 'while :; do ls listed | wc -l; done' >out 2>errors & shell=$!
spi_wait 10 test -s out
grown() { [ "$(wc -c <out)" -gt "$before" ]; }
for round in 1 2 3 4; do
	what=(-f 'execute_command*')
	[ "$round" != 3 ] || what=(--tree --depth=50)
	spi_trace "${what[@]}" -p "$shell" --duration 1 -o "t$round" >/dev/null
	is $? 0 "round $round: attached, traced, left" || diag "$(tail -n 3 trace.err)"
	before=$(wc -c <out)
	check "and the shell goes on" spi_wait 10 grown || diag "$(tail -n 3 errors)"
done
[ "$(spi_count t4 execute_command_internal_entry)" -gt 0 ]
ok $? "its calls are recorded"
is "$(sort -u out | wc -l)/$(cat errors)" "1/" "it says what it always says"
kill "$shell"
wait "$shell"
is $? 143 "and was alive to the end"
tap_done
