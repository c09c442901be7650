#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A filter picks whole calls: entries by their arguments, exits with their entries;
# a result can be asked for where a call is one event.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
spi_app
spi_sessiond
export LTTNG_UST_REGISTER_TIMEOUT=-1
quiet lttng create pair -o "$PWD/pair"
check "a filter on an argument" "$SPI_LTTNG" enable-event --spi -f app_work --filter 'number >= 7 && text == "te*"'
quiet lttng start
./app 10 >/dev/null
quiet lttng destroy pair
is "$(spi_count pair app_work_entry) $(spi_count pair app_work_exit)" "3 3" "entries that pass, and their exits"
quiet lttng create one -o "$PWD/one"
out=$("$SPI_LTTNG" enable-event --spi -f app_work --filter 'ret > 10' 2>&1)
like "$? $out" '^[12] .*--one-event' "a filter on the result of an entry is refused, with the remedy"
check "in one event" "$SPI_LTTNG" enable-event --spi --one-event -f app_work --filter 'ret > 10 && number < 9'
quiet lttng start
./app 10 >/dev/null
quiet lttng destroy one
is "$(spi_count one app_work)" 3 "calls by argument and result"
tap_done
