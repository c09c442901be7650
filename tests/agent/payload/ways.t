#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A payload file comes into a program in four ways, and sees the same calls: preloaded by itself, by `lttng trace`, into a
# running process by `lttng trace -p` and by `spi-inject`. The program's output stays as it is.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
spi_cc calls payload-calls.c -O1 -fno-optimize-sibling-calls
payload_cc says.so payload-says.c
./calls 5 >plain.out

# What the calls below main() are, without main() itself and the thread's start, which one way or another sees.
calls_of() { grep -vE '^(enter|leave) (main|start)\b|^fini$|^[^el]|^$' "$1"; }

LD_PRELOAD=./says.so ./calls 5 >preload.out 2>preload.err
is $? 0 'preloaded: status'
same_file preload.out plain.out 'preloaded: the program prints what it prints'
calls_of preload.err >truth
is "$(grep -c '^enter leaf' truth)" 9 'preloaded: each call of leaf()' || diag "$(cat preload.err)"
check 'preloaded: arguments by class, also floating point' grep -qx 'enter scale(2, 1.25, abc)' truth || diag "$(cat truth)"
check 'preloaded: a floating-point result' grep -qx 'leave scale = 5.5' truth || diag "$(cat truth)"
check 'preloaded: caller, argument and data' grep -qx 'enter leaf(1) from middle data' truth || diag "$(cat truth)"
check 'preloaded: result, and user data from entry to exit' grep -qx 'leave leaf = 30' truth || diag "$(cat truth)"
is "$(grep -c 'not its own' truth)" 0 'preloaded: no exit has the data of another call'
is "$(tail -n 1 preload.err)" fini 'preloaded: the end runs once, at the end'

# Where main() ends with a call, _start() is where that call would return to, and the kernel puts its address on the stack.
gcc -O1 -g -o ends -x c - <<-'END'
	__asm__(".section .text.startup,\"ax\"\n.p2align 4\n.globl main\n.type main,@function\nmain:\n"
		"subq $8, %rsp\nxorl %edi, %edi\n.byte 0x66, 0x90, 0x66, 0x90, 0x90\ncall exit@plt\n.size main, .-main\n.text");
END
nm ends | awk '$3 == "main" { main = $1 } $3 == "_start" { start = $1 } END { print main, start }' >at
read -r main start <at
is $((16#$start - 16#$main)) 16 'a main() that ends with a call: _start() stands behind it'
env LD_PRELOAD="$PWD/says.so" ./ends 2>said
is "$(grep -c '^enter main' said)" 1 'a main() that ends with a call: it is the first call' || diag "$(cat said)"

spi_trace --tree --lib calls --payload ./says.so ./calls 5 >trace.out
is $? 0 'lttng trace: status' || diag "$(cat trace.err)"
same_file trace.out plain.out 'lttng trace: the program prints what it prints'
calls_of trace.err >traced
same_file traced truth 'lttng trace: the same calls'

spi_trace -f leaf -f scale --payload ./says.so ./calls 5 >/dev/null
is "$(grep -c '^enter leaf' trace.err)" 9 'lttng trace -f: each call of the functions' || diag "$(cat trace.err)"
is "$(grep -c '^enter middle' trace.err)" 0 'lttng trace -f: and no others'

instrumented() { ! python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$1" calls >/dev/null 2>&1; }
by_trace() { "$SPI_LTTNG" trace --tree --lib calls --payload ./says.so -p "$1"; }
by_inject() { "$SPI_INJECT" pid "$1" "$PWD/says.so"; }

# attached NAME HOW - the program waits for its line while HOW brings the payload in; what is written is in ./attached
attached() {
	local name=$1 how target
	rm -f in attached.out
	mkfifo in
	timeout $((30 * SPI_PATIENCE)) ./calls 5 wait <in >attached.out 2>target.err &
	how=$!
	exec {input}>in
	spi_wait 20 file_has attached.out ready
	target=$(pgrep -P "$how" -x calls)
	"$2" "$target" >attached 2>&1 &
	spi_wait 20 instrumented "$target" || diag "$(cat attached target.err)"
	echo go >&"$input"
	exec {input}>&-
	wait
	cat target.err >>attached
	same_file <(grep -v ready attached.out) plain.out "$name: the program prints what it prints"
	calls_of attached >seen
	same_file seen truth "$name: the same calls" || diag "$(cat attached)"
}
attached 'attached' by_trace
attached 'injected' by_inject
tap_done
