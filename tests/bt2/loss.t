#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Batches that find no room: what is left nests, thread by thread, and what is
# missing is counted. Sub-buffers smaller than a batch lose nothing by that.
. "${SPI_TOP_SRCDIR:?}/tests/lib/expand.sh"
spi_private "$@"
spi_daemon
spi_cc ways "$SPI_TOP_SRCDIR/tests/programs/ways.cc" -fno-optimize-sibling-calls

CHANNEL='--subbuf-size=4096 --num-subbuf=2' record tiny 'call(ways:t_*;compact)' ./ways thread 30000
is $? 0 "a ring of 8 KB"
expand tiny
# what is open at the end are the calls whose last batch was one of those
out=$(python3 "$compare" balance tiny.expanded --open 80)
ok $? "what is in the trace is balanced" || diag "$out"
like "$(cat tiny.warn)" 'batches of calls are missing in [1-9]' "the reader says that batches are missing"
like "$(babeltrace2 tiny 2>&1 >/dev/null)" '[Dd]iscarded' "LTTng counts them"
got=$(grep -c func_entry tiny.expanded)
[ "$got" -gt 1000 ] && [ "$got" -lt 2400000 ]
ok $? "some calls are there, and not all" || diag "$got"

# Batches of 512 records do not fit into 4 KB; LTTng counts as discarded that this was tried.
CHANNEL='--subbuf-size=4096 --num-subbuf=64' record small 'call(ways:t_*;compact)' ./ways nest 60
expand small
check "sub-buffers of 4 KB: balanced" python3 "$compare" balance small.expanded
is "$(grep lttng-spi small.warn)" "" "nothing is missing"
record plain 'ways:t_*' ./ways nest 60
spi_read plain
check "nor different" python3 "$compare" same ./ways plain.txt small.expanded
tap_done
