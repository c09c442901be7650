#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 180
#
# A thread that is blocked in a system call is injected, and the call goes on as
# if nothing had been: it ends when what it waits for comes, with its result, and
# never with an error that only we caused.
. "${SPI_TOP_SRCDIR:?}/tests/lib/injector.sh"
spi_private "$@"
prepare

# blocked HOW - inject twice while it waits; then end its stdin
blocked() {
	start block "$1"
	spi_wait 5 is_blocked "$target" || diag "$1 does not block"
	"$inject" pid "$target" "$SPI_TMP/libmark.so" >inject.out 2>&1
	ok $? "$1: injected while it waits" || diag "$(cat inject.out)"
	"$inject" pid "$target" "$SPI_TMP/libmark.so" >inject.out 2>&1
	ok $? "$1: and again" || diag "$(cat inject.out)"
	finish
	ok $? "$1: the program ends well"
}

for how in nanosleep clock_nanosleep poll_timeout cond_timedwait sem_timedwait semop sigtimedwait; do
	blocked "$how"
	like "$(tail -n 1 target.out)" "^$how: result=0 errno=0 ms=([6-9][0-9]{2}|[0-9]{4,}) " "$how: waited its time, no error"
done
for how in read wait4 join; do
	blocked "$how"
	like "$(tail -n 1 target.out)" "^$how: result=0 errno=0 " "$how: ended by what it waited for"
done
for how in poll ppoll select epoll_wait recv; do
	blocked "$how"
	like "$(tail -n 1 target.out)" "^$how: result=1 errno=0 " "$how: ended by what it waited for"
done

start block interrupted
spi_wait 20 is_blocked "$target"
"$inject" pid "$target" "$SPI_TMP/libmark.so" >/dev/null 2>&1
spi_wait 20 is_blocked "$target"	# again, or for the first time on a busy machine: a signal before that would end nothing
kill -USR1 "$target"
wait "$target"
exec {feed}>&- && feed=
like "$(tail -n 1 target.out)" '^interrupted: result=-1 errno=4 .*signals=1' "a real signal still ends a system call"
is "$(marks)" 16 "each first injection ran the constructor, none ran it twice"
tap_done
