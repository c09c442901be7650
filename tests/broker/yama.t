#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What is said where Yama restricts ptrace. The kernel need not have Yama: what
# forbids it here is a missing capability, and what explains it is a sysctl that is
# mounted over.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
[ "${SPI_OUTER_UID:-$(id -u)}" = 0 ] || skip_all "needs root"
spi_private "$@"

# yama SCOPE - the sysctl says so from now on
yama() {
	mkdir -p kernel/yama
	[ -s kernel/pid_max ] || cat /proc/sys/kernel/pid_max >kernel/pid_max
	echo "$1" >kernel/yama/ptrace_scope
	[ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null)" = "$1" ] ||
		mount --bind kernel /proc/sys/kernel || skip_all "cannot mount over /proc/sys/kernel"
}
# powerless COMMAND... - root without the capability to trace those that have it
powerless() { setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace "$@"; }

broker_setup
app_start a ./plain 1 wait
for scope in 1 2 3; do
	yama "$scope"
	[ "$scope" = 3 ] && remedy="only a reboot changes that" || remedy="be root \(CAP_SYS_PTRACE\), or set it to 0"
	says="not permitted to trace process $app_pid \(plain\): kernel.yama.ptrace_scope is $scope; $remedy"
	powerless "$SPI_TOP_BUILDDIR/injector/spi-inject" pid "$app_pid" >out 2>err
	is $? 1 "spi-inject, scope $scope: status 1"
	is "$(wc -l <err)" 1 "one line"
	like "$(cat err)" "$says" "with the remedy"
	powerless "$SPI_TOP_BUILDDIR/cli/lttng" trace -f add -p "$app_pid" >out 2>err
	is $? 1 "lttng trace -p, scope $scope: status 1"
	is "$(grep -Ec "$says" err)" 1 "one line with the remedy" || diag "$(cat err)"
	[ "$scope" = 3 ] && remedy="no process can be instrumented; only a reboot changes that" ||
		remedy="other users' processes cannot be instrumented; set it to 0 \(sysctl kernel.yama.ptrace_scope=0\)"
	like "$("$SPI_TOP_BUILDDIR/cli/lttng" list --spi)" "kernel.yama.ptrace_scope is $scope: $remedy" "lttng list --spi says so"
done
yama 0
unlike "$(status)" yama "and nothing where it is 0"
app_call "$app_in" 1 a.out
is "$(tail -n 1 a.out)" 501 "the program goes on"

# A user's process, which the broker goes into with that user's rights. What it may not
# read itself cannot be traced with them.
yama 1
chmod 755 "$SPI_TMP"
cp app unreadable && chmod 711 unreadable
record s 'spi:add_entry'
mkfifo user.in
as_user 4711 "$SPI_TMP/unreadable" 1 wait <user.in >user.out 2>user.err &
exec {user_in}>user.in
remedy="set it to 0 \(sysctl kernel.yama.ptrace_scope=0\)"
check "a user's process: the remedy for its user's broker" \
	spi_wait 10 status_like "^process.[0-9]*.4711.refused.*kernel.yama.ptrace_scope is 1; $remedy"
check "it runs" spi_wait 10 file_has user.out ready
exec {user_in}>&-
wait $!
is $? 0 "and ends well"
tap_done
