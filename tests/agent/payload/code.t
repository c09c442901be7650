#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What the interface tells of code: objects, functions and their names as nm has them, call instructions as objdump has
# them, and what it tells of the agent itself.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
g++ -O2 -g "$SPI_PROGRAMS/code-target.cc" -o target || { echo 'Bail out! code-target.cc does not compile'; exit 1; }
payload_cc code.so payload-code.c
./target >plain.out

LTTNG_SPI_PAYLOAD_ARGS=all=1 LD_PRELOAD=./code.so ./target >code.out 2>code.err
is $? 0 'status' || diag "$(cat code.err)"
same_file code.out plain.out 'the program prints what it prints'

for language in 'gcc -x c -std=c99' 'g++ -x c++ -std=c++11'; do
	for header in spi.h spi-code.h; do
		echo "#include <lttng/$header>" >header
		$language -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$SPI_TOP_SRCDIR/include" header 2>cc.log
		ok $? "<lttng/$header> by ${language%% *}" || diag "$(cat cc.log)"
	done
done

# ---- objects and functions ----
sed -n 's/^object [0-9a-f]* //p' code.err >objects
is "$(head -n 1 objects)" "$PWD/target" 'objects: the executable is first'
for name in code.so libc.so.6 libstdc++.so.6 ld-linux-x86-64.so.2; do
	ldd ./target | grep -q "$name" || [ "$name" = code.so ] || continue
	is "$(grep -c "$name\$" objects)" 1 "objects: $name is there once"
done
is "$(grep '^at ' code.err | tr '\n' ' ')" 'at code.so at 16: none ' 'objects: by address'
is "$(grep '^parse' code.err)" 'parse 0, before -61' 'functions: not known before they are asked for'
sed -n 's/^function //p' code.err | sort >functions
nm --defined-only target | awk '$2 ~ /[tTwW]/ { sub(/^0+/, "", $1); print $1, $3 }' | sort >symbols
is "$(comm -13 functions symbols | grep -vE ' (_init|_fini|_start|_dl_relocate_static_pie|data_start)$' | wc -l)" 0 \
	'functions: each one that nm has' || diag "$(comm -13 functions symbols)"
is "$(grep '^functions' code.err)" "functions 0, $(wc -l <functions)" 'functions: each is told once'
is "$(grep '^stopped' code.err)" 'stopped 77' 'functions: an answer ends it'
is "$(grep '^find [0-9a-f]' code.err)" "find $(awk '$2 == "_ZN6shapes4areaEii" { print $1 }' symbols)" \
	'by linkage name: its address'
is "$(grep '^find none' code.err)" 'find none: none' 'by linkage name: none, where there is none'
is "$(grep '^overload' code.err | tr '\n' ';')" \
	'overloads 2;overload _ZN6shapes4areaEi, _ZN6shapes4areaEii;overloads none 0;' 'by qualified name: all of them'

# ---- places ----
objdump -dw --no-show-raw-insn target | awk '/^ *[0-9a-f]+:/ { sub(":", "", $1); print $1, $2, $3 }' >instructions
sed -n 's/^call //p' code.err | sort -u >calls
bad=0
while read -r at size callee known; do
	read -r _ name operand <<<"$(grep "^$at " instructions)"
	case $name in call|jmp) ;; *) bad=1; diag "$at: objdump has $name" ;; esac
	next=$(awk -v at="$at" 'seen { print $1; exit } $1 == at { seen = 1 }' instructions)
	[ $((0x$next - 0x$at)) = "$size" ] || { bad=1; diag "$at: $size bytes, the next instruction is at $next"; }
	case $operand in \**) wanted=indirect ;; *) wanted=$callee ;; esac
	[ "$known" = "$wanted" ] || { bad=1; diag "$at: $name $operand, $known"; }
done <calls
is $bad 0 'places: instruction, size, and whether the callee is known before the call' || diag "$(cat calls)"
check 'places: the callee of a call through a variable changes' grep -q 'indirect' calls
is "$(awk '$4 == "indirect" { print $3 }' calls | sort | uniq -c | awk '{ printf "%s %s;", $1, $2 }')" '2 one;2 two;' \
	'places: callees of indirect calls are exact' || diag "$(cat calls)"
is "$(sed -n 's/^snippet //p' code.err | sort -u)" '0 led to sized' 'snippets: each direct call leads to its own'
is "$(grep '^main' code.err)" 'main -61, 0 sized' 'a function'\''s entry: no instruction, a snippet'
is "$(grep '^registers' code.err | sort -u)" 'registers 0 argument, 0 return, 0 stack, -61' \
	'registers: saved ones, and no others'
is "$(grep -c 'of another' code.err)" 0 'the agent of a call'

# ---- the agent ----
is "$(grep '^configuration' code.err)" 'configuration 0: tells, 0, 0101' 'configuration: as it was set'
is "$(grep '^data' code.err)" 'data its own, gone 0' 'configuration: payloads and their data'
is "$(grep '^older' code.err)" 'older 0, untouched yes' 'configuration: a shorter structure'
is "$(grep '^path' code.err)" "path $PWD/code.so" 'path: the whole path of the file'
is "$(grep -e '^injected' -e '^frame' code.err | tr '\n' ' ')" 'injected 0 frame -61 0 0 ' 'preloaded: not injected'

