#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 600
# soak-timeout: 1200
#
# Real clients with their servers, a compiler's programs, and a pipeline under `--tree --ipc`: all that took part is in the trace, and
# nothing else; each message is there; what they say, what goes over the wire and what the servers have open is as without.
. "${SPI_TOP_SRCDIR:?}/tests/lib/servers.sh"
spi_private "$@"
needs nginx curl redis-server redis-cli psql strace tcpdump
[ "$(id -u)" = 0 ] && [ "${SPI_OUTER_UID:-0}" = 0 ] || skip_all "needs root, to be other users"
broker_daemon
look() { python3 "$SPI_TOP_SRCDIR/tests/lib/across-programs.py" "$@"; }

# follow DIR COMMAND... - the client under the tracer, with what its messages lead to. The first trace of a program analyses it, which may
# take longer than a message waits: so each is traced once before, and both may wait long, as the machine may be busy.
follow() {
	local dir=$1
	shift
	rm -rf "$dir"
	timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" trace --tree --depth 3 --ipc --ipc-wait 10 -o "$dir" "$@" >traced.out 2>traced.err </dev/null
}

# captured NAME COMMAND... - with the loopback's packets in NAME.pcap
captured() {
	local name=$1 status
	shift
	rm -f "$name.pcap" dump.err
	tcpdump -i lo -s 70000 -B 65536 -U --immediate-mode -Z root -w "$name.pcap" >/dev/null 2>dump.err &
	dump=$!
	spi_wait 10 file_has dump.err 'listening on'
	"$@"
	status=$?
	return "$status"
}
has_last() { look wire "$1" | grep -q ' 9$'; }
# A last packet says that all before it are in the file.
dump_end() {
	echo last >/dev/udp/127.0.0.1/9
	spi_wait 10 has_last "$1.pcap"
	kill -INT "$dump"
	wait "$dump" 2>/dev/null
	look wire "$1.pcap" | grep -v ' 9$' >"$1.wire"
}

# beside PID... - strace of these in ./server.calls
beside() {
	local pid options=()
	for pid; do options+=(-p "$pid"); done
	strace -f -Y -yy -o server.calls -e trace=%network,%desc "${options[@]}" 2>strace.err &
	beside=$!
	for pid; do spi_wait 10 file_has strace.err "Process $pid attached" || diag "$(cat strace.err)"; done
}

plain() { "$@" >plain.out 2>plain.err </dev/null; }

