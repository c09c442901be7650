#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A program whose threads load and unload libraries all the time, so that each comes to ever other addresses: its
# mappings do not grow in number with that, every call is recorded, and functions keep the events that they have.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
for i in 0 1 2 3 4 5 6 7; do
	cat >p$i.c <<C
static __attribute__((noipa)) int inner(int a) { return a + $i; }
__attribute__((noipa)) int plug_$i(int a) { return inner(a) + 1; }
int enter(int a) { return plug_$i(a); }
C
	gcc -g -O1 -shared -fPIC p$i.c -o p$i.so || { echo "Bail out! gcc"; exit 1; }
done
cat >app.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int rounds;
static int mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	int n = 0, c;

	while ((c = getc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}
static void *work(void *data)
{
	unsigned int seed = (unsigned long) data;

	for (int i = 0; i < rounds; i++) {
		char name[32];
		void *h;
		int k = rand_r(&seed) % 8, (*f)(int);

		snprintf(name, sizeof(name), "./p%d.so", k);
		h = dlopen(name, RTLD_NOW);
		f = h ? (int (*)(int)) dlsym(h, "enter") : NULL;
		if (!f || f(1) != k + 2)
			abort();
		dlclose(h);
	}
	return NULL;
}
static void both(int n)
{
	pthread_t t[2];

	rounds = n;
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, (void *) i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}
int main(int argc, char **argv)
{
	int n = atoi(argv[1]), before;

	both(n);
	before = mappings();
	both(n);
	printf("%d\n", mappings() - before);
	return 0;
}
C
spi_cc app app.c
loads=${SPI_SOAK:+3000} loads=${loads:-150}
for options in "-f p?.so:plug_*" --tree "--tree --compact"; do
	name="t$((++n))"
	# shellcheck disable=SC2086
	spi_trace -q $options -o $name ./app $loads >out
	is $? 0 "$options: the program ends well" || diag "$(cat trace.err)"
	diag "$options: $(cat out) more mappings after $((2 * loads)) more loads"
	check "$options: its mappings grow by less than two for five loads" [ "$(cat out)" -lt $((4 * loads / 5)) ]
	[ "$n" = 1 ] || continue
	spi_read $name
	is "$(grep -Ec 'spi:plug_[0-9](@[0-9]+)?_entry' $name.txt)" $((4 * loads)) "$options: each call is recorded"
	check "$options: by a few events" \
		[ "$(grep -Eo 'spi:plug_[0-9@]*_entry' $name.txt | sort -u | wc -l)" -le 24 ]
done
tap_done
