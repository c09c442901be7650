#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
# timeout: 90
#
# Programs that enter a seccomp sandbox which would kill them for the tracer's
# system calls: they run as without, what was recorded before is there, and it is
# said. A sandbox that harms nobody changes nothing. Running ones are refused, those that enter one later are not harmed.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc sandbox sandbox.c

# same NAME MODE CALLS OPTION... - as without; t_outer was called so often before the sandbox, or with it
same() {
	local name=$1 mode=$2 calls=$3 dir=$SPI_TMP/t-$tap_count
	shift 3
	spi_trace_same "$name" "$dir" "./sandbox $mode" "$@"
	[ "$calls" != 1 ] || check "$name: it is said" file_has trace.err 'seccomp sandbox'
	[ "$1" = -f ] || return 0
	is "$(spi_count "$dir" t_outer_entry) $(spi_count "$dir" t_outer_exit)" "$calls $calls" "$name: calls"
}
for mode in strict filter all; do
	same "$mode" "$mode" 1 -f t_outer
	same "$mode, one event" "$mode" 1 --one-event -f t_outer
	same "$mode, tree" "$mode" 1 --tree
	same "$mode, compact tree" "$mode" 1 --tree --compact
done
for then in exit _exit; do
	same "filter, then $then()" "filter $then" 1 -f t_outer
	same "filter, then $then(), tree" "filter $then" 1 --tree
done
# one that lets records be written, and nothing else that tracing does
for then in "" exit _exit fork; do
	same "narrow${then:+, then $then()}" "narrow $then" 1 -f t_outer
	same "narrow${then:+, then $then()}, tree" "narrow $then" 1 --tree
done
same "one that refuses a call" soft 2001 -f t_outer
# one that kills for what recording does not need, but a traced child, or what is told at the end
for call in socket sendmsg; do
	for options in "-f t_outer" --tree "--tree --compact"; do
		# shellcheck disable=SC2086
		same "one that kills for $call(), and a child, $options" "no-$call exit" 2001 $options
		# shellcheck disable=SC2086
		same "one that kills for $call(), and a child, $options" "no-$call fork" 2001 $options
		check "the child: it is said" file_has trace.err 'a child: it is in a seccomp sandbox that kills'
	done
done
for options in "-f t_outer" "--one-event -f t_outer" --tree "--tree --compact"; do
	# shellcheck disable=SC2086
	spi_trace_same "without the processor's clock, $options" "c$tap_count" "./sandbox tsc" $options
	check "it is said" file_has trace.err "reading the processor's clock"
done
for options in "-f t_outer" "--tree --compact"; do
	# shellcheck disable=SC2086
	spi_trace_same "system calls that end in its handler, $options" "c$tap_count" "./sandbox dispatch" $options
	check "it is said" file_has trace.err "has system calls end in its handler of SIGSYS"
done
for options in "-f t_outer" --tree "--tree --compact"; do
	# shellcheck disable=SC2086
	same "what is there, asked by calls that are refused, $options" probe 2001 $options
	unlike "$(cat trace.err)" 'seccomp sandbox' "and traced on"
done

for mode in strict filter; do
	mkfifo input
	exec 5<>input
	background bash -c "exec 5>&-; exec ./sandbox $mode wait <input"
	timeout $((20 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f t_outer -p "$target" --duration 1 -o "a-$mode" >/dev/null 2>trace.err </dev/null
	[ "$?" != 0 ]
	ok $? "$mode, running: refused"
	check "$mode, running: it is said" file_has trace.err "runs under seccomp.*start it under the tracer"
	exec 5>&-
	wait "$target"
	is $? 4 "$mode, running: its status"
	is "$(tr '\n' ' ' <target.out)" "ready done " "$mode, running: its output"
	rm input
done

# Attached to before.
for mode in strict filter dispatch; do
	mkfifo input
	exec 5<>input
	background bash -c "exec 5>&-; exec ./sandbox $mode later <input"
	rm -f trace.err
	timeout $((20 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f t_outer -p "$target" -o "l-$mode" >trace.err 2>&1 </dev/null 5>&- &
	front=$!
	spi_wait 20 file_has trace.err 'Trace directory'
	exec 5>&-
	wait "$target"
	is $? 4 "$mode, entered while traced: status"
	unlike "$(cat target.out)" "others: [1-9]" "$mode, entered while traced: output"
	wait "$front"
	check "$mode, entered while traced: it is said" file_has trace.err 'nothing is traced in it any more'
	rm input
done

mkfifo input2
exec 5<>input2
background bash -c "exec 5>&-; exec ./sandbox soft wait <input2"
timeout $((30 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f t_outer -p "$target" -o attached >/dev/null 2>trace.err </dev/null 5>&- &
front=$!
spi_wait 20 sh -c 'lttng list -u | grep -q t_outer_entry'
exec 5>&-
wait "$target"
is $? 4 "one that refuses a call, running: its status"
wait "$front"
is $? 0 "and the front end's" || diag "$(tail -n 3 trace.err)"
is "$(spi_count attached t_outer_entry)" 2000 "and it is traced"
# threads that begin to call in a sandbox in which the tracer may not talk
spi_cc quiet-threads quiet-threads.c -pthread
spi_trace_same "threads, no socket()" quiet ./quiet-threads -f work
is "$(spi_count quiet work_entry) $(spi_count quiet work_exit)" "200 200" "threads, no socket(): calls"
tap_done
