#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A program that has strcmp(), memcpy(), read() and the like itself, and exports them: none is called by agent or event
# module, in a trace of one function, in a tree, or with rules of a session.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc own-libc own-libc.c -rdynamic -fno-builtin -w
./own-libc >plain.out
like "$(cat plain.out)" "own-libc: strlen" "the program notes who calls its functions"

# callers NAME ARGS... - traced: it does its work, and none of the tracer's calls came
callers() {
	local name=$1
	shift
	spi_trace_ok "$name: traced" "$@" ./own-libc
	like "$(cat trace.out)" "$(head -n 1 plain.out)" "$name: the program's work"
	is "$(grep '^liblttng-spi' trace.out)" "" "$name: no call from agent or event module"
}

callers "one function" -f work -o f.d
is "$(spi_count f.d work_entry)" 100 "and its calls are there"
callers "one event a call" --one-event -f 'own-libc:w*' -f malloc -o o.d
callers "a tree" --tree=main --exclude 'strl?n' -o t.d
tap_done
