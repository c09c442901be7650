#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# -p without --duration ends when the process ends, and at ^C; the process is
# left as it was found.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc thrower thrower.cc

background ./thrower 0 2
"$SPI_LTTNG" trace -f t_middle -p "$target" -o a >a.out 2>a.err &
tracer=$!
spi_wait 20 file_has a.err 'Trace directory'
spi_wait 20 sh -c 'python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" '"$target"' thrower | grep -q "differ, first"'
ok $? "the process is instrumented"
kill -INT "$tracer"
wait "$tracer"
is $? 0 "^C ends the trace" || diag "$(tail -n 5 a.err)"
check "the code is the files' again" python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$target"
[ "$(spi_count a t_middle_entry)" -gt 0 ]
ok $? "events were recorded"

"$SPI_LTTNG" trace -f t_middle -p "$target" -o b >b.out 2>b.err &
tracer=$!
spi_wait 20 sh -c 'python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" '"$target"' thrower | grep -q "differ, first"'
ok $? "attached again"
finish "$target"
is $? 0 "the process ends by itself"
wait "$tracer"
is $? 0 "and the trace with it" || diag "$(tail -n 5 b.err)"
[ "$(spi_count b t_middle_entry)" -gt 0 ]
ok $? "events were recorded"
is "$(lttng list 2>/dev/null | grep -c '^ *[0-9])')" 0 "no session is left behind"
tap_done
