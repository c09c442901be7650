#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Rules made, switched off, on again and removed while a program runs.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup

app_start a ./app 3 wait
a=$app_pid in=$app_in
text_is_original() { python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$a"; }
traced() { status_has process "$a" 0 traced; }
idle() { status_has process "$a" 0 idle; }

record s 'spi:add_entry,spi:add_exit'
check "a running program comes under a new rule" spi_wait 10 status_like "^applied.$a.add.active.1.1.0"
app_call "$in" 4 a.out
lttng_ok disable-event -u -s s spi:add_entry
check "one of two rules of a function is switched off: it stays" traced
lttng_ok disable-event -u -s s spi:add_exit
check "the other, too: it goes" spi_wait 5 idle
check "and the code is what it was" text_is_original
app_call "$in" 2 a.out
lttng_ok enable-event -u -s s spi:add_exit
check "on again" spi_wait 5 status_like "^applied.$a.add.active.1.1.0"
app_call "$in" 5 a.out
lttng_ok destroy s
spi_read "$SPI_TMP/s"
is "$(spi_count "$SPI_TMP/s" add_entry)/$(spi_count "$SPI_TMP/s" add_exit)" 4/4 "what was recorded is what was on, and no exit alone so soon"
check "without the session, nothing is left" spi_wait 5 idle
check "and the code is what it was" text_is_original
exec {in}>&-
wait "$a"
is $? 0 "the program ends as ever"
tap_done
