# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The patcher by itself: its objects out of the agent's build, without the rest
# of it, linked to one test program.

src=${SPI_TOP_SRCDIR:?}
work=$(mktemp -d "${TMPDIR:-/tmp}/spi-patch.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
. "$src/tests/lib/tap.sh"

# patch_build PROGRAM OUTPUT [FLAG...] - $work/OUTPUT from PROGRAM.c
patch_build() {
	local program=$1 output=$2 units=$src/tests/programs/units file
	local -a objects=()
	shift 2
	for file in patch/{patch,worker,near,near-places,frames,trampoline,trampoline-pages,text,trap,trap-ready} \
		base/{memory,proc,sys,tracer-threads,read-safe} signals/{share,fault} \
		arch/x86-64/{relocate,stub,jumps,context,read-loops,signal-return}; do
		objects+=("${SPI_TOP_BUILDDIR:?}/liblttng-spi/${file%/*}/.libs/${file##*/}.o")
	done
	gcc -O2 -g -std=gnu11 -D_GNU_SOURCE -I"$src" -I"$units/patch" "$@" "$units/patch/$program.c" "$units/patch/harness.c" \
		"$units/base/format.c" "$units/patch/funcs.S" "${objects[@]}" -pthread -o "$work/$output" ||
		{ echo "Bail out! $program.c does not compile"; return 1; }
}

# patch_run NAME COMMAND... - one check: the program's own checks all pass; what it says goes to stderr
patch_run() {
	local name=$1 status
	shift
	timeout 300 "$@" >"$work/out" 2>&1
	status=$?
	grep -v '^ok \|^1\.\.' "$work/out" >&2
	ok "$status" "$name"
}
