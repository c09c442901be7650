#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A payload that does all that payloads may comes into a program of several threads, signals and children, and is taken
# out again while threads are in it, several times; also beside one that faults. The program computes what it computes.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
spi_cc prog payload-tortured.cc -O1 -pthread
payload_cc torture.so payload-torture.cc
cp torture.so again.so		# a file serves one list of arguments in a process
payload_cc fails.so payload-fails.cc
times=${SPI_TIMES:-2}

mkfifo in
timeout $((100 * SPI_PATIENCE)) ./prog <in >prog.out 2>prog.err &
runs=$!
exec {input}>in
spi_wait 20 file_has prog.out ready
target=$(pgrep -P "$runs" -x prog)

# in_and_out NAME OPTION... - in for a second, and what it says at its end
in_and_out() {
	local name=$1
	shift
	rm -f trace.err		# a child that ends later writes into the file of its time
	timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" trace "$@" -p "$target" --duration 1 >trace.out 2>trace.err
	is $? 0 "$name: status" || diag "$(cat trace.err)"
	like "$(cat trace.err trace.out)" 'torture: [1-9][0-9]* entries, 0 wrong' "$name: it has run, and nothing was wrong in it" ||
		diag "$(cat trace.err)"
	is "$(grep -aE 'instrumented: [0-9]{7}' trace.err)" "" "$name: no more is instrumented than there is"
}
for ((i = 1; i <= times; i++)); do
	in_and_out "the tree, time $i" --tree --lib prog --payload "$PWD/torture.so"
	in_and_out "functions, time $i" -f is_right -f note -f leaf -f compare --payload "$PWD/torture.so"
done
in_and_out "all libraries" --tree --payload "$PWD/torture.so"
in_and_out "beside one that faults" --tree --lib prog --payload "$PWD/again.so" --payload "$PWD/fails.so" --payload-arg how=segv
like "$(cat trace.err trace.out)" 'payload fails.so: it has faulted' "beside one that faults: that is named"
echo over >&"$input"
exec {input}>&-
wait "$runs"
is $? 0 "the program's status" || diag "$(tail -3 prog.err)"
is "$(tail -n 1 prog.out)" "wrong 0, rounds 1, signals 1" "the program is right, all the while"
is "$(cat prog.err)" "" "and prints nothing else"
tap_done
