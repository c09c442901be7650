#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# More COMMANDs and FUNCs that are refused before anything is started; the usual
# ones are in tests/system/bad-input.t. No daemon is needed to say no.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_cc zoo zoo.c

# refused NAME STATUS REGEX ARGS...
refused() {
	local name=$1 status=$2 regex=$3 got
	shift 3
	rm -rf dir
	"$SPI_LTTNG" --no-sessiond trace "$@" >out 2>err </dev/null
	got=$?
	is "$got" "$status" "$name: status $status"
	is "$(wc -l <err)" 1 "$name: one line" || diag "$(cat err)"
	like "$(cat err)" "$regex" "$name: says so"
	[ ! -s out ] && [ ! -e dir ]
	ok $? "$name: nothing else"
}

mkdir directory
refused "a directory" 126 'directory: is a directory' -f x -o dir ./directory
cp zoo plain && chmod -x plain
refused "no permission to execute" 126 'plain: cannot be executed' -f x -o dir ./plain
: >empty && chmod +x empty
refused "an empty file" 1 'empty: cannot be traced: .*neither' -f x -o dir ./empty
printf '#!\n' >bare && chmod +x bare
refused "a #! without interpreter" 1 'bare: cannot be traced' -f x -o dir ./bare
printf '#!/nonexistent/sh\n' >orphan && chmod +x orphan
refused "a missing interpreter" 127 'orphan: its interpreter /nonexistent/sh' -f x -o dir ./orphan
printf '#!/usr/bin/env nonexistent-interpreter\n' >orphan2 && chmod +x orphan2
refused "env's command is missing" 127 'orphan2: its interpreter nonexistent-interpreter' -f x -o dir ./orphan2
printf '#!%s/loop\n' "$PWD" >loop && chmod +x loop
refused "interpreters without end" 1 'too many' -f x -o dir ./loop
cp zoo setgid && chmod g+s setgid
refused "setgid" 1 'setgid' -f t_leaf -o dir ./setgid
cp zoo capable
if setcap cap_net_raw+ep capable 2>/dev/null; then
	refused "file capabilities" 1 'capabilities' -f t_leaf -o dir ./capable
fi
cp zoo other-loader && sed -i 's,/lib64/ld-linux-x86-64.so.2,/lib64/ld-musl-x86_64.so.1\x00,' other-loader
refused "another C library" 1 'glibc.*ld-musl' -f t_leaf -o dir ./other-loader
echo 'int library_function(void) { return 1; }' >lib.c
mkdir lib && gcc -shared -fPIC -o lib/libneeded-by-us.so lib.c
spi_cc needy zoo.c -Wl,--no-as-needed lib/libneeded-by-us.so
mv lib gone
refused "a missing library" 127 'libneeded-by-us.so' -f t_leaf -o dir ./needy

refused "an object that is not there" 1 'libc:malloc: .*has no object libc; it has: .*libc.so.6' -f libc:malloc -o dir ./zoo leaf
refused "an unknown function of an object" 1 'no_such in libc.so.6' -f libc.so.6:no_such -o dir ./zoo leaf
refused "an empty function of an object" 1 'libc.so.6:: names no function' -f libc.so.6: -o dir ./zoo leaf
refused "an output directory below a file" 1 'zoo/x: cannot record there: Not a directory' -f t_leaf -o zoo/x ./zoo leaf
refused "a file as output directory" 1 'zoo: cannot record there: Not a directory' -f t_leaf -o zoo ./zoo leaf
(
	ulimit -S -f 100
	"$SPI_LTTNG" trace -f t_leaf -o dir ./zoo leaf >out 2>err
	echo $? >>err
)
is "$(cat out err)" "Error: trace: files are limited to 100 KB here (ulimit -f), and LTTng's buffers need 16384 KB: raise the limit
1" "files are limited"
refused "no daemon, and none to be started" 1 'no-sessiond' -f t_leaf -o dir ./zoo leaf
refused "a process that does not exist" 1 '4194303: no such process' -f x -p 4194303
refused "list: no such file" 1 'nosuchfile: no such file' -l nosuchfile
refused "list: no such process" 1 '4194303: no such process' -l -p 4194303
refused "list: not an ELF file" 1 'lib.c' -l lib.c
refused "list: nothing matches" 1 'zoo' -l -f no_such_function ./zoo
tap_done
