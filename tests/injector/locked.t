#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 60
#
# While one thread is in a long dlopen(), no other can load anything: the call is
# taken back at once, without a trace, and made when the lock is free.
. "${SPI_TOP_SRCDIR:?}/tests/lib/injector.sh"
spi_private "$@"
prepare
cat >slow.c <<'C'
#include <stdio.h>
#include <time.h>
__attribute__((constructor)) static void slow(void)
{
	struct timespec t = { 0, 600000000 };

	puts("constructing");
	fflush(stdout);
	nanosleep(&t, 0);
}
C
gcc -shared -fPIC -o slow.so slow.c
cat >loader.c <<'C'
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *load(void *unused)
{
	return dlopen("./slow.so", RTLD_NOW);
}
int main(void)
{
	pthread_t thread;
	void *handle;
	char c;

	pthread_create(&thread, 0, load, 0);
	puts("ready");
	fflush(stdout);
	if (read(0, &c, 1) < 0 || pthread_join(thread, &handle))
		return 1;
	return !handle;
}
C
gcc -pthread -o target loader.c
start
spi_wait 5 file_has target.out '^constructing'
fds=$(ls "/proc/$target/fd" | wc -l)
"$inject" --verbose pid "$target" "$SPI_TMP/libmark.so" >inject.out 2>inject.err
is $? 0 "injected" || diag "$(cat inject.err)"
like "$(cat inject.err)" "waiting for the dynamic loader's lock" "after the lock was free again"
is "$(ls "/proc/$target/fd" | wc -l)" "$fds" "with no descriptor left open"
is "$(marks)" 1 "the constructor ran once"
finish
ok $? "the program ends well"
tap_done
