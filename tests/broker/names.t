#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Processes are listed by the name of the program that they are, also after fork and exec; and no name that somebody
# else chose makes a terminal obey, be it by a C1 control or by a byte that is no UTF-8.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup

# Two that a traced program forks and executes, whose agents come by themselves.
cat >kid.c <<'C'
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) int kid_work(int a) { __asm__ volatile(""); return a + 1; }
int main(void) { char c; return read(0, &c, 1) + kid_work(1) < 0; }
C
cat >parent.c <<'C'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int launch(void) { for (int i = 0; i < 2; i++) if (!fork()) { execl("./kid", "kid", NULL); _exit(1); } return 0; }
int main(void) { puts("ready"); fflush(stdout); launch(); while (wait(NULL) > 0) ; return 0; }
C
gcc -O1 -o kid kid.c
gcc -O1 -o parent parent.c -Wl,--no-as-needed -llttng-ust
record s 'spi:tree(launch)' 'lttng_ust_cyg_profile:*'
app_start p ./parent
traced() { [ "$(status process | cut -f 4,5 | sort | uniq -c | xargs)" = "$1" ]; }
check "who was forked and has executed another program is listed by that one's name" spi_wait 20 traced "2 traced kid 1 traced parent" ||
	diag "$(status process)"
exec {app_in}>&-
wait "$app_pid"
lttng_ok destroy s

# list_clean WHAT REGEX - "lttng list --spi" has nothing but printable characters and newlines, and the process in it
list_clean() {
	local out

	out=$("$SPI_LTTNG" list --spi | python3 -c '
import sys
text = sys.stdin.buffer.read()
try:
    text = text.decode("utf-8")
except UnicodeDecodeError as e:
    text = "\x9b not UTF-8: %s" % e
bad = [c for c in text if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)]
print("dirty" if bad else "clean")
print(ascii(text))')
	is "${out%%$'\n'*}" clean "$1: nothing that a terminal would obey" || diag "$out"
	like "$out" "$2" "$1: it is there"
}
record n 'spi:nomatch*'
while read -r what name shown; do
	name=$(printf '%b' "$name")
	cp app "$name"
	app_start "in-$what" "./$name" 3 wait
	check "$what: it is listed" spi_wait 10 status_like "^process.$app_pid.0.traced"
	list_clean "$what" "$shown"
	like "$("$SPI_LTTNG" --mi xml list --spi | LC_ALL=C.UTF-8 grep -c -P '[\x{80}-\x{9f}]')" '^0$' "$what: nor in XML"
	exec {app_in}>&-
	wait "$app_pid"
done <<'E'
CSI a\xc2\x9b31mX a\?\?31mX
NEL a\xc2\x85b a\?\?b
byte a\x9b31mX a\?31mX
ESC a\x1b[31mX a\?.31mX
half a\xc3 a\?
long a\xc0\x9bX a\?\?X
accent \xc3\xa9t\xc3\xa9 \\xe9t\\xe9
E
lttng_ok destroy n

# What is listed of a file's functions
printf 'int harmless_x(int a) { return a; }\nint main(void) { return harmless_x(0); }\n' >names.c
gcc -O0 -g0 -o names names.c
LC_ALL=C sed -i 's/harmless_x/harm\xc2\x9b31mX/' names
out=$("$SPI_LTTNG" trace --list names 2>&1)
like "$out" 'harm\?\?31mX' "functions of a file: its name, made harmless" || diag "$(cat -v <<<"$out" | head -n 5)"
tap_done
