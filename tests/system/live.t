#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Without -o: the events come out on stdout beside the command's own output, all
# of them; the lines the seed has go to stderr; the relay daemon that was started
# for it is ended again; stdin and the exit status pass through.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc zoo zoo.c

spi_trace -f t_leaf ./zoo leaf 500 >trace.out
is $? 0 "status"
is "$(grep -ac ' spi:t_leaf_entry: ' trace.out)" 500 "every entry is printed"
is "$(grep -ac ' spi:t_leaf_exit: ' trace.out)" 500 "every exit is printed"
is "$(grep -a '^count' trace.out)" "count t_leaf 500" "the command's own output is there"
like "$(cat trace.err)" 'Trace directory: net://localhost/host/' "where the trace is"
like "$(cat trace.err)" 'Waiting for data availability' "the seed's closing lines"
like "$(cat trace.err)" 'Tracing stopped for session [^ ]+' "the seed's closing lines"
like "$(cat trace.err)" 'Session [^ ]+ destroyed' "the seed's closing lines"
is "$(pgrep -c lttng-relayd)" 0 "no relay daemon is left"

spi_trace -f t_outer ./zoo exit >trace.out
is $? 23 "the command's status"
printf 'line one\nline two\n' >in
spi_trace -f libc.so.6:setlocale cat <in >trace.out
is "$(grep -a '^line' trace.out)" "$(cat in)" "the command's stdin"
like "$(grep -a setlocale_entry trace.out | head -n 1)" 'category = [0-9]+, locale = "' "libc with its debug info: typed arguments"
spi_trace -f t_leaf -o quiet ./zoo leaf 3 >trace.out
is "$(cat trace.out)" "count t_leaf 3" "-o: only the command's output on stdout"
tap_done
