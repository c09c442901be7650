#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A traced program executes another one, and its agent's connection stays open, as a child that libc knows nothing of has it,
# too. What was executed is traced from its first call; where it has the same name, from when the connection ends.
. "${SPI_TOP_SRCDIR:?}/tests/broker/lib.sh"
spi_private "$@"
broker_setup
cat >keeper.c <<'C'
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
__attribute__((noipa)) int work(int n) { return n + 1; }
int main(void)
{
	char c;

	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) == 1 && c != 'x')
		work(c);
	if (!syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0))
		for (;;)
			syscall(SYS_pause);
	execl("./app", "./app", "6", "wait", NULL);
	return 1;
}
C
mkdir same
gcc -O1 -o keeper keeper.c -Wl,--no-as-needed -llttng-ust
cp keeper same/app

has_agent() { grep -q liblttng-spi "/proc/$app_pid/maps"; }
record s 'spi:work_entry'
app_start k ./keeper
check "a program is traced" spi_wait 10 status_like "^applied.$app_pid.work.*active"
: >k.out
echo -n x >&"$app_in"
check "what it executes begins" spi_wait 10 file_has k.out ready
check "and is traced" spi_wait 10 status_like "^applied.$app_pid.work.*active"
app_call "$app_in" 2 k.out
unlike "$(status)" "first calls may be missing" "from its first call"
kill -KILL "$(pgrep -P "$app_pid")"
exec {app_in}>&-
wait "$app_pid"
recorded s
is "$(spi_count "$SPI_TMP/s" work_entry)" 8 "all its calls are recorded"

record t 'spi:work_entry'
app_start a ./same/app
check "one of the same name is traced" spi_wait 10 status_like "^applied.$app_pid.work.*active"
: >a.out
echo -n x >&"$app_in"
spi_wait 10 file_has a.out ready
kill -KILL "$(pgrep -P "$app_pid")"
check "what it executes is, too, when the connection ends" spi_wait 10 has_agent
check "with its rules" spi_wait 10 status_like "^applied.$app_pid.work.*active"
exec {app_in}>&-
wait "$app_pid"
lttng_ok destroy t
tap_done
