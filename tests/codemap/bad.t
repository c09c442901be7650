#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Input that cannot be used: one line that says what and what to do, status 1, never more.
. "${SPI_TOP_SRCDIR:?}/tests/lib/codemap.sh"
plan 24
cd "$tmp" || exit 1
$CC -O2 -g -w -o prog "$here/sample.c" || { echo 'Bail out! no compiler'; exit 1; }

# refused FILE REGEX TEXT
refused() {
	"$codemap" list "$1" > out 2> err
	status=$?
	[ $status -eq 1 ] && [ "$(wc -l < err)" -eq 1 ] && [ ! -s out ] && grep -qE "^spi-codemap: $1: $2" err
	ok $? "$3" || diag "status $status: $(cat err)"
}
# patched OFFSET BYTES-IN-OCTAL: a copy of prog with some bytes changed
patched() { cp prog bad && printf "$2" | dd of=bad bs=1 seek="$1" conv=notrunc status=none; }

refused missing 'cannot be opened: no such file' 'no such file'
refused . 'not a regular file' 'a directory'
mkfifo fifo
refused fifo 'not a regular file' 'a FIFO, without waiting'
: > empty
refused empty 'an empty file' 'empty'
printf '#!/bin/sh\n' > script
refused script 'not an ELF file: ' 'a script'
printf '\177ELF' > magic
refused magic '(not an ELF|a truncated ELF|an ELF file for)' 'nothing but the magic'
patched 4 '\001'
refused bad 'a 32-bit ELF file: ' '32-bit'
patched 5 '\002'
refused bad 'an ELF file for another machine: ' 'big endian'
patched 18 '\267'
refused bad 'an ELF file for another machine: ' 'AArch64'
$CC -c -g -w -o object.o "$here/sample.c"
refused object.o 'neither a program nor a shared library: link it first' 'a relocatable object'
head -c 3000 prog > half
refused half 'a truncated ELF file: ' 'cut off'
head -c 40 prog > head
refused head 'a truncated ELF file: ' 'cut off in its header'
patched 54 '\001'
refused bad 'a broken ELF file: ' 'program headers of an impossible size'
cp prog bare && strip bare && objcopy --remove-section .eh_frame --remove-section .eh_frame_hdr bare bare2 2> /dev/null
"$codemap" list bare2 > /dev/null 2> err
ok "$([ "$(wc -l < err)" -le 1 ]; echo $?)" 'neither symbols nor unwind tables'
# a 32-bit, static or sectionless program
if $CC -static -O2 -w -o static "$here/sample.c" 2> /dev/null; then
	ok "$("$codemap" list static | grep -q '^visit()'; echo $?)" 'a static program can be listed'
else
	skip 1 'no static libc'
fi
cp prog nosections && printf '\0\0\0\0\0\0\0\0' | dd of=nosections bs=1 seek=40 conv=notrunc status=none &&
	printf '\0\0\0\0' | dd of=nosections bs=1 seek=60 conv=notrunc status=none
ok "$([ "$("$codemap" list nosections | grep -c '^sub_')" -ge 10 ]; echo $?)" 'no section headers: unwind tables are found all the same'

# debug info that is missing or broken costs the types, not the names
objcopy --only-keep-debug prog prog.debug && cp prog s && strip s && objcopy --add-gnu-debuglink=prog.debug s
truncate -s 2000 prog.debug
"$codemap" list s > out 2> err
is "$? $(wc -l < err) $(grep -c 'prog.debug: a truncated ELF file' err)" '0 1 1' 'a truncated debug file is as none, and is named'

# usage
"$codemap" > out 2> err
is "$? $(head -c 6 err)" '2 usage:' 'no arguments'
"$codemap" map prog > out 2> err
is $? 2 'map without a pattern'
"$codemap" map --limit x --pattern a -o m prog 2> err
is "$? $(wc -l < err)" '2 1' 'a limit that is no number'
"$codemap" map --pattern visit -o /no/such/dir/m prog 2> err
is "$? $(grep -c 'cannot write to /no/such/dir/m' err)" '1 1' 'output that cannot be written'
"$codemap" map --pattern visit prog > /dev/full 2> err
is "$? $(wc -l < err)" '1 1' 'a full disk'

# debug info that no compiler makes: an int of 3 bytes, for a bit field
cat > nonsense.c <<'END'
struct bits { int low : 5; int rest : 20; };
__attribute__((noipa)) int bad(struct bits b) { return b.low; }
__attribute__((noipa)) long good(long x) { return x + 2; }
int main(void) { struct bits b = { 3, 4 }; return bad(b) + good(5); }
END
$CC -g -O0 -dA -S nonsense.c && sed -i '/(DIE .* DW_TAG_base_type)/{n;s/0x4\t/0x3\t/}' nonsense.s && $CC -o nonsense nonsense.s
"$codemap" list nonsense 2> err | grep -E '^(good|main)' > out
is "$(tr '\n' ' ' < out)$(wc -l < err)" 'good(long x) main() 0' 'one function that makes no sense does not cost the others'
"$codemap" map --pattern bad --pattern good -o m nonsense
mapdump m > out
is "$(grep -c 'its debug info makes no sense' out)" 1 'it is refused with its reason'
