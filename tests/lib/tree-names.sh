# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Shared by the tests of call trees from the front end's side: the program
# tree-program.c, whose calls are known, and traces read as a user reads them, with
# babeltrace2's own filter putting names to addresses.

# tree_read DIR [compact] - the trace with names, as text in DIR.names
tree_read() {
	local dir=$1
	local -a expand=()

	[ $# -lt 2 ] || expand=(--component=expand:filter.lttng-spi.expand)
	babeltrace2 --plugin-path="$SPI_TOP_BUILDDIR/bt2/.libs" "$dir" "${expand[@]}" \
		--component=names:filter.lttng-utils.debug-info >"$dir.names" 2>"$dir.warn" ||
		{ diag "babeltrace2: $(tail -n 3 "$dir.warn")"; return 1; }
}

# tree_calls FILE [OBJECT] - FUNCTION=ENTRIES/EXITS of the executable's functions, in one line, by name
tree_calls() {
	sed -nE 's/.* lttng_ust_cyg_profile:func_(entry|exit): .*bin = "'"${2:-app}"'[+@][^"]*", func = "([^"+]*)\+[0x]*".*/\2 \1/p' "$1" |
		awk '{ n[$1, $2]++; names[$1] } END { for (f in names) print f "=" n[f, "entry"] + 0 "/" n[f, "exit"] + 0 }' |
		LC_ALL=C sort | tr '\n' ' '
}
