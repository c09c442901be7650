#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Whom a rule acts on.
set -e
src=${SPI_TOP_SRCDIR:?}
build=${SPI_TOP_BUILDDIR:-$src/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gcc -I"$src" -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -o "$work/concern" "$src/tests/programs/units/broker/concern.c" \
	"$src/broker/rules/requests.c" "$src/broker/rules/ruleset.c" "$src/broker/rules/concern.c" "$src/broker/base/loop.c" "$src"/rules/*.c \
	"$build/injector/.libs/libspi-control.a" -ldw -lelf -lpthread
timeout 60 "$work/concern"
