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
once() {	# NAME FIRST COUNT - a function that calls so many others
	local i calls=
	for ((i = $2; i < $2 + $3; i++)); do
		echo "static volatile int v$i; __attribute__((noinline, noclone)) static void leaf$i(void) { v$i++; }"
		echo "__attribute__((noinline, noclone)) static void once$i(void) { leaf$i(); v$i++; }"
		calls+=" once$i();"
	done
	echo "void $1(int does) { if (!does) return;$calls }"
}
{ for k in {0..9}; do once "fill$k" $((600 * k)) 600; done; once few 6000 140; } >fill.c
gcc -O0 -c fill.c || exit 1
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
again jump reached "what a conditional jump without room leads to: that itself is not recorded, what it calls is"
again thread routine "what a start routine calls"

# Those that were left out when they were met leave room for the one that takes most.
timeout 60 "$SPI_LTTNG" trace --tree --budget 3 -o many.d ./back many >many.out 2>many.err
is "$?/$(cat many.out)" "0/as fast as ever" "a function of a nanosecond, after 6 000 that were called once" || diag "$(tail -n 3 many.err)"
[ "$(cat many.out)" != "as fast as ever" ] || nests many	# else it is too long to be read
least=${SPI_SOAK:+4096}	# on a slow machine fewer, in the same time
check "these were left out" [ "$(events_of many 2>&1 | grep -c '"left_out".* function = "once')" -gt "${least:-0}" ]
like "$(events_of many 2>&1 | grep '"hot"')" 'share = [1-9][0-9]+, .*"left_out".* function = "hot"' "so was it"
like "$(grep -A 1 '^Left out for that' many.err | tail -n 1)" '[0-9.]+ % +[0-9]+  back:hot$' "and the summary names it before them"
tap_done
