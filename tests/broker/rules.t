#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# What the names of event rules ask for, under the sanitizers.
set -e
src=${SPI_TOP_SRCDIR:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gcc -I"$src" -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-o "$work/rules" "$src/tests/programs/units/broker/rules.c" "$src"/rules/*.c
timeout 60 "$work/rules"
