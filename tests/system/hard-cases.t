#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 200
#
# What real programs do that a tracer inside could disturb: close every
# descriptor, wait for any child, handle their own faults and traps, block all
# signals, run on small stacks, limit their memory, turn into daemons, install
# seccomp, bring their own malloc. Output, stderr and status are as without.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc hard hard.c -fno-builtin
spi_cc hard-close hard.c -fno-builtin -DOWN_CLOSE
spi_cc hard-malloc hard.c -fno-builtin -DOWN_MALLOC

# hard PROGRAM MODE CALLS - CALLS: how many calls of t_step at least are in the trace
hard() {
	local program=$1 mode=$2 calls=$3 plain traced entries
	"./$program" "$mode" >plain.out 2>plain.err </dev/null
	plain=$?
	"$SPI_LTTNG" -q trace -f t_step -o "t-$mode" "./$program" "$mode" >traced.out 2>traced.err </dev/null
	traced=$?
	# quietly nothing is said of why: what it says once more may tell
	is "$traced" "$plain" "$mode: status" || diag "$("$SPI_LTTNG" trace -f t_step -o "again-$mode" "./$program" "$mode" 2>&1 </dev/null | tail -n 8)"
	same_file traced.out plain.out "$mode: stdout"
	same_file traced.err plain.err "$mode: stderr"
	entries=$(spi_count "t-$mode" t_step_entry)
	[ "${entries:-0}" -ge "$calls" ]
	ok $? "$mode: ${entries:-0} calls recorded, at least $calls"
}

hard hard descriptors 100
rm -rf t-descriptors
hard hard-close descriptors 100
hard hard environment 0
hard hard children 200
hard hard faults 201
hard hard crash 100
hard hard blocked 101
hard hard small-stacks 5000
hard hard errno 1000
hard hard limit 100
hard hard daemon 100
hard hard seccomp 100
hard hard-malloc malloc 200
tap_done
