#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# Calls through code that a program makes: what gcc puts on the stack for nested functions, here of a library, and at one place for
# several; closures as libffi makes them; and other code, which is named.
. "${SPI_TOP_SRCDIR:?}/tests/lib/follow.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc libmade.so made-code.c -O1 -w -DLIBRARY -shared -fPIC
tree_cc made-code made-code.c -O1 -w -L. -lmade -Wl,-rpath,"$PWD"

# count FUNCTION - calls of it in the trace
count() {
	awk -F '\t' 'NR == FNR { sub(/^0+/, "", $1); name[$1] = $3; next }
		/\/libmade.so\+0x/ { sub(/.*\+0x/, "", $2); n[name[$2]] += $1 } END { print n["'"$1"'"] + 0 }' \
		<(nm libmade.so | tr ' ' '\t') t.counts
}

for options in '' '--compact' '--depth 9'; do
	followed "tree $options" "$options" ./made-code
	for function in first.*:10 second.*:5 leaf_first:10 leaf_second:5 apply:20 called_closure:5 leaf_closure:5; do
		name=$(nm libmade.so | awk -v f="^${function%:*}$" '$3 ~ f { print $3 }')
		is "$(count "$name")" "${function#*:}" "tree $options: $name"
	done
	like "$(grep -A 1 'it calls code of no file' traced.err | tail -n 1)" '^ *made-code:by_bytes\+0x[0-9a-f]*, made-code:by_bytes\+0x[0-9a-f]*$' \
		"tree $options: other code is named, and nothing else"
done
"$SPI_LTTNG" trace --tree --calls-of apply -o one ./made-code >traced.out 2>traced.err </dev/null
same_file traced.out plain.out "calls of one function: output"
summary 'libmade.so:apply\+0x' "calls of one function: its site is named"
followed "depth 3" "--depth 3" ./made-code
is "$(count "$(nm libmade.so | awk '$3 ~ /^first/ { print $3 }')")" 0 "what is below the depth is left out"
tap_done
