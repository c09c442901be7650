#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Hot attach to a daemon that records: nothing is lost, applications that are
# registered are told to the broker, new ones are held; attaching again does
# nothing and says so; other processes are refused.
. "${SPI_TOP_SRCDIR:?}/tests/plugin/lib.sh"
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
like "$out" "^spi-sessiond: process $target: the plugin found nothing to do there: name the pid" "is named"
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
tap_done
