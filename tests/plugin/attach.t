#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Hot attach to a daemon that records: nothing is lost, applications that are
# registered are told to the broker, new ones are held; attaching again does
# nothing and says so; other processes are refused.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build
export FAKE_BROKER="all delay=100"
spi_daemon
daemon=$(cat /run/lttng/lttng-sessiond.pid)
record s
mkfifo fifo
background ./app 10 wait fifo
exec 9>fifo
sessiond=$SPI_PLUGIN_DIR/spi-sessiond
loop() { for ((i = 0; i < 40; i++)); do ./app 10; done; }
loop &
busy=$!
out=$("$sessiond" --attach 2>&1)
is $? 0 "attached"
diag "$out"
like "$out" "session daemon $daemon has the plugin; a thread of it stood still" "says so"
wait "$busy"
printf x >&9
spi_wait 5 file_has broker.log "^APP id=0 pid=$target uid=$(id -u) bits=64 .*name=app pidfd=yes"
ok $? "the running application was found"
like "$(grep ^DAEMON broker.log)" ' attached$' "the broker knows that there were clients before"
: >broker.log
./app 10
is "$(count_log ^HELD)" 1 "a new one is held"
out=$("$sessiond" --attach "$daemon" 2>&1)
is $? 0 "attached twice"
is "$out" "spi-sessiond: session daemon $daemon has the plugin already" "says so"
out=$("$sessiond" --attach "$target" 2>&1)
is $? 1 "another program"
like "$out" "^spi-sessiond: process $target: not a session daemon: name the pid of a running lttng-sessiond" "is named"
is "$(grep -c "lttng-spi-sessiond" "/proc/$target/maps")" 0 "nothing is loaded into it"
consumer=$(pgrep -P "$daemon" -f consumerd | head -n 1)
out=$("$sessiond" --attach "$consumer" 2>&1)
is $? 1 "a consumer daemon"
like "$out" "^spi-sessiond: process $consumer: not a session daemon" "is named"
out=$("$sessiond" --attach nonsense 2>&1)
is $? 2 "no pid"
like "$out" "^spi-sessiond: nonsense is not a process id" "is named"
exec 9>&-
wait "$target"
is "$(recorded s)" 430 "every event of all of them is recorded"
kill "$daemon"
spi_wait 10 pid_gone "$daemon"
ok $? "the daemon ends as ever"
out=$("$sessiond" --attach 2>&1)
is $? 1 "no daemon"
like "$out" "no running session daemon: start one" "is named"
# A pid file that is left, and a process that has the number now, also one of the same name
cp "$(command -v sleep)" lttng-sessiond
for program in sleep ./lttng-sessiond; do
	"$program" 60 & stranger=$!
	spi_wait 10 test "/proc/$stranger/exe" -ef "$(command -v "$program")"
	echo "$stranger" >/run/lttng/lttng-sessiond.pid
	out=$("$sessiond" --attach 2>&1)
	is $? 1 "a stale pid file with the number of $program"
	like "$out" "^spi-sessiond: /run/lttng/lttng-sessiond.pid: left by a session daemon that has ended; process $stranger is not one: [^"$'\n'"]*$" \
		"is named, in one line"
	is "$(grep -c "lttng-spi-sessiond" "/proc/$stranger/maps")" 0 "nothing is loaded into it"
	kill "$stranger"
	wait "$stranger" 2>/dev/null
done
# One that is renamed is known by its socket.
rm -f lttng-sessiond /run/lttng/lttng-sessiond.pid
cp "$(command -v lttng-sessiond)" another-name
group=()
[ "${SPI_OUTER_UID:-0}" = 0 ] || group=(--group root)
./another-name --no-kernel --daemonize "${group[@]}" >another.log 2>&1
spi_wait 10 test -s /run/lttng/lttng-sessiond.pid
daemon=$(cat /run/lttng/lttng-sessiond.pid)
check "a session daemon of another name" "$sessiond" --attach
kill "$daemon"
spi_wait 10 pid_gone "$daemon"
tap_done
