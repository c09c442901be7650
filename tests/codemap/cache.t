#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# The cache: same answers, only trusted files, and no trust in what a file claims to be. And the sandbox.
. "${SPI_TOP_SRCDIR:?}/tests/lib/codemap.sh"
plan 20
cd "$tmp" || exit 1
$CC -O2 -g -w -o prog "$here/sample.c" || { echo 'Bail out! no compiler'; exit 1; }
"$codemap" list ./prog > plain
"$codemap" map --pattern visit ./prog > plain.map
export LTTNG_SPI_CACHE=$tmp/cache
"$codemap" list ./prog > first
"$codemap" map --pattern visit ./prog > first.map
is "$(stat -c %a cache cache/* | sort -u | tr '\n' ' ')" '600 700 ' 'modes of the directory and its files'
is "$(ls -A cache | wc -l)" 2 'one file of prototypes, one map; nothing temporary'
"$codemap" list ./prog > second
"$codemap" map --pattern visit ./prog > second.map
ok "$(cmp -s first second && cmp -s plain first; echo $?)" 'list: the same with and without'
ok "$(cmp -s first.map second.map; echo $?)" 'map: the same from the cache'
"$codemap" map --pattern alias_of_it ./prog > third.map
mapdump third.map > third
LTTNG_SPI_CACHE= "$codemap" map --pattern alias_of_it ./prog > fourth.map
mapdump fourth.map > fourth
ok "$(cmp -s third fourth; echo $?)" 'types from the cached prototypes are those from debug info'
# many patterns in one run: each has the map that it has by itself; some are in the cache, some in no function, some in many
patterns=(visit alias_of_it nosuch 'l*' '*')
cat > each.py <<'PY'
import struct, sys
data, at = open(sys.argv[1], 'rb').read(), 0
for name in sys.argv[2:]:
    size, = struct.unpack_from('<Q', data, at)
    open(name, 'wb').write(b'' if size in (0, 8) else data[at + 8:at + 8 + size])
    at += 8 + (0 if size in (0, 8) else size + 7 & ~7)
sys.exit(at != len(data))
PY
for cache in "$tmp/cache" ''; do
	args=() names=()
	for i in "${!patterns[@]}"; do args+=(--pattern "${patterns[i]}"); names+=("each.$i"); done
	LTTNG_SPI_CACHE=$cache "$codemap" map --each --output-fd 1 "${args[@]}" ./prog > each
	python3 each.py each "${names[@]}" || echo 'each.py fails' > differ
	for i in "${!patterns[@]}"; do
		LTTNG_SPI_CACHE= "$codemap" map --pattern "${patterns[i]}" ./prog > alone 2> /dev/null
		[ -s alone ] || { [ ! -s "each.$i" ] || echo "${patterns[i]}" >> differ; continue; }
		cmp -s <(mapdump alone) <(mapdump "each.$i") || echo "${patterns[i]}" >> differ
	done
	is "$(cat differ 2> /dev/null)" '' "a map for each of many patterns is that of each${cache:+, with the cache}"
