#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A session that exists and was not started records nothing and breaks nothing;
# what is recorded begins with `lttng start` and ends with `lttng stop`. The
# agent is preloaded with its rules in the environment, the session is made with
# stock lttng.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc thrower thrower.cc

quiet() { "$@" >/dev/null 2>>lttng.log; }
quiet lttng create s -o "$PWD/t"
quiet lttng enable-channel -u c --subbuf-size 1M --num-subbuf 8
quiet lttng add-context -u -c c -t vpid -t vtid
quiet lttng enable-event -u -c c 'spi:*'
background "${SPI_ALONE[@]}" LTTNG_SPI_RULES='t_catcher;t_middle' ./thrower 0 2
is "$(find t -name 'c_*' -size +4k 2>/dev/null | wc -l)" 0 "not started: nothing is recorded"
quiet lttng start
spi_wait 20 sh -c 'lttng list -u | grep -q t_catcher_entry'
ok $? "the running program offers its events"
spi_wait 20 sh -c 'lttng rotate s; [ -n "$(find t -name "c_*" -size +64k)" ]'
ok $? "started: calls are recorded"
quiet lttng stop
finish "$target"
is $? 0 "the program ends as ever, all values right"
is "$(tail -n 1 target.out)" "wrong 0" "its output"
is "$(cat target.err)" "" "nothing on its stderr"
quiet lttng destroy
spi_read t
balanced=$(events balance t.txt --open 8)
diag "$balanced"
like "$balanced" 'orphan exits 0 crossed 0' "no exit without its entry"

# Without any daemon at all.
LTTNG_HOME=/nonexistent "${SPI_ALONE[@]}" LTTNG_SPI_RULES=t_catcher ./thrower 300 2 >plain 2>err
is $? 0 "no daemon: the program runs"
is "$(cat err)" "" "no daemon: nothing on stderr"
tap_done
