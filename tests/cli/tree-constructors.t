#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Constructors and destructors as roots: a program's own are recorded; of a library
# that it is linked with, which runs before the agent does, it is said.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
cat >c.c <<'C'
__attribute__((noipa)) int leaf(int a) { return a + 1; }
__attribute__((noipa)) int middle(int a) { return leaf(a) + leaf(a); }
__attribute__((constructor)) void program_begins(void) { middle(1); }
__attribute__((destructor)) void program_ends(void) { middle(2); leaf(1); }
int library_call(void);
int main(void) { return middle(3) + library_call() == 99; }
C
cat >l.c <<'C'
__attribute__((noipa)) int library_leaf(int a) { return a + 1; }
__attribute__((constructor)) void library_begins(void) { library_leaf(1); }
int library_call(void) { return library_leaf(4) - 1; }
C
spi_cc libl.so ./l.c -shared -fPIC && spi_cc c ./c.c -L. -ll -Wl,-rpath,"$PWD" || exit 1
# recorded ROOT CALLS
recorded() {
	"$SPI_LTTNG" trace --tree="$1" --lib c --lib 'libl*' ./c >out 2>err
	is "$?" 0 "$1: status"
	like "$(cat out err)" "Events recorded: $((2 * $2)) .$2 entries, $2 exits.; lost: 0" "$1: $2 calls" || diag "$(tail -n 5 err)"
}
recorded program_begins 4
recorded program_ends 5
recorded library_begins 0
tap_done
