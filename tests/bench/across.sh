#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# make bench, part across: requests a second of nginx and redis with one client and one connection, not followed, and while all messages of the server
# are recorded (--tree --depth 1 --ipc -p), in turn. The client is left out of the trace, so what it costs is the server's. Medians of the rounds. The
# processor time of the server's thread does not depend on what else the machine does.
. "${SPI_TOP_SRCDIR:?}/tests/lib/servers.sh"
spi_private "$@"
export LTTNG_SPI_IPC_NEVER=ab,redis-benchmark
rounds=${SPI_BENCH_ROUNDS:-5}
for program in nginx ab redis-server redis-benchmark; do
	command -v "$program" >/dev/null || { echo "  across: $program is not installed"; exit 0; }
done
broker_daemon
mkdir -p www logs && echo hello >www/index.html && chmod -R a+rX .
cat >nginx.conf <<C
user nobody nogroup;
worker_processes 1;
daemon on;
pid $PWD/nginx.pid;
error_log $PWD/logs/error;
events { worker_connections 256; }
http {
	access_log off;
	client_body_temp_path $PWD/logs/a; proxy_temp_path $PWD/logs/b; fastcgi_temp_path $PWD/logs/c;
	uwsgi_temp_path $PWD/logs/d; scgi_temp_path $PWD/logs/e;
	server { listen 127.0.0.1:8088; root $PWD/www; keepalive_requests 1000000; }
}
C
nginx -c "$PWD/nginx.conf" 2>nginx.err
redis-server --port 6399 --bind 127.0.0.1 --daemonize yes --dir "$PWD" --pidfile "$PWD/redis.pid" --logfile "$PWD/redis.log" --save '' >/dev/null
spi_wait 20 eval '[ "$(redis-cli -p 6399 ping 2>/dev/null)" = PONG ]'
spi_wait 20 eval '[ -s nginx.pid ] && [ -s "/proc/$(cat nginx.pid)/task/$(cat nginx.pid)/children" ]'
master=$(cat nginx.pid)
read -r worker _ <"/proc/$master/task/$master/children"
requests=20000
nginx_rate() { ab -q -k -c 1 -n $requests http://127.0.0.1:8088/ 2>&1 | sed -n 's/^Requests per second: *\([0-9]*\).*/\1/p'; }
redis_rate() { redis-benchmark -p 6399 -t set -n $requests -c 1 --csv 2>&1 | sed -n 's/^"SET","\([0-9]*\).*/\1/p'; }
# measure NAME PID WAY - the rate, and ns of the server's first thread a request
measure() {
	local before after
	read -r before _ <"/proc/$2/schedstat"
	"$1_rate" >>"$1.$3"
	read -r after _ <"/proc/$2/schedstat"
	echo $(((after - before) / requests)) >>"$1.$3.cpu"
}
# followed NAME PID - the same while it is followed
followed() {
	rm -rf t t.err
	"$SPI_LTTNG" trace --tree --depth 1 --ipc -p "$2" -o t >/dev/null 2>t.err </dev/null &
	tracer=$!
	spi_wait 60 file_has t.err 'Trace directory' && measure "$1" "$2" followed
	kill -INT "$tracer"
	wait "$tracer"
	grep -c 'Processes traced: 1,.* events lost: 0' t.err >>clean
}
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

for ((i = 0; i < rounds; i++)); do
	for name in nginx redis; do
		pid=$worker
		[ $name = nginx ] || pid=$(cat redis.pid)
		measure $name "$pid" plain
		followed $name "$pid"
	done
done
kill "$master" "$(cat redis.pid)"
printf '\nacross: requests a second, one client and one connection, medians of %d rounds\n' "$rounds"
printf '  %-10s%14s%14s%20s%36s\n' '' 'not followed' followed 'us added a request' "us of the server's thread a request"
for name in nginx redis; do
	awk -v name=$name -v plain="$(median $name.plain)" -v with="$(median $name.followed)" \
		-v cpu="$(median $name.plain.cpu)" -v cpu_with="$(median $name.followed.cpu)" \
		'BEGIN { printf "  %-10s%14d%14d%20.1f%20.1f, followed %.1f\n", name, plain, with, with ? 1e6 / with - 1e6 / plain : 0, cpu / 1e3, cpu_with / 1e3 }'
done
echo "  traces with one process and without losses: $(grep -c 1 clean) of $((2 * rounds))"
