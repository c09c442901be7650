#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Which call instructions a call tree takes: the propeller's decision, given sets of call instructions, and kinds that are left out.
# The calls that mixed() makes are known: objdump says where.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
gcc -O2 -shared -fPIC -o libfar.so -x c - <<<'int outside(int x) { return x + 5; }'
spi_cc propelled propelled.c -O2 -fno-plt ./libfar.so
payload_cc propels.so payload-propels.c
./propelled >plain.out

# run ARGUMENTS [VARIABLE=VALUE...] - what mixed() calls, in ./inside
run() {
	local arguments=$1
	shift
	env LD_PRELOAD="$PWD/propels.so" LTTNG_SPI_PAYLOAD_ARGS="$arguments" "$@" ./propelled >out 2>said
	status=$?
	sed -n '/^enter mixed/,/^enter apart/p' said | sed -n 's/^enter //p' | grep -vxE 'mixed|apart' >inside
}
# inside NAME FUNCTION... - these alone, in this order, and the program is as ever
inside() {
	local name=$1
	shift
	is "$status" 0 "$name: status" || diag "$(cat said)"
	same_file out plain.out "$name: output"
	is "$(tr '\n' ' ' <inside)" "$*${1:+ }" "$name" || diag "$(cat said)"
}
run ''
inside 'all call instructions' first second outside pointed last
run leave=1
inside 'the propeller leaves direct calls' outside pointed last
run leave=2
inside 'the propeller leaves calls of libraries' first second pointed last
run leave=3
inside 'the propeller leaves calls by pointers' first second outside last
run leave=4
inside 'the propeller leaves a jump at the end' first second outside pointed
check 'a propeller cannot propel by itself' grep -qx 'in the propeller: refused' said || diag "$(cat said)"
run callee=second
inside 'the propeller takes one callee alone' second outside pointed

site=$(objdump -d --no-show-raw-insn propelled | sed -n '/<mixed>:/,/^$/p' | sed -nE 's/^ *([0-9a-f]+):\s+call .*<second>.*/\1/p')
run calls="$site"
inside 'one call instruction by its address' second
check 'what is no call instruction is refused' grep -qx 'refused what is no call instruction' said || diag "$(cat said)"
run direct=1
inside 'direct calls only' first second outside last
run tail=0
inside 'no tail calls' first second outside pointed
run '' LTTNG_SPI_DIRECTCALL_ONLY=1
inside 'direct calls only, by the environment' first second outside last
run '' LTTNG_SPI_NO_TAILCALL=1
inside 'no tail calls, by the environment' first second outside pointed
run trap=1 LTTNG_SPI_DEBUG=worker
inside 'by breakpoints alone' first second outside pointed last
like "$(cat said)" 'worker trap' 'by breakpoints alone: they are'
unlike "$(cat said)" 'worker (call|block)' 'by breakpoints alone: and nothing else'
run '' LTTNG_SPI_TRAP=1 LTTNG_SPI_DEBUG=worker
unlike "$(cat said)" 'worker (call|block)' 'by breakpoints alone, by the environment'
run ipc=1
is "$(grep -cE "^worker: a worker for channels has a function" said)" 1 'a worker for channels that has no function is refused' ||
	diag "$(cat said)"

# libc's calls by name
printf 'int main(void) { char c; return read(0, &c, 1) + write(1, "x", 1) - 2; }' | gcc -w -x c -o channels - -fno-plt
env LD_PRELOAD="$PWD/propels.so" LTTNG_SPI_PAYLOAD_ARGS=libc=1 ./channels >out 2>said <<<a
check 'a function that reads a channel' grep -qxE 'reads (__)?read' said || diag "$(cat said)"
check 'a function that writes a channel' grep -qxE 'writes (__)?write' said || diag "$(cat said)"

# Later, below another function, from a thread of the payload's.
mkfifo in
rm -f said
env LD_PRELOAD="$PWD/propels.so" LTTNG_SPI_PAYLOAD_ARGS="later=$(nm propelled | sed -n 's/ T apart$//p')" ./propelled w <in >out 2>said &
target=$!
exec {input}>in
spi_wait 20 file_has said '^later' || diag "$(cat said)"
check 'later: the function is taken' grep -qx 'later apart' said || diag "$(cat said)"
echo go >&"$input"
exec {input}>&-
wait "$target"
is $? 0 'later: status'
is "$(sed '1,/^later/d' said | sed -n 's/^enter //p' | grep -vx apart | tr '\n' ' ')" 'first second ' 'later: its calls are seen' || diag "$(cat said)"
tap_done
