#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# An application that began because its time was over, before the daemon accepted
# its registration: the broker is told when a rule concerns it.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build
export LTTNG_SPI_HOLD_MS=3300
plugin_daemon "exec=app silent"
record s
cp app other
# with the table of after these commands, as otherwise everybody is held
spi_wait 5 log_counts ^DIRTY 3
LTTNG_UST_REGISTER_TIMEOUT=3000 ./app 1 &
spi_wait 8 log_counts ^LATE 1
is "$(count_log '^LATE pid=[0-9]* uid=0 ms=[3-9][0-9]{3} name=app$')" 1 "one held for longer than lttng-ust waits" ||
	diag "$(cat broker.log)"
wait
./other 1
spi_wait 5 log_counts '^APP .* name=other ' 1
is "$(count_log ^LATE)" 1 "nothing is said of one that no rule concerns"
quiet=$(lttng destroy s 2>&1) || diag "$quiet"
tap_done
