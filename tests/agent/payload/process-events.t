#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng trace --process-events`: each process with its programs, status and parent as `strace -f` has them, of make with
# gcc and of a pipeline in two shells; ends that a process cannot tell; programs that run already, or are started later.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
command -v strace >strace.path || skip_all "no strace"
compare="$SPI_TOP_SRCDIR/tests/lib/process-compare.py"
spi_cc process process-ends.c
# traced NAME COMMAND... - recorded to NAME; the status in $rc, what is said in NAME.err, the events in NAME.events
traced() {
	local name=$1
	shift
	timeout $((30 * SPI_PATIENCE)) "$SPI_LTTNG" trace --process-events -o "$name" "$@" >"$name.out" 2>"$name.err" </dev/null
	rc=$?
	babeltrace2 "$name" >"$name.events" 2>"$name.warn"
}
# lines COMMAND... - the same on the terminal, in lines.err, without times
lines() {
	timeout $((30 * SPI_PATIENCE)) "$SPI_LTTNG" trace --process-events "$@" 2>lines.all >lines.out </dev/null
	rc=$?
	sed 's/^\[[0-9:.]*\] //' lines.all >lines.err
}
# as_strace NAME COMMAND... - two runs, compared; ./clean runs before each
as_strace() {
	local name=$1
	shift
	./clean
	strace -f -e trace=process -s 4096 -o "$name.strace" "$@" >plain.out 2>plain.err </dev/null
	plain=$?
	./clean
	traced "$name" "$@"
	is $rc $plain "$name: status" || diag "$(tail "$name.err")"
	is "$(python3 "$compare" "$name.strace" "$name.events")" "same $(grep -c '^[0-9]* *+++' "$name.strace")" \
		"$name: each process with its programs, status and parent" || diag "$(cat "$name.err")"
}

# ---- make, with posix_spawn(), vfork() and fork() below it ----
for i in 1 2 3; do echo "int f$i(int x) { return x + $i; }" >f$i.c; done
echo 'int main(void) { return 0; }' >m.c
printf 'all: prog lib.a wrong\nprog: m.o f1.o f2.o f3.o\n\tgcc -o $@ $^\nlib.a: f1.o f2.o\n\tar rc $@ $^ && true\nwrong:\n\t-false\n%%.o: %%.c\n\tgcc -c -O1 -o $@ $<\n' >Makefile
printf '#!/bin/sh\nrm -f m.o f?.o prog lib.a\n' >clean
chmod +x clean
as_strace make make -j4
check "make: it has built the program" ./prog
is "$(grep -c 'Not in the trace' make.err)" 0 "make: all is in the trace" || diag "$(cat make.err)"
check "make: libraries that the linker loads and unloads" grep -q 'spi_process:unloaded: .*liblto_plugin' make.events

# ---- shells ----
cat >pipe.sh <<'END'
ls /usr | sort | uniq -c | head -3
(exit 7)
false
/bin/sh -c 'kill -9 $$'
/bin/sh -c 'kill -TERM $$'
/nonexistent
x=$(echo $(uname -r))
{ exit 9; } &
wait $!
exec /bin/echo done
END
for shell in dash bash; do
	as_strace "$shell" $shell pipe.sh
done

# ---- the ends of a process that cannot tell them: each is told once ----
# told WHAT LINE... - these ends, and no others
told() {
	local name=$1
	shift
	is "$(sed -nE 's/^(process|m|true) .*(ends with|is ended by)/\2/p' lines.err | sort)" "$(printf '%s\n' "$@" | sort)" \
		"$name" || diag "$(cat lines.err)"
}
lines ./process raw
is $rc 13 "exit_group by a system call: status"
is "$(sed -nE 's/ [(][0-9]*[)]//g; /ends/p' lines.err)" "process ends with 12, says its parent process
process ends with 13" "the child by its parent, the command by lttng trace" || diag "$(cat lines.err)"
lines ./process kill
is "$(sed -nE 's/ [(][0-9]*[)]//g; /ended/p' lines.err)" "process is ended by SIGKILL, says its parent process
process is ended by SIGTERM from process" "signals, and who has sent them" || diag "$(cat lines.err)"
lines ./process orphan
is "$(grep -c 'nobody has said how' lines.err) $(grep -c 'ends with 0' lines.err)" "1 2" "an orphan that is killed is named" ||
	diag "$(cat lines.err)"
traced orphan ./process orphan
is "$(grep -c 'nobody has said how' orphan.err) $(grep -c 'Not in the trace: process .* was created by process ' orphan.err)" "1 1" \
	"beside a trace, too, with its parent" || diag "$(cat orphan.err)"
