#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Calls that cannot be recorded where they are made, and that no buffer would have helped: each is counted, with its reason
# (doc/losses.md), and the program ends as without.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc apart apart.c -pthread
spi_cc libapart.so apart-library.c -shared -fPIC

# apart NAME COUNT REASON MODE OPTION...
apart() {
	local name=$1 count=$2 reason=$3 mode=$4
	shift 4
	rm -rf t
	spi_trace "$@" -o t ./apart "$mode" >trace.out
	is $? 5 "$name: status" || diag "$(tail -n 5 trace.err)"
	like "$(cat trace.err)" "Other calls that are not recorded:( $count:|.*  $count:) made $reason" "$name: counted, with the reason" ||
		diag "$(cat trace.err)"
}
apart "a thread that blocks libc's signals" 10 "by a thread that blocks libc's own signals" timer -f work
apart "destructors of keys after the last round" '[1-9][0-9]' "by destructors at their thread's end" keys --tree
apart "a slot whose function is not known" '[1-9]' "through the dynamic linker before" keys --tree
LD_PRELOAD=$PWD/libapart.so apart "a destructor after the agent's" 10 "after their process began to end" keys -f late_work
tap_done
