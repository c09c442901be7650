#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# The injector is killed -9 at any moment, most of them while a thread of the
# target is in its hands: the target goes on, right to the end.
. "${SPI_TOP_SRCDIR:?}/tests/lib/injector.sh"
grep -qw avx2 /proc/cpuinfo || skip_all "needs a processor with AVX2"
spi_private "$@"
prepare
count=60
[ -z "${SPI_SOAK:-}" ] || count=1000

# Runs the injector and kills it after so many microseconds.
cat >kill-after.c <<'C'
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct timespec t = { 0, atol(argv[1]) * 1000 };
	int status;
	pid_t pid = fork();

	if (!pid) {
		execv(argv[2], argv + 2);
		_exit(127);
	}
	nanosleep(&t, 0);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? 9 : WEXITSTATUS(status);
}
C
gcc -O1 -o kill-after kill-after.c

# A slow constructor keeps the thread in the call for most of the time.
cat >slow.c <<'C'
#include <time.h>
__attribute__((constructor)) static void slow(void)
{
	struct timespec t = { 0, 20000000 };

	nanosleep(&t, 0);
}
C
gcc -shared -fPIC -o slow.so slow.c

for mode in compute timer; do
	start "$mode"
	killed=0
	for i in $(seq "$count"); do
		cp slow.so "slow$i.so"
		./kill-after $((2000 + i * 25000 / count)) "$inject" pid "$target" "$SPI_TMP/slow$i.so" >/dev/null 2>&1
		[ $? -ne 9 ] || killed=$((killed + 1))
		kill -0 "$target" 2>/dev/null || break
	done
	diag "$mode: $killed of $count injectors were killed before they were done"
	[ "$killed" -gt 0 ]
	ok $? "$mode: injectors were killed at work"
	finish
	ok $? "$mode: the program lives and ends well"
	is "$(tail -n 1 target.out)" "$mode: ok" "$mode: nothing has changed"
done
start block nanosleep
spi_wait 5 is_blocked "$target"
cp slow.so last.so
./kill-after 15000 "$inject" pid "$target" "$SPI_TMP/last.so" >/dev/null 2>&1
finish
ok $? "a blocked program lives, too"
tap_done
