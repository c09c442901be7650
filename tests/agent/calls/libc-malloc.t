#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Functions of a shared library, malloc first: every caller's calls, those of
# other libraries and of several threads too, while the tracer itself needs none.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
cat >alloc.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *run(void *arg)
{
	for (int i = 0; i < 500; i++) {
		void *volatile p = malloc(100001 + (long) arg);
		p = realloc(p, 200002);
		free(p);
	}
	return NULL;
}
int main(void)
{
	pthread_t t[4];
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, run, (void *) i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	char *volatile s = strdup("a copy");
	puts(s);
	return 0;
}
C
spi_cc alloc ./alloc.c
spi_trace_ok "malloc, free, realloc in 4 threads" \
	-f libc.so.6:malloc -f libc.so.6:free -f libc.so.6:realloc -o t ./alloc
is "$(cat trace.out)" "a copy" "output"
spi_read t
is "$(grep -ac 'malloc_entry.*10000[1234]' t.txt)" 2000 "every malloc of the program"
is "$(grep -ac 'realloc_entry.*200002' t.txt)" 2000 "every realloc"
balanced t "entries and exits"
like "$(grep -a ' spi:malloc_entry' t.txt | grep -a 100001 | head -n 1)" 'bytes = 100001 |size = 100001 ' "the parameter by its name"
like "$(grep -a ' spi:malloc_exit' t.txt | head -n 1)" 'ret = 0x[0-9A-F]+' "the result as a pointer"
tap_done
