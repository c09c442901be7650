#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# gdb on a traced program: `bt` through some hundred traced calls, `finish`, `up` and
# `advance`, `next` over a traced call stop where they do without tracing. What gdb says
# of the traced program is compared with what it says of the same program untraced,
# return slots left out; with lttng-spi-gdb.py nobody has to leave them out.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc unwind unwind.c -O2 -fno-optimize-sibling-calls -rdynamic
helper=$SPI_TOP_SRCDIR/liblttng-spi/lttng-spi-gdb.py

# debug OUT COMMAND... - gdb's commands on the program, on the traced one if $traced says so. Its end is looked at
# where it calls exit_group(): gdb 13 fails now and then when threads go ("Couldn't read debug register").
debug() {
	local out=$1 traces=()
	shift
	printf '%s\n' 'set pagination off' 'set breakpoint pending on' 'set debuginfod enabled off' 'set startup-with-shell off' \
		"$@" 'delete' 'catch syscall exit_group' 'continue' 'print $rdi' >"$SPI_TMP/script"
	[ -z "${traced:-}" ] || traces=(-ex "set environment LD_PRELOAD $SPI_AGENT" -ex "set environment LTTNG_SPI_RULES tree(main)"
		-ex "set environment LTTNG_SPI_CODEMAP $SPI_CODEMAP")
	[ -z "${traced:-}" ] || tree_session "$SPI_TMP/trace-gdb"
	timeout 60 gdb -q -batch "${traces[@]}" -x "$SPI_TMP/script" --args ./unwind none >"$out" 2>&1
	[ -z "${traced:-}" ] || tree_session_end
}

# frames FILE - "function file:line" of each frame that it shows, return slots left out; a frame's number is another then.
# Left out, too: __GI_qsort, which gdb has guessed from what calls what, as it ended with a jump.
frames() { grep -v spi_slot "$1" | sed -nE 's/^#[0-9]+ +(0x[0-9a-f]+ in )?(__GI__[a-z_]+|[a-z_]+) \(.*at .*\/([a-z._]*:[0-9]+)$/\2 \3/p'; }

# same_frames NAME COMMAND... - they show the same of both, and the traced program goes on to its right end
same_frames() {
	local name=$1
	shift
	traced= debug plain "$@"
	traced=1 debug traced ${helper:+"source $helper"} "$@"
	frames plain >frames.plain
	frames traced >frames.traced
	same_file frames.traced frames.plain "$name: the same frames" || diag "$(tail -40 traced)"
	[ -s frames.plain ] && grep -qx 152 traced && grep -qx '$[0-9]* = 0' traced
	ok $? "$name: the program goes on to its end" || diag "$(tail -5 traced)"
	unlike "$(cat traced)" 'SIG(SEGV|ILL|BUS|ABRT|TRAP)|corrupt|Cannot' "$name: nothing went wrong"
}

helper= same_frames 'bt by gdb alone' 'break bottom' run bt
[ "$(grep -c '^down ' frames.traced)" -gt 150 ]
ok $? 'bt by gdb alone: through the traced calls'
same_frames 'bt' 'break bottom' run bt
is "$(grep -c spi_slot traced)" 0 'bt: without a return slot'
line_of() { grep -n "$1" "$SPI_PROGRAMS/unwind.c" | cut -d: -f1; }	# what matches in the program
finishes=()
for _ in 1 2 3 4 5; do finishes+=(finish 'bt 1'); done
same_frames 'finish, five times' 'break bottom' run "${finishes[@]}"
same_frames 'finish of a caller' 'break bottom' run 'frame function compares' finish 'bt 1' 'frame function sorts' finish 'bt 1'
same_frames 'advance' 'break bottom' run 'frame function compares' "advance $(line_of 'return .(const int \*) a - ')" 'bt 1'
same_frames 'next over traced calls' 'break sorts' run next 'bt 2' next 'bt 2'

# Where a call goes to a stub first there is no line for gdb, so it steps over.
traced=1 debug traced 'break sorts' run next step 'bt 1'
is "$(frames traced)" "sorts unwind.c:$(line_of 'return all.0.')" 'step at a traced call goes on behind it'

# Without the helper a return slot is a frame to be finished, too.
traced=1 debug traced 'break bottom' run finish 'bt 2' finish 'bt 1'
like "$(cat traced)" '#0 [^#]*spi_slot_code_base[^#]*#1 [^#]*in compares [^#]*#0 +compares ' 'finish by gdb alone stops at the slot, then in the caller'
tap_done
