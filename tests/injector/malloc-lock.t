#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 60
#
# dlopen() waits for malloc()'s lock, which another thread has for long, and has the loader's by then: the call is not taken
# back, which would leave that one to nobody. The program goes on loading libraries.
. "${SPI_TOP_SRCDIR:?}/tests/lib/injector.sh"
spi_private "$@"
prepare
cat >keeper.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *malloc(size_t n)
{
	pthread_mutex_lock(&lock);
	void *p = __libc_malloc(n);
	pthread_mutex_unlock(&lock);
	return p;
}
void *calloc(size_t n, size_t m)
{
	pthread_mutex_lock(&lock);
	void *p = __libc_calloc(n, m);
	pthread_mutex_unlock(&lock);
	return p;
}
void *realloc(void *old, size_t n)
{
	pthread_mutex_lock(&lock);
	void *p = __libc_realloc(old, n);
	pthread_mutex_unlock(&lock);
	return p;
}
static volatile int over;
static void *keep(void *unused)
{
	struct timespec held = { 0, 300000000 }, free = { 0, 3000000 };

	while (!over) {
		pthread_mutex_lock(&lock);
		nanosleep(&held, 0);
		pthread_mutex_unlock(&lock);
		nanosleep(&free, 0);
	}
	return unused;
}
static void *load(void *unused)
{
	return dlopen("libm.so.6", RTLD_NOW);
}
int main(void)
{
	pthread_t keeper, loader;
	void *handle = 0;
	char c;

	pthread_create(&keeper, 0, keep, 0);
	write(1, "ready\n", 6);
	if (read(0, &c, 1) < 0)
		return 1;
	over = 1;
	pthread_create(&loader, 0, load, 0);
	if (pthread_join(loader, &handle) || pthread_join(keeper, 0))
		return 1;
	return !handle;
}
C
gcc -w -pthread -o target keeper.c
start
"$inject" --verbose pid "$target" "$SPI_TMP/libmark.so" >inject.out 2>inject.err
is $? 0 "injected" || diag "$(cat inject.err)"
unlike "$(cat inject.err)" "waiting for the dynamic loader's lock" "what another lock is waited for is not taken back"
is "$(marks)" 1 "the constructor ran once"
finish
ok $? "the program ends well"
tap_done
