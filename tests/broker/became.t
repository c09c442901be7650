#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# A user connects, leaves the connection with a child, and executes a program that becomes another user in all of its ids, as su and
# sudo do. The child gets no code map of what it may not read, and is told no rule for that program; nor is anything read where it says.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
[ "$(id -u)" = 0 ] || skip_all "needs several users: root"
spi_private "$@"
[ "${SPI_OUTER_UID:-0}" = 0 ] || skip_all "needs several users: root"
as_a() { setpriv --reuid 2001 --regid 2001 --clear-groups "$@"; }
liar() { (cd / && as_a timeout 60 /usr/bin/python3 "$SPI_PROGRAMS/liar.py" /run/lttng/spi-agent "$@"); }
gcc -g -O1 -o becomes "$SPI_PROGRAMS/becomes.c"
chmod 4711 becomes
as_a "$PWD/becomes" 0 0 || skip_all "no setuid programs on this file system"
spi_sessiond
broker=$(pgrep -x -o spi-broker)
quiet lttng create s -o "$PWD/s"
quiet lttng enable-event -u -s s 'spi:call(app_first)'
quiet lttng start s
for uid in 0 2002; do
	out=$(liar escape 4 "$PWD/becomes" "$uid" 3000)
	unlike "$out" 'map 0' "became $uid: no code map"
	like "$out" 'map -1 .*of another than it connected as' "and the reason" || diag "$out"
done
quiet lttng enable-event -u -s s 'spi:call(secret_function;exec=becomes)'
for uid in 0 2002; do
	out=$(liar overhear 4 "$PWD/becomes" "$uid" 3000)
	unlike "$out" 'secret_function' "became $uid: no rule for that program is told" || diag "$out"
	like "$out" 'became' "it had become that"
done
# What the program says that its file is called is nobody's business: names are the kernel's
out=$(cd / && as_a timeout 60 /usr/bin/python3 "$SPI_PROGRAMS/liar.py" /run/lttng/spi-agent named "$PWD/nowhere/else")
unlike "$out" 'nowhere' "a file is called what the kernel calls it" || diag "$out"
like "$out" 'map -2 .*/python3' "so does what is said of it" || diag "$out"
# Its own programs are told theirs as ever. From here on the agent itself comes into python3.
quiet lttng enable-event -u -s s 'spi:call(own_function;exec=python*)'
like "$(liar rules x </dev/null)" 'own_function' "and its own programs' as ever"
is "$(pgrep -x -o spi-broker)" "$broker" "the broker is the same"
tap_done
