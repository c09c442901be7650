#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# When `--payload gprof` writes its files, and what they are called: the end, _exit(), exec, a signal, a fork, a prefix, a
# program that writes a gmon.out itself, and files that are not to be written to.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
gmon() { python3 "$SPI_TOP_SRCDIR/tests/lib/gmon.py" "$@"; }
spi_cc calls profiled.c
spi_trace --payload gprof ./calls 13 >/dev/null
gmon arcs calls gmon.out >truth
like "$(cat trace.err)" "gprof: $PWD/gmon.out: [0-9]+ calls, [0-9]+ samples" 'what is printed names the file' || diag "$(cat trace.err)"

# the same but for what is called after main()
same_but_end() {
	gmon arcs calls "$1" | grep -v '^at_end ' >got
	grep -v '^at_end ' truth | sed 's/^leaf .*//' >expected
	same_file got expected "$2"
}

for end in _exit exec; do
	rm -f gmon.out
	spi_trace --payload gprof ./calls 13 $end >/dev/null
	same_but_end gmon.out "$end: the file is complete"
done

rm -f gmon.out
spi_trace --payload gprof --payload-arg signal=USR1 ./calls 13 signal >/dev/null
is $? 0 'a signal: the program does not end by it' || diag "$(cat trace.err)"
is "$(grep -c 'gmon.out: ' trace.err)" 2 'a signal: the file is written then, and at the end' || diag "$(cat trace.err)"
is "$(gmon arcs calls gmon.out | grep '^apply plus')" 'apply plus 92' 'a signal: counting goes on'
spi_trace --payload gprof --payload-arg signal=9 ./calls 13 >/dev/null
like "$(cat trace.err)" 'this is no signal that a payload can have' 'a signal that cannot be had: the reason' || diag "$(cat trace.err)"
spi_trace --payload gprof --payload-arg signal=USR ./calls 13 >/dev/null
like "$(cat trace.err)" 'this is no signal that a payload can have' 'a signal that is none: the reason' || diag "$(cat trace.err)"

rm -f gmon.out*
spi_trace --payload gprof ./calls 13 fork >forked
child=$(tail -n 1 forked)
gmon arcs calls gmon.out >parent
same_file parent truth 'fork: the parent has its own calls' || diag "$(cat trace.err)"
is "$(gmon arcs calls "gmon.out.$child")" "$(printf '%s\n' 'child leaf 7' 'main child 1')" 'fork: the child has a file, with its own calls'

rm -f gmon.out*
GMON_OUT_PREFIX=$PWD/prefix spi_trace --payload gprof ./calls 13 >/dev/null
is "$(ls gmon.out prefix.* 2>/dev/null | sed 's/[0-9]*$/PID/')" prefix.PID 'GMON_OUT_PREFIX'
gmon arcs calls prefix.* >got
same_file got truth 'GMON_OUT_PREFIX: the file is complete'

spi_cc itself profiled.c -pg
spi_trace --payload gprof ./itself 13 >/dev/null
gmon arcs itself gmon.out >got
same_file got truth 'a program with -pg: its own file is there'
gmon arcs itself gmon.out.spi >got
same_file got truth 'a program with -pg: ours is beside it'
like "$(cat trace.err)" 'gmon.out.spi: ' 'a program with -pg: the name is printed'

rm -f gmon.out
spi_trace --payload gprof ./calls 13 limit >/dev/null
is $? 0 'a limit of file sizes: the program does not end by it'
like "$(cat trace.err)" 'gmon.out: not written: it would be larger than files may be' 'a limit of file sizes: the reason' ||
	diag "$(cat trace.err)"

rm -f gmon.out
echo precious >precious
ln -s precious gmon.out
spi_trace --payload gprof ./calls 13 >/dev/null
like "$(cat trace.err)" 'gmon.out: not written: there is a symbolic link' 'a symbolic link: the reason'
is "$(cat precious)" precious 'a symbolic link: what it leads to stays as it is'
ln -f precious gmon.out
spi_trace --payload gprof ./calls 13 >/dev/null
like "$(cat trace.err)" 'gmon.out: not written: there is another' 'a file with two links: the reason'
is "$(cat precious)" precious 'a file with two links: it stays as it is'
tap_done
