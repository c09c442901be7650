#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 300
# soak-timeout: 900
#
# redis as a daemon: under a rule from its start, attached to over and over, and while it saves in a forked child.
. "${SPI_TOP_SRCDIR:?}/tests/lib/servers.sh"
spi_private "$@"
needs redis-server redis-benchmark redis-cli
broker_daemon
cli() { redis-cli -p 6399 "$@"; }
server() {
	redis-server --port 6399 --bind 127.0.0.1 --daemonize yes --dir "$PWD" --pidfile "$PWD/redis.pid" --logfile "$PWD/redis.log" \
		--save '' >/dev/null && spi_wait 20 answers
}
answers() { [ "$(cli ping 2>/dev/null)" = PONG ]; }
sets() { cli info commandstats | sed -n 's/^cmdstat_set:calls=\([0-9]*\).*/\1/p'; }
load() { redis-benchmark -p 6399 -t set -n "$1" -c 4 -q >bench.out 2>&1 && ! grep -qi error bench.out; }
stop() {
	local pid
	pid=$(cat redis.pid)
	cli shutdown nosave
	spi_wait 20 pid_gone "$pid"
}

"$SPI_LTTNG" trace --exec redis-server -f setCommand -o first >first.out 2>first.err </dev/null &
tracer=$!
spi_wait 60 file_has first.err 'Trace directory'
check "started under a rule, by a name that is a link" server
check "the load is served" load 3000
counted=$(sets)
stop
kill -INT "$tracer"
wait "$tracer"
is $? 0 "the trace ends well" || diag "$(tail -n 5 first.err)"
is "$(entries first setCommand)" "$counted" "what redis has counted is recorded" || diag "$(tail -n 8 first.err)"
balanced first "each entry has its exit"

server || { diag "$(cat redis.log)"; echo "Bail out! redis does not start"; exit 1; }
counted "attached to" setCommand 2000 load 2000 -- -f 'redis-server:setCommand' -p redis-server
again_and_again "attached to over and over" 20 load 500 -- -f 'processCommand' -p redis-server
again_and_again "trees" 5 load 500 -- --tree -p redis-server
saved() { cli info persistence | grep -q 'rdb_bgsave_in_progress:0' && cli info persistence | grep -q 'rdb_last_bgsave_status:ok'; }
saves() { load 200 && cli bgsave >/dev/null; local i; for i in $(seq 100); do saved && return 0; read -rt 0.05 <> <(:) || :; done; return 1; }
again_and_again "it saves in a child" 5 saves -- -f 'rdbSaveRio' -p redis-server
stop
is "$(grep -c 'crashed\|REPORT' redis.log)" 0 "nothing harmed it" || diag "$(tail -n 5 redis.log)"
tap_done
