#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Debug info wherever it is and however it is compressed; what of it cannot be read is said.
. "${SPI_TOP_SRCDIR:?}/tests/lib/codemap.sh"
plan 20
cd "$tmp" || exit 1
cat > prog.c <<'END'
struct item { const char *name; int n; };
__attribute__((noinline, noclone)) double work(int count, double scale, const char *s, struct item it) { return count * scale + s[0] + it.n; }
int main(int argc, char **argv) { return (int) work(argc, 2.5, argv[0], (struct item) { "x", argc }) & 1; }
END
typed='work(int count, double scale, const char *s, struct item it)'

# listed FILE - what is listed of work, and what is said beside it
listed() { "$codemap" list --pattern work "./$1" 2>&1; }
# typed FILE TEXT - all is known, and nothing is said
typed() { is "$(listed "$1")" "$typed" "$2"; }
# lost FILE SAID TEXT - no types, and why
lost() { is "$(listed "$1")" "work()
$1: $2" "$3"; }
# edit FILE SECTION OFFSET BYTE... - write bytes into a section
edit() {
	python3 - "$@" <<'END'
import subprocess, sys
name, section, at = sys.argv[1:4]
for line in subprocess.run(['readelf', '-SW', name], capture_output=True, text=True).stdout.splitlines():
    words = line.replace('[ ', '[').split()
    if len(words) > 4 and words[1] == section:
        offset, size = int(words[4], 16), int(words[5], 16)
with open(name, 'r+b') as file:
    file.seek(offset + (int(at) if int(at) >= 0 else size + int(at)))
    file.write(bytes(int(byte, 0) for byte in sys.argv[4:]))
END
}
# separate NAME OPTION... - a stripped copy of plain whose debug file is found by its link
separate() {
	name=$1
	shift
	objcopy --only-keep-debug "$@" plain "$name.debug"
	strip --strip-debug -o "$name" plain
	objcopy --remove-section .note.gnu.build-id "$name"
	objcopy --remove-section .note.gnu.build-id "$name.debug"
	objcopy --add-gnu-debuglink="$name.debug" "$name"
}

"$CC" -O2 -g -Wl,--build-id -o plain prog.c || { echo 'Bail out! prog.c does not build'; exit 1; }
if objcopy --compress-debug-sections=zstd plain zstd 2> /dev/null; then
	typed zstd 'compressed by zstd'
	separate linked --compress-debug-sections=zstd && typed linked 'a debug file compressed by zstd'
	cp zstd unknown && edit unknown .debug_info 0 9
	lost unknown 'no types: .debug_info: compressed by a method that is not known (9)' 'an unknown compression'
	cp zstd broken && edit broken .debug_info 28 0xff 0xff 0xff 0xff 0xff 0xff 0xff 0xff
	lost broken 'no types: .debug_info: its compressed contents are broken' 'a broken stream of zstd'
else
	skip 4 'objcopy has no zstd'
fi
separate oldlinked --compress-debug-sections=zlib-gnu && typed oldlinked 'a debug file compressed as zlib-gnu'
objcopy --compress-debug-sections=zlib plain zlib && cp zlib cut && edit cut .debug_info 28 0xff 0xff 0xff 0xff
lost cut 'no types: .debug_info: its compressed contents are broken' 'a broken stream of zlib'
"$CC" -O2 -g -gdwarf64 -gdwarf-5 -o dwarf64 prog.c && typed dwarf64 'DWARF64'
"$CC" -O2 -gdwarf-2 -gstrict-dwarf -o dwarf2 prog.c && typed dwarf2 'DWARF 2'

"$CC" -O2 -gdwarf-5 -gsplit-dwarf -o split5 prog.c
lost split5 "no types: split debug info, $(basename split5-*.dwo)" 'split debug info, DWARF 5'
"$CC" -O2 -gdwarf-4 -gsplit-dwarf -o split4 prog.c
lost split4 "no types: split debug info, $(basename split4-*.dwo)" 'split debug info, DWARF 4'
if have dwp && dwp -e split4 -o split4.dwp 2> /dev/null; then
	name=$(basename split4-*.dwo)
	rm split4-*.dwo
	lost split4 "no types: split debug info, $name" 'a .dwp file'
else
	skip 1 'no dwp'
fi
if have clang; then
	clang -O0 -gdwarf-5 -gsplit-dwarf -Wno-everything -o splitclang prog.c
	is "$(listed splitclang | grep -c '^splitclang: no types: split debug info, .*\.dwo$')" 1 'split debug info of clang'
else
	skip 1 'no clang'
fi
echo 'int other(int number) { return number; }' > other.c
"$CC" -O2 -gdwarf-5 -c other.c && "$CC" -O2 -gdwarf-5 -gsplit-dwarf -c prog.c && "$CC" -o mixed prog.o other.o
is "$("$codemap" list --pattern work --pattern other ./mixed 2>&1 | sort)" 'mixed: not all types: split debug info, prog.dwo
other(int number)
work()' 'split debug info of one file only'

if have dwz && cp plain one && cp plain two && dwz -m common one two 2> /dev/null; then
	typed one 'supplementary debug info'
	mv common away
	is "$(listed one | tail -n 1)" 'one: not all types: supplementary debug info, common: not found' 'supplementary debug info that is missing'
	cp plain common
	is "$(listed one | tail -n 1)" 'one: not all types: supplementary debug info, common: of another build: its build-id differs' \
		'supplementary debug info of another build'
else
	skip 3 'no dwz'
fi

separate changed
printf x >> changed.debug
lost changed 'no types: ./changed.debug is of another build: its checksum differs' 'a debug file of another checksum'
separate nonsense
echo nonsense > nonsense.debug
lost nonsense 'no types: ./nonsense.debug: not an ELF file: name an executable or a shared library' 'a debug file that is none'
cp plain odd && edit odd .debug_info 4 9 0
lost odd 'no types: DWARF of version 9' 'a version of DWARF that is not known'

id=$(readelf -n plain | sed -n 's/.*Build ID: //p')
mkdir -p "root/usr/lib/debug/.build-id/${id:0:2}" && strip --strip-debug -o root/prog plain
cp split5 "root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
is "$("$codemap" list --root root --pattern work /prog 2>&1)" "work()
prog: no types: /usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug is of another build: its build-id differs" \
	'a debug file of another build-id'
