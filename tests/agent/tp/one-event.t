#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# --one-event: a call is one event at its exit, with arguments, result and
# duration; a call that never returns is recorded too, marked.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc zoo zoo.c

spi_trace_ok "one event a call" --one-event -f t_leaf -o one ./zoo leaf 100
is "$(spi_count one t_leaf) $(spi_count one t_leaf_entry) $(spi_count one t_leaf_exit)" "100 0 0" "100 calls, 100 events"
last=$(grep -a ' spi:t_leaf:' one.txt | tail -n 1)
like "$last" 'a = 99, b = 0' "its arguments"
like "$last" 'ret = 297' "its result"
like "$last" 'duration = [0-9]+' "its duration"

spi_trace --one-event -f t_outer -f t_leaver -o exit ./zoo exit >/dev/null
is $? 23 "a program that calls exit() in a traced function: its status"
is "$(spi_count exit t_outer) $(spi_count exit t_leaver)" "1 1" "the calls that never returned are recorded"
unlike "$(grep -a t_leaver exit.txt)" '"return"' "and marked"
spi_trace_ok "thread ends" --one-event -f t_leaver -o pt ./zoo pthread_exit 10
is "$(spi_count pt t_leaver)" 10 "a call left by pthread_exit is recorded"
tap_done
