#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# $app.spi:rules keeps sessions apart: each records the functions that its own
# rules asked for, though all of the events match its event rule.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc zoo zoo.c
quiet() { "$@" >/dev/null 2>>lttng.log; }

for tag in a1 b2 c3; do
	quiet lttng create s$tag -o "$PWD/s$tag"
	quiet lttng enable-event -u 'spi:*_entry' --filter "\$app.spi:rules == \"*|$tag|*\""
	quiet lttng enable-event -u 'spi:*_exit'
	quiet lttng start
done
"${SPI_ALONE[@]}" LTTNG_SPI_RULES='call(t_leaf;tag=a1);call(t_leaf;tag=b2)' ./zoo leaf 100 >out
is "$(cat out)" "count t_leaf 100" "the program's output"
for tag in a1 b2 c3; do
	quiet lttng stop s$tag
done
quiet lttng destroy --all
is "$(spi_count sa1 t_leaf_entry)" 100 "a rule's own session"
is "$(spi_count sa1 t_leaf_exit)" 100 "exits follow their entries"
is "$(spi_count sb2 t_leaf_entry)" 100 "two rules on one function: the second one's session has it too"
is "$(spi_count sc3 t_leaf_entry)" 0 "a session whose rule named nothing here"
is "$(spi_count sc3 t_leaf_exit)" 0 "has no exits either"
tap_done
