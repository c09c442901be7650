#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A traced program executes another one, and its agent's connection stays open, as a child that libc knows nothing of has it,
# too. What was executed is traced from its first call, also where it has the same name.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
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

# meet PROGRAM NAME
meet() {
	record "$2" 'spi:work_entry'
	app_start "$2" "$1"
	check "$2: a program is traced" spi_wait 10 status_like "^applied.$app_pid.work.*active"
	: >"$2.out"
	echo -n x >&"$app_in"
	check "what it executes begins" spi_wait 10 file_has "$2.out" ready
	check "and is traced" spi_wait 10 status_like "^applied.$app_pid.work.*active"
	app_call "$app_in" 2 "$2.out"
	unlike "$(status)" "first calls may be missing" "from its first call"
	kill -KILL "$(pgrep -P "$app_pid")"
	exec {app_in}>&-
	wait "$app_pid"
	recorded "$2"
	is "$(spi_count "$SPI_TMP/$2" work_entry)" 8 "all its calls are recorded"
}

meet ./keeper other-name
meet same/app same-name
tap_done
