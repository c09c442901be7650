#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
# Large debug info: marks in the cache give the answers that debug info gives, whatever was done to them. And jumps.
. "${SPI_TOP_SRCDIR:?}/tests/lib/codemap.sh"
plan 29
cd "$tmp" || exit 1
python3 "$SPI_TOP_SRCDIR/tests/lib/gen-large.py" 40 5 && $CC -Wl,--compress-debug-sections=zlib -o prog large.s &&
	$CC -std=gnu11 -O1 -D_GNU_SOURCE -I"$SPI_TOP_SRCDIR" -o forge "$SPI_TOP_SRCDIR/tests/programs/units/codemap/marks-forge.c" \
		"$SPI_TOP_SRCDIR"/codemap/{map/marks,base/fail,base/memory,base/text,base/write}.c -lpthread || { echo 'Bail out! cannot build'; exit 1; }
id() { readelf -n "$1" 2> /dev/null | sed -n 's/.*Build ID: //p'; }
[ -n "$(id prog)" ] || { echo 'Bail out! no build-id'; exit 1; }

# answer NAME: what there is to know of a function of ./prog, as text; the map itself is not left in the cache
answer() {
	"$codemap" map --pattern "$1" -o out.map "${2:-prog}" 2> err
	status=$?
	rm -f cache/*-map
	if [ $status -ne 0 ]; then echo "status $status $(cat err)"; else mapdump out.map; fi
}
for f in f0 f2 f4 g2 g4; do answer $f > plain.$f; done
is "$(grep -c 'a4\|b4' plain.f4) $(grep -c type_of_1 plain.g2) $(grep -c type_of_0 plain.g4)" '3 1 1' \
	'parameters, and types of other units'
export LTTNG_SPI_CACHE=$tmp/cache

answer f1 > /dev/null
few=$(./forge cache/*-marks print)
answer f4 > first
many=$(./forge cache/*-marks print)
ok "$(cmp -s plain.f4 first; echo $?)" 'the first answer'
ok "$([ "${few:-0}" -gt 0 ] && [ "${many:-0}" -gt "$few" ] && [ "$(ls cache | wc -l)" = 1 ]; echo $?)" \
	"marks as far as inflating went, $few, then $many"
is "$(stat -c %a cache/*-marks)" 600 'nobody else may read or write them'
for f in f0 f2 f4 g2 g4; do
	answer $f > again
	ok "$(cmp -s plain.$f again; echo $?)" "$f: the same with marks"
done
cp cache/*-marks good
name=$(ls cache/*-marks)

watched() { strace -f -o trace -e trace=pread64,exit_group "$codemap" map --pattern f3 -o out.map prog 2> /dev/null; }
if have strace && watched; then
	is "$(grep -c ', 32768, [0-9]*) *= 32768' trace)" 1 'a request begins at the mark before what it needs'
	rm -f cache/*-map
	./forge "$name" window > /dev/null
	chmod 666 "$name"
	watched
	is "$(grep -c ', 32768, ' trace)" 0 'marks that others can write are not read'
	rm -f cache/*-map
else
	skip 2 'no strace'
fi

# with hashes that are right
for how in position beyond sections shuffle; do
	cp good "$name"
	./forge "$name" $how > /dev/null
	ok "$(answer f4 | cmp -s plain.f4; echo $?)" "forged ($how): the answer is right"
done
# what cannot be noticed: only the owner or root could have done it
for how in done window; do
	cp good "$name"
	./forge "$name" $how > /dev/null
	answer f4 > again
	ok "$(grep -qE 'signal|Sanitizer|internal' again; echo $((! $?)))" "forged by their owner ($how): no crash"
done

# others' files; what a traced user could plant
cp good "$name"
./forge "$name" window > /dev/null
if chown 12345 "$name" 2> /dev/null && [ "$(stat -c %u "$name")" = 12345 ]; then
	ok "$(answer f4 | cmp -s plain.f4; echo $?)" "another user's marks are not used"
else
	skip 1 'cannot give a file away'
fi
rm -f "$name"
cp good elsewhere && ./forge elsewhere window > /dev/null && ln -s "$tmp/elsewhere" "$name"
ok "$(answer f4 | cmp -s plain.f4; echo $?)" 'nor a symbolic link'
rm -f "$name" && mkfifo "$name"
ok "$(answer f4 | cmp -s plain.f4; echo $?)" 'nor a FIFO'
rm -f "$name"

# damaged
bad=0
i=0
size=$(stat -c %s good)
while [ $i -lt 24 ]; do
	cp good "$name"
	case $((i % 4)) in
	0) printf "\\$((i % 8))\\377" | dd of="$name" bs=1 seek=$((i * 3 % 64)) conv=notrunc status=none ;;
	1) truncate -s $((size * i / 24)) "$name" ;;
	2) printf 'xyz' | dd of="$name" bs=1 seek=$((32 + i * 11)) conv=notrunc status=none ;;
	3) printf 'xyz' | dd of="$name" bs=1 seek=$((size - 9 - i * size / 25)) conv=notrunc status=none ;;
	esac
	answer f4 | cmp -s plain.f4 || bad=$((bad + 1))
	i=$((i + 1))
done
is $bad 0 '24 damaged files: the answer is right'
truncate -s +100 "$name"
ok "$(answer f4 | cmp -s plain.f4; echo $?)" 'a file with something behind it'
is "$(ls -A cache | grep -vc -- '-marks$')" 0 'nothing else is left in the cache'

# another file with the same build-id
python3 "$SPI_TOP_SRCDIR/tests/lib/gen-large.py" 36 4 &&
	$CC -Wl,--compress-debug-sections=zlib -Wl,--build-id=0x"$(id prog)" -o liar large.s
cp good "$name"
answer f3 liar > again
ok "$(grep -q 'a3' again; echo $?)" 'another file with the same build-id has marks of its own'
is "$(ls cache | wc -l)" 2 'beside those of the first'

if [ -n "${SPI_SANITIZED:-}" ]; then
	skip 4 '150 MB of debug info take the sanitizers too long'
	exit 0
fi
# so large that units are not kept: what was jumped over and is asked for then costs a second look
unset LTTNG_SPI_CACHE
export LTTNG_SPI_CACHE=
python3 "$SPI_TOP_SRCDIR/tests/lib/gen-large.py" 150 4 1000 && $CC -Wl,--compress-debug-sections=zlib -o huge large.s
answer f3 huge > again
ok "$(grep -q 'a3' again && grep -q 'b3' again; echo $?)" '150 MB of debug info: a late function'
answer g0 huge > again
ok "$(grep -q 'type_of_0' again; echo $?)" 'and an early one'
"$codemap" list huge > list
is "$(grep -c '^f[0-3](int a[0-3], long b[0-3])$' list)" 4 'and all of them'
answer g3 huge > again
ok "$(grep -q 'g3' again; echo $?)" 'a type in a unit that was jumped over: the function is there all the same'
