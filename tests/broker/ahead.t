#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# While a rule follows messages, programs that these may bring in are analysed before any message: those with listening
# sockets of the kinds that the rule follows, but for those that messages never bring in. Their maps are where their
# users' are.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
export LTTNG_SPI_CACHE=/run/lttng/cache LTTNG_SPI_IPC_NEVER=never
mkdir -m 700 "$LTTNG_SPI_CACHE"
broker_setup

# serve NAME KIND WHERE ID [COMMAND...] - a program with that build-id listens, and nobody sends it anything
serve() {
	spi_cc "$1" "$SPI_PROGRAMS/message-pair.c" -Wl,--build-id=0x"$4$4$4$4$4$4$4$4"
	rm -f "$1.out"
	"${@:5}" ./"$1" serve "$2" "$3" >"$1.out" 2>&1 &
	spi_wait 10 file_has "$1.out" ready
}
analysed() { compgen -G "$LTTNG_SPI_CACHE/${2:+$2/}$1$1*-tree" >/dev/null; }

# Processes are looked at in the order of their numbers: what is not analysed when a later one is will not be.
serve plain-tcp tcp 5555 a1b2c3d4
serve never udp 5556 a1b2c3d5
serve later udp 5557 a1b2c3d6
record without 'spi:tree(main)'
app_start traced ./app 3 wait
check "a rule that follows no messages is in force" spi_wait 20 status_like "^applied.$app_pid.tree\(main(;tag=[0-9a-f]*)?\).active"
! analysed a1b2c3d6
ok $? "nothing is analysed for it"
lttng_ok destroy without
record s 'spi:tree(main;ipc=udp)'
check "a program that waits for datagrams is analysed" spi_wait 20 analysed a1b2c3d6
! analysed a1b2c3d4
ok $? "one that waits for what the rule does not follow is not"
! analysed a1b2c3d5
ok $? "and none that is never brought in"
record s2 'spi:tree(main;ipc=tcp)'
check "with another rule it is" spi_wait 20 analysed a1b2c3d4

if [ "$(id -u)" = 0 ] && [ "${SPI_OUTER_UID:-0}" = 0 ]; then
	mkdir -m 777 open
	serve theirs unix "$SPI_TMP/open/socket" a1b2c3d8 setpriv --reuid 3 --regid 3 --clear-groups
	record s3 'spi:tree(main;ipc=unix)'
	check "another user's is analysed with that user's rights" spi_wait 20 analysed a1b2c3d8 user-3
	is "$(stat -c %u "$LTTNG_SPI_CACHE"/user-3/a1b2c3d8*-tree)" 3 "and its map is that user's"
	check "as are those of its libraries" spi_wait 20 eval '[ "$(ls "$LTTNG_SPI_CACHE/user-3" | grep -c tree)" -ge 2 ]'
fi
check "nobody of them is traced" status_unlike 'plain-tcp|later|theirs'
tap_done
