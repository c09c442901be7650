#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The histogram of `--payload gprof`: time that is split 70 to 30 is found split so, in one thread and in two, in a program
# with a profiling timer of its own, in a running process, and by a user without rights.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
gmon() { python3 "$SPI_TOP_SRCDIR/tests/lib/gmon.py" "$@"; }
spi_cc timed profiled-time.c

# split NAME LEAST MOST - heavy() has 70 in 100 of the samples, which are as many as that; an error of five standard deviations
split() {
	gmon hist timed gmon.out >hist
	check "$1: the samples, $(tr '\n' ' ' <hist)" awk -v least="$2" -v most="$3" '
		{ n[$1] = $2; all += $2 }
		END {
			share = n["heavy"] / all
			error = 5 * sqrt(0.7 * 0.3 / all)
			if (all < least || all > most || share < 0.7 - error || share > 0.7 + error) { print all, share; exit 1 }
		}' hist
}

spi_trace --payload gprof ./timed 1500 >out
split 'one thread' 120 170
like "$(gprof -b -p timed gmon.out)" ' heavy' 'gprof reads it'
spi_trace --payload gprof ./timed 1000 2 prof >out
split 'two threads, and SIGPROF' 160 230
./timed 1000 2 prof >plain
ticks=$(sed -n 's/ticks //p' out) plain=$(sed -n 's/ticks //p' plain)
check "SIGPROF: the program has its own ($ticks, without us $plain)" test $((ticks * 10)) -gt $((plain * 8)) -a $((ticks * 8)) -lt $((plain * 10))

spi_trace -f main --payload gprof ./timed 1000 2 >out
split 'threads that call nothing that is counted' 140 230

gdb -batch -ex 'set startup-with-shell off' -ex "set environment LD_PRELOAD $SPI_TOP_BUILDDIR/payloads/.libs/gprof.so" -ex run \
	--args ./timed 10 >gdb.out 2>&1
like "$(cat gdb.out)" 'no samples: a debugger is attached' 'below a debugger there are none, with the reason' || diag "$(cat gdb.out)"

rm -f gmon.out
background ./timed 20000 2
spi_trace --payload gprof -p "$target" --duration 3
is $? 0 'a running process: status' || diag "$(cat trace.err)"
split 'a running process' 60 660
check 'a running process: its calls' grep -q '^work heavy' <(gmon arcs timed gmon.out)
check 'a running process: it goes on' kill -0 "$target"
finish "$target" 2>/dev/null

mkdir -m 777 users
cd users || exit 1
cp ../timed .
may_die setpriv --reuid 65534 --regid 65534 --clear-groups "$SPI_LTTNG" trace --payload gprof ./timed 700 2>../trace.err >out
split 'an ordinary user' 55 85 || diag "$(cat ../trace.err)"
tap_done
