#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Programs that change their namespaces. The kernel wants a process of one thread for
# some of that, and a traced one has the tracer's, too: what can be had all the same works,
# what cannot fails as in a program with threads, and is named.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon

# same NAME COMMAND... - output and status as without, as a tree and under a function's rule
same() {
	local name=$1 options plain
	local -a list
	shift
	"$@" >plain.out 2>plain.err </dev/null
	plain=$?
	is "$plain" 0 "$name: works by itself" || diag "$(cat plain.err)"
	for options in "--tree" "-f main"; do
		rm -rf t
		read -ra list <<<"$options"
		[ "$options" = --tree ] || list=(-f "libc.so.6:getopt_long")
		spi_trace "${list[@]}" -o t "$@" >traced.out </dev/null
		is $? "$plain" "$name, $options: status" || diag "$(tail -n 5 trace.err)"
		same_file traced.out plain.out "$name, $options: output"
	done
}
same "unshare -m" unshare -m --propagation unchanged echo here
same "unshare -p -f" unshare -p -f echo here
same "unshare -n -i -u" unshare -n -i -u echo here
same "nsenter -m" nsenter --mount=/proc/1/ns/mnt echo here
same "nsenter -n -i -u" nsenter --net=/proc/self/ns/net --ipc=/proc/self/ns/ipc --uts=/proc/self/ns/uts echo here

if unshare -U true 2>/dev/null; then
	for options in "--tree" "-f libc.so.6:getopt_long"; do
		rm -rf t
		read -ra list <<<"$options"
		spi_trace "${list[@]}" -o t unshare -U echo here >traced.out 2>&1 </dev/null
		is $? 1 "unshare -U, $options: fails"
		like "$(cat trace.err)" "unshare\(CLONE_NEWUSER\): it failed because of the tracer's threads" "unshare -U, $options: named"
		like "$(cat trace.err)" "unshare failed: Invalid argument" "unshare -U, $options: and the program says what it does then"
	done
fi
tap_done
