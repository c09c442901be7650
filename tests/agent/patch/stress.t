#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 300
# soak-timeout: 1800
# Install and remove every kind of entry while four threads run them, by each worker, with and without signals.
. "${SPI_TOP_SRCDIR:?}/tests/lib/patch.sh"
seconds=1
[ -z "${SPI_SOAK:-}" ] || seconds=60
patch_build stress pie && patch_build stress fixed -no-pie || exit 1
for program in pie fixed; do
	for workers in jpctl j p c t l; do
		patch_run "$program: workers $workers" "$work/$program" "$workers" 2 "$seconds" 4 0
		patch_run "$program: workers $workers, under a storm of signals" \
			"$work/$program" "$workers" 1 "$seconds" 4 50
	done
done
tap_done
