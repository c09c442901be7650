#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Many rules in one session, for functions of the program and of libraries, by name,
# by glob, with an object, with none that has them: each object is analysed once for
# all of them; the next process of the program starts no analysis at all. All calls are there.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
export LTTNG_UST_REGISTER_TIMEOUT=-1
n=60
{
	for ((i = 0; i < n; i++)); do
		echo "__attribute__((noinline, noclone)) int fun_$i(int a) { __asm__ volatile(\"\"); return a + $i; }"
	done
	echo '#include <stdio.h>'
	echo '#include <stdlib.h>'
	echo 'int main(void) { int sum = 0; void *volatile kept; getchar();'
	for ((i = 0; i < n; i++)); do echo "sum += fun_$i(sum & 1);"; done
	echo 'kept = calloc(3, 5); free(kept); printf("%d\n", sum); return 0; }'
} >many.c
spi_cc many "$PWD/many.c" -Wl,--no-as-needed -llttng-ust
# What is run instead of spi-codemap counts, and becomes it
cat >counted.c <<'C'
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int fd = open(getenv("COUNTED"), O_WRONLY | O_APPEND | O_CREAT, 0600);
	const char *what = argc > 6 && !strcmp(argv[6], "--each") ? "each\n" : "map\n";

	if (write(fd, what, strlen(what)) < 0)
		return 9;
	close(fd);
	execv(getenv("REAL"), argv);
	return 9;
}
C
gcc -O1 -o counted counted.c
export COUNTED=$PWD/runs REAL=$SPI_CODEMAP LTTNG_SPI_CODEMAP=$PWD/counted
: >runs
spi_sessiond
quiet lttng create s -o "$PWD/s"
functions=()
for ((i = 0; i < n; i += 2)); do functions+=(-f "fun_$i"); done
for ((i = 1; i < n; i += 2)); do functions+=(-f "many:fun_$i"); done
check "many rules" "$SPI_LTTNG" enable-event --spi "${functions[@]}" -f 'no_such_*' -f 'libc.so.6:callo?' -f 'nowhere.so:fun_1' -f nosuch
quiet lttng start
mkfifo go
# in_force - the last rule has been answered, and all are; for spi_wait
in_force() { [ "$(spi_status | grep -c $'^applied\t.*\tactive\t')" = $((n + 1)) ] && ! spi_status | grep -q $'^applied\t.*\tadding\t'; }
for run in 1 2; do
	: >runs
	./many <go >"out.$run" &
	pid=$!
	exec {hold}>go
	check "process $run: every rule with a function is in force" spi_wait 40 in_force ||
		diag "$(spi_status | grep applied | head -n 90)"
	is "$(spi_status | grep -c $'^applied\t.*\tfailed\t.*no loaded function matches')" 3 "those without say so"
	cp runs "runs.$run"
	echo >&"$hold"
	exec {hold}>&-
	wait "$pid"
	is "$?" 0 "it ends as ever"
done
same_file out.1 out.2 "with the same result"
maps=$(grep -c map runs.1)
each=$(grep -c each runs.1)
diag "$each runs for many patterns, $maps for one"
[ "$maps" -le 3 ]
ok $? "hardly a run for a rule by itself"
[ "$each" -ge 2 ] && [ "$each" -le 8 ]
ok $? "one for each object"
is "$(wc -l <runs.2)" 0 "none for the next process"
quiet lttng destroy s
spi_read s
wrong=0
for ((i = 0; i < n; i++)); do
	[ "$(spi_count s "fun_${i}_entry")/$(spi_count s "fun_${i}_exit")" = 2/2 ] || wrong=$((wrong + 1))
done
is "$wrong" 0 "every call is there"
[ "$(grep -c 'spi:calloc_entry.*n = 3' s.txt)" -ge 2 ]
ok $? "also of a library's function"
tap_done
