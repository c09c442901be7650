#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Prototypes as `-l` prints them, whatever form the debug info has.
. "${SPI_TOP_SRCDIR:?}/tests/lib/codemap.sh"
plan 26
cd "$tmp" || exit 1
wanted='visit(const char *path, const struct stat *sb, int flag)
walk(visit_fn fn, const char *const *names, unsigned long n)
move_point(struct point p, enum color c, double by)
stretch(long double a, float b, _Bool c, char d)
report(const char *format, ...)
give_up()
length(struct list *l)
apply(int (*op)(int, int), int *values)
nothing()
original(int a)
jumped_into()
jumper()
loops()'
names='visit|walk|move_point|stretch|report|give_up|length|apply|nothing|original|jumped_into|jumper|loops'
variant() {
	"$codemap" list "$@" | grep -E "^($names)\("
}
sorted_wanted=$(printf '%s\n' "$wanted" | sort)
build() {	# NAME COMPILER FLAGS...
	name=$1
	shift
	"$@" -w -o "$name" "$here/sample.c" -lm 2> build.log || { skip 1 "$* cannot build"; return; }
	is "$(variant "./$name" | sort)" "$sorted_wanted" "$(echo "$@")"
}
build dw5 "$CC" -O2 -gdwarf-5
build dw4 "$CC" -O2 -gdwarf-4
build dw3 "$CC" -O2 -gdwarf-3 -gstrict-dwarf
build o0 "$CC" -O0 -g
build types "$CC" -O2 -gdwarf-5 -fdebug-types-section
build types4 "$CC" -O2 -gdwarf-4 -fdebug-types-section
build gz "$CC" -O2 -g -gz
build gzgnu "$CC" -O2 -g -gz=zlib-gnu
build nopie "$CC" -O2 -g -no-pie
build noid "$CC" -O2 -g -Wl,--build-id=none
build lto "$CC" -O2 -g -flto
if have clang; then
	build clang5 clang -O2 -gdwarf-5 -Wno-everything
	build clang4 clang -O2 -gdwarf-4 -Wno-everything
else
	skip 2 'no clang'
fi

# order, and that every function symbol is there
"$codemap" list ./dw5 > all
nm ./dw5 | awk '$2 ~ /[Tt]/ && $3 ~ /^('"$names"'|main)$/ { print $1, $3 }' | sort | awk '{ print $2 }' > by_address
sed 's/(.*//' all | grep -xE "$names|main" > listed
is "$(cat listed)" "$(grep -vx alias_of_it by_address)" 'in the order of addresses, each once'
is "$("$codemap" list --pattern 'mo*' ./dw5)" 'move_point(struct point p, enum color c, double by)' '--pattern chooses'
is "$("$codemap" list --pattern alias_of_it ./dw5)" 'alias_of_it(int a)' 'a function goes by the name that was asked for'

# stripped: names only from .dynsym and unwind tables
cp dw5 stripped && strip stripped
"$codemap" list ./stripped > out
ok "$(grep -vqE '^(sub_[0-9a-f]+|_init|_fini|[a-z_]+)\(\)$' out; echo $((! $?)))" 'stripped: each as name()'
ok "$([ "$(grep -c '^sub_' out)" -ge 10 ]; echo $?)" 'stripped: functions known from unwind tables'

# separate debug files
objcopy --only-keep-debug dw5 dw5.debug && cp dw5 linked && strip linked && objcopy --add-gnu-debuglink=dw5.debug linked
is "$(variant ./linked | sort)" "$sorted_wanted" 'debug file beside it, by .gnu_debuglink and build-id'
objcopy --only-keep-debug noid noid.debug && cp noid linked2 && strip linked2 && objcopy --add-gnu-debuglink=noid.debug linked2
is "$(variant ./linked2 | sort)" "$sorted_wanted" 'debug file by .gnu_debuglink and its checksum'
printf x >> noid.debug
is "$(variant ./linked2 | grep -c 'path')" 0 'a debug file with another checksum is not used'
id=$(readelf -n dw5 | sed -n 's/.*Build ID: //p')
mkdir -p "root/usr/lib/debug/.build-id/${id:0:2}" root/bin && cp dw5.debug "root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
cp stripped root/bin/prog
is "$(variant /bin/prog --root root | sort)" \
	"$sorted_wanted" 'debug file by build-id, under --root'
exec 7< stripped
is "$("$codemap" list --fd 7 --root root /no/such/name | grep -c '^visit(const char \*path')" 1 '--fd: read from the descriptor'
exec 7<&-

# minidebuginfo: symbols of a stripped file, xz-packed
if have xz; then
	nm dw5 --format=posix --defined-only | awk '$2 == "T" || $2 == "t" { print $1 }' | sort > keep
	objcopy -S --remove-section .gdb_index --remove-section .comment --keep-symbols=keep dw5.debug mini 2> /dev/null
	cp stripped withmini && xz -c mini > mini.xz && objcopy --add-section .gnu_debugdata=mini.xz withmini
	ok "$("$codemap" list ./withmini | grep -qx 'move_point()'; echo $?)" 'minidebuginfo'
else
	skip 1 'no xz'
fi
if have dwz; then
	cp dw5 z1 && cp dw4 z2 && cp gz z3 && cp dw5 z4
	dwz -m common.dwz z1 z4 2> /dev/null
	is "$(variant ./z1 | sort)" "$sorted_wanted" 'dwz with a supplementary file'
else
	skip 1 'no dwz'
fi
# a C library with separate debug info
if [ -e /usr/share/doc/libc6-dbg ]; then
	libc=$(ldd "$(command -v cat)" | awk '/libc.so/ { print $3 }')
	is "$("$codemap" list --pattern malloc --pattern strtol "$libc")" "$(printf '%s\n' 'strtol(const char *nptr, char **endptr, int base)' 'malloc(size_t bytes)')" 'libc with libc6-dbg'
else
	skip 1 'no libc6-dbg'
fi
