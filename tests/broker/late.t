#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Rules whose functions come with a library that is loaded later: they wait, are listed as such, and are in force from the
# library's first call on; what is switched off or removed before does nothing.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_daemon
for lib in one two; do
	echo "__attribute__((noipa)) int from_$lib(int a) { return a + 1; } __attribute__((noipa)) int more_$lib(int a) { return a; }" >$lib.c
	gcc -g -O1 -shared -fPIC $lib.c -o $lib.so || { echo "Bail out! gcc"; exit 1; }
done
cat >app.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
	char line[64], name[80];

	while (fgets(line, sizeof(line), stdin)) {
		void *h;
		int (*f)(int);

		line[strcspn(line, "\n")] = 0;
		snprintf(name, sizeof(name), "./%s.so", line);
		h = dlopen(name, RTLD_NOW);
		snprintf(name, sizeof(name), "from_%s", line);
		f = h ? (int (*)(int)) dlsym(h, name) : 0;
		printf("%d\n", f ? f(f(1)) : -1);
		fflush(stdout);
	}
	return 0;
}
C
spi_cc app app.c -Wl,--no-as-needed -llttng-ust -ldl
lttng_ok create s --output="$SPI_TMP/s"
"$SPI_LTTNG" -q enable-event --spi -s s -f from_one -f from_two -f more_two
lttng_ok start s
mkfifo in
./app <in >out 2>err 5>&- &
app=$!
exec {in}>in
check "a rule that nothing matches" spi_wait 10 status_like "^applied.*failed.0.0.0.no loaded function matches"
like "$("$SPI_LTTNG" list --spi)" 'no function of this process matches; the rule waits for a library' "it is listed as one that waits"
echo one >&"$in"
check "a library is loaded" spi_wait 10 file_has out 3
lines() { [ "$(wc -l <out)" -ge "$1" ]; }
check "and the rule is in force" spi_wait 10 status_like "^applied.*from_one.active.1.1.0"
"$SPI_LTTNG" -q disable-event --spi -s s -f from_two
check "another one is switched off" spi_wait 10 status_unlike "^applied.*from_two"
echo two >&"$in"
check "its library is loaded" spi_wait 10 lines 2
"$SPI_LTTNG" -q enable-event --spi -s s -f from_two
check "and switched on again" spi_wait 10 status_like "^applied.*from_two.active.1.1.0"
echo two >&"$in"
check "it is called" spi_wait 10 lines 3
exec {in}>&-
wait "$app"
is "$?/$(wc -c <err)/$(sort -u out)" 0/0/3 "the program is as ever"
lttng_ok destroy s
is "$(spi_count s from_one_entry)/$(spi_count s from_one_exit)" 2/2 "the first library's calls are there"
is "$(spi_count s from_two_entry)/$(spi_count s from_two_exit)" 2/2 "the second's from the time when its rule was on again"
tap_done
