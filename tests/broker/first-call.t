#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# A rule made with stock commands before the program runs: its calls are recorded from main()'s first line on.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup

record one 'spi:add_entry,spi:add_exit'
check "the program runs as without a rule" ./app 20
recorded one
is "$(spi_count "$SPI_TMP/one" add_entry)" 20 "each entry was recorded"
is "$(spi_count "$SPI_TMP/one" add_exit)" 20 "each exit was recorded"
like "$(grep -m1 add_entry "$SPI_TMP/one.txt")" 'a = 0, b = 1' "the first one is main()'s first, with its arguments"

record two 'spi:wor*'
check "a glob before the suffix" ./app 7
recorded two
is "$(spi_count "$SPI_TMP/two" work_entry)/$(spi_count "$SPI_TMP/two" work_exit)" 7/7 "it asks for and records pairs"
is "$(spi_count "$SPI_TMP/two" add_entry)" 0 "and nothing else"

record three 'spi:work'
check "a name without suffix" ./app 5
recorded three
is "$(spi_count "$SPI_TMP/three" work)" 5 "is one event a call"

record four 'spi:*' 'spi:*_entry'
check "a pattern that names nobody" ./app 5
status process >process.txt
recorded four
is "$(wc -l <"$SPI_TMP/four.txt")" 0 "instruments nobody"
check "processes that have ended are forgotten" spi_wait 5 none_runs || diag "$(status)"
tap_done
