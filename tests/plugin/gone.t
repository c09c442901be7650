#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Rules made, and switched off and on again, while an application is gone that the daemon has not unregistered yet: they hold
# for the others.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build
spi_cc hold-hangups.so "$SPI_PROGRAMS/hold-hangups.c" -D_GNU_SOURCE -shared -fPIC -ldl
export HOLD_HANGUPS=$SPI_TMP/hold
LD_PRELOAD=$SPI_TMP/hold-hangups.so plugin_daemon answer
mkfifo gone.fifo here.fifo before.fifo
lttng create s --output="$SPI_TMP/s" >lttng.log && lttng enable-event -u 'other:*' >>lttng.log && lttng start >>lttng.log

# Where it is in the daemon's table decides who comes after it: one of two is likely to, whichever the order.
apps=()
for name in here before; do
	./app 3 wait $name.fifo >$name.out & apps+=($!)
	spi_wait 5 file_has $name.out ready
done
./app 3 wait gone.fifo >gone.out & gone=$!
spi_wait 5 file_has gone.out ready
touch hold
{ kill -9 "$gone" && wait "$gone"; } 2>gone.err
spi_wait 5 test -e hold.met
ok $? "the daemon has not unregistered who is gone" || diag "$(cat sessiond.log)"
lttng enable-event -u 'plug:hi*' >made.log 2>&1
ok $? "a rule is made" || diag "$(cat made.log)"
lttng disable-event -u 'plug:hi*' >off.log 2>&1
ok $? "and switched off" || diag "$(cat off.log)"
lttng enable-event -u 'plug:hi*' >on.log 2>&1
ok $? "and on again" || diag "$(cat on.log)"
for name in here before; do echo -n x >$name.fifo; done
rm hold
for pid in "${apps[@]}"; do wait "$pid"; done
is "$(recorded s)" 6 "the others' events are recorded"
tap_done
