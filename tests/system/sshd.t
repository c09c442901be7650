#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 300
# soak-timeout: 900
#
# sshd: logins, each of which executes it anew, forks, drops root and locks itself into a sandbox, while it is traced.
. "${SPI_TOP_SRCDIR:?}/tests/lib/servers.sh"
spi_private "$@"
needs /usr/sbin/sshd ssh ssh-keygen
[ "$(id -u)" = 0 ] || skip_all "needs root"
broker_daemon
mkdir -p /run/sshd
ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f me && cp me.pub keys
chmod 700 . && chmod 600 keys
server() {
	/usr/sbin/sshd -p 2299 -h "$PWD/host" -o ListenAddress=127.0.0.1 -o PidFile="$PWD/sshd.pid" -o AuthorizedKeysFile="$PWD/keys" \
		-o StrictModes=no -o UsePAM=no -o PermitRootLogin=yes -o MaxStartups=100 -E "$PWD/sshd.log" && spi_wait 10 test -s sshd.pid
}
# login N - so many, one after the other
login() {
	local i
	for ((i = 0; i < $1; i++)); do
		[ "$(ssh -p 2299 -i me -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR 127.0.0.1 'echo in; exit 7' \
			2>>ssh.err </dev/null; echo $?)" = $'in\n7' ] || { tail -n 3 ssh.err sshd.log; return 1; }
	done
}
server || { diag "$(cat sshd.log)"; echo "Bail out! sshd does not start"; exit 1; }
check "untraced" login 2
again_and_again "attached to over and over" 20 login 2 -- -f 'libc.so.6:close' -p sshd
again_and_again "trees" 5 login 2 -- --tree -p sshd
"$SPI_LTTNG" trace --exec sshd -f 'libc.so.6:close' -o named >/dev/null 2>named.err </dev/null &
tracer=$!
spi_wait 60 file_has named.err 'Trace directory'
check "logins under a rule that names it" login 5
kill -INT "$tracer"
wait "$tracer"
is $? 0 "the trace ends well" || diag "$(tail -n 5 named.err)"
balanced named "each entry has its exit"
kill "$(cat sshd.pid)"
is "$(grep -ci 'fatal\|bad system call\|signal 11\|signal 31' sshd.log)" 0 "nothing harmed it" || diag "$(grep -i 'fatal\|signal' sshd.log | head -n 3)"
tap_done
