#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# A traced program sets itself limits (setrlimit) that leave a tracer no room: of address space, which it has used up already,
# of data, of open files, of the size of files. It, its children and the programs that they execute do what they do
# untraced, and as soon; what is not traced for that is told with the reason. And one that has all its memory locked does not
# get all of what the tracer has reserved.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
work='true; (exit 4); echo $?; (true | cat); echo hello | cat; /bin/true; echo $?; exec /bin/echo ends'

# limited LIMIT REASON OPTION... - `ulimit LIMIT` in a traced program; the reason is told
limited() {
	local limit=$1 reason=$2
	shift 2
	timeout $((20 * SPI_PATIENCE)) "$SPI_LTTNG" trace -o "d$tap_count" "$@" bash -c "ulimit $limit; $work" >out 2>trace.err </dev/null
	echo "status $?" >>out
	is "$(cat out)" "$(bash -c "ulimit $limit; $work" 2>/dev/null; echo "status $?")" "ulimit $limit, $*: status and output"
	check "ulimit $limit, $*: it is said" file_has trace.err "$reason" || diag "$(tail -n 3 trace.err)"
}
for options in '--tree --compact' '-f execute_command*'; do	# whose forked shells call the second of those
	# shellcheck disable=SC2086
	for kilobytes in 20000 400000; do
		limited "-v $kilobytes" 'a child: the limit on its address space or data' $options
	done
	# shellcheck disable=SC2086
	limited '-d 1000' 'a child: the limit on its address space or data' $options
	# shellcheck disable=SC2086
	limited '-n 10' 'a child: the limit on its open files leaves the tracer none' $options
	# shellcheck disable=SC2086
	limited '-f 20' 'echo: the limit on the size of its files is too low' $options
done

# Attached to, with a limit below what is written into the tracer's own memory.
mkfifo input
exec 5<>input
spi_cc sandbox sandbox.c
background bash -c "exec 5>&-; ulimit -f 20; exec ./sandbox soft wait <input"
timeout $((30 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f t_outer -p "$target" -o attached >/dev/null 2>trace.err </dev/null 5>&- &
front=$!
spi_wait 20 sh -c 'lttng list -u | grep -q t_outer_entry'
exec 5>&-
wait "$target"
is $? 4 "ulimit -f 20, attached to: its status"
wait "$front"
is $? 0 "and the front end's" || diag "$(tail -n 3 trace.err)"
is "$(spi_count attached t_outer_entry)" 2000 "and it is traced"

# Threads, the first one among them, whose first calls come after the limit: recorded, or counted with the reason.
spi_cc late-limit late-limit.c -pthread
# lateness THREADS LIMIT FULL CALLS - all CALLS are recorded or lost, and the program is as ever
lateness() {
	local recorded lost
	rm -rf late late.txt
	timeout $((30 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f t_work "${@:5}" -o late ./late-limit "$1" "$2" "$3" >out 2>trace.err </dev/null
	is "$?/$(grep -c '^done' out)" 3/1 "$*: status and output" || diag "$(tail -n 3 trace.err)"
	recorded=$(spi_count late t_work"$( [ $# -gt 4 ] || echo _entry)")
	lost=$(sed -n 's/^Lost calls: \([0-9]*\).*/\1/p' trace.err)
	is "$((recorded + ${lost:-0}))" "$4" "$*: each call is recorded or counted as lost"
	[ "$recorded" = "$4" ] || check "$*: with the reason" file_has trace.err 'the process had no memory for '
}
lateness 0 2 0 1000
is "$(spi_count late t_work_entry)" 1000 "RLIMIT_DATA, the first thread: it has all that it needs"
lateness 30 2 0 30000
lateness 30 9 1 30000
lateness 30 9 1 30000 --one-event

# Attached to, without what lttng-ust needs: it would abort, or end it otherwise.
spi_cc short-of short-of.c -pthread
# short_of WHAT REASON
short_of() {
	exec 5<>input
	background bash -c "exec 5>&-; exec ./short-of $1 <input"
	timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f t_work -p "$target" -o "short-$1" >/dev/null 2>trace.err </dev/null 5>&-
	is $? 1 "no $1 left: it is refused"
	check "no $1 left: with the reason" file_has trace.err "$2" || diag "$(tail -n 3 trace.err)"
	echo >&5
	exec 5>&-
	wait "$target"
	is $? 3 "no $1 left: the program goes on"
}
short_of keys 'LTTng-UST is not loaded: the program has no thread keys left'
short_of files 'LTTng-UST is not loaded: the limit on its open files leaves the tracer none'
short_of membarrier 'LTTng-UST is not loaded: membarrier\(\) is refused to the program'
if [ "$(id -u)" = 0 ] && [ "${SPI_OUTER_UID:-0}" = 0 ]; then
	chmod 755 .
	short_of threads 'it may have no more threads'
	short_of shm 'LTTng-UST is not loaded: /dev/shm is full'
else
	skip "threads, /dev/shm" "needs root"
fi

spi_cc locked locked.c -pthread -fno-optimize-sibling-calls
./locked >plain.out
for options in '--tree --compact' '-f t_deep'; do
	name="mlockall(), $options"
	rm -rf locked-trace
	# shellcheck disable=SC2086
	timeout $((30 * SPI_PATIENCE)) "$SPI_LTTNG" trace -o locked-trace $options ./locked >out 2>trace.err </dev/null
	is $? 0 "$name: status"
	if file_has out 'mlockall: Cannot allocate memory'; then
		skip "$name: output: may not lock more than $(ulimit -l) KB"
		continue
	fi
	check "$name: output" cmp plain.out <(grep -v '^Trace directory' out) || diag "$(cat plain.out out)"
	[ "$options" != '-f t_deep' ] || is "$(spi_count locked-trace t_deep_exit)" $((301 + 5001 + 8 * 301)) "$name: and it is traced"
done
tap_done
