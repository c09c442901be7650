#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The gatekeeper's refusals, each with its reason (gate.c).
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
gcc -std=gnu11 -D_GNU_SOURCE -g -fsanitize=address,undefined -I"$SPI_TOP_SRCDIR" -o "$dir/gate" \
	"$SPI_TOP_SRCDIR/tests/programs/units/tp/gate.c" "$SPI_TOP_SRCDIR/tp/ust/gatekeeper.c" || { echo "Bail out! gate does not compile"; exit 1; }
ASAN_OPTIONS=detect_leaks=0 "$dir/gate"
