#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# --budget where the function that is called all the time is the tree's root itself: it is left out, too, said so, and comes
# back; what a root calls is left out before it where that is enough.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree-names.sh"
. "$SPI_TOP_SRCDIR/tests/lib/budget.sh"
spi_private "$@"
spi_daemon
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
recorded=$(grep -c 'func_entry.*func = "leaf+0"' hot.d.names)
like "$(events_of hot)" "calls = $recorded," "until then each of its calls was recorded"

tree=--tree=medium
budget calms 100 ./busy calms 30000000
nests calms
like "$(events_of calms)" '"left_out".*function = "medium"' "what is called often for a time is left out"
like "$(events_of calms)" '"recorded_again".*function = "medium"' "and comes back"
check "is recorded again then" eval \
	"[ \$(sed -n '/recorded_again.*\"medium\"/,\$p' calms.d.names | grep -c 'func_entry.*func = \"medium') -gt 1000 ]"

tree=--tree=loop
budget below 5 ./busy loop 100000000
nests below
is "$(events_of below | grep -c left_out)/$(events_of below | grep -c '"leaf"')" 1/1 "what the root calls is left out"
is "$(grep -c 'func_entry.*func = "loop+' below.d.names)" 1 "the root is not"
tap_done
