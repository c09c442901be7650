#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# --budget where the function that is called all the time is the tree's root itself: it is left out, too, said so, and comes
# back; what a root calls is left out before it where that is enough.
. "${SPI_TOP_SRCDIR:?}/tests/lib/budget.sh"
spi_private "$@"
spi_daemon
tree_tools
programs=$SPI_TOP_SRCDIR/tests/programs
gcc -O2 -g -fPIC -c -o leaf.o "$programs/hot-leaf.c" || exit 1
spi_cc busy "$programs/hot.c" leaf.o

tree=--tree=leaf
for mode in "" --compact; do
	name=hot${mode#-}
	hot_runs "$name" $mode
	like "$(events_of "$name")" 'budget = 50, state = \( "left_out" .* function = "leaf"' "$name: the trace says so"
	like "$(cat "$name.err")" '100\.0 % +[0-9]+  busy:leaf' "$name: and the summary"
done
recorded=$(calls_of hot busy leaf | cut -d ' ' -f 2)
like "$(events_of hot)" "calls = $recorded," "until then each of its calls was recorded"

tree=--tree=medium
budget calms 100 ./busy calms 8000000
nests calms
like "$(events_of calms)" '"left_out".*function = "medium"' "what is called often for a time is left out"
like "$(events_of calms)" '"recorded_again".*function = "medium"' "and comes back"
check "is recorded again then" [ "$(again_and_recorded calms busy medium)" -gt 1000 ]

tree=--tree=loop
budget below 5 ./busy loop 50000000
nests below
is "$(events_of below | grep -c left_out)/$(events_of below | grep -c '"leaf"')" 1/1 "what the root calls is left out"
is "$(calls_of below busy loop)" "loop 1" "the root is not"
tap_done
