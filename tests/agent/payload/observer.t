#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What else happens in the process comes to an agent's observer, and the program goes on as ever.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
spi_cc process payload-process.c -O1 -fno-optimize-sibling-calls -ldl
gcc -shared -fPIC -o comes.so -x c - <<<'int loaded_function(int x) { return 5 * x; }'
payload_cc observes.so payload-observes.c

# run NAME ARGS... - preloaded; the program's output is in ./out, what the observer says in ./said. The program's own status and output stay.
run() {
	local name=$1 plain status
	shift
	may_die ./process "$@" >plain.out 2>/dev/null
	plain=$?
	may_die env LD_PRELOAD="$PWD/observes.so" ./process "$@" >out 2>said
	status=$?
	is "$status" "$plain" "$name: status"
	same_file <(sed 's/child .*/child/' out) <(sed 's/child .*/child/' plain.out) "$name: output"
}
# has NAME LINE... - the lines are there, in this order
has() {
	local name=$1
	shift
	is "$(grep -xF "$(printf '%s\n' "$@")" said)" "$(printf '%s\n' "$@")" "$name" || diag "$(cat said)"
}

run 'fork' fork
child=$(sed -n 's/child //p' out)
is "$(grep -cx -e "created $child" -e 'is a child' said)" 2 'fork: the parent has the child by its id, the child knows that it is one' || diag "$(cat said)"
is "$(grep -c '^ended' said)" 2 'fork: both end' || diag "$(cat said)"
check 'fork: the child ends with its code' grep -qx 'ended 3 0' said
check 'fork: the parent ends with its own' grep -qx 'ended 7 0' said

run 'fork without a call' fork -
is "$(grep -c -e '^ended 4 0' -e '^ended 7 0' said)" 2 'fork without a call: both end' || diag "$(cat said)"
run 'posix_spawn' spawn
check 'posix_spawn: the child by its id' grep -qx "created $(sed -n 's/child //p' out)" said || diag "$(cat said)"

run 'exec' exec
has 'exec: the path, then fini()' 'executes /bin/echo' fini
run 'exec that fails' exec-fails /none/such
is "$(grep -c '^executes' said)" 0 'exec that fails: nothing is told where the kernel would refuse'
check 'exec that fails: calls are seen on' grep -qx 'enter leaf' said || diag "$(cat said)"

run 'signal' signal
is "$(grep -c '^signal 10 handled' said)" 2 'signal: one with a handler, each time' || diag "$(cat said)"
is "$(grep -c '^signal 17' said)" 1 'signal: one that does nothing, while it has a handler' || diag "$(cat said)"
is "$(grep -c '^signal 12' said)" 0 'signal: none that is ignored'
has 'signal: the end' 'ended 7 0' fini
run 'a signal that ends the process' term
has 'a signal that ends the process: told as fatal, then as the end' 'signal 15 fatal' 'ended -1 15'
run 'a fault' fault
has 'a fault: told as fatal, then as the end' 'signal 11 fatal' 'ended -1 11'
run '_exit' _exit
has '_exit: its code' 'ended 9 0' fini

run 'a library' load "$PWD/comes.so"
has 'a library: comes, and goes' 'object process' 'object comes.so' 'object goes comes.so'
check 'a library: its functions are called in the tree' grep -qx 'enter loaded_function' said || diag "$(cat said)"

LTTNG_SPI_PAYLOAD_ARGS=leave=leaf run 'a function that is left' plain
check 'a function that is left: others are seen' grep -qx 'enter other' said
is "$(grep -cx 'enter leaf' said)" 0 'a function that is left: and this one is not' || diag "$(cat said)"

LTTNG_SPI_PAYLOAD_ARGS='only=1' run 'an observer without payloads' signal
is "$(grep -c '^enter' said)" 0 'an observer without payloads: no calls'
is "$(grep -c '^signal 10 handled' said)" 2 'an observer without payloads: signals' || diag "$(cat said)"

LTTNG_SPI_PAYLOAD_ARGS='bad=1' run 'an observer that faults' signal
is "$(grep -c '^signal 10' said)" 1 'an observer that faults: it is told no more' || diag "$(cat said)"

spi_trace --tree --lib process --payload ./observes.so ./process signal >trace.out
is "$(grep -c '^signal 10 handled' trace.err)" 2 'by lttng trace: signals' || diag "$(cat trace.err)"
check 'by lttng trace: the end' grep -qx 'ended 7 0' trace.err || diag "$(cat trace.err)"
spi_trace --tree --lib process --payload ./observes.so ./process fork >trace.out
is "$(grep -cx -e "created $(sed -n 's/child //p' trace.out)" -e 'is a child' trace.err)" 2 'by lttng trace: parent and child' || diag "$(cat trace.err)"
is "$(grep -c '^ended' trace.err)" 2 'by lttng trace: both end' || diag "$(cat trace.err)"

# The tracer leaves.
rm -f said
# caught PID - which of SIGHUP, SIGINT, SIGUSR1 and SIGTERM are handled
caught() { echo $((0x$(sed -n 's/^SigCgt:\s*//p' "/proc/$1/status") & 0x4203)); }
spi_cc calls payload-calls.c -O1 -fno-optimize-sibling-calls
mkfifo in
rm -f out
./calls 5 wait <in >out 2>target.err &
target=$!
exec {input}>in
spi_wait 20 file_has out ready
"$SPI_LTTNG" trace --tree --lib calls --payload "$PWD/observes.so" -p "$target" >said 2>&1 &
front=$!
spi_wait 20 file_has said 'object libc.so.6' || diag "$(cat said)"
kill -INT "$front"
wait "$front"
has 'the tracer leaves: after fini()' fini detached
check 'the tracer leaves: libc has its bytes' python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$target" libc.so
is "$(caught "$target")" 0 'the tracer leaves: signals are as they were'
echo go >&"$input"
exec {input}>&-
wait "$target"
is $? 0 'the tracer leaves: the program goes on' || diag "$(cat target.err)"
is "$(grep -c . target.err)" 0 'the tracer leaves: nothing is told afterwards' || diag "$(cat target.err)"
tap_done
