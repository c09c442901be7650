#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# spi-inject with rules in its environment: the agent stays in the process when
# the injector has left, and records into a session that stock lttng made.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc thrower thrower.cc
quiet() { "$@" >/dev/null 2>>lttng.log; }
quiet lttng create s -o "$PWD/t"
quiet lttng enable-event -u 'spi:*'
quiet lttng start
background ./thrower 0 2
LTTNG_SPI_RULES='t_middle' "$SPI_INJECT" pid "$target" >inject.out 2>&1
is $? 0 "spi-inject pid PID" || diag "$(cat inject.out)"
spi_wait 20 sh -c 'lttng list -u | grep -q t_middle_entry'
ok $? "the process offers the event"
check "and has registered by its own name" sh -c 'lttng list -u | grep -q "Name: .*thrower"'
spi_wait 20 sh -c 'lttng rotate s; [ -n "$(find t -name "*chan*" -size +32k)" ]'
ok $? "its calls are recorded"
kill -0 "$target"
ok $? "the process lives"
finish "$target"
is $? 0 "and ends as ever"
is "$(tail -n 1 target.out)" "wrong 0" "every value was right"
quiet lttng stop
quiet lttng destroy
spi_read t
[ "$(spi_count t t_middle_entry)" -gt 0 ]
ok $? "t_middle is in the trace"
tap_done
