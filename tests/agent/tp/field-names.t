#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Names of parameters, members and enumerators, put together so that readers of the trace may take two of them for one:
# babeltrace2 reads it, and each value is there, in its place.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon

# names SEED COUNT - in pairs of events and in single ones
names() {
	local seed=$1 how out
	python3 "$SPI_TOP_SRCDIR/tests/lib/gen-names.py" write "$seed" "$2" >"n$seed.c"
	spi_cc "n$seed" "./n$seed.c" -w
	for how in "" --one-event; do
		spi_trace_ok "seed $seed: traced${how:+ with $how}" $how -f "n$seed:name_*" -o "n$seed$how.d" "./n$seed" || continue
		spi_read "n$seed$how.d"
		is "$(head -n 1 "n$seed$how.d.warn")" "" "babeltrace2 has nothing to say"
		out=$(python3 "$SPI_TOP_SRCDIR/tests/lib/gen-names.py" check trace.out "n$seed$how.d.txt" 2>&1)
		ok $? "each value is read back: $(tail -n 1 <<<"$out" | cut -c1-400)"
	done
}

names 1 80
names 2 80
tap_done
