#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# --budget where tracing is far behind as functions are met for the first time: they are left out, and recorded again when there is room,
# whatever leads to them.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/cli/tree.sh"
. "$SPI_TOP_SRCDIR/tests/tree/budget.sh"
spi_private "$@"
spi_daemon
programs=$SPI_TOP_SRCDIR/tests/tree/programs
for ((i = 0; i < 5000; i++)); do
	((i % 500)) || batch=
	echo "static volatile int v$i; __attribute__((noinline, noclone)) static void leaf$i(void) { v$i++; }"
	echo "__attribute__((noinline, noclone)) static void once$i(void) { leaf$i(); v$i++; }"
	batch+=" once$i();"
	((i % 500 < 499)) || echo "void fill$((i / 500))(void) {$batch }"
done >fill.c
gcc -O1 -c fill.c || exit 1
spi_cc back "$programs/back.c" "$programs/back-jump.S" fill.o

# again WAY FUNCTION TEXT
again() {
	timeout 60 "$SPI_LTTNG" trace --tree --budget 3 -o "$1.d" ./back "$1" >"$1.out" 2>"$1.err"
	is "$?/$(cat "$1.out")" "0/recorded again" "$3" || diag "$(tail -n 3 "$1.err")"
	nests "$1"
	is "$(events_of "$1" | sed -nE 's/.*"(left_out|recorded_again)".* function = "'"$2"'" .*/\1/p' | tail -n 1)" recorded_again \
		"$3: so the trace says"
}
again direct 'first[0-2]' "what one call always leads to"
again thread routine "what a start routine calls"
tap_done
