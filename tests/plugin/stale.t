#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# From the beginning of a client's command until the broker has asked again, the
# table is out of date: who registers then waits for the new one, and passes as
# soon as it says that no rule concerns him.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build
plugin_daemon "none slow-table=200 silent"
record s
spi_wait 5 log_counts ^DIRTY 3
: >broker.log

lttng list >list.out 2>&1
began=$(milliseconds)
./app 10
took=$(($(milliseconds) - began))
[ "$took" -ge 100 ]
ok $? "held until the new table" || diag "$took ms"
spi_soon "$took" 1000 "and no longer"
is "$(count_log ^HELD)" 1 "the broker knew"
is "$(count_log ^EXPIRED)" 0 "nothing ran out: the table let it go"
generation=$(grep ^DIRTY broker.log | tail -n 1)
began=$(milliseconds)
./app 10
took=$(($(milliseconds) - began))
is "$(count_log ^HELD)" 1 "with the new table nobody is held"
spi_soon "$took" 100 "nor waits"
spi_wait 5 log_counts '^APP .* name=app ' 1
is "$(count_log '^APP .* name=app ')" 1 "but the broker is told"
is "$(grep ^DIRTY broker.log | tail -n 1)" "$generation" "registrations are no commands"
is "$(recorded s)" 20 "every event"
tap_done
