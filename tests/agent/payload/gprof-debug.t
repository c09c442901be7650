#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `--payload gprof` of stripped programs, whose symbols a package has in /usr/lib/debug: gprof is given that file, and
# has names and numbers.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
gmon() { python3 "$SPI_TOP_SRCDIR/tests/lib/gmon.py" "$@"; }

# debug_file PROGRAM - where packages have its symbols
debug_file() {
	local id
	id=$(readelf -n "$1" | awk '/Build ID/ { print $3 }')
	echo "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
}
# calls_of FUNCTION - what gprof has as its number of calls, in ./flat
calls_of() { awk -v f="$1" '$NF == f && NF > 4 { print $4 }' flat; }

# counted FUNCTION - what the file has, in ./arcs
counted() { awk -v f="$1" '$(NF - 1) == f { n += $NF } END { print n }' arcs; }

# ---- Debian's python3 with python3.11-dbg or the like: numbers of calls as breakpoints count them ----
python=$(readlink -f /usr/bin/python3)
debug=$(debug_file "$python")
if [ ! -e "$debug" ] || ! command -v gdb >/dev/null; then
	skip 'a Debian program with its package of symbols' "$python has no debug package here, or there is no gdb"
else
	functions=(PyObject_Str PyObject_GetAttr PyImport_ImportModuleLevelObject _PyUnicode_JoinArray)
	export PYTHONHASHSEED=0
	program=("$python" -S -I -c 'print(sum(len(",".join([str(i), "x"])) for i in range(300)))')
	spi_trace --payload gprof "${program[@]}" >traced.out
	is $? 0 "$python: status" || diag "$(cat trace.err)"
	gprof -b -p "$debug" gmon.out >flat 2>gprof.err
	check "$python: gprof reads it with the package's file" test -s flat || diag "$(cat gprof.err)"
	{ gmon arcs "$debug" gmon.out; gmon outside "$debug" gmon.out; } >arcs
	for f in "${functions[@]}"; do
		echo "break *(char *)$f"
	done >commands
	for i in "${!functions[@]}"; do
		echo "ignore $((i + 1)) 100000000"
	done >>commands
	gdb -batch -nx -iex 'set debuginfod enabled off' -x commands -ex run -ex 'info breakpoints' \
		--args "${program[@]}" >gdb.out 2>&1
	for f in "${functions[@]}"; do
		truth=$(awk -v f=" in $f " '/^[0-9]+ / { on = index($0, f) } on && /already hit/ { print $4 }' gdb.out)
		is "$(counted "$f")" "$truth" "$python: calls of $f()" || diag "$(tail -n 12 gdb.out)"
	done
	# gprof itself adds the numbers of local functions with a dot in their names to the function before them
	is "$(calls_of PyObject_Str)" "$(counted PyObject_Str)" "$python: gprof has the same"
fi

# ---- the same of a program that is built here ----
mkdir -p /usr/lib/debug
mount -t tmpfs tmpfs /usr/lib/debug
spi_cc with profiled.c -O2 -pg
spi_cc whole profiled.c -O2 -Wl,--build-id
./with 13 >/dev/null
gmon arcs with gmon.out >with.arcs
gprof -b -p with gmon.out >flat
calls_of fibonacci >with.calls
debug=$(debug_file whole)
mkdir -p "${debug%/*}"
objcopy --only-keep-debug whole "$debug"
strip whole
rm -f gmon.out
spi_trace --payload gprof ./whole 13 >/dev/null
is $? 0 'a stripped program: status' || diag "$(cat trace.err)"
gmon arcs "$debug" gmon.out >stripped.arcs
same_file stripped.arcs with.arcs 'a stripped program: the arcs that -pg counts'
gprof -b -p "$debug" gmon.out >flat
check 'gprof has a number' grep -q . with.calls
is "$(calls_of fibonacci)" "$(cat with.calls)" 'a stripped program: gprof has the same number'
like "$(gprof whole gmon.out 2>&1)" 'has no symbols' 'gprof does not look for the file itself'
tap_done
