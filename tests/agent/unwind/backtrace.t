#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Backtraces are those that gdb's bt shows at the same calls, by address: C and C++ with and without frame pointers,
# recursion, callbacks, signal handlers, threads, a stripped library, where a call tree has slots on the stack, and in a
# process that runs already. Made code, which gdb does not find through, is checked by names.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
command -v gdb >/dev/null || skip_all "needs gdb"
spi_cc_library() { gcc -O2 -fomit-frame-pointer -shared -fPIC -s "$SPI_PROGRAMS/backtrace-library.c" -o library.so; }
spi_cc_library || { echo "Bail out! the library does not compile"; exit 1; }
lib=$SPI_TOP_SRCDIR/tests/lib

# truth PROGRAM - what gdb has, in PROGRAM.truth; but made code
truth() {
	BACKTRACE_OUT=$1.all BACKTRACE_MOST=24 timeout $((30 * SPI_PATIENCE)) gdb -q -batch -x "$lib/backtrace-gdb.py" \
		--args "./$1" ./library.so >gdb.out 2>&1 </dev/null
	grep -v '?' "$1.all" >"$1.truth" || diag "$(tail -n 3 gdb.out)"
}
# compare PROGRAM TRACE NAME - the trace against that
compare() {
	spi_read "$2"
	python3 "$lib/backtrace.py" "$2.txt" | grep -v '?' >seen
	same_file seen "$1.truth" "$3"
}

spi_cc plain backtrace.cc -fomit-frame-pointer
spi_cc pointers backtrace.cc -O0 -fno-omit-frame-pointer
truth plain
truth pointers
is "$(grep -c . plain.truth) $(grep -c . pointers.truth)" "23 23" "gdb's backtraces are there"
spi_trace_ok "without frame pointers" -f hit --backtrace=24 -o plain.d ./plain ./library.so
compare plain plain.d "as gdb's: optimised, without frame pointers"
spi_trace_ok "with frame pointers" -f hit --backtrace=24 -o pointers.d ./pointers ./library.so
compare pointers pointers.d "as gdb's: with frame pointers"
spi_trace_ok "in a call tree" --tree --lib plain -f hit --backtrace=24 -o tree.d ./plain ./library.so
compare plain tree.d "as gdb's: slots of a call tree are on the stack"
check "slots were there" grep -q 'lttng_ust_cyg_profile:func_exit' tree.d.txt

mkfifo in
timeout $((30 * SPI_PATIENCE)) ./plain ./library.so wait <in >wait.out &
waits=$!
exec {input}>in
spi_wait 10 file_has wait.out ready
target=$(pgrep -P $waits -x plain)
timeout $((30 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f hit --backtrace=24 -o attached.d -p "$target" 2>trace.err &
instrumented() { ! python3 "$lib/text-equal.py" "$target" plain >/dev/null 2>&1; }
spi_wait 20 instrumented || diag "$(cat trace.err)"
echo go >&"$input"
exec {input}>&-
wait
compare plain attached.d "as gdb's: a process that runs already" || diag "$(cat trace.err)"

# What people read: names, and how a backtrace ends.
spi_trace_ok "printed" -f hit --backtrace=24 ./plain ./library.so
made=$(grep ' n = 22,' trace.out | grep -o 'callers = .*')
like "$made" '\[0\] = "direct\+[^"]*", \[1\] = "0x[0-9a-f]+", \[2\] = "calls_made_code\+[^"]*", \[3\] = "main\+0x' \
	"made code without .eh_frame is passed by its frame pointer" || diag "$made"
check "C++ names" grep -q 'shapes::square<double>::area(int) const+0x[0-9a-f]* \[plain\]' trace.out
check "a place without a name is one in its object" grep -q '"0x[0-9a-f]* \[library.so\]"' trace.out
check "a complete one" grep -q ' n = 0, backtrace_end = ( "complete"' trace.out
limit='n = 2, backtrace_end = ( "limit" : container = 1 ), _backtrace_length ='
check "one that is longer than the limit" grep -q " $limit 24," trace.out
is "$(grep -c 'lttng_ust_statedump' trace.out)" 0 "what tells where objects are is not printed"
is "$(grep -c 'spi:hit_exit: .*backtrace' trace.out)" 0 "exits have no backtrace"
spi_trace_ok "without a number" -f hit --backtrace ./plain
check "16 frames" grep -q " $limit 16," trace.out

payload_cc payload.so backtrace-payload.c
spi_trace -f hit --payload ./payload.so ./plain ./library.so >payload.out
sed -n 's/^enter //p' trace.err >enter
sed -n 's/^leave //p' trace.err >leave
same_file enter leave "a payload: the same at entry and exit"
awk '{ print NF - 2 }' plain.truth | sed 's/^24$/36/' >lengths
sed '23d' enter | awk '{ print $1 }' | diff - lengths >differ
is "$?" 0 "a payload: as many frames as gdb has" || diag "$(cat differ)"
tap_done
