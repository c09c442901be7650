#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A glob that matches more functions than LTTng carries event types: the calls
# are recorded as generic events that hold the address, and the summary says so. One of them by name has its own, before or after.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
{
	printf '#include <%s>\n' stdio.h unistd.h
	for i in $(seq 8500); do echo "__attribute__((noipa)) int many_$i(int a) { return a + $i; }"; done
	echo 'int main(int argc, char **argv) { int s = 0; if (argc > 1) puts("begun"), fflush(stdout); for (; argc > 1; usleep(2000)) s += many_1(s); for (int i = 0; i < 10; i++) s += many_1(i) + many_8500(s); printf("%d\n", s); return 0; }'
} >many.c
spi_cc many ./many.c -O1 -g0
./many >plain
spi_trace_ok "8 500 functions" -f 'many:many_*' -o t ./many
same_file trace.out plain "output"
spi_read t
is "$(grep -ac ' lttng_ust_cyg_profile:func_entry: ' t.txt)" 20 "twenty entries"
is "$(grep -ac ' lttng_ust_cyg_profile:func_exit: ' t.txt)" 20 "twenty exits"
address=$(nm many | awk '$3 == "many_1" { print $1 }')
like "$(grep -am1 func_entry t.txt)" "addr = 0x[0-9A-F]*$(tr a-f A-F <<<"${address: -3}"), call_site = 0x" "their addresses"
like "$(cat trace.err)" 'recorded by address' "the summary says so"

# A process that is traced so, by one of their names, and so again: each time as if it were the first.
background ./many for ever
for what in 'many:many_*' many_1 'many:many_*'; do
	rm -rf p p.txt
	spi_trace_ok "-p, -f '$what'" -f "$what" -p "$target" --duration 0.5 -o p
	spi_read p
	typed=$(spi_count p many_1_entry) generic=$(grep -ac ' lttng_ust_cyg_profile:func_entry: ' p.txt)
	[ $((typed + generic)) -gt 5 ] && { [ "$what" != many_1 ] || [ "$generic" = 0 ]; }
	ok $? "-p, -f '$what': recorded" || diag "$typed/$generic"
done
kill "$target"
tap_done
