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
	timeout 20 "$SPI_LTTNG" trace -o "d$tap_count" "$@" bash -c "ulimit $limit; $work" >out 2>trace.err </dev/null
	echo "status $?" >>out
	is "$(cat out)" "$(bash -c "ulimit $limit; $work" 2>/dev/null; echo "status $?")" "ulimit $limit, $*: status and output"
	check "ulimit $limit, $*: it is said" file_has trace.err "$reason" || diag "$(tail -n 3 trace.err)"
}
for options in '--tree --compact' '-f execute_command'; do
	# shellcheck disable=SC2086
	for kilobytes in 20000 400000; do
		limited "-v $kilobytes" 'a child: the limit on its address space leaves the tracer no room' $options
	done
	# shellcheck disable=SC2086
	limited '-d 1000' 'a child: the limit on its data .RLIMIT_DATA. leaves the tracer no room' $options
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
timeout 30 "$SPI_LTTNG" trace -f t_outer -p "$target" -o attached >/dev/null 2>trace.err </dev/null 5>&- &
front=$!
spi_wait 20 sh -c 'lttng list -u | grep -q t_outer_entry'
exec 5>&-
wait "$target"
is $? 4 "ulimit -f 20, attached to: its status"
wait "$front"
is $? 0 "and the front end's" || diag "$(tail -n 3 trace.err)"
is "$(spi_count attached t_outer_entry)" 2000 "and it is traced"

spi_cc locked locked.c -pthread -fno-optimize-sibling-calls
./locked >plain.out
for options in '--tree --compact' '-f t_deep'; do
	name="mlockall(), $options"
	rm -rf locked-trace
	# shellcheck disable=SC2086
	timeout 30 "$SPI_LTTNG" trace -o locked-trace $options ./locked >out 2>trace.err </dev/null
	is $? 0 "$name: status"
	if file_has out 'mlockall: Cannot allocate memory'; then
		skip "$name: output: may not lock more than $(ulimit -l) KB"
		continue
	fi
	check "$name: output" cmp plain.out <(grep -v '^Trace directory' out) || diag "$(cat plain.out out)"
	[ "$options" != '-f t_deep' ] || is "$(spi_count locked-trace t_deep_exit)" $((301 + 5001 + 8 * 301)) "$name: and it is traced"
done
tap_done
