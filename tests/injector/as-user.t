#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What root injects into another user's process is read as that user: without a capability over others, or, where the kernel wants it, with the one
# to trace.
. "${SPI_TOP_SRCDIR:?}/tests/lib/injector.sh"
spi_private "$@"
[ "$(id -u)" = 0 ] && [ "${SPI_OUTER_UID:-0}" = 0 ] || skip_all "needs several users: root"
# Its parent waits in vfork() and cannot be stopped: that takes the injector as long as it may
cat >waits.c <<'C'
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	if (argc > 1)
		prctl(PR_SET_DUMPABLE, 0);
	puts("ready");
	fflush(stdout);
	if (!vfork()) {
		char byte;
		_exit(read(0, &byte, 1) < 0);
	}
	return 0;
}
C
gcc -O1 -o waits waits.c
chmod 755 .
inject=$SPI_TOP_BUILDDIR/injector/spi-inject
# the injector's child: "UID CAPABILITIES NO_NEW_PRIVS"
child() { pgrep -P "$injector" | head -n 1; }
is_dropped() {
	local pid uid capabilities privileges
	pid=$(child) && [ -n "$pid" ] || return 1
	uid=$(awk '/^Uid/ { print $2 $3 $4 $5 }' "/proc/$pid/status")
	capabilities=$(awk '/^CapEff/ { print $2 }' "/proc/$pid/status")
	privileges=$(awk '/^NoNewPrivs/ { print $2 }' "/proc/$pid/status")
	[ "$uid $capabilities $privileges" = "$1" ]
}
# injects NAME UID WANTED [ARGUMENT]
injects() {
	local name=$1 uid=$2 wanted=$3
	shift 3
	mkfifo "$name"
	setpriv --reuid "$uid" --regid "$uid" --clear-groups "$PWD/waits" "$@" <"$name" >"$name.out" & target=$!
	exec {feed}>"$name"
	spi_wait 10 file_has "$name.out" ready
	"$inject" --deadline 2500 pid "$target" >"$name.said" 2>&1 & injector=$!
	check "$name: by its user" spi_wait 2 is_dropped "$wanted" || diag "$(grep -E '^(Uid|CapEff|NoNew)' "/proc/$(child)/status") $(cat "$name.said")"
	wait "$injector"
	like "$(cat "$name.said")" "$target|safe moment" "$name: and says how it went"
	exec {feed}>&-
	wait "$target"
	is $? 0 "$name: the process ends as ever"
}
scope=$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)
# CAP_CHECKPOINT_RESTORE, to open what the process has mapped; CAP_SYS_PTRACE, and CAP_DAC_READ_SEARCH for /proc
none=0000010000000000 traces=0000010000080004
[ "$scope" = 0 ] || none=$traces
injects ordinary 2001 "2001200120012001 $none 1"
injects undumpable 2001 "2001200120012001 $traces 1" x
tap_done
