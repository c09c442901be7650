#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# LTTng's records and payloads of one function or call tree, at the same time: each has all calls, whichever rule comes first.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
spi_daemon
spi_cc calls payload-calls.c -O1 -fno-optimize-sibling-calls
payload_cc says.so payload-says.c
./calls 5 >plain.out
payload=payload=$PWD/says.so

# record DIR EVENTS RULES - ./calls under the rules, in a session with these events; what payloads write is in ./said
record() {
	rm -rf "$1"
	{
		lttng create together -o "$1" && lttng enable-event -u "$2" && lttng add-context -u -t vpid -t vtid && lttng start
	} >session.log 2>&1 || diag "$(cat session.log)"
	"${SPI_ALONE[@]}" LTTNG_UST_REGISTER_TIMEOUT=-1 LTTNG_SPI_RULES="$3" ./calls 5 >traced.out 2>said
	{ lttng stop && lttng destroy; } >session.log 2>&1 || diag "$(cat session.log)"
}

# both NAME EVENTS PATTERN RULE PAYLOAD-RULE - in both orders
both() {
	local name=$1 events=$2 pattern=$3 order
	for order in first last; do
		if [ $order = first ]; then record "t-$order" "$events" "$4;$5"; else record "t-$order" "$events" "$5;$4"; fi
		same_file traced.out plain.out "$name, the recorder $order: output"
		rm -f "t-$order.txt"
		spi_read "t-$order"
		is "$(grep -cE "$pattern" "t-$order.txt")" 9 "$name, the recorder $order: each call is recorded" || diag "$(cat said; tail -n 30 t-$order.txt)"
		is "$(grep -c '^enter leaf' said)" 9 "$name, the recorder $order: the payload has each call" || diag "$(cat said)"
		is "$(grep -c '^leave leaf' said)" 9 "$name, the recorder $order: and each exit"
	done
}
both 'entry and exit' 'spi:*' 'spi:leaf_exit' leaf "call(leaf;$payload)"
both 'one event' 'spi:*' 'spi:leaf: ' 'call(leaf;one-event)' "call(leaf;$payload)"
both 'call trees' 'lttng_ust_cyg_profile*:*' 'func_entry:' 'tree(leaf)' "tree(main;lib=calls;$payload)"
both 'a function in a call tree' 'spi:*' 'spi:leaf_exit' leaf "tree(main;lib=calls;$payload)"
both 'a payload in a call tree' 'lttng_ust_cyg_profile*:*' 'func_entry:.*' 'tree(leaf;lib=calls)' "call(leaf;$payload)"
tap_done