lines ./process ignored
is "$(grep -cE 'ends with ([0-9]|1[0-9])$' lines.err)" 21 "children that nobody waits for" || diag "$(cat lines.err)"
traced ignored ./process ignored
is "$(grep -c 'Not in the trace: .* ends with' ignored.err)" 20 "what the trace cannot have of them is named" || diag "$(cat ignored.err)"
lines ./process handler
is "$(grep -c 'gets SIGCHLD from process (' lines.err) $(grep -cE 'ends with [0-9]+$' lines.err)" \
	"$(sed -n 's/handled //p' lines.out) 6" "signals that a handler gets, each with its sender" || diag "$(cat lines.err)"
lines ./process clone
is "$(grep -cE 'ends with 1[14], says its parent' lines.err)" 3 "children of clone() and system calls" || diag "$(cat lines.err)"
gcc -static -o static -x c - <<<'int main(void) { return 21; }'
lines ./process exec ./static
is "$(sed -nE 's/ [(][0-9]*[)]//g; /static/p' lines.err)" "process executes ./static
static ends with 21, says its parent process
Note: not followed: ./static: it is statically linked" "a program that cannot be followed is named, with its end" ||
	diag "$(cat lines.err)"
lines ./process fault
is "$rc $(grep -c 'is ended by SIGSEGV$' lines.err)" "139 1" "a fault" || diag "$(cat lines.err)"
is "$(grep -c . lines.out)" 0 "lines are not on standard output"
lines --libcalls ./process exec /bin/true
is "$(grep -cE '(true|process) \([0-9]*\) ends with 0' lines.err)" 2 "beside --libcalls, which has exit() itself" || diag "$(cat lines.err)"

# ---- a program that runs, and programs by name ----
mkfifo in
./process serve <in >served &
server=$!
exec {input}>in
spi_wait 20 file_has served ready
rm -f attached.err
"$SPI_LTTNG" trace --process-events -o attached -p "$server" >attached.out 2>attached.err &
tracer=$!
spi_wait 30 file_has attached.err "Trace directory"
echo go >&"$input"
spi_wait 20 file_has served done
kill -INT "$tracer"
wait "$tracer"
is $? 0 "attached: status" || diag "$(cat attached.err)"
babeltrace2 attached >attached.events
is "$(sed -nE 's/.*spi_process:(program|waited): .*\{ (parent = [0-9]*, attached|child = [0-9]*, code) = ([0-9]*).*/\1 \3/p' attached.events)" \
	"program 1
program 0
waited 3" "attached: the process that runs, and the program that its child executes" || diag "$(cat attached.events attached.err)"
check "attached: that it still runs is said" grep -q "process ($server) still runs" attached.err
: >served
rm -f again.err
"$SPI_LTTNG" trace --process-events -p "$server" >again.out 2>again.err &
tracer=$!
spi_wait 30 file_has again.err "runs already"
echo go >&"$input"
spi_wait 20 file_has served done
kill -INT "$tracer"
wait "$tracer"
is "$? $(grep -c 'sh ([0-9]*) ends with 3' again.err)" "0 1" "attached once more, without a trace" || diag "$(cat again.err)"
exec {input}>&-
wait "$server"
is $? 0 "the program's status"
rm -f named.err
"$SPI_LTTNG" trace --process-events --exec process -o named >named.out 2>named.err &
tracer=$!
spi_wait 30 file_has named.err 'get the payload until'
echo go | ./process serve >served
is $? 0 "by name: the program's status"
kill -INT "$tracer"
wait "$tracer"
is $? 0 "by name: status" || diag "$(cat named.err)"
is "$(babeltrace2 named | grep -c 'spi_process:ended: .*{ code = [03],')" 2 "by name: both ends" || diag "$(babeltrace2 named)"

# ---- beside other rules, and what does not go ----
traced beside -f wait4 ./process exec /bin/true
is "$(grep -c ' spi:wait4_exit: ' beside.events) $(grep -c ' spi_process:waited: ' beside.events)" "1 1" "beside -f, of the same function" ||
	diag "$(cat beside.events beside.err)"
for options in "--memory" "--payload count" "--ipc" "--report" "--format calls" "--buffers pid" "--exec x -f y"; do
	# shellcheck disable=SC2086
	lines $options ./process exec /bin/true
	is "$rc $(grep -c '^Error: trace: --process-events' lines.err) $(wc -l <lines.err)" "2 1 1" "refused: $options" || diag "$(cat lines.err)"
done
tap_done
