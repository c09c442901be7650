#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# What the broker keeps of rules that are gone, and how many of them one user may have; under the sanitizers.
set -e
src=${SPI_TOP_SRCDIR:?}
build=${SPI_TOP_BUILDDIR:-$src/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gcc -I"$src" -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-o "$work/forgotten" "$src/tests/programs/units/broker/forgotten.c" "$src/broker/rules/requests.c" "$src/broker/rules/ruleset.c" "$src/broker/rules/concern.c" "$src/broker/base/loop.c" \
	"$src"/rules/*.c "$build/injector/.libs/libspi-control.a" -ldw -lelf -lpthread
timeout 100 "$work/forgotten"
