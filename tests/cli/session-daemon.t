#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A session daemon that comes up through the front end is the one with the
# plugin: beside it in the build tree or installed; unless the user chose one.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"

# spi_sessiond FILE - a stand-in that says it was called, and becomes the stock daemon
spi_sessiond() {
	mkdir -p "${1%/*}"
	printf '#!/bin/sh\necho "$0 $*" >>"%s/called"\nexec lttng-sessiond --no-kernel "$@"\n' "$PWD" >"$1"
	chmod +x "$1"
}
mkdir -p tree/cli/.libs inst/bin
cp "$SPI_LTTNG" tree/cli/lttng
cp "$SPI_TOP_BUILDDIR/cli/.libs/lttng-front.so" tree/cli/.libs
cp "$SPI_LTTNG" inst/bin/lttng
spi_sessiond tree/spi-sessiond-plugin/spi-sessiond
spi_sessiond inst/bin/spi-sessiond
spi_sessiond own/sessiond

# daemon_end - the daemon that a command started
daemon_end() {
	local pid
	pid=$(cat /run/lttng/lttng-sessiond.pid 2>/dev/null) || return 0
	kill "$pid"
	spi_wait 10 pid_gone "$pid"
}

# started WHICH NAME COMMAND... - the command starts this daemon and no other
started() {
	local which=$1 name=$2
	shift 2
	: >called
	"$@" >out 2>&1 </dev/null || diag "$(cat out)"
	is "$(cut -d' ' -f1 called)" "$which" "$name"
	daemon_end
}

lttng=$PWD/tree/cli/lttng
started "$PWD/tree/spi-sessiond-plugin/spi-sessiond" "lttng create, in the build tree" "$lttng" create a --output="$PWD/a"
like "$(cat called)" ' --daemonize' "as the real lttng calls it"
started "$PWD/inst/bin/spi-sessiond" "lttng create, installed" "$PWD/inst/bin/lttng" create b --output="$PWD/b"
started "" "not over LTTNG_SESSIOND_PATH" env LTTNG_SESSIOND_PATH=/usr/bin/lttng-sessiond "$lttng" create c --output="$PWD/c"
started "$PWD/own/sessiond" "nor over another one" env LTTNG_SESSIOND_PATH="$PWD/own/sessiond" "$lttng" create c --output="$PWD/c"
started "$PWD/own/sessiond" "nor over --sessiond-path" "$lttng" --sessiond-path="$PWD/own/sessiond" create d --output="$PWD/d"

export LTTNG_SPI_AGENT=$SPI_TOP_BUILDDIR/liblttng-spi/.libs/liblttng-spi.so.0 \
	LTTNG_SPI_TP=$SPI_TOP_BUILDDIR/tp/.libs/liblttng-spi-tp.so LTTNG_SPI_CODEMAP=$SPI_CODEMAP
spi_cc zoo zoo.c
started "$PWD/tree/spi-sessiond-plugin/spi-sessiond" "lttng trace" "$lttng" trace -f t_leaf -o e ./zoo leaf 10
check "what it recorded" babeltrace2 e
printf '#!/bin/sh\necho "$0 $*" >>"%s/called"\nexit 1\n' "$PWD" >tree/spi-sessiond-plugin/spi-sessiond
"$lttng" trace -f t_leaf -o f ./zoo leaf 10 >out 2>&1
is $? 0 "one that does not start: lttng trace falls back to the stock daemon" || diag "$(cat out)"
check "what it recorded then" babeltrace2 f
daemon_end
# What COMMAND sees is its own environment.
is "$("$lttng" trace -f setlocale -o g env 2>/dev/null | grep -c LTTNG_SESSIOND_PATH)" 0 "COMMAND does not see the choice"
daemon_end
tap_done
