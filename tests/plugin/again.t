#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Processes that register, execute another program and register again, while all
# of that is held, and is then released at one moment: the daemon joins an
# application's two sockets by the pid, and must get those of one program together.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build
LTTNG_SPI_HOLD_MS=30000 plugin_daemon "all silent"
record s
pids=()
for i in $(seq 12); do
	LTTNG_UST_REGISTER_TIMEOUT=0 timeout 30 ./app 5 again 2 & pids+=($!)
done
spi_wait 20 log_counts ^HELD 36
ok $? "each is held three times" || diag "$(cat broker.log)"
kill "$(sed -n 's/^START //p' broker.log | tail -n 1)"	# all are played back
failed=0
for pid in "${pids[@]}"; do
	wait "$pid" || failed=$((failed + 1))
done
is "$failed" 0 "all of them end: none waits for an answer that another one was given"
is "$(recorded s)" 60 "and every event is recorded"
tap_done
