#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A glob that matches more functions than LTTng carries event types: the calls
# are recorded as generic events that hold the address, and the summary says so.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
{
	echo '#include <stdio.h>'
	for i in $(seq 8500); do echo "__attribute__((noipa)) int many_$i(int a) { return a + $i; }"; done
	echo 'int main(void) { int s = 0; for (int i = 0; i < 10; i++) s += many_1(i) + many_8500(s); printf("%d\n", s); return 0; }'
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
like "$(cat trace.err)" '[Gg]eneric|addresses' "the summary says so"
tap_done
