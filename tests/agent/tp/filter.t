#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The events are LTTng's own: its filters see their fields, its contexts come
# with them, two sessions record different parts of them at once.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc zoo zoo.c
quiet() { "$@" >/dev/null 2>>lttng.log; }

quiet lttng create few -o "$PWD/few"
quiet lttng enable-event -u 'spi:t_leaf_entry' --filter 'a >= 10 && a < 15'
quiet lttng add-context -u -t procname -t vpid -t vtid
quiet lttng start
quiet lttng create exits -o "$PWD/exits"
quiet lttng enable-event -u 'spi:t_leaf_exit' --filter 'ret == 30'
quiet lttng start
"${SPI_ALONE[@]}" LTTNG_SPI_RULES=t_leaf ./zoo leaf 100 >out
is "$(cat out)" "count t_leaf 100" "the program's output"
quiet lttng stop few
quiet lttng stop exits
quiet lttng destroy --all
is "$(spi_count few t_leaf_entry)" 5 "a filter on a parameter"
is "$(spi_count few t_leaf_exit)" 0 "only what the session asked for"
like "$(head -n 1 few.txt)" 'procname = "zoo"' "a context"
is "$(spi_count exits t_leaf_exit)" 1 "a filter on a result, in another session"
tap_done
