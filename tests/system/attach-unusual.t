#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
# timeout: 170
#
# Programs that /proc shows in an unusual way: their paths have odd bytes, the
# kernel executed the dynamic linker, the first thread has ended, or nothing runs as
# the control group is frozen. And a front end that was started with signals
# ignored or blocked.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc unusual unusual.c
ld=/lib64/ld-linux-x86-64.so.2

# attached NAME ARG... - `lttng trace ARG... -p` of $target records calls of work()
attached() {
	local name=$1
	shift
	rm -rf t t.txt
	spi_trace_ok "$name: attached" "$@" -p "$target" --duration 0.3 -o t || return
	spi_read t
	is "$([ "$(spi_count t work_entry)" -gt 0 ] && echo some)" some "$name: calls"
}

# ends_well NAME - the target ends by itself, all its values right
ends_well() {
	finish "$target"
	is $? 7 "$1: ends as ever"
	is "$(tail -n 1 target.out)" "wrong 0" "$1: every value was right"
}

# A path with every byte that a file name may have.
all=$(for i in $(seq 1 255); do [ "$i" = 47 ] || printf '\\x%02x' "$i"; done)
all=$(printf '%b.' "$all")
long=$(printf 'd%.0s' $(seq 200))
for name in "$all" $'lat\xe9n1' $'new\nline' 'back\012slash' 'gone (deleted)' "$long/$long/$long/$long/$long/$long/x"; do
	mkdir -p "$(dirname "dir/$name.")"
	cp unusual "dir/$name"
	shown=$(printf '%s' "${name:0:12}" | LC_ALL=C tr -c 'a-zA-Z0-9 ()' .)
	rm -rf t t.txt
	spi_trace -f work -o t "dir/$name" >trace.out
	is $? 7 "'$shown': started, status" || diag "$(tail -n 5 trace.err)"
	spi_read t
	is "$(spi_count t work_exit)" 5 "'$shown': started, calls"
	background "dir/$name" wait
	attached "'$shown'" -f work
	ends_well "'$shown'"
done

# Only mapped: a library with such a name, in a program with another.
echo 'int other(int a) { return a; }' >other.c
gcc -shared -fPIC -o $'\xff\xfeother.so' other.c
rm -rf t t.txt
LD_PRELOAD=./$'\xff\xfeother.so' spi_trace -f work -o t ./unusual >trace.out
spi_read t
is "$(spi_count t work_exit)" 5 "a library with bytes above 0x7f: calls"

# The file has another name now, or none.
cp unusual removed && background ./removed wait
rm removed
attached "removed" -f removed:work
ends_well "removed"

for static in -pie -no-pie; do
	spi_cc linked unusual.c $static
	rm -rf t t.txt
	spi_trace -f linked:work -o t "$ld" --argv0 else ./linked >trace.out
	is $? 7 "ld.so, $static: started, status" || diag "$(tail -n 5 trace.err)"
	spi_read t
	is "$(spi_count t work_exit)" 5 "ld.so, $static: started, calls"
	background "$ld" ./linked wait
	attached "ld.so, $static" -f linked:work
	ends_well "ld.so, $static"
	background "$ld" ./linked wait
	rm -rf t t.txt
	spi_trace_ok "ld.so, $static: a tree, attached" --tree=work -p "$target" --duration 0.3 -o t
	ends_well "ld.so, $static, with a tree"
	rm -rf t t.txt
	spi_trace --tree=work -o t "$ld" ./linked >trace.out
	is "$(babeltrace2 --debug-info t 2>/dev/null | grep -c 'func_entry.*func = "work+0"')" 5 "ld.so, $static: a tree, its readers know work()"
done
spi_trace -f work -o t2 "$ld" --list ./linked >trace.out
is "$?,$(wc -l <trace.err)" 1,1 "ld.so that runs no program: refused, one line"

background ./unusual leave
first_ended() { grep -q '^State:.Z' "/proc/$target/status"; }
spi_wait 10 first_ended
attached "the first thread has ended" -f work
attached "the first thread has ended, again" -f unusual:work
like "$("$SPI_LTTNG" trace -l -p "$target" 2>&1)" 'work' "the first thread has ended: -l lists its functions"
ends_well "the first thread has ended"

frozen_tests() {
	local group=/sys/fs/cgroup/$1/spi-test-$$ file=$2 on=$3 off=$4 tracer
	mkdir "$group" 2>/dev/null || { skip "frozen ($file)" "no such control groups, or not ours"; return; }
	background ./unusual wait
	echo "$target" >"$group/cgroup.procs" && echo "$on" >"$group/$file"
	spi_trace -f work -p "$target" --duration 0.2 -o "tf$file" >trace.out
	is $? 1 "frozen ($file): refused"
	like "$(cat trace.err)" 'control group' "frozen ($file): with the reason"
	for signal in TERM INT; do
		"$SPI_LTTNG" trace -f work -p "$target" --duration 100 -o "tf$signal" 2>tracer.err & tracer=$!
		spi_wait 10 grep -q work "/proc/$tracer/cmdline"
		kill -"$signal" "$tracer"
		wait "$tracer"
		[ $? != 0 ]
		ok $? "frozen ($file): ends on SIG$signal"
	done
	echo "$off" >"$group/$file"
	attached "thawed ($file)" -f work
	ends_well "thawed ($file)"
	rmdir "$group"
}
frozen_tests unified cgroup.freeze 1 0
frozen_tests freezer freezer.state FROZEN THAWED

background ./unusual wait
kill -STOP "$target"
spi_trace -f work -p "$target" --duration 0.2 -o ts >trace.out
is $? 1 "stopped: refused"
like "$(cat trace.err)" 'kill -CONT' "stopped: with the remedy"
kill -CONT "$target"
attached "continued" -f work
ends_well "continued"

# What the front end was given, COMMAND gets; the front end's own programs do not.
cat >start.py <<'P'
import os, signal, sys
for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_IGN)
if sys.argv[1] == 'all':
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP})
else:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
os.execv(sys.argv[2], sys.argv[2:])
P
for what in some all; do
	rm -rf t t.txt
	python3 start.py "$what" "$SPI_LTTNG" trace -f work -o t ./unusual >trace.out 2>trace.err
	is $? 7 "signals ignored and blocked ($what): status" || diag "$(tail -n 5 trace.err)"
	is "$(cat trace.out)" "$(python3 start.py "$what" ./unusual)" "signals ignored and blocked ($what): COMMAND has them so"
	spi_read t
	is "$(spi_count t work_exit)" 5 "signals ignored and blocked ($what): calls"
done
background python3 start.py some ./unusual wait
attached "SIGCHLD ignored by the program" -f work
ends_well "SIGCHLD ignored by the program"
python3 start.py some "$SPI_INJECT" --version >trace.out
rm -rf t t.txt
python3 start.py some "$SPI_CODEMAP" map -o map --pattern work ./unusual
ok $? "SIGCHLD ignored: spi-codemap waits for its child"
tap_done