done
"$codemap" map --which --pattern visit --pattern nosuch --output which ./prog ./prog
is "$(cat which)" 1010 'which of them mean functions, of several files'
rm -f cache/*map
"$codemap" map --pattern visit ./prog > second.map
# a broken file is thrown away
for f in cache/*; do printf 'xxxx' | dd of="$f" bs=1 seek=300 conv=notrunc status=none; truncate -s -8 "$f"; done
"$codemap" list ./prog > fifth
ok "$(cmp -s plain fifth; echo $?)" 'broken cache files are not used'
# others may write to it
"$codemap" list --pattern length ./prog > /dev/null
chmod 666 cache/*
printf 'x' | dd of="$(ls cache/*types | head -1)" bs=1 seek=500 conv=notrunc status=none
"$codemap" list ./prog > sixth
ok "$(cmp -s plain sixth; echo $?)" 'files that others can write are not used'
chmod 777 cache && rm -f cache/*
"$codemap" list ./prog > /dev/null
is "$(ls cache | wc -l)" 0 'a directory that others can write is not used'
chmod 700 cache
# another file with the same build-id must not be taken for this one
id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
"$codemap" list ./prog > /dev/null
$CC -O2 -g -w -Wl,--build-id=0x"$id" -x c -o liar - <<< 'int other(int z) { return z; } int main(void) { return 0; }'
ok "$("$codemap" list ./liar | grep -q '^other(int z)$'; echo $?)" 'a file that claims the same build-id gets its own answer'
# debug info that is installed later
objcopy --only-keep-debug prog prog.debug && cp prog late && strip late && objcopy --add-gnu-debuglink=prog.debug late && mv prog.debug away
"$codemap" list ./late > before
mv away prog.debug
ok "$("$codemap" list ./late | grep -q '^visit(const char'; echo $?)" 'debug info that came later is seen'
$CC -O2 -g -w -Wl,--build-id=none -o noid "$here/sample.c"
rm -f cache/*
"$codemap" list ./noid > /dev/null
is "$(ls cache | wc -l)" 0 'no build-id: no cache'
# the sandbox: from its filter on, the child that parses opens nothing
if have strace && strace -f -o trace -e trace=open,openat,openat2,socket,connect,execve,unlink,rename,fork,vfork,seccomp,prctl \
	"$codemap" map --pattern '*' -o x.map ./noid 2> /dev/null; then
	awk '/seccomp\(SECCOMP_SET_MODE_FILTER|PR_SET_SECCOMP/ { in_it[$1] = 1; next } in_it[$1] && /open|socket|connect|execve|unlink|rename|fork/' trace > after
	is "$(grep -cE 'SET_MODE_FILTER|PR_SET_SECCOMP' trace | sed 's/[1-9][0-9]*/some/') $(wc -l < after)" 'some 0' 'the analysis runs under seccomp and opens nothing'
else
	skip 1 'no strace'
fi
"$codemap" list ./prog > seventh
ok "$(cmp -s plain seventh; echo $?)" 'and the answer is the same'
# what lies in the directory besides stays, however old and many; and no link of another user's leads anywhere
rm -rf cache && mkdir -m 700 cache
for i in $(seq 2100); do : > "cache/abcdef-2-0123456789abcdef-old$i"; : > "cache/abcdef$i-2-0123456789abcdef-map"; done
: > cache/letter && : > cache/.abcdef-2-0123456789abcdef-map.17
touch -d '2 days ago' cache/* cache/.abcdef*
"$codemap" list ./prog > eighth
is "$(ls -A cache | wc -l)/$(ls cache | grep -c 'old')/$(ls cache/letter)" "2102/2100/cache/letter" 'only files of the cache are put away when there are many'
ok "$(cmp -s plain eighth; echo $?)" 'and the answer is the same'
if [ "$(id -u)" = 0 ]; then
	mkdir -m 711 others && chmod 711 . && ln -s "$tmp/cache2" others/link && chown -h 65534 others/link && mkdir -m 700 cache2
	LTTNG_SPI_CACHE=$tmp/others/link "$codemap" list ./prog > ninth
	LTTNG_SPI_CACHE=$tmp/others/link/below "$codemap" list ./prog > ninth
	is "$(ls cache2 | wc -l)" 0 "another user's link is not followed"
	mkdir -m 711 unread && mkdir -m 755 unread/home && chown 65534 unread/home && chmod 755 prog
	(cd / && LTTNG_SPI_CACHE=$tmp/unread/home/cache setpriv --reuid 65534 --regid 65534 --clear-groups "$codemap" list "$tmp/prog") > tenth
	is "$(ls unread/home/cache | wc -l)" 1 'a directory above that may be passed and not read is no hindrance'
else
	skip 2 'needs root'
fi
