#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 60
# soak-timeout: 700
#
# With a budget, functions of libraries are left out while these are loaded and unloaded all the time:
# nothing is written to where a library was, the program is as without, and the summary names them.
. "${SPI_TOP_SRCDIR:?}/tests/lib/unloading.sh"
spi_private "$@"
spi_daemon
unloading_build
seconds=2 often=
kinds="--tree=libunloading-1.so:loaded_outer"
[ -z "${SPI_SOAK:-}" ] || { seconds=40 often="200000 20000"; kinds="--tree=libunloading-1.so:loaded_outer --tree=libunloading-1.so:loaded_outer,--compact --tree --tree,--compact"; }

for kind in $kinds; do
	for calls in 1000000 $often; do
		rm -rf t end
		timeout $((300 * SPI_PATIENCE)) "$SPI_LTTNG" trace ${kind//,/ } --budget 3% -o t ./unloading "$calls" end >traced.out 2>traced.err &
		tracing=$!
		spi_wait 10 file_has traced.out ready
		spi_wait "$seconds" false
		touch end
		wait "$tracing"
		is "$?/$(tail -n 1 traced.out)" "0/wrong 0" "$kind, $calls calls each time: the program ends as ever" || diag "$(tail -n 4 traced.err)"
		like "$(cat traced.err)" 'Functions left out.*loaded_' "$kind, $calls calls: functions were left out" || diag "$(cat traced.err)"
	done
done
tap_done