# ---- in a process that runs ----
mkfifo in
./target /dev/null <in >injected.out 2>injected.err &
target=$!
exec {input}>in
in_read() { grep -q '^0 ' "/proc/$target/syscall"; }
spi_wait 20 in_read
read -r _ _ _ _ _ _ _ sp pc <"/proc/$target/syscall"
"$SPI_INJECT" pid "$target" "$PWD/code.so" >/dev/null 2>inject.err || diag "$(cat inject.err)"
spi_wait 20 file_has injected.err '^stack main'
is "$(grep '^injected' injected.err)" 'injected 1' 'injected: said so'
is "$(grep '^frame' injected.err)" "$(printf 'frame 0 %x %x' $((pc - 2)) $((sp)))" \
	'injected: the frame is where the kernel has it' || diag "$(grep '^frame' injected.err), pc $pc sp $sp"
is "$(grep -c '^stack main$' injected.err)" 1 'injected: main() is on the stack' || diag "$(cat injected.err)"
is "$(grep -cE '^stack (begin|dlopen|_dl_.*)$' injected.err)" 0 'injected: what loads the payload is not' || diag "$(cat injected.err)"
is "$(grep -cE '^stack (one|two|by_tail|branches)$' injected.err)" 0 'injected: what is not called is not'
exec {input}>&-
wait "$target"
is "$(grep -c '^call .* branches' injected.err)" 1 'injected: calls come to the payload'

# ---- source lines: functions that are instrumented by name ----
spi_trace -f branches --payload ./code.so --payload-arg source=1 ./target >/dev/null
line=$(grep -n 'int branches' "$SPI_PROGRAMS/code-target.cc" | cut -d : -f 1)
like "$(grep '^source branches' trace.err)" "code-target.cc:$line\$" 'source: file and line' || diag "$(cat trace.err)"

# ---- detail ----
objdump -dw --no-show-raw-insn --disassemble=branches target | sed -n 's/^ *\([0-9a-f]*\):.*/\1/p' >addresses
same_file <(sed -n 's/^insn //p' code.err) addresses 'text of code: a line for each instruction that objdump has'
is "$(grep '^text' code.err | tr '\n' ' ')" 'text whole text none -14, -22 ' 'text of code: none where no memory is'
LTTNG_SPI_PAYLOAD_ARGS='detail=1;blocks=1' LD_PRELOAD=./code.so ./target >code.out 2>detail.err
is $? 0 'detail: status' || diag "$(cat detail.err)"
same_file code.out plain.out 'detail: the program prints what it prints'
sed -n 's/^block //p' detail.err | sort >blocks
python3 "$SPI_TOP_SRCDIR/tests/lib/blocks.py" target | sort >truth
same_file blocks truth 'detail: blocks, their calls and edges are those of the disassembly' ||
	diag "$(diff blocks truth)"
is "$(grep '^detail 0 branches' detail.err)" "detail 0 branches $SPI_PROGRAMS/code-target.cc:$line" \
	'detail: source lines of all functions'
sed -n 's/^call //p' detail.err | cut -d ' ' -f 1 | sort -u >called
is "$(grep '^place' detail.err | sort -u | wc -l)" "$(wc -l <called)" \
	'detail: each place has a block' || diag "$(grep '^place' detail.err)"
bad=0
while read -r at result end text; do
	read -r _ name operand <<<"$(grep "^$at " instructions)"
	next=$(awk -v at="$at" 'seen { print $1; exit } $1 == at { seen = 1 }' instructions)
	case $text in "$name "*) ;; *) bad=1 ;; esac
	case $operand in \**) ;; *) case $text in *" 0x$operand "*) ;; *) bad=1 ;; esac ;; esac
	[ "$result" = 0 ] && [ "$end" = "$next" ] || bad=1
done < <(sed -n 's/^place //p' detail.err | sort -u)
is $bad 0 'detail: the block ends with the place, whose text says what objdump says' ||
	diag "$(grep '^place' detail.err)"
check 'detail: a linkage stub has the name of what it leads to' grep -q '^place .*@plt>$' detail.err
LTTNG_SPI_PAYLOAD_ARGS='blocks=1' LD_PRELOAD=./code.so ./target >code.out 2>plain.err
is "$(grep -c '^block' plain.err) $(grep -c '^detail -61' plain.err)" "0 $(grep -c '^detail' plain.err)" \
	'without detail: no blocks'
spi_trace -f branches --payload ./code.so --payload-arg detail=1 --payload-arg first=1 ./target >code.out
at=$(awk '$2 == "branches" { print $1 }' symbols)
is "$(sed -n 's/^block //p' trace.err)" "$(grep "^$at " truth)" 'lttng trace -f: the first block of a function' ||
	diag "$(cat trace.err)"
spi_trace --tree --payload ./code.so --payload-arg detail=1 ./target >code.out
is $? 0 'lttng trace: status' || diag "$(cat trace.err)"
same_file code.out plain.out 'lttng trace: the program prints what it prints'
same_file <(grep '^place' trace.err | sort -u) <(grep '^place' detail.err | sort -u) \
	'lttng trace: detail by the controller, the same' || diag "$(cat trace.err)"
is "$(grep -e '^injected' -e '^frame' trace.err | sort -u | tr '\n' ' ')" 'frame -61 0 0 injected 0 ' \
	'lttng trace: not injected' || diag "$(cat trace.err)"
tap_done
