#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Maps for call trees in the cache: one file an object, the same answer without another analysis, sealed, checked like others.
. "${SPI_TOP_SRCDIR:?}/tests/lib/codemap.sh"
plan 10
cd "$tmp" || exit 1
$CXX -O2 -w -o prog "$here/tree-sample.cc" && $CC -O1 -w -o memfd "$here/memfd.c" || { echo 'Bail out! no compiler'; exit 1; }
"$codemap" map --tree -o plain.map ./prog
export LTTNG_SPI_CACHE=$tmp/cache
"$codemap" map --tree -o first.map ./prog
is "$(ls -A cache | sed 's/.*-//')" tree 'one file, nothing temporary, no marks of debug info'
ok "$(cmp -s plain.map first.map; echo $?)" 'the same with and without'
if have strace && strace -f -o trace -e trace=fork,vfork,clone,clone3 "$codemap" map --tree -o second.map ./prog 2> /dev/null; then
	is "$(grep -cE '(fork|clone3?)\(' trace)" 1 'the second time nothing but its headers is looked at'
else
	"$codemap" map --tree -o second.map ./prog
	skip 1 'no strace'
fi
ok "$(cmp -s plain.map second.map; echo $?)" 'and the answer is the same'
is "$(./memfd "$codemap" map --tree --output-fd 9 ./prog)" 'sealed: seal shrink grow write' 'into a memfd, sealed'
# A map that was broken in the cache: the number of call sites, and the window of one
dd if=/dev/zero of="$(ls cache/*-tree)" bs=1 seek=$((96 + 7 * 16 + 8)) count=4 conv=notrunc status=none
printf '\377\377\377\377' | dd of="$(ls cache/*-tree)" bs=1 seek=$((96 + 7 * 16 + 8)) conv=notrunc status=none
"$codemap" map --tree -o third.map ./prog
ok "$(cmp -s plain.map third.map; echo $?)" 'a broken one is made anew'
chmod 666 cache/*
"$codemap" map --tree -o fourth.map ./prog
ok "$(cmp -s plain.map fourth.map && [ "$(stat -c %a cache/*-tree)" = 600 ]; echo $?)" 'one that others can write is made anew'
"$codemap" map --pattern main -o main.map ./prog
mapdump main.map > main.dump
is "$(grep -c '^func' main.dump) $(grep -cE '^(site|tree)' main.dump)" '1 0' 'an ordinary map of the same program has nothing of it'
"$codemap" map --tree --pattern main -o x.map ./prog 2> err
is "$? $(head -c 6 err)" '2 usage:' 'a tree has no pattern'
printf 'int data_only = 5;\n' | $CC -shared -nostdlib -fno-asynchronous-unwind-tables -o data.so -x c -
"$codemap" map --tree -o data.map ./data.so 2> err
mapdump data.map > data.dump
is "$(grep -c '^map' data.dump) $(grep -cE '^(func|site)' data.dump) $(wc -c < err)" '1 0 0' 'a library without functions has an empty map'
