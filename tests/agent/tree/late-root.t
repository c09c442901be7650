#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The root of a tree, and functions whose calls are asked for, are in a library that is loaded after the tree began: it
# begins there each time that the library is loaded, its constructor included; in the session daemon's way as well.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree.sh"
spi_private "$@"
spi_sessiond
tree_tools
cat >late.c <<'C'
static int state;
static __attribute__((noinline)) int hidden(int a) { __asm__ volatile("" : "+r"(a)); return a + 1 + state; }
__attribute__((constructor)) static void begin_late(void) { state = hidden(-1); }
int late(int a) { return hidden(a) + hidden(a); }
C
cat >main.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1, sum = 0;

	while (n--) {
		void *h = dlopen("./late.so", RTLD_NOW);
		int (*late)(int) = (int (*)(int)) dlsym(h, "late");
		sum += late(1);
		dlclose(h);
	}
	printf("%d\n", sum);
	return 0;
}
C
gcc -g -O1 -shared -fPIC late.c -o late.so && gcc -g -O1 main.c -o main || { echo "Bail out! gcc"; exit 1; }

# each ENTRIES NAME OPTION... - 20 times loaded, traced so: as many entries
each() {
	local entries=$1 name=$2 status=0
	shift 2
	[ "$entries" != 0 ] || status=1		# nothing was recorded
	rm -rf t
	timeout $((30 * SPI_PATIENCE)) "$SPI_LTTNG" trace "$@" -o t ./main 20 >traced.out 2>traced.err
	is "$?/$(cat traced.out)" $status/80 "$name: the program is as ever" || diag "$(tail -n 3 traced.err)"
	like "$("$SPI_TMP/calls" ${compact:+--expand "$SPI_EXPAND"} t 2>&1)" "entries $entries exits $entries orphans 0 .* open 0 .* lost 0" "$name: the calls below it" ||
		diag "$(cat traced.err)"
}
each 60 "root" --tree=late.so:late
compact=1 each 60 "root, compact" --tree=late.so:late --compact
each 60 "a root that its constructor calls, too" --tree=late.so:hidden
each 60 "calls of functions" --tree --calls-of late --calls-of begin_late
each 0 "libraries are not followed" --tree=late.so:late --follow threads
like "$(cat traced.err)" 'no late.so at its start: with this --follow' "libraries are not followed: that is said"

# A rule of the session's, which the program comes under by itself.
gcc -g -O1 main.c -o linked -Wl,--no-as-needed -llttng-ust || { echo "Bail out! gcc"; exit 1; }
quiet lttng create s --output="$PWD/s"
quiet "$SPI_LTTNG" enable-event --spi --tree=late.so:late
quiet lttng start
is "$(LTTNG_UST_REGISTER_TIMEOUT=-1 ./linked 20)" 80 "in a session: the program is as ever"
quiet lttng destroy s
like "$("$SPI_TMP/calls" s 2>&1)" "entries 60 exits 60 orphans 0 .* open 0 .* lost 0" "in a session: the calls below it" || diag "$(tail -n 5 quiet.log)"
tap_done
