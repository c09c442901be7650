#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# The hash table by itself, under the sanitizers.
set -e
src=${SPI_TOP_SRCDIR:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gcc -I"$src" -std=gnu11 -O1 -g -Wall -Wextra -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-o "$work/hash" "$src/tests/programs/units/base/hash.c"
timeout 60 "$work/hash"
