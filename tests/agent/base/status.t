#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# The status memory by itself.
set -e
src=${SPI_TOP_SRCDIR:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gcc -I"$src" -D_GNU_SOURCE -O2 -g -Wall -Wextra -pthread -o "$work/status" "$src/tests/programs/units/base/status.c" \
	"$src/liblttng-spi/base/status.c" "$src/liblttng-spi/base/sys.c" "$src/liblttng-spi/base/proc.c" "$src/tests/programs/units/base/format.c"
timeout 60 "$work/status"
