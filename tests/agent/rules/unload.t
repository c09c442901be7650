#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Libraries that are unloaded while they are instrumented, and others, or the
# same one, loaded in their place: never written to again, new ones traced.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
rounds=${SPI_SOAK:+2000}
rounds=${rounds:-200}
spi_cc plugins plugins.c
# An object that is linked for an address is loaded there when that is free. B's code is another one.
place=-Wl,-Ttext-segment=0x7e0000000000
echo 'int t_plug(int x) { return x + 1; } int t_other(int x) { return x * 2; }' >a.c
echo 'int t_other(int x) { return x * 7 + 3; } int t_plug(int x) { return x * x; }' >b.c
spi_cc a.so ./a.c -shared -fPIC "$place"
spi_cc b.so ./b.c -shared -fPIC "$place"

quiet() { "$@" >/dev/null 2>>lttng.log; }
quiet lttng create s -o "$PWD/t"
quiet lttng enable-channel -u c --subbuf-size 1048576 --num-subbuf 8
quiet lttng add-context -u -c c -t vpid -t vtid
quiet lttng enable-event -u -c c 'spi:*'
quiet lttng start
coproc CONTROL { python3 "$SPI_TOP_SRCDIR/tests/lib/controller.py" ./plugins "$PWD/a.so" "$PWD/b.so" 2>control.err; }
exec {to}>&"${CONTROL[1]}" {from}<&"${CONTROL[0]}"
ask() { echo "$*" >&"$to"; read -r -t 60 -u "$from" answer; }
lines=0
# tell SIGNAL - and wait for what the program says
tell() {
	kill "-$1" "$pid"
	lines=$((lines + 1))
	spi_wait 20 sh -c '[ "$(wc -l <target.out)" -ge '"$lines"' ]'
	line=$(tail -n 1 target.out)
}
ask go
ask pid
pid=$answer
lines=1
spi_wait 20 file_has target.out loaded
at=$(cut -d' ' -f2 target.out)
problems= elsewhere=0
for ((i = 1; i <= rounds; i++)); do
	ask add "$i" 't_*'
	[[ $answer == "rule $i 0 2 2 0" ]] || problems+="round $i: $answer; "
	tell USR1
	[[ $line == 'called 55' || $line == 'called 285' ]] || problems+="round $i: $line; "
	# unloaded while it is instrumented, or after; sometimes only loaded anew, which a command notices
	case $((i % 4)) in
	0) ask remove "$i"; tell USR2 ;;
	1|2) tell USR2; ask remove "$i" ;;
	3) tell HUP; ask disable "$i"; ask enable "$i"; tell USR1; ask remove "$i" ;;
	esac
	[[ $answer == "rule $i 0 "* ]] || problems+="round $i: $answer; "
done
is "$problems" "" "$rounds rounds: every rule finds both functions, every call is right"
ask status
diag "$answer"
like "$answer" "entries $((rounds * 10 + rounds / 4 * 10)) exits $((rounds * 10 + rounds / 4 * 10)) " "every call is recorded"
like "$answer" "points 0 " "no point is left"
memory=$(awk '/VmData/ { print $2 }' "/proc/$pid/status")
diag "data of the process: $memory kB"
same=$(grep -c "loaded ${at%???}" target.out)
[ "$same" -gt "$((rounds / 2))" ]
ok $? "the libraries follow each other at one address: $same of $rounds"
check "their code is the file's" python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$pid"
ask end
is "$answer" "ended 0" "the program ends by itself"
quiet lttng stop
quiet lttng destroy
spi_read t
is "$(grep -ac ' spi:t_plug\(@2\)\?_entry: ' t.txt)" "$((rounds * 10 + rounds / 4 * 10))" "two names for the two functions, however often they come"

# while the agent is at work
eval "exec {to}>&- ${CONTROL[1]}>&-"
wait "$CONTROL_PID"
coproc CONTROL { python3 "$SPI_TOP_SRCDIR/tests/lib/controller.py" ./plugins "$PWD/a.so" "$PWD/b.so" storm 2>control.err; }
exec {to}>&"${CONTROL[1]}" {from}<&"${CONTROL[0]}"
ask go
spi_wait 20 file_has target.out running
done=0
for ((i = 1; i <= 100; i++)); do
	ask add "$i" 't_*'
	[[ $answer != *' 2 2 0' ]] || done=$((done + 1))
	ask remove "$i"
done
diag "$done of 100 times both functions were there to be instrumented"
ask end
is "$answer" "ended 0" "libraries come and go all the time: the program is unharmed"
diag "$(tail -n 1 target.out)"
tap_done
