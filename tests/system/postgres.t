#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 400
# soak-timeout: 1200
#
# PostgreSQL, which forks a backend for each connection, and writes what it does over its arguments: under a rule from its start,
# attached to under pgbench, also with a connection for each transaction, and as quick after the traces as before them.
. "${SPI_TOP_SRCDIR:?}/tests/lib/servers.sh"
spi_private "$@"
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
[ -n "$bin" ] || skip_all "postgresql is not installed"
[ "$(id -u)" = 0 ] || skip_all "needs root, to be another user"
broker_daemon
chmod 755 .
mkdir db && chown postgres db
as() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
as "$bin/initdb" -D db -A trust >initdb.out 2>&1 || { diag "$(tail -n 5 initdb.out)"; echo "Bail out! no database"; exit 1; }
: >pg.log && chown postgres pg.log
server() { as "$bin/pg_ctl" -D db -w -l "$PWD/pg.log" -o "-p 5499 -c unix_socket_directories='' -c log_statement=all -c fsync=off" start >ctl.out 2>&1; }
stop() { as "$bin/pg_ctl" -D db -w -m fast stop >ctl.out 2>&1; }
echo 'SELECT 1;' >one.sql
statements() { grep -c 'LOG:  statement:' pg.log; }
# load TRANSACTIONS-EACH [OPTION] - four clients
load() {
	"$bin/pgbench" -h 127.0.0.1 -p 5499 -U postgres -n -f one.sql -c 4 -t "$1" ${2:-} postgres >bench.out 2>&1 &&
		grep -q "actually processed: $((4 * $1))/$((4 * $1))" bench.out
}

"$SPI_LTTNG" trace --exec postgres -f pg_parse_query -o first >first.out 2>first.err </dev/null &
tracer=$!
spi_wait 60 file_has first.err 'Trace directory'
check "started under a rule" server
check "the load is served" load 200
check "a connection for each transaction" load 25 -C
stop
counted=$(statements)
kill -INT "$tracer"
wait "$tracer"
is $? 0 "the trace ends well" || diag "$(tail -n 5 first.err)"
is "$(entries first pg_parse_query)" "$counted" "each statement that the server has logged is recorded" || diag "$(tail -n 8 first.err)"
balanced first "each entry has its exit"

server || { diag "$(cat ctl.out pg.log)"; echo "Bail out! PostgreSQL does not start"; exit 1; }
per_second() { load 25 -C && sed -n 's/^tps = \([0-9]*\).*/\1/p' bench.out; }
before=$(per_second)
again_and_again "attached to over and over" 20 load 100 -- -f pg_parse_query -p postgres
again_and_again "a connection for each transaction" 5 load 10 -C -- -f pg_parse_query -p postgres
again_and_again "trees" 5 load 100 -- --tree --depth=20 -p postgres
diag "transactions a second with a connection each: $before before, $(per_second) after the traces"
stop
is "$(grep -c 'terminated by signal\|PANIC\|FATAL' pg.log)" 0 "nothing harmed it" || diag "$(grep 'terminated\|PANIC\|FATAL' pg.log | head -n 3)"
tap_done
