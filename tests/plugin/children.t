#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What the daemon starts: consumer daemons have no plugin and no descriptor of
# it; other libraries that were preloaded stay in LD_PRELOAD; the broker is not
# the daemon's child, has only its own descriptors, and ends with the daemon,
# even a killed one.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build
# Not one of lttng-ust's: LTTng would wait for its own consumer daemon, which waits to be registered, for three seconds,
# and without the plugin, too, half of the time nothing is recorded of the program then.
echo 'int of_no_use;' >other.c
spi_cc libother.so other.c -shared -fPIC
other=$PWD/libother.so
LD_PRELOAD=$other plugin_daemon "all delay=10"
record s
./app 5
consumer=$(pgrep -f 'lttng-consumerd.*ustconsumerd64' | head -n 1)
[ -n "$consumer" ]
ok $? "there is a consumer daemon"
is "$(tr '\0' '\n' <"/proc/$consumer/environ" | grep ^LD_PRELOAD)" "LD_PRELOAD=$other" \
	"the other library is still preloaded there, the plugin not"
is "$(grep -c lttng-spi-sessiond "/proc/$consumer/maps")" 0 "nor is it mapped"
broker=$(pgrep -x fake-broker)
is "$(ls "/proc/$broker/fd" | tr '\n' ' ')" "0 1 2 3 4 " "the broker has 0 to 3, and its log"
isnt_child() { [ "$(awk '/^PPid/ { print $2 }' "/proc/$broker/status")" != "$daemon" ]; }
check "the broker is not the daemon's child" isnt_child
is "$(awk '/^Sig(Blk|Ign)/ { print $2 }' "/proc/$broker/status" | tr '\n' ' ')" "0000000000000000 0000000000000000 " \
	"no signal is blocked or ignored in it"
is "$(recorded s)" 5 "every event"
kill -KILL "$daemon"
spi_wait 5 pid_gone "$broker"
ok $? "the broker ends when the daemon is killed"
tap_done
