#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
#
# Places that cannot be traced, in libraries that are loaded over and over: each is told once, none of the others is lost for
# that, and the next trace of the same process is told them anew.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
for name in one two; do
	printf 'static volatile int n;\n__attribute__((noinline)) static int mcount(int a) { return a + n; }\nint %s(int a) { n++; return mcount(a) + n; }\n' \
		"$name" >$name.c
	gcc -O1 -shared -fPIC -o lib$name.so $name.c || { echo "Bail out! gcc"; exit 1; }
done
cat >main.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void once(const char *path, const char *name)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*function)(int) = (int (*)(int)) dlsym(library, name);

	function(1);
	dlclose(library);
}
int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[1]); i++)
		once("./libone.so", "one");
	once("./libtwo.so", "two");
	puts("ready");
	fflush(stdout);
	while (argc > 2 && access(argv[2], F_OK)) {
		once("./libone.so", "one");
		usleep(1000);
	}
	return 0;
}
C
gcc -O1 -o main main.c || { echo "Bail out! gcc"; exit 1; }

# told NAME LOG LIBRARIES - what is named of them
told() {
	is "$(grep -o 'lib[a-z]*\.so:[a-z]*+0x[0-9a-f]*' "$2" | sed 's/:.*//' | sort | uniq -c | tr -s ' \n' ' ')" "$3" "$1" || diag "$(tail -n 8 "$2")"
}
timeout $((100 * SPI_PATIENCE)) "$SPI_LTTNG" trace --tree --lib main --lib libone.so --lib libtwo.so -o t ./main 4200 >out 2>trace.log
is "$?" 0 "loaded 4200 times: its status"
told "a place in a library that was loaded then is named, too" trace.log " 1 libone.so 1 libtwo.so "
# the agent's own count, of which the front end shows each name once
tree_record alone 'tree(main;lib=main;lib=libone.so;lib=libtwo.so)' ./main 50 >out
is "$?" 0 "without a controller: its status"
told "each place is told once" tree.debug " 1 libone.so 1 libtwo.so "

background ./main 1 end
for round in 1 2; do
	rm -rf t
	timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" trace --tree --lib main --lib libone.so -p "$target" --duration 0.5 -o t >trace.log 2>&1
	ok $? "running, trace $round"
	told "the place is named in trace $round" trace.log " 1 libone.so "
done
touch end
wait "$target"
is $? 0 "it goes on to its end"
tap_done
