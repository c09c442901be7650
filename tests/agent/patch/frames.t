#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Backtraces from every instruction of stubs and moved code.
. "${SPI_TOP_SRCDIR:?}/tests/lib/patch.sh"
codemap=${SPI_TOP_BUILDDIR:-$src/build}/codemap/spi-codemap
[ -x "$codemap" ] || { echo "1..0 # SKIP spi-codemap is not built"; exit 0; }
patch_build frames frames -fno-inline || exit 1
check "the program has a code map" "$codemap" map --output "$work/map" --pattern 'step_*' "$work/frames"
for workers in 0xff 0x28 0x10 0x20; do	# all; CC and LATE; TRAP; LATE
	patch_run "workers $workers" "$work/frames" "$work/map" 2 "$workers"
done
tap_done
