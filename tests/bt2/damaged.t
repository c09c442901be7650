#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# timeout: 30
#
# A damaged trace (damaged.b64: some bytes of a packet are others), where babeltrace2's muxer leaves an error behind:
# with the filter it is read as far as without.
. "${SPI_TOP_SRCDIR:?}/tests/lib/expand.sh"
spi_private "$@"
mkdir "$SPI_TMP/damaged"
base64 -d "$SPI_TOP_SRCDIR/tests/bt2/damaged.b64" | tar -xJC "$SPI_TMP/damaged"
timeout 10 babeltrace2 "$SPI_TMP/damaged" >"$SPI_TMP/plain" 2>"$SPI_TMP/plain.err"
plain=$?
timeout 10 babeltrace2 "${SPI_EXPAND[@]}" "$SPI_TMP/damaged" >"$SPI_TMP/expanded" 2>"$SPI_TMP/expanded.err"
is "$?" "$plain" "babeltrace2 ends as without the filter"
is "$(grep -c 'precondition' "$SPI_TMP/expanded.err")" 0 "and does not abort"
[ "$(grep -c func_entry "$SPI_TMP/expanded")" -gt 1000 ]
ok $? "what is whole is expanded"
tap_done
