#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A program that has none of the functions and asks for no library is not made an application of LTTng's: what a shell
# executes under -f starts quickly. One that asks for libraries is ready for them, and a library that libc loads by itself in
# the other kind is instrumented late, and said so.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
cat >runs.c <<'C'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noipa)) int work(int a) { return a + 1; }
int main(int argc, char **argv)
{
	int status;

	if (!fork())
		execvp(argv[1], argv + 1);
	wait(&status);
	printf("%d\n", work(argc));
	return 0;
}
C
spi_cc runs "$PWD/runs.c"
spi_trace -f work -o t ./runs cat /proc/self/maps >maps
is $? 0 "a program that asks for no library"
like "$(cat maps)" "liblttng-spi\.so" "the agent is in what it executes"
is "$(grep -c 'liblttng-ust\|liblttng-spi-tp' maps)" 0 "LTTng is not"
is "$(spi_count t work_entry)" 1 "the program itself is recorded"

if [ "$(id -u)" = 0 ] && ./runs unshare -U true >/dev/null && [ "$(./runs unshare -U echo in | head -n 1)" = in ]; then
	rm -rf t t.txt
	spi_trace -f work -o t ./runs unshare -U echo in >out
	is "$(head -n 1 out)" in "what one thread alone may do is done there"
else
	skip "what one thread alone may do is done there" "no user namespace may be made here"
fi

rm -rf t t.txt
spi_trace -f work -o t ./runs /usr/bin/python3 -c 'print(open("/proc/self/maps").read())' >maps
is $? 0 "a program that asks for libraries"
[ "$(grep -c 'liblttng-ust' maps)" -gt 0 ]
ok $? "it is ready for them"

cat >converts.c <<'C'
#include <iconv.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
int main(void)
{
	struct timespec ms = { 0, 1000000 };

	for (int i = 0; i < 3000; i++) {
		char in[] = "abc", out[64], *from = in, *to = out;
		size_t left = 3, room = sizeof(out);
		iconv_t c = iconv_open("UTF-16LE", "ISO-8859-15");

		if (c == (iconv_t) -1 || iconv(c, &from, &left, &to, &room) == (size_t) -1)
			return 1;
		nanosleep(&ms, NULL);
		if (i < 2999)
			iconv(c, NULL, NULL, &to, &room);
		iconv_close(c);
	}
	puts("done");
	return 0;
}
C
spi_cc converts "$PWD/converts.c"
rm -rf t t.txt
spi_trace -f 'ISO8859-15.so:gconv' -o t ./converts >trace.out
is "$(grep -c done trace.out)" 1 "a library that libc loads: the program is as without"
[ "$(spi_count t gconv_entry)" -gt 100 ]
ok $? "its functions are recorded" || diag "$(cat trace.err)"
like "$(cat trace.err)" "ISO8859-15.so: its functions' first calls are neither recorded nor counted" "what is missing is said" || diag "$(cat trace.err)"
tap_done
