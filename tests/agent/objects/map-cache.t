#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# The agent takes code maps from the cache by itself: the same calls are recorded,
# no process is started, nothing is taken that others could have written or that
# is out of date, and whatever becomes of the files, the program runs as ever.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
cp "$SPI_CODEMAP" codemap
SPI_CODEMAP=$SPI_TMP/codemap
cache=$XDG_CACHE_HOME/lttng-spi

# 3 000 functions, of which each calls another; the second half is called after a line was read.
python3 - >many.c <<'P'
print('#include <stdio.h>')
print('#define F __attribute__((noipa)) static unsigned')
n = 3000
for i in range(n):
    deeper = 'f%d(x + %d)' % (i - 1, i) if i % 10 else 'x'
    print('F f%d(unsigned x) { return %s * %du + 1; }' % (i, deeper, 2 * i + 1))
print('int main(void)\n{\n\tunsigned x = 1;\n\tchar line[8];')
for i in range(9, n, 10):
    if i == n // 2 - 1:
        print('\tputs("half");\n\tfflush(stdout);\n\tif (!fgets(line, sizeof(line), stdin))\n\t\treturn 9;')
    print('\tx += f%d(x);' % i)
print('\tprintf("%u\\n", x);\n\treturn 47;\n}')
P
gcc -O1 -o many many.c && objcopy --only-keep-debug many many.debug && objcopy --add-gnu-debuglink=many.debug many || exit 1
mv many.debug many.debug.not-yet
echo go | ./many >many.out
many=$(<many.out)

# started COMMAND... - how many processes of spi-codemap the tree starts for it
started() {
	strace -f -qq -e trace=execve -e signal=none -o strace.out -E LD_PRELOAD="$SPI_AGENT" -E LTTNG_SPI_CODEMAP="$SPI_CODEMAP" \
		-E LTTNG_SPI_RULES='tree(main)' "$@" >started.out <<<go
	grep -c "execve(\"$SPI_CODEMAP\"" strace.out
}

# runs NAME - ./many, traced in the session that is there, does what it does untraced
runs() {
	local out status
	out=$(echo go | "${SPI_ALONE[@]}" LTTNG_SPI_CODEMAP="$SPI_CODEMAP" LTTNG_SPI_RULES='tree(main)' ./many 2>many.err)
	status=$?
	[ "$status" = 47 ] && [ "$out" = "$many" ] && return 0
	diag "$1: status $status, output: $(head -c 80 <<<"$out")"
	bad=$((bad + 1))
}

tree_cc kinds-truth kinds.c -O0 -finstrument-functions
tree_cc kinds kinds.c -O2 -fno-inline
tree_is_truth 'first, the cache is empty' nesting kinds
tree_is_truth 'from the cache' nesting kinds
objects=$(find "$cache" -name '*-tree' | wc -l)
ok "$([ "$objects" -ge 2 ]; echo $?)" "a map for each object: $objects"

if command -v strace >/dev/null; then
	ok "$([ "$(started ./many)" = 1 ]; echo $?)" 'one analysis for a new program, none for libc'
	is "$(started ./many)" 0 'no process is started when all maps are there'
	is "$(<started.out)" "$many" 'and the output is the same'
	chmod 666 "$cache"/*-tree
	ok "$([ "$(started ./many)" -ge 2 ]; echo $?)" 'files that others can write are not taken'
	is "$(stat -c %a "$cache"/*-tree | sort -u | tr '\n' ' ')" '600 666 ' 'but made anew'
	chmod 600 "$cache"/*-tree
	started ./many >/dev/null
	is "$(started ./many)" 0 'nobody can write them: taken again'
	chmod 777 "$cache"
	ok "$([ "$(started ./many)" -ge 2 ]; echo $?)" 'nor are any in a directory that others can write'
	chmod 700 "$cache"
	touch codemap
	ok "$([ "$(started ./many)" -ge 2 ]; echo $?)" 'another build of spi-codemap is asked'
	is "$(started ./many)" 0 'once'
	mv many.debug.not-yet many.debug
	is "$(started ./many)" 1 'debug info that came later is seen'
	is "$(started ./many)" 0 'once, too'
	rm many.debug
	is "$(started ./many)" 1 'and that it went'
else
	skip 12 'needs strace'
fi

# What is cut off, zeroed, or points elsewhere. What a function's code looks like is left alone: that is believed.
cat >break.py <<'P'
import os, random, struct, sys
path, seed = sys.argv[1], int(sys.argv[2])
r = random.Random(seed)
data = bytearray(open(path, 'rb').read())
spans = [struct.unpack_from('<QII', data, 96 + 16 * i) for i in range(8)]   # strings funcs fields insns enums labels skipped sites
what = seed % 4
if what == 0:
    data = data[:r.choice([r.randrange(len(data)), r.randrange(300), len(data) - r.randrange(1, 200)])]
elif what == 1:
    at = r.randrange(len(data)) & ~4095
    data[at:at + 4096] = bytes(len(data[at:at + 4096]))
elif what == 2:     # indices of many functions
    offset, count, stride = spans[1]
    for _ in range(count // 2):
        field = r.choice([16, 20, 32, 40, 88, 92])
        struct.pack_into('<I', data, offset + stride * r.randrange(count) + field, r.choice([0xffffffff, 0x7fffffff, r.getrandbits(32)]))
else:               # the tables themselves, and sites' kinds and sizes
    if r.random() < .5:
        i = r.choice([0, 1, 3, 7])
        struct.pack_into('<QII', data, 96 + 16 * i, r.choice([spans[i][0], r.getrandbits(40)]), r.choice([spans[i][1], r.getrandbits(32)]), spans[i][2])
    offset, count, stride = spans[7]
    for _ in range(count // 2):
        data[offset + stride * r.randrange(count) + r.choice([40, 41, 42, 43, 44])] = r.getrandbits(8)
open(path, 'wb').write(data)
P
tree_session "$SPI_TMP/broken"
rm -rf "$cache"
bad=0
runs 'as it was made'
is "$bad" 0 'as it was made'
map=$(find "$cache" -name "$(readelf -n many | sed -n 's/.*Build ID: //p')*-tree")
ok "$([ -s "$map" ]; echo $?)" 'the map'
cp "$map" good
for ((seed = 0; seed < (SPI_SOAK ? 400 : 24); seed++)); do
	cat good >broken.map && python3 break.py broken.map "$seed" && mv broken.map "$map" && chmod 600 "$map" && runs "seed $seed"
done
is "$bad" 0 "$seed broken maps: the program does what it does"

# While the program is between its halves, the file goes.
for length in 0 4096 100000; do
	rm -f "$cache"/*-tree
	runs 'anew'
	mkfifo "fifo.$length"
	"${SPI_ALONE[@]}" LTTNG_SPI_CODEMAP="$SPI_CODEMAP" LTTNG_SPI_RULES='tree(main)' ./many <"fifo.$length" >half.out 2>half.err &
	pid=$!
	exec {feed}>"fifo.$length"
	spi_wait 20 file_has half.out half || diag 'it does not come to its half'
	for file in "$cache"/*-tree; do truncate -s "$length" "$file"; done
	echo go >&"$feed"
	exec {feed}>&-
	wait "$pid"
	is "$?" 47 "its files cut off to $length bytes while it runs: status"
	is "$(<half.out)" "$many" 'and output'
done
tree_session_end
tree_balanced "$SPI_TMP/broken" 'what was recorded of all these is balanced'
tap_done
