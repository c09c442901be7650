#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Rules of sessions for functions whose names begin with '-', hold a line feed or half a bracket, or are not ASCII.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
cat >odd.c <<'EOF_C'
#define F(id, name) __attribute__((noipa)) int id(int a) __asm__(name); int id(int a) { return a + 1; }
F(dash, "\"-dash\"") F(lines, "two_lines") F(open, "\"odd[name\"")
__attribute__((noipa)) int größe(int a) { return a + 1; }
#include <stdio.h>
int main(void) { puts("ready"); fflush(stdout); getchar(); return dash(1) + lines(1) + größe(1) + open(1) != 8; }
EOF_C
gcc -O2 -g -w -c odd.c && objcopy --redefine-sym two_lines=$'two\nlines' odd.o &&
	gcc -Wl,--no-as-needed -o odd odd.o -llttng-ust || { echo "Bail out! odd.c does not compile"; exit 1; }
spi_sessiond
quiet lttng create one -o "$PWD/one"
for name in -dash $'two\nlines' 'odd[name' größe; do
	"$SPI_LTTNG" enable-event --spi -f "$name" >out 2>err
	is $? 0 "a rule for $(printf %q "$name")" || diag "$(cat err)"
done
quiet lttng start one
mkfifo go
./odd <go >out & app=$!
exec 9>go
for name in -dash 'two.*' 'odd.*' größe; do
	check "it is in force: $name" spi_wait 10 spi_status_has "^applied\t$app\t(call\()?$name.*\tactive"
done
echo >&9
wait "$app"
is $? 0 "the program runs"
quiet lttng destroy one
is "$(babeltrace2 one 2>/dev/null | grep -ao 'spi:[^ ]*_entry: ' | tr -d '\n')" \
	"spi:-dash_entry: spi:two_lines_entry: spi:gr____e_entry: spi:odd[name_entry: " "and all are recorded"
tap_done
