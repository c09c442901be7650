#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Strings: long ones are cut and say so; NULL, wild, unmapped, unterminated and
# unreadable ones are marked values and no crash; --string-max.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
cat >strings.c <<'C'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((noipa)) int look(int which, const char *s)
{
	(void) s;
	return which;
}
int main(void)
{
	static char longer[5000];
	char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *file = tmpfile();
	char *beyond;
	memset(longer, 'y', sizeof(longer) - 1);
	memset(pages, 'z', 3 * 4096);
	mprotect(pages + 4096, 4096, PROT_NONE);
	munmap(pages + 2 * 4096, 4096);
	fputs("short", file);
	fflush(file);
	beyond = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fileno(file), 0);
	ftruncate(fileno(file), 0);
	look(1, "a plain one");
	look(2, "");
	look(3, NULL);
	look(4, (char *) 1);
	look(5, (char *) 0x8000000000000000ul);
	look(6, (char *) 0xffffffffff600000ul);
	look(7, pages + 4096);
	look(8, pages + 4096 - 10);
	look(9, pages + 2 * 4096);
	look(10, longer);
	look(11, beyond);
	look(12, "the end");
	puts("alive");
	return 0;
}
C
spi_cc strings ./strings.c
spi_trace_ok "strings of all kinds" -f look -o t ./strings
is "$(cat trace.out)" alive "the program lives"
spi_read t
value() { sed -n "s/.* spi:look_entry: .*which = $1, s = \(.*\) }$/\1/p" "$2.txt"; }
is "$(value 1 t)" '"a plain one"' "a plain one"
is "$(value 2 t)" '""' "an empty one"
marked=$(value 4 t)
like "$marked" '^"[(<]' "an unmapped pointer is marked: $marked"
like "$(value 3 t)" '^"[(<].*null' "NULL is marked"
for i in 5 7 9 11; do is "$(value $i t)" "$marked" "unreadable pointer $i is marked the same"; done
like "$(value 8 t)" '^"z{6,10}(\.\.\.)?"$' "what can be read of a string that runs into an unreadable page"
got=$(value 10 t)
like "$got" '^"y{200}.*\.\.\."$' "a long string is cut and says so"
[ "${#got}" -le 260 ]
ok $? "at ${#got} characters with its quotes"
spi_trace_ok "--string-max" --string-max 20 -f look -o short ./strings
spi_read short
got=$(value 10 short)
[ "${#got}" -le 24 ]
ok $? "$got"
is "$(value 12 short)" '"the end"' "short ones stay whole"
tap_done
