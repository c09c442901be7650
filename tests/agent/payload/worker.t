#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# doc/examples/worker.c redirects calls by ud2: its functions run, the calls are seen, the program's own SIGILL handler has its own
# faults alone, and the program's bytes are back at the end.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
spi_cc ill payload-ill.c -O1 -fno-optimize-sibling-calls
payload_cc worker.so worker.c
printf 'in\nend\n' | ./ill >plain.out

# The same without what changes: a plain run is the truth
printf 'in\nend\n' | LD_PRELOAD="$PWD/worker.so" ./ill >out 2>said
is $? 0 'preloaded: status' || diag "$(cat said)"
is "$(tail -n 1 out)" "$(tail -n 1 plain.out)" "preloaded: the program has the results, and its handler its own faults"
is "$(grep -cx leaf said)" 6 'preloaded: each call is seen' || diag "$(cat said)"
like "$(cat said)" 'ud2: [1-9][0-9]* saved, [1-9][0-9]* in place' 'preloaded: save and run are called' || diag "$(cat said)"
like "$(grep while out)" ' 0f 0b .* 0f 0b .* 0f 0b' 'preloaded: ud2 stands at both calls beside the own one' || diag "$(cat out)"

echo end | LD_PRELOAD="$PWD/worker.so" ./ill masked >out 2>said
is $? 0 'with all signals blocked: status' || diag "$(cat said)"
check 'with all signals blocked: the result' grep -qx 'masked 24' out
is "$(grep -cx leaf said)" 2 'with all signals blocked: each call is seen'

# Attached for a while: the bytes before, meanwhile and afterwards.
mkfifo in
./ill <in >attached.out 2>target.err &
target=$!
exec {input}>in
spi_wait 20 file_has attached.out before
"$SPI_LTTNG" trace --tree --lib ill --payload "$PWD/worker.so" -p "$target" >said 2>&1 &
front=$!
instrumented() { ! python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$1" ill >/dev/null 2>&1; }
is_back() { ! instrumented "$1"; }
spi_wait 20 instrumented "$target" || diag "$(cat said)"
echo in >&"$input"
spi_wait 20 file_has attached.out while
kill -INT "$front"
wait "$front"
spi_wait 20 is_back "$target" || diag "$(cat said)"
echo out >&"$input"
spi_wait 20 file_has attached.out after
echo end >&"$input"
exec {input}>&-
wait "$target"
is $? 0 'attached: status' || diag "$(cat target.err said)"
is "$(sed -n 's/^after//p' attached.out)" "$(sed -n 's/^before//p' attached.out)" 'attached: the bytes are back' || diag "$(cat attached.out said)"
unlike "$(sed -n 's/^while//p' attached.out)" "^$(sed -n 's/^before//p' attached.out)\$" 'attached: they were others meanwhile'
is "$(grep -cx leaf target.err)" 6 'attached: each call is seen' || diag "$(cat target.err)"
like "$(cat said)" 'ud2: [0-9]+ saved, ([0-9]+) in place, \1 undone' 'attached: undo is called for each site' || diag "$(cat said)"
like "$(tail -n 1 attached.out)" 'own 6$' 'attached: its handler has its own faults'
tap_done
