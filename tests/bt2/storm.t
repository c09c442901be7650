#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A signal handler that is traced itself comes 20 000 times a second, at any
# instruction of a loop that is traced: not one record is lost or doubled.
. "${SPI_TOP_SRCDIR:?}/tests/bt2/expand.sh"
spi_private "$@"
spi_daemon
spi_cc ways "$SPI_TOP_SRCDIR/tests/bt2/ways.cc" -fno-optimize-sibling-calls
n=$((SPI_SOAK ? 30000000 : 60000))
CHANNEL='--subbuf-size=4M --num-subbuf=8' record storm 'call(ways:t_*;compact)' ./ways storm "$n"
is $? 0 "the program ends as it should"
expand storm
read -r _ calls <storm.out
out=$(python3 "$compare" balance storm.expanded)
is "$out" "entries $calls exits $calls crossed 0 open 0 backward 0" "every call has its entry and its exit"
is "$(cat storm.warn)" "" "nothing is missing"
[ "$calls" -gt $((3 * n + 20)) ]
ok $? "the handler did come" || diag "$calls"
tap_done
