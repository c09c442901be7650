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

# Char arrays in structs that are passed by value are cut as strings are.
cat >arrays.c <<'C'
#include <string.h>

struct large { char text[300]; };
struct exact { char text[256]; };
struct small { char text[40]; };
__attribute__((noinline)) int large(struct large s) { __asm__ volatile("" :: "m"(s)); return 1; }
__attribute__((noinline)) int exact(struct exact s) { __asm__ volatile("" :: "m"(s)); return 1; }
__attribute__((noinline)) int small(struct small s) { __asm__ volatile("" :: "m"(s)); return 1; }

int main(void)
{
	struct large l = { "" };
	struct exact e = { "" };
	struct small s;

	memset(l.text, 'x', 299);
	memset(e.text, 'y', 255);
	memset(s.text, 'z', 40);	/* without an end */
	return large(l) + large((struct large) { "in full" }) + exact(e) + small(s) - 4;
}
C
spi_cc arrays ./arrays.c
texts() {	# texts DIR - the letters, and how many of them, with the dots
	sed -n 's/.* spi:[a-z]*_entry: .*text = "\(.*\)" }$/\1/p' "$1.txt" |
		awk '{ dots = sub(/\.\.\.$/, "") ? "..." : ""; printf "%s%d%s ", substr($0, 1, 1), length($0), dots }'
}
spi_trace_ok "char arrays" -f large -f exact -f small -o uncut ./arrays
spi_read uncut
is "$(texts uncut)" "x252... i7 y255 z40 " "char arrays: what is cut says so, and nothing else does"
spi_trace_ok "char arrays, --string-max" --string-max 20 -f large -f exact -f small -o cut ./arrays
spi_read cut
is "$(texts cut)" "x16... i7 y16... z16... " "char arrays, --string-max"
spi_trace_ok "char arrays, a larger --string-max" --string-max 400 -f large -f exact -f small -o whole ./arrays
spi_read whole
is "$(texts whole)" "x299 i7 y255 z40 " "char arrays, a larger --string-max"
tap_done
