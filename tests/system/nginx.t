#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 400
# soak-timeout: 900
#
# nginx as a daemon with two workers that drop root: under a rule from its start, attached to, and traced by hand while a session
# traces it.
. "${SPI_TOP_SRCDIR:?}/tests/lib/servers.sh"
spi_private "$@"
needs nginx ab
broker_daemon
mkdir -p www logs && echo hello >www/index.html && chmod -R a+rX .
cat >nginx.conf <<C
user nobody nogroup;
worker_processes 2;
daemon on;
pid $PWD/nginx.pid;
error_log $PWD/logs/error;
events { worker_connections 256; }
http {
	access_log $PWD/logs/access;
	client_body_temp_path $PWD/logs/a; proxy_temp_path $PWD/logs/b; fastcgi_temp_path $PWD/logs/c;
	uwsgi_temp_path $PWD/logs/d; scgi_temp_path $PWD/logs/e;
	server { listen 127.0.0.1:8088; root $PWD/www; keepalive_requests 1000000; }
}
C
server() { nginx -c "$PWD/nginx.conf" "$@" 2>>nginx.err; }
served() { [ "$(wc -l <logs/access)" = "$1" ]; }
# load N - so many requests, none of which fails
load() {
	ab -q -c 4 -n "$1" ${2:-} http://127.0.0.1:8088/ >ab.out 2>&1 && grep -q "^Complete requests: *$1\$" ab.out &&
		grep -q '^Failed requests: *0$' ab.out && ! grep -q '^Non-2xx' ab.out
}
stop() {
	local master
	master=$(cat nginx.pid)
	server -s quit
	spi_wait 20 pid_gone "$master"
	: >logs/access
}

# A rule that is there first.
"$SPI_LTTNG" trace --exec nginx -f 'nginx:ngx_http_process_request' -o first >first.out 2>first.err </dev/null &
tracer=$!
spi_wait 60 file_has first.err 'Trace directory'
check "started under a rule" server
for number in 2000 3000; do check "$number requests" load "$number" -k; done
spi_wait 20 served 5000
stop
kill -INT "$tracer"
wait "$tracer"
is $? 0 "the trace ends well" || diag "$(tail -n 5 first.err)"
is "$(entries first ngx_http_process_request)" 5000 "each request is recorded" || diag "$(tail -n 8 first.err)"
balanced first "each entry has its exit"

server || { diag "$(cat nginx.err)"; echo "Bail out! nginx does not start"; exit 1; }
recording() { spi_wait 20 all_have_it; }
all_have_it() { [ "$(lttng list -u 2>/dev/null | grep -c 'spi:ngx_http_process_request_exit')" -ge 3 ]; }
counted "attached to" ngx_http_process_request 4000 load 4000 -k -- -f 'nginx:ngx_http_process_request' -p nginx
again_and_again "attached to over and over" 20 load 500 -- -f 'nginx:ngx_http_*' -p nginx
again_and_again "trees" 5 load 500 -- --tree -p nginx
again_and_again "compact trees" 5 load 500 -- --tree --compact -p nginx

# A session that traces it meanwhile.
lttng_ok create under -o "$PWD/under"
lttng_ok enable-channel -u --subbuf-size 4M --num-subbuf 8 c -s under
lttng_ok add-context -u -t vpid -t vtid -s under -c c
"$SPI_LTTNG" enable-event --spi -s under -c c -f 'nginx:ngx_http_process_request' >enable.out 2>&1
is $? 0 "a session traces it" || diag "$(cat enable.out)"
lttng_ok start under
spi_wait 20 status_like '^applied.*active'
again_and_again "and traced by hand meanwhile" 20 load 500 -- -f 'nginx:ngx_http_process_request' -p nginx
lttng_ok destroy under
balanced under "the session's has an exit for each entry"
[ "$(entries under ngx_http_process_request)" -gt 1000 ]
ok $? "and the requests"
stop
is "$(grep -c 'alert\|emerg\|exited on signal' logs/error)" 0 "nothing harmed it" || diag "$(tail -n 5 logs/error)"
tap_done