# talk NAME SERVERS COMMAND... - SERVERS: the pids, in one argument. Who has taken part is said by taken() then.
talk() {
	local name=$1 servers=$2 before calls=client.calls
	shift 2
	rm -f ./*.calls plain.* traced.*
	# As ever, and once under strace.
	captured plain plain "$@"
	is $? 0 "$name: it works" || diag "$(tail -n 3 plain.err)"
	dump_end plain
	if [ -n "$servers" ]; then
		# shellcheck disable=SC2086
		beside $servers
		calls+=' server.calls'
	fi
	strace -f -Y -yy -o client.calls -e trace=%network,%desc "$@" >/dev/null 2>&1 </dev/null
	if [ -n "$servers" ]; then
		kill -INT "$beside"
		wait "$beside" 2>/dev/null
	fi
	# shellcheck disable=SC2086
	look truth $calls >truth
	follow t "$@"
	# shellcheck disable=SC2086
	before=$(look state $servers)
	captured traced follow t "$@"
	is $? 0 "$name: it works while it is traced" || diag "$(tail -n 5 traced.err)"
	same_file traced.out plain.out "$name: and says the same"
	dump_end traced
	[ ! -s plain.wire ] || same_file traced.wire plain.wire "$name: the same bytes go over the wire"
	[ -s truth ] || echo "nothing is sent" >truth
	look traced t >seen
	same_file seen truth "$name: who sent to whom is what strace sees in an equal run"
	is "$(look sure t)" sure "$name: no message is missing or not sure" || diag "$(tail -n 5 traced.err)"
	# shellcheck disable=SC2086
	spi_wait 10 eval '[ "$(look state $servers)" = "$before" ]'
	# shellcheck disable=SC2086
	is "$(look state $servers)" "$before" "$name: the servers' descriptors and signals are as before"
}
# took_part NAME PID... - beside the one client these have taken part, and began with the message to them
took_part() {
	local name=$1 pids client
	shift
	pids=$(look pids t)
	client=$(grep -vxF "$(printf '%s\n' "$@")" <<<"${pids// /$'\n'}")
	is "$(python3 "$SPI_TOP_SRCDIR/tests/lib/across.py" t "${client:-0}" "$@" 2>&1 | cut -c1-400)" ok \
		"$name: those that took part are in the trace from the first message on, and no others" || diag "$pids; $*"
}

# nginx: the log says which of its workers it was.
mkdir -p www logs && seq 20000 >www/numbers && chmod -R a+rX .
cat >nginx.conf <<C
user nobody nogroup;
worker_processes 2;
daemon on;
pid $PWD/nginx.pid;
error_log $PWD/logs/error;
events { worker_connections 256; }
http {
	log_format who '\$pid';
	access_log $PWD/logs/access who;
	client_body_temp_path $PWD/logs/a; proxy_temp_path $PWD/logs/b; fastcgi_temp_path $PWD/logs/c;
	uwsgi_temp_path $PWD/logs/d; scgi_temp_path $PWD/logs/e;
	server { listen 127.0.0.1:8088; root $PWD/www; }
}
C
nginx -c "$PWD/nginx.conf" 2>nginx.err || { diag "$(cat nginx.err)"; echo "Bail out! nginx does not start"; exit 1; }
master=$(cat nginx.pid)
spi_wait 10 eval '[ "$(wc -w <"/proc/$master/task/$master/children")" = 2 ]'
talk nginx "$master $(cat "/proc/$master/task/$master/children")" curl -s http://127.0.0.1:8088/numbers
spi_wait 10 eval '[ "$(wc -l <logs/access)" = 4 ]'
took_part nginx "$(tail -n 1 logs/access)"
kill "$master"

# redis
redis-server --port 6399 --bind 127.0.0.1 --daemonize yes --dir "$PWD" --pidfile "$PWD/redis.pid" --logfile "$PWD/redis.log" --save '' >/dev/null
answers() { [ "$(redis-cli -p 6399 ping 2>/dev/null)" = PONG ]; }
spi_wait 20 answers
talk redis "$(cat redis.pid)" redis-cli -p 6399 eval 'return string.rep("x", tonumber(ARGV[1]))' 0 100000
took_part redis "$(cat redis.pid)"
kill "$(cat redis.pid)"

# PostgreSQL: a backend for each connection, which the server's log names. psql is a script of Debian's that executes the program.
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
mkdir db run && chown postgres db run
as() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
: >pg.log && chown postgres pg.log
if as "$bin/initdb" -D db -A trust >initdb.out 2>&1 && as "$bin/pg_ctl" -D db -w -l "$PWD/pg.log" \
	-o "-p 5499 -c unix_socket_directories='$PWD/run' -c log_connections=on -c log_line_prefix='%p ' -c fsync=off" start >ctl.out 2>&1; then
	for where in 127.0.0.1 "$PWD/run"; do
		name="PostgreSQL over ${where##*/}"
		talk "$name" "$(head -n 1 db/postmaster.pid)" psql -X -A -t -h "$where" -p 5499 -U postgres -c 'SELECT generate_series(1, 5000)' postgres
		took_part "$name" "$(sed -n 's/^\([0-9]*\) LOG:  connection authorized.*/\1/p' pg.log | tail -n 1)"
	done
	as "$bin/pg_ctl" -D db -w -m fast stop >ctl.out 2>&1
else
	fail "PostgreSQL starts"
	diag "$(tail -n 3 initdb.out ctl.out)"
fi

# python3
(cd www && exec python3 -m http.server --bind 127.0.0.1 8089 >../http.out 2>&1 </dev/null) &
server=$!
spi_wait 20 eval 'curl -s http://127.0.0.1:8089/ >/dev/null'
talk "python3's http.server" "$server" curl -s http://127.0.0.1:8089/numbers
took_part "python3's http.server" "$server"
kill "$server"
cat >echo.py <<'P'
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if sys.argv[1] == 'serve':
    s.bind(('127.0.0.1', 7777))
    print('ready', flush=True)
    while True:
        s.sendto(*s.recvfrom(2000))
for i in range(50):
    s.sendto(b'%d ' % i * (i * 7 + 1), ('127.0.0.1', 7777))
    print(len(s.recv(2000)))
P
python3 echo.py serve >echo.out 2>&1 </dev/null &
server=$!
spi_wait 10 file_has echo.out ready
talk "UDP" "$server" python3 echo.py ask
took_part "UDP" "$server"
kill "$server"

# Children alone: strace says which programs there were.
programs() { sed -n 's/^[0-9]*<\([^>]*\)>.*+++ exited with.*/\1/p' client.calls | sort | xargs; }
printf '#include <stdio.h>\n#include <math.h>\nint main(void) { printf("%%f\\n", cos(1)); }\n' >hello.c
talk gcc '' gcc -pipe -g -O1 -o hello hello.c -lm
is "$(look names t)" "$(programs)" "gcc: its programs are in the trace"
is "$(./hello)" 0.540302 "gcc: and made what they make"
talk 'five stages' '' sh -c 'seq 20000 | sed s/1/x/ | sort | uniq -c | cut -c 5-'
is "$(look names t)" "$(programs)" "five stages: they are in the trace"
tap_done
