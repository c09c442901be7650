#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A program with a library that has data and no code: its functions are traced, what it has not is said of the name
# that was given, and no line is about that library; unless it is what was asked about.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
echo 'const char table[100000] = { 1, 2, 3 };' >data.c
gcc -shared -nostdlib -fPIC -Wl,--build-id -o libdata.so data.c
cat >use.c <<'C'
#include <stdio.h>
#include <unistd.h>
extern const char table[];
__attribute__((noipa)) int own(int a) { return a + table[1]; }
int main(int argc, char **argv) { puts("ready"); fflush(stdout); if (argc > 1) pause(); printf("%d\n", own(1)); return 0; }
C
spi_cc use ./use.c -L. -ldata -Wl,-rpath,"$PWD"
spi_trace_ok "a function of the program" -f own -f 'own*' -o t ./use </dev/null
is "$(spi_count t own_entry)" 1 "is recorded"
unlike "$(cat trace.err)" 'libdata' "and nothing is said of the library"
spi_trace -f nosuch -o t2 ./use </dev/null
is $? 1 "one that is nowhere"
like "$(cat trace.err)" '^Error: nosuch: no such function in ./use and its [0-9]+ libraries' "is what the message is about"
background ./use wait
spi_trace -f nosuch -p "$target" -o t3
like "$(cat trace.err)" '^Error: nosuch: no such function in use' "in a process, too"
spi_trace -f libdata.so:own -p "$target" -o t4
like "$(cat trace.err)" "Error: libdata.so:own: no loaded function matches 'libdata.so:own'" "the library by its name"
finish "$target"
"$SPI_LTTNG" trace -l libdata.so 2>list.err
is "$?" 1 "its functions cannot be listed"
like "$(cat list.err)" 'no functions in it' "with the reason"
"$SPI_CODEMAP" map --which --pattern own --pattern main --output which use
is "$(cat which)" 11 "which patterns mean functions: of the program"
"$SPI_CODEMAP" map --which --pattern own --pattern main --output which libdata.so
is "$(cat which)" 00 "and of the library"
tap_done
