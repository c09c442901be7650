#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# What cannot be injected is refused before it is touched: one line on stderr
# that names the process, the reason and the remedy, status 1; the process
# goes on. Wrong usage has status 2. dlopen() speaks for itself.
. "${SPI_TOP_SRCDIR:?}/tests/lib/injector.sh"
spi_private "$@"
prepare

# refused STATUS REGEX NAME ARG... - one line, and that status
refused() {
	local status=$1 regex=$2 name=$3 got
	shift 3
	"$inject" "$@" >refused.out 2>refused.err
	got=$?
	is "$got" "$status" "$name: status $status"
	is "$(wc -l <refused.err)" 1 "$name: one line"
	like "$(cat refused.err)" "$regex" "$name: says why"
	is "$(cat refused.out)" "" "$name: nothing on stdout"
}

# lives NAME - the target still does what it did, and ends well
lives() {
	finish
	ok $? "$1: it goes on and ends well"
}

lib=$SPI_TMP/libmark.so

start seccomp
refused 1 "process $target \(target\) runs under seccomp.*start it under the tracer" seccomp pid "$target" "$lib"
lives seccomp

build static target.c "$here/target-block.c" "$here/target-compute.c" -static -pthread -lm 2>/dev/null
cp target dynamic && mv static target
start block read
refused 1 "process $target \(target\) is statically linked.*link the program dynamically" static pid "$target" "$lib"
lives static
mv dynamic target

if printf 'int main(void){char c; return read(0,&c,1)<0;}' |
	gcc -m32 -w -include unistd.h -x c -o target32 - 2>/dev/null && ./target32 </dev/null; then
	mkfifo feed32
	./target32 <feed32 & target=$!
	exec {feed}>feed32
	spi_wait 5 is_blocked "$target"
	refused 1 "process $target \(target32\): its executable .*/target32 is a 32-bit program" 32-bit pid "$target" "$lib"
	lives 32-bit
else
	skip "32-bit" "no 32-bit compiler or no 32-bit kernel support"
fi

# The kernel shows the name of what is mapped: enough to be taken for musl.
cat >musl.c <<'C'
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
	char c;
	int fd = open("ld-musl-x86_64.so.1", O_RDONLY);
	mmap(0, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	return write(1, "ready\n", 6) != 6 || read(0, &c, 1) < 0;
}
C
gcc -static -o musl musl.c && echo >ld-musl-x86_64.so.1
cp target dynamic && cp musl target
start
refused 1 "uses the C library musl; only programs that use glibc" musl pid "$target" "$lib"
lives musl
mv dynamic target

refused 1 'process 3999999: there is no such process' "no process" pid 3999999 "$lib"
start zombie
spi_wait 5 file_has target.out '^[0-9]'
zombie=$(tail -n 1 target.out)
refused 1 "process $zombie \(target\) is a zombie: it has ended" zombie pid "$zombie" "$lib"
lives zombie

start block read
kill -STOP "$target"
spi_wait 5 grep -q '^State:.T' "/proc/$target/status"
refused 1 "is stopped by job control: continue it first" stopped pid "$target" "$lib"
kill -CONT "$target"
gdb -q -batch -p "$target" -ex "shell touch traced; until [ -e done ]; do :; done" >/dev/null 2>&1 & gdb=$!
if spi_wait 20 test -e traced; then
	refused 1 "already traced by process $gdb \(gdb\): end that first" traced pid "$target" "$lib"
else
	skip traced "no gdb"
fi
touch done
wait "$gdb"
refused 1 "there is no such file here" "relative path" pid "$target" no/such.so
refused 1 "dlopen\(\) refused none.so: /none.so: cannot open shared object file: No such file" "no library" \
	pid "$target" /none.so
echo "not ELF" >broken.so
refused 1 "dlopen\(\) refused broken.so: .*/broken.so: (file too short|invalid ELF header)" "broken library" \
	pid "$target" "$SPI_TMP/broken.so"
refused 1 "dlopen\(\) refused libnone.so: libnone.so: cannot open shared object file" "no library by that name" \
	pid "$target" libnone.so
printf 'extern int nowhere(void); int (*p)(void) = nowhere;' | gcc -shared -fPIC -x c -o undefined.so -
refused 1 "dlopen\(\) refused undefined.so: .*undefined symbol: nowhere" "undefined symbol" pid "$target" \
	"$SPI_TMP/undefined.so"
build crash.so crash.c -shared -fPIC
refused 1 "crash.so crashed while it was loaded \(Segmentation fault at 0x" "crashing constructor" pid "$target" \
	"$SPI_TMP/crash.so"
lives "after all that"

start vfork
refused 1 "suspended in vfork\(\) until its child" vfork --deadline 200 pid "$target" "$lib"
lives vfork

start small-stack
refused 1 "is a thread of process $target: name the process" thread pid \
	"$(ls "/proc/$target/task" | grep -vx "$target" | head -n 1)" "$lib"
lives thread

if [ "${SPI_OUTER_UID:-0}" = 0 ] && setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
	start block read
	chmod 755 "$SPI_TMP"
	cp "$inject" injector-copy 2>/dev/null
	inject_real=$inject
	inject=$SPI_TMP/as-nobody
	printf '#!/bin/sh\nexec setpriv --reuid 65534 --clear-groups %s "$@"\n' "$SPI_TMP/injector-copy" >"$inject"
	chmod 755 "$inject" injector-copy
	refused 1 "not permitted to trace process $target \(target\): it belongs to uid 0, you are uid 65534" \
		"another user's" pid "$target" "$lib"
	inject=$inject_real
	lives "another user's"
else
	skip "another user's" "needs root"
fi

self=$(printf '#!/bin/sh\nexec "%s" pid $$ "%s"\n' "$inject" "$lib" >self.sh; sh self.sh 2>&1)
like "$self" 'is this program itself' "itself"
refused 2 'is not a process id: see spi-inject --help' "usage: pid" pid 12x
refused 2 'is not a port from 1 to 65535' "usage: port" port 70000
refused 2 'name a process or a port' "usage: nothing"
refused 2 'unknown option --what' "usage: option" --what pid 1
refused 2 'not a number of milliseconds' "usage: deadline" --deadline 0 pid 1
refused 1 'port 1: no process that you may see has it open' "no port" port 1 "$lib"
like "$("$inject" --help)" '^Usage: spi-inject' "--help"
like "$("$inject" --version)" '^spi-inject [0-9]' "--version"
is "$(marks)" 0 "no constructor ran anywhere"
tap_done
